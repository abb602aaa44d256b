"""Identify many pictures, 1 % of them broken in all known ways, and check every answer.

.. code-block:: sh

  python -m benchmarks.robustness.load --pictures 10000 --folder /tmp/load
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import cv2
import numpy as np

from benchmarks.robustness.broken import BROKEN, BROKEN_XML, ODD
from benchmarks.robustness.processes import measure_memory, start, wait_until_ended
from leafid.pictures.decoding import read_image
from leafid.runs.imageclef2011 import read_run
from leafid.synthetic.plan import Settings
from leafid.synthetic.writer import write_collection

DRAWN = Settings(n_species=8, plants_per_species=8, test_plants=1, pictures_per_plant_and_type=1, max_side=220)
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


def main(words: Sequence[str] | None = None) -> int:
    """Run it; return 1 if there is any problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=10_000, metavar="N")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="to work in; must not be there yet")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--recipe", default="fast")
    arguments = parser.parse_args(words)
    folder = arguments.folder
    folder.mkdir(parents=True)
    write_collection(folder / "drawn", DRAWN)
    sources = [read_image(file) for file in sorted((folder / "drawn" / "Train").glob("*.jpg"))]
    each = max(arguments.pictures // 100, 1)
    made = make_pictures(folder / "pictures", sources, arguments.pictures, each, arguments.seed)
    odd = f"{len(made.odd)} odd in {len(set(made.odd.values()))} ways"
    print(f"{arguments.pictures} pictures, {odd}, {len(made.bad)} broken in {len(set(made.bad.values()))} ways")
    model, run, mark = folder / "model", folder / "run.txt", f"load-{os.getpid()}"
    trained = start(["train", folder / "drawn", "--recipe", arguments.recipe, "--output", model, "--no-cache"],
                    mark, folder / "train")  # fmt: skip
    if trained.wait():
        print((folder / "train" / "err").read_text(), file=sys.stderr)
        return 1
    begun = time.monotonic()
    options = ["--model", model, "--output", run, "--cache", folder / "cache", "--jobs", arguments.jobs]
    process = start(["predict", folder / "pictures", *options], mark, folder / "predict")
    samples = []
    while process.poll() is None:
        samples.append((time.monotonic() - begun, *measure_memory(mark)))
        time.sleep(0.5)
    seconds, messages = time.monotonic() - begun, (folder / "predict" / "err").read_text()
    found = list(find_problems(made, run, process.returncode, messages))
    if not wait_until_ended(mark):
        found.append("processes are left")
    print(f"{seconds:.0f} s, {1000 * seconds / arguments.pictures:.1f} ms a picture, exit status {process.returncode}")
    print("memory, MiB    " + "".join(f"{part:>12}" for part in ("1st tenth", "half", "last tenth", "peak")))
    for column, what in ((1, "main process"), (2, "all processes")):
        sizes = [sample[column] / 1024 for sample in samples]
        tenth = max(len(sizes) // 10, 1)
        parts = (max(sizes[:tenth]), max(sizes[4 * tenth : 6 * tenth]), max(sizes[-tenth:]), max(sizes))
        print(f"{what:<15}" + "".join(f"{part:>12.0f}" for part in parts))
    for problem in found:
        print(f"PROBLEM: {problem}")
    print("every good picture is answered, every broken one is named" if not found else f"{len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
