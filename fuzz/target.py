"""A fuzzing target: a reader, seed inputs, and the call of the reader on an input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """One reader under test.

    Attributes
    ----------
    name : str
    reads : str
        The kind of file, for the report.
    seeds : callable
        Returns small valid inputs, and a few that are nearly valid.
    call : callable
        ``call(data, folder)`` writes the input below the folder and calls the reader on
        it. Every other write, and every error but `leafid.errors.LeafidError`, is a
        finding.
    words : tuple of bytes
        Pieces of the format that mutations may insert.
    max_seconds : float
        CPU time of an input beyond which it is a finding.
    """

    name: str
    reads: str
    seeds: Callable[[], list[bytes]]
    call: Callable[[bytes, Path], object]
    words: tuple[bytes, ...] = ()
    max_seconds: float = 1.0


def write_input(folder: Path, name: str, data: bytes) -> Path:
    """Write an input to a file; return its path."""
    file = folder / name
    file.write_bytes(data)
    return file
