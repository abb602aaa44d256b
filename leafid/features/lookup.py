"""The values of a picture that a loader looks up in the cache, and computes where they are missing."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.picture import Picture

#: Arrays by name.
NamedArrays = dict[str, list[np.ndarray]]


@dataclass(frozen=True)
class Source:
    """What is computed from pictures and cached; picklable, as workers get it."""

    #: Everything but the picture that decides a value, by its name.
    keys: dict[str, str]
    #: Pictures are reduced to it when they are read, in pixels.
    longest_side: int
    #: ``compute(image, picture, names)`` returns the values with these names.
    compute: Callable[[np.ndarray, Picture, Sequence[str]], NamedArrays]


@dataclass(frozen=True)
class Lookup:
    """A picture with the keys of its values in the cache, and the names of those that have to be computed.

    `content_hash` is None where the file can't be read.
    """

    picture: Picture
    content_hash: str | None
    keys: dict[str, bytes]
    missing: tuple[str, ...] = ()


def make_keys(source: Source, picture: Picture, content_hash: str) -> dict[str, bytes]:
    """Make the keys in the cache of the values of a picture, by name."""
    return {
        name: hashlib.sha256(f"{key}|{picture.type}|{content_hash}".encode()).digest()
        for name, key in source.keys.items()
    }


def compute_missing(source: Source, lookup: Lookup) -> tuple[str, NamedArrays]:
    """Compute what is missing of a picture; returns the hash of what was read, and the values."""
    image, content_hash = read_hashed_image(lookup.picture.file, source.longest_side, lookup.picture.data)
    # If the file was replaced since it was looked up, the cached values belong to another picture.
    names = lookup.missing if content_hash == lookup.content_hash else tuple(source.keys)
    return content_hash, source.compute(image, lookup.picture, names)
