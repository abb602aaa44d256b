"""Runs of the plant task: the format of 2011, and the others that are detected."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from fuzz.target import Target, write_input
from leafid.errors import ProblemsError
from leafid.scoring.reading.run_reading import read_run
from leafid.scoring.reading.runs import KnownNames

_GOOD = b"""213.jpg Sorbus torminalis 1 0.7
213.jpg Crataegus azarolus 2 0.3
2107.jpg Platanus x hispanica 1 1.0
"""


def _make_archive() -> bytes:
    stream = io.BytesIO()
    np.savez(
        stream, pictures=["213.jpg"], species=["Sorbus torminalis"], scores=[[0.7]]
    )
    return stream.getvalue()


_SEEDS = [
    _GOOD,
    b"213.jpg Sorbus torminalis 1 0.7\n213.jpg Sorbus torminalis 3 -1e-5\n",
    b"\xef\xbb\xbf<213.jpg> <Sorbus torminalis> 0 nan\r\n\n213.jpg Sorbus 1,5\n",
    b"picture,species,score\n"
    b"213.jpg,Sorbus torminalis,0.7\n2107,Crataegus azarolus,1\n",
    b",Sorbus torminalis,Crataegus azarolus\n213.jpg,0.7,0.3\n",
    b"213.jpg Q0 Sorbus_torminalis 1 0.7 tag\n",
    b"213.jpg;Sorbus torminalis;0.7;1\n",
    _make_archive(),
]
_KNOWN = KnownNames(
    frozenset({"213.jpg", "2107.jpg"}),
    frozenset({"Sorbus torminalis", "Crataegus azarolus", "Platanus x hispanica"}),
)


def target() -> Target:
    """Read a run strictly, like the official scorer, and against known names.

    A valid run must read back.
    """

    def call(data: bytes, folder: Path) -> None:
        file = write_input(folder, "run.txt", data)
        errors = []
        for known, official in ((None, True), (_KNOWN, False), (None, False)):
            try:
                run = read_run(file, known, official=official)
            except ProblemsError as error:
                errors.append(error)
                continue
            if not len(run) or not all(prediction.rank >= 1 for prediction in run):
                raise AssertionError(
                    "an empty run, or one with a rank below 1, was accepted"
                )
        if errors:
            raise errors[-1]
        read_run(file)

    words = (
        b"213.jpg",
        b"Sorbus",
        b" 1 ",
        b"0.7",
        b"2147483648",
        b"-1",
        b"<",
        b">",
        b"\xc2\xa0",
        b"\x0c",
        b"\x1c",
    )
    return Target("run-2011", "run files (ImageCLEF 2011)", lambda: _SEEDS, call, words)
