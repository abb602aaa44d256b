"""The settings file of a drawn collection."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target, write_input
from leafid.synthetic.writer import MARK, read_mark

_SEED = b'{"program": "leafid", "settings": {"species": 3, "seed": 0}, "complete": true}'


def target() -> Target:
    """Read it; a damaged file counts as missing."""

    def call(data: bytes, folder: Path) -> None:
        read_mark(write_input(folder, MARK, data))

    return Target("sample-mark", "the mark of drawn collections (JSON)", lambda: [_SEED], call, (b'"settings"', b"{"))
