"""Files of the 2016 annotation task."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.tasks.annotation2016.files import AllowedNames, read_annotations, read_list

_SEEDS = [
    b"1 a.jpg leaf 0.5:10x20+3+4,0.2:5x5+0+0 Acer_campestre 1x1+0+0\n"
    b"1 b.jpg leaf 0.1:3x3+1+1\n",
    b"2 a.jpg a tree in a park\n2 b.jpg leaves\n",
    b"3 a.jpg 1,2,30\n3 b.jpg 0\n",
    b"4 doc1 a.jpg,b.jpg\n",
    b"5 doc1 44.5 -3.25\n5 doc2 -90 180\n",
    b"La.jpg\nb.jpg\n",
]
_KNOWN = AllowedNames(
    frozenset({"a.jpg", "b.jpg"}), frozenset({"leaf"}), frozenset({"a.jpg"})
)


def target() -> Target:
    """Read a list where the input begins with L, a run and a truth otherwise."""

    def call(data: bytes, folder: Path) -> None:
        if data[:1] == b"L":
            read_list(write_input(folder, "list.txt", data[1:]))
        else:
            file = write_input(folder, "run.txt", data)
            read_annotations(file)
            read_annotations(file, is_truth=True)
            read_annotations(file, _KNOWN)

    return Target(
        "annotation-2016",
        "run files, truths, lists (ImageCLEF 2016 annotation)",
        lambda: _SEEDS,
        call,
        (b"0.5:10x20+3+4", b",", b"x", b"+", b":", b"999999999"),
    )
