"""The two JSON files of Pl@ntNet-300K."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.pictures.readers.plantnet300k import read

_NAMES = b'{"1355868": "Lactuca virosa L.", "1355920": "Acer campestre"}'
_METADATA = b"""{"a": {"species_id": "1355868", "obs_id": "1008", "organ": "leaf",
 "author": "Jane", "split": "train"},
 "b": {"obs_id": 7, "organ": "other", "author": null}}"""


def target() -> Target:
    """Take inputs that begin with N for the species names, others for the metadata."""

    def call(data: bytes, folder: Path) -> None:
        if not (folder / "images").exists():
            for picture in ("train/1355868/a.jpg", "test/1355920/b.jpg"):
                (folder / "images" / picture).parent.mkdir(parents=True)
                write_input(folder / "images", picture, b"\xff\xd8\xff")
        names = data[:1] == b"N"
        write_input(
            folder, "plantnet300K_species_id_2_name.json", data[1:] if names else _NAMES
        )
        write_input(folder, "plantnet300K_metadata.json", _METADATA if names else data)
        for problem in read(folder)[1]:
            if not problem.isprintable():
                raise AssertionError(f"a problem is not one line: {problem!r}"[:300])

    words = b'"1355868" "organ" "obs_id" "leaf" null \\u2028 \\ud800 1e999 NaN'
    return Target(
        "plantnet300k",
        "species names and metadata (JSON of Pl@ntNet-300K)",
        lambda: [b"N" + _NAMES, _METADATA],
        call,
        tuple(words.split()),
    )
