"""Summarises a collection: what is in it, which files can't be read, and what would spoil an experiment on it."""

import hashlib
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from leafid.errors import LeafidError
from leafid.files import open_input
from leafid.grouping import count_noun, group_by
from leafid.parallel.mapping import recording_log
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.header import read_picture_bytes
from leafid.pictures.picture import (
    AcquisitionType,
    Collection,
    Picture,
    group_by_species,
)

_NOUNS = {"species": "species", "part": "parts", "group": "plants"}
logger = logging.getLogger(__name__)


class FileCheck(NamedTuple):
    """What was found in a picture file: its SHA-256, why it can't be read, and damage of one that can."""

    file: Path
    digest: str | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()


def check_file(file: Path) -> FileCheck:
    """Decode a picture and report what was found, without raising."""
    with recording_log("leafid.pictures", propagate=False) as log:
        try:
            digest = read_hashed_image(file)[1]
        except LeafidError as error:
            return FileCheck(file, error=str(error))
    return FileCheck(
        file,
        digest,
        warnings=tuple(
            record.getMessage() for record in log if record.levelno >= logging.WARNING
        ),
    )


def summarise(collection: Collection, checks: Sequence[FileCheck]) -> dict[str, Any]:
    """Summarise a collection, and the checks of its existing files, as the JSON of ``leafid info``."""
    pictures = collection.pictures
    digests = {check.file: check.digest for check in checks if check.digest is not None}
    by_digest = group_by(
        (p for p in pictures if p.file in digests),
        lambda picture: digests[picture.file],
    )
    duplicates = [group for group in by_digest.values() if len(group) > 1]
    by_type = group_by(pictures, lambda picture: picture.type)
    return {
        "root": str(collection.root),
        "layout": collection.layout,
        "total": count_pictures(pictures),
        "types": {
            str(t or "unknown"): count_pictures(by_type[t])
            for t in (*AcquisitionType, None)
            if t in by_type
        },
        "parts": dict(Counter(picture.part or "unknown" for picture in pictures)),
        "species": count_by_species(pictures),
        "missing": [str(picture.file) for picture in collection.find_missing()],
        "unreadable": [check.error for check in checks if check.error is not None],
        "damaged": [line for check in checks for line in check.warnings],
        "duplicates": [
            [str(picture.file) for picture in group] for group in duplicates
        ],
        "problems": list(collection.problems),
        "warnings": list(find_risks(pictures, duplicates)),
    }


def count_pictures(pictures: Sequence[Picture]) -> dict[str, int]:
    """Count pictures, and the species, plants and authors among them; unknown ones don't count."""
    fields = {"species": "species", "plants": "plant", "authors": "author"}
    counts = {
        noun: len({getattr(picture, field) for picture in pictures} - {None})
        for noun, field in fields.items()
    }
    return {"pictures": len(pictures), **counts}


def count_by_species(pictures: Iterable[Picture]) -> list[dict[str, Any]]:
    """Count pictures, plants, and pictures by type per species, in the order of the number of pictures and the name.

    A picture of unknown plant counts as a plant of its own, as it does in a split.
    """
    counts = [
        {
            "species": species,
            "pictures": len(group),
            "plants": len({picture.group for picture in group}),
            "by_type": dict(
                sorted(
                    Counter(str(picture.type or "unknown") for picture in group).items()
                )
            ),
        }
        for species, group in group_by_species(pictures).items()
    ]
    return sorted(counts, key=lambda entry: (entry["pictures"], entry["species"]))


def find_risks(
    pictures: Sequence[Picture],
    duplicates: Sequence[Sequence[Picture]],
    fields: Iterable[str] = _NOUNS,
) -> Iterator[str]:
    """Find what would spoil an experiment on a collection, such as groups that differ in `fields`; yield what to do."""
    plants = group_by(
        (p for p in pictures if p.species and p.plant is not None),
        lambda picture: picture.plant,
    )
    for noun, groups in (("duplicate", duplicates), ("plant", list(plants.values()))):
        for field in fields:
            if mixed := [
                group
                for group in groups
                if len({getattr(picture, field) for picture in group}) > 1
            ]:
                # The first group gives an example: a picture for each value.
                first, second, *_ = {
                    getattr(picture, field): picture.file for picture in mixed[0]
                }.values()
                yield (
                    f"{count_noun(len(mixed), noun)} of several {_NOUNS[field]}, {first} and {second} first: correct "
                    "the metadata, or remove pictures"
                )
    if (
        not plants
        and "group" in fields
        and any(picture.species for picture in pictures)
    ):
        yield (
            "the plants are unknown: where several pictures show one, held-out scores are too high; say --plants-from, "
            "or look for pictures of one leaf with --similar"
        )


def warn_of_shared_pictures(pictures: Sequence[Picture]) -> None:
    """Log the warnings of `find_risks` where parts of a collection share a plant, or pictures of one content."""
    groups = [list(pictures)]
    # Most pictures differ in size or in their last bytes, and needn't be read.
    for n_bytes in (64, None):
        mixed = [
            group for group in groups if len({picture.part for picture in group}) > 1
        ]
        groups = [
            same
            for group in mixed
            for same in group_by(group, partial(_hash_end, n_bytes=n_bytes)).values()
        ]
    for line in find_risks(pictures, groups, ["part"]):
        logger.warning("%s", line)


def _hash_end(picture: Picture, n_bytes: int | None) -> tuple[int, bytes]:
    """Give the size of a file and hash its last bytes, or all; one that can't be read (see `check_file`) is unique."""
    with suppress(LeafidError), open_input(picture.file) as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - (n_bytes or size), 0))
        return size, hashlib.file_digest(stream, "sha256").digest()
    return -1, os.fsencode(picture.file)


def compute_fingerprint(pictures: Iterable[Picture]) -> str:
    """Hash the files and labels of pictures, in any order and wherever they are: SHA-256 in hexadecimal digits.

    It covers each picture's name, type, species, plant and content.
    """
    return hashlib.sha256(b"".join(sorted(map(_encode_picture, pictures)))).hexdigest()


def _encode_picture(picture: Picture) -> bytes:
    data = read_picture_bytes(picture.file) if picture.data is None else picture.data
    fields = (
        picture.name,
        picture.type,
        picture.species,
        picture.plant,
        hashlib.sha256(data).hexdigest(),
    )
    # A length before each field, so that different fields never join to the same bytes.
    encoded = (
        b"-" if field is None else str(field).encode("utf-8", "surrogateescape")
        for field in fields
    )
    return b"".join(len(field).to_bytes(4, "big") + field for field in encoded)
