"""The text file of a ground truth."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.scoring.reading.truth_reading import (
    read_ground_truth,
    read_ground_truth_file,
    read_known_names,
)

_SEEDS = [
    b"Quercus robur 1.jpg\n",
    b"Quercus robur 1.jpg 2.jpg\nAcer campestre 3.JPG\n",
    b"\xef\xbb\xbfPlatanus x hispanica 1.png\r\n\r\nAcer campestre\r\n",
    b"1.jpg 2.jpg\nAcer 1.jpg x\n",
]
_XML = (
    b"<Image><FileName>1.jpg</FileName><Type>Scan</Type>"
    b"<ClassId>Quercus robur</ClassId></Image>"
)


def target() -> Target:
    """Read the file alone, and with an XML file beside it and a list of species."""

    def call(data: bytes, folder: Path) -> None:
        file = write_input(folder, "GroundTruth.txt", data)
        if not (folder / "1.xml").exists():
            write_input(folder, "1.xml", _XML)
        write_input(folder, "SpeciesIDList", data[:200])
        read_ground_truth_file(file)
        read_known_names(file)
        read_ground_truth(file)

    return Target(
        "ground-truth",
        "ground truth (text)",
        lambda: _SEEDS,
        call,
        (b".jpg", b"Quercus robur", b".jpeg"),
    )
