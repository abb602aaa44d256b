"""Pictures broken or odd in every known way, among good ones: the good ones are answered, the broken ones named."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import cv2
import numpy as np
import pytest

from leafid.pictures.decoding import read_image
from leafid.scoring.run_reading import read_run
from tests.robustness.broken import BROKEN, BROKEN_XML, ODD

_TYPES = ("scan", "pseudoscan", "photograph")
_NO_LEAF = "no leaf found in it; every species is ranked as equally likely"


@dataclass
class PictureSet:
    """The pictures of a folder: names of good ones, and how each of the others is odd or broken."""

    good: set[str] = field(default_factory=set)
    odd: dict[str, str] = field(default_factory=dict)
    bad: dict[str, str] = field(default_factory=dict)


def make_pictures(folder: Path, sources: Sequence[np.ndarray], number: int, each: int, seed: int) -> PictureSet:
    """Write good, odd and broken pictures, all but every seventh with XML.

    Parameters
    ----------
    folder : Path
    sources : sequence of uint8 (H, W, 3)
        Leaves; each picture is a source in other brightness and quality, so that no two are equal.
    number : int
    each : int
        Number of broken pictures, and of odd ones.
    seed : int
    """
    folder.mkdir(parents=True)
    generator = np.random.default_rng(seed)
    special = generator.permutation(number)[: 2 * each]
    ways = cycle([*BROKEN, *BROKEN_XML])
    broken = dict(zip(special[::2].tolist(), ways, strict=False))
    odd = dict(zip(special[1::2].tolist(), cycle(ODD), strict=False))
    made = PictureSet()
    for index in range(number):
        name = f"{index}.jpg"
        file = folder / name
        shift, quality = int(generator.integers(-12, 13)), int(generator.integers(50, 96))
        image = np.clip(sources[index % len(sources)].astype(np.int16) + shift, 0, 255).astype(np.uint8)
        image[0, 0] = index & 255, index >> 8 & 255, shift + 12
        if index in broken:
            made.bad[name] = broken[index]
        else:
            made.good.add(name)
        if index in odd:
            made.odd[name] = odd[index]
            ODD[odd[index]](file, image)
        elif broken.get(index) in BROKEN:
            BROKEN[broken[index]](file, image)
        else:
            file.write_bytes(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes())
        # A missing picture is known by its XML only, and so is a folder.
        if index % 7 or index in broken:
            xml = f"<Image><FileName>{name}</FileName><Type>{_TYPES[index % 3]}</Type></Image>".encode()
            content = BROKEN_XML.get(broken.get(index, ""), xml).replace(b"NAME", name.encode())
            file.with_suffix(".xml").write_bytes(content)
    return made


def find_problems(made: PictureSet, run: Path, status: int, messages: str) -> Iterator[str]:
    """Compare the run and the messages with the pictures."""
    answered = {prediction.picture for prediction in read_run(run)}
    if lacking := made.good - answered:
        yield f"{len(lacking)} good pictures have no answer, {sorted(lacking)[:5]}"
    if answered - made.good:
        yield f"broken pictures have an answer: {sorted(answered - made.good)[:5]}"
    lines = messages.splitlines()
    for name, what in made.bad.items():
        stem = name.removesuffix(".jpg")
        if not any(f"/{name}" in line or f"/{stem}.xml" in line for line in lines):
            yield f"{name} ({what}) is not named"
    # The leaf may not be found if the type in the metadata is wrong; the picture has an answer all the same.
    complaints = [line for line in lines if not line.endswith(_NO_LEAF)]
    named = {name for name in made.good if any(f"/{name}:" in line for line in complaints)}
    # There may be a warning of a picture that is damaged inside; it has an answer all the same.
    if blamed := sorted(named - set(made.odd)):
        yield f"good pictures are complained of: {blamed[:5]}"
    if status != 1:
        yield f"expected exit status 1, found {status}"
    if "Traceback" in messages or "this is a bug" in messages:
        yield "a message is an unexpected error"


@pytest.fixture
def made(drawn, tmp_path):
    sources = [read_image(file) for file in sorted((drawn / "Train").glob("*.jpg"))[:6]]
    return make_pictures(tmp_path / "pictures", sources, 70, len(BROKEN) + len(BROKEN_XML), 0)


def test_every_good_picture_is_answered_and_every_bad_one_named(made, tmp_path, drawn_model, cli):
    assert set(made.bad.values()) == {*BROKEN, *BROKEN_XML}
    assert set(made.odd.values()) == set(ODD)
    run = tmp_path / "run.txt"
    # A named pipe would be waited for without end.
    signal.alarm(300)
    found = cli("predict", tmp_path / "pictures", "--model", drawn_model, "--output", run, "--no-cache", "--jobs", 1)
    signal.alarm(0)
    assert list(find_problems(made, run, found.status, found.err)) == []
    # The comparison itself would notice.
    made.good.add("lacking.jpg")
    made.bad["unnamed.jpg"] = "text"
    problems = list(find_problems(made, run, 0, "Traceback"))
    assert "good pictures have no answer" in problems[0]
    assert "unnamed.jpg (text) is not named" in problems
    assert "expected exit status 1, found 0" in problems
    assert "a message is an unexpected error" in problems
