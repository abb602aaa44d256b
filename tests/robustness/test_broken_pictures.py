"""Pictures broken or odd in every known way, among good ones: the good ones are answered, the broken ones named."""

import signal

import cv2
import pytest

from leafid.pictures.decoding import read_image
from leafid.scoring.reading.run_reading import read_run
from tests.robustness.broken import BROKEN, BROKEN_XML, ODD

N_GOOD = 5
TYPES = ("Scan", "pseudoscan", "photograph")


@pytest.fixture
def pictures(drawn, tmp_path):
    """A folder with a picture of every kind, and the kind of each by the picture's name."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    sources = [read_image(file) for file in sorted((drawn / "Train").glob("*.jpg"))[:6]]
    kinds = {}
    for index, kind in enumerate([*["good"] * N_GOOD, *ODD, *BROKEN, *BROKEN_XML]):
        name = f"{index}.jpg"
        kinds[name] = kind
        image = sources[index % len(sources)].copy()
        image[0, 0] = index  # no two are equal
        write = ODD.get(kind) or BROKEN.get(kind)
        if write:
            write(folder / name, image)
        else:
            cv2.imwrite(str(folder / name), image)
        xml = f"<Image><FileName>{name}</FileName><Type>{TYPES[index % 3]}</Type></Image>".encode()
        (folder / name).with_suffix(".xml").write_bytes(BROKEN_XML.get(kind, xml).replace(b"NAME", name.encode()))
    return folder, kinds


def test_every_good_picture_is_answered_and_every_bad_one_named(pictures, tmp_path, drawn_model, cli):
    folder, kinds = pictures
    run = tmp_path / "run.txt"
    # A named pipe would be waited for without end.
    signal.alarm(300)
    result = cli("predict", folder, "--model", drawn_model, "--output", run, "--no-cache", "--jobs", 1)
    signal.alarm(0)
    assert result.status == 1
    bad = {name: kind for name, kind in kinds.items() if kind in BROKEN or kind in BROKEN_XML}
    assert {prediction.picture for prediction in read_run(run)} == kinds.keys() - bad.keys()
    for name, kind in bad.items():
        stem = name.removesuffix(".jpg")
        assert f"/{name}" in result.err or f"/{stem}.xml" in result.err, kind
    assert not any(f"/{index}.jpg:" in result.err for index in range(N_GOOD))
    assert "Traceback" not in result.err
    assert "this is a bug" not in result.err
