"""Reads the lists that tell what a run of the ImageCLEF 2016 annotation task may be about."""

from __future__ import annotations

import os

from leafid.errors import LeafidError, ProblemsError
from leafid.textfiles import read_text


def read_list(path: str | os.PathLike[str]) -> frozenset[str]:
    """Read a list of ids or concepts, one a line."""
    words = [line.strip() for line in read_text(path).splitlines()]
    if not any(words):
        raise LeafidError(f"{path}: expected a name a line, found none")
    return frozenset(word for word in words if word)


def read_sizes(path: str | os.PathLike[str]) -> dict[str, tuple[int, int]]:
    """Read the sizes of pictures, ``id width height`` a line, in pixels; blank lines count for nothing."""
    sizes: dict[str, tuple[int, int]] = {}
    first: dict[str, int] = {}
    problems = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) != 3 or not all(map(_is_length, words[1:])):
            problems.append(f"{path}:{number}: expected an id, a width and a height above 0, found {line!r}")
        elif words[0] in sizes:
            problems.append(
                f"{path}:{number}: expected every id once, found {words[0]!r}, as in line {first[words[0]]}"
            )
        else:
            sizes[words[0]] = (int(words[1]), int(words[2]))
            first[words[0]] = number
    if problems:
        raise ProblemsError(problems)
    if not sizes:
        raise LeafidError(f"{path}: expected lines 'id width height', found none")
    return sizes


def _is_length(word: str) -> bool:
    # No picture's side has more digits, and converting a number of very many takes long.
    return word.isascii() and word.isdigit() and len(word) <= 9 and int(word) > 0
