"""Identifies files and sets of pictures by their content."""

import hashlib
import os
from collections.abc import Iterable

from leafid.files import open_input
from leafid.pictures.header import check_picture_file
from leafid.pictures.picture import Picture


def hash_file(file: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's content in hexadecimal digits; a pipe or a device is refused."""
    with open_input(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_picture_file(file: str | os.PathLike[str]) -> str:
    """Hash as `hash_file` does, and refuse first what can't be a picture: a file of terabytes would take hours."""
    check_picture_file(file)
    return hash_file(file)


def compute_fingerprint(pictures: Iterable[Picture]) -> str:
    """Hash the files and labels of pictures, in any order and wherever they are: SHA-256 in hexadecimal digits.

    It covers each picture's name, type, species, plant and content.
    """
    total = hashlib.sha256()
    for record in sorted(map(_encode_picture, pictures)):
        total.update(record)
    return total.hexdigest()


def _encode_picture(picture: Picture) -> bytes:
    in_memory = picture.data is not None and hashlib.sha256(picture.data).hexdigest()
    content_hash = in_memory or hash_picture_file(picture.file)
    fields = (picture.name, picture.type, picture.species, picture.plant, content_hash)
    # A length before each field, so that different fields never join to the same bytes.
    encoded = (b"-" if field is None else str(field).encode("utf-8", "surrogateescape") for field in fields)
    return b"".join(len(field).to_bytes(4, "big") + field for field in encoded)
