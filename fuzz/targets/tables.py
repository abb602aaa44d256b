"""CSV tables: distances between classes, and the objects of label masks."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.tasks.interpretation.label_masks import read_objects
from leafid.tasks.interpretation.metric import read_distances

_OBJECTS = (
    b"mask,label,class,confidence\na.png,1,leaf,0.5\na.png,2,stem,\nb.png,1,leaf\n"
)
_DISTANCES = b',leaf,stem\nleaf,0,0.5\nstem,"0.25",0\n'


def target() -> Target:
    """Read objects where the input begins with m, distances otherwise."""

    def call(data: bytes, folder: Path) -> None:
        if data[:1] == b"m":
            read_objects(write_input(folder, "objects.csv", data))
        else:
            read_distances(write_input(folder, "distances.csv", data))

    words = (b"mask", b"label", b"class", b'"', b'""', b"\r", b",,", b"\xc2\xb2")
    return Target(
        "tables",
        "class distances and objects (CSV)",
        lambda: [_OBJECTS, _DISTANCES],
        call,
        words,
    )
