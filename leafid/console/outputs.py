"""Where a command writes its file: what ``-`` means, and that nothing is written over that is read."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from leafid.console.arguments import given_path
from leafid.errors import UsageError
from leafid.files import followed, takes_no_name

# Of what lies in a collection, or in a folder of recipes, besides pictures. Other files there may be earlier results.
_READ_ENDINGS = frozenset({".xml", ".json", ".toml"})


def output_text(word: str) -> str:
    """Read the name of a text file to write; ``-`` is stdout."""
    return "/dev/stdout" if word == "-" else given_path(word)


def output_binary(word: str) -> str:
    """Read the name of a file to write that is no text, and so nothing for stdout."""
    if word == "-":
        raise argparse.ArgumentTypeError("expected the name of a file, found '-': it is no text for stdout")
    return given_path(word)


def refuse_inputs(output: str | os.PathLike[str], read: Iterable[str | os.PathLike[str]]) -> None:
    """Find out before the work that a file to be written would take the place of one that is read, or of a picture.

    Parameters
    ----------
    output : path-like
        The file to write.
    read : iterable of path-like
        The files and folders that the command reads; some need not be there.

    Raises
    ------
    UsageError
        When the output is one of the files, has the ending of a picture, or is metadata or a recipe in one of the
        folders.
    """
    from leafid.images import PICTURE_ENDINGS

    if takes_no_name(output):
        return
    target = followed(output)
    ending = target.suffix.lower()
    # As `leafid predict --output garden/*.jpg` gives, whose first picture would be gone.
    if ending in PICTURE_ENDINGS:
        raise UsageError(f"--output {output}: expected a name without the ending of a picture, found {ending}")
    if not target.is_file():
        return
    for path in map(Path, read):
        inside = ending in _READ_ENDINGS and path.is_dir() and path.resolve() in target.resolve().parents
        if inside or (path.exists() and path.samefile(target)):
            raise UsageError(f"--output {output}: expected a file of its own, found one that is read; name another")
