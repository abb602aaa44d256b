"""Tells files and sets of pictures apart by their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from leafid.collection.picture import Picture
from leafid.errors import LeafidError
from leafid.files import is_pipe_or_device


def hash_file(file: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits.

    Raises
    ------
    LeafidError
        When the file can't be read, or is a named pipe or a device, which would be waited for without end.
    """
    path = Path(file)
    try:
        if is_pipe_or_device(path):
            raise LeafidError(f"{file}: expected a file, found a named pipe or a device")
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise LeafidError(f"{file}: can't be read: {error.strerror or error}") from error


def compute_fingerprint(pictures: Iterable[Picture]) -> str:
    """Return a number for a set of pictures: the same for the same files and labels, wherever they are.

    Parameters
    ----------
    pictures : iterable of Picture
        In any order.

    Returns
    -------
    str
        64 hexadecimal digits: the SHA-256 of the sorted records of name, type, species, plant and content hash.

    Raises
    ------
    LeafidError
        When a file can't be read.
    """
    total = hashlib.sha256()
    for record in sorted(map(_record, pictures)):
        total.update(record)
    return total.hexdigest()


def _record(picture: Picture) -> bytes:
    fields = (picture.name, picture.type, picture.species, picture.plant, hash_file(picture.file))
    # A length before each field, so that no two lists of fields run together into the same bytes.
    parts = (b"-" if field is None else str(field).encode("utf-8", "surrogateescape") for field in fields)
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
