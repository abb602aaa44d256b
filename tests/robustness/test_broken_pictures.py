"""Broken or odd pictures among good ones, which are answered; others are named.

What is wrong inside a picture has tests in tests/pictures.
"""

import os
import signal

import cv2
import pytest
from PIL import Image

from leafid.pictures.decoding import read_image
from leafid.scoring.reading.run_reading import read_run

N_GOOD = 5
TYPES = ("Scan", "pseudoscan", "photograph")


def encode(image, ending=".jpg"):
    return cv2.imencode(ending, image)[1].tobytes()


def write_huge(file, image):
    data = bytearray(encode(image))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = b"\xff\xff\xff\xff"
    file.write_bytes(data)


def make_unreadable(file, image):
    file.write_bytes(encode(image))
    file.chmod(0)


def link_to_a_good_one(file, image):
    target = file.parent.parent / f"elsewhere {file.name}"
    target.write_bytes(encode(image))
    file.symlink_to(target)


BROKEN = {
    "truncated": lambda file, image: file.write_bytes(
        encode(image)[: len(encode(image)) // 2]
    ),
    "text": lambda file, _: file.write_text("this is no picture\n" * 50),
    "huge by its header": write_huge,
    "one pixel": lambda file, image: file.write_bytes(encode(image[:1, :1])),
    "a folder": lambda file, _: file.mkdir(),
    "a broken link": lambda file, _: file.symlink_to(file.with_name("nowhere")),
    "a link to itself": lambda file, _: file.symlink_to(file.name),
    "a named pipe": lambda file, _: os.mkfifo(file),
    "missing": lambda *_: None,
    # The superuser may read everything.
    **(
        {"unreadable": make_unreadable}
        if hasattr(os, "geteuid") and os.geteuid()
        else {}
    ),
}
#: Invalid XML beside a good picture: the picture is skipped with a message.
BROKEN_XML = {
    "truncated XML": b"<Image><FileName>",
    "XML of another picture": b"<Image><FileName>../passwd</FileName></Image>",
    "XML that is a picture": b"\xff\xd8\xff\xe0" + bytes(50),
}
ODD = {
    "PNG named jpg": lambda file, image: file.write_bytes(encode(image, ".png")),
    "animated WebP": lambda file, image: Image.fromarray(image[:, :, ::-1]).save(
        file, "WEBP", save_all=True, append_images=[Image.fromarray(image)]
    ),
    "bytes behind the end": lambda file, image: file.write_bytes(
        encode(image) + b"and more" * 100
    ),
    "a link to a good one": link_to_a_good_one,
}


@pytest.fixture
def pictures(drawn, tmp_path):
    """A folder with a picture of every kind, and the kinds by the pictures' names."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    sources = [read_image(file) for file in sorted((drawn / "Train").glob("*.jpg"))[:6]]
    kinds = {}
    for index, kind in enumerate([*["good"] * N_GOOD, *ODD, *BROKEN, *BROKEN_XML]):
        name = f"{index}.jpg"
        kinds[name] = kind
        image = sources[index % len(sources)].copy()
        image[0, 0] = index  # no two are equal
        write = (ODD | BROKEN).get(
            kind, lambda file, image: file.write_bytes(encode(image))
        )
        write(folder / name, image)
        type_ = TYPES[index % 3]
        xml = f"<Image><FileName>{name}</FileName><Type>{type_}</Type></Image>"
        content = BROKEN_XML.get(kind, xml.encode())
        (folder / name).with_suffix(".xml").write_bytes(content)
    return folder, kinds


def test_every_good_picture_is_answered_and_every_bad_one_named(
    pictures, tmp_path, drawn_model, cli
):
    folder, kinds = pictures
    run = tmp_path / "run.txt"
    # A named pipe would be waited for without end.
    signal.alarm(300)
    result = cli(
        "predict",
        folder,
        "--model",
        drawn_model,
        "--output",
        run,
        "--no-cache",
        "--jobs",
        1,
    )
    signal.alarm(0)
    assert result.status == 1
    bad = {
        name: kind
        for name, kind in kinds.items()
        if kind in BROKEN or kind in BROKEN_XML
    }
    assert {
        prediction.picture for prediction in read_run(run)
    } == kinds.keys() - bad.keys()
    for name, kind in bad.items():
        stem = name.removesuffix(".jpg")
        assert f"/{name}" in result.err or f"/{stem}.xml" in result.err, kind
    assert not any(f"/{index}.jpg:" in result.err for index in range(N_GOOD))
    assert "Traceback" not in result.err
    assert "this is a bug" not in result.err
