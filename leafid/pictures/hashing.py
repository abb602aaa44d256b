"""Identifies files and sets of pictures by their content."""

import hashlib
import os
from collections.abc import Iterable

from leafid.pictures.header import read_picture_bytes
from leafid.pictures.picture import Picture


def hash_picture_file(file: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file in hexadecimal digits; what can't be a picture is refused."""
    return hashlib.sha256(read_picture_bytes(file)).hexdigest()


def compute_fingerprint(pictures: Iterable[Picture]) -> str:
    """Hash the files and labels of pictures, in any order and wherever they are: SHA-256 in hexadecimal digits.

    It covers each picture's name, type, species, plant and content.
    """
    return hashlib.sha256(b"".join(sorted(map(_encode_picture, pictures)))).hexdigest()


def _encode_picture(picture: Picture) -> bytes:
    data = read_picture_bytes(picture.file) if picture.data is None else picture.data
    fields = (picture.name, picture.type, picture.species, picture.plant, hashlib.sha256(data).hexdigest())
    # A length before each field, so that different fields never join to the same bytes.
    encoded = (b"-" if field is None else str(field).encode("utf-8", "surrogateescape") for field in fields)
    return b"".join(len(field).to_bytes(4, "big") + field for field in encoded)
