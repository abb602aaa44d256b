"""Summarises a collection, its unreadable files, and the risks of an experiment."""

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
from leafid.parallel.mapping import recording_log
from leafid.pictures.decoding import read_hashed_image
from leafid.pictures.header import hash_picture_file, read_picture_bytes
from leafid.pictures.picture import (
    AcquisitionType,
    Collection,
    Picture,
    count_plants,
    group_by_collection,
    group_by_species,
)

_NOUNS = {"species": "species", "part": "parts", "group": "plants"}
_NOUNS |= {"collection": "collections"}
Groups = Sequence[Sequence[Picture]]
logger = logging.getLogger(__name__)


class FileCheck(NamedTuple):
    """Checks of a picture file: its SHA-256, why it can't be read, or its damage."""

    file: Path
    digest: str | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()


def check_file(file: Path) -> FileCheck:
    """Decode a picture and report errors and damage, without raising."""
    with recording_log("leafid.pictures", propagate=False) as log:
        try:
            digest = read_hashed_image(file)[1]
        except LeafidError as error:
            return FileCheck(file, error=str(error))
    damage = (record for record in log if record.levelno >= logging.WARNING)
    return FileCheck(
        file, digest, None, tuple(map(logging.LogRecord.getMessage, damage))
    )


def summarise(collection: Collection, checks: Sequence[FileCheck]) -> dict[str, Any]:
    """Summarise a collection and its files' checks: the JSON of ``leafid info``."""
    pictures = collection.pictures
    digests = {check.file: check.digest for check in checks if check.digest is not None}
    duplicates = _find_duplicates(pictures, digests)
    by_type = group_by(pictures, lambda picture: picture.type)
    types = (type_ for type_ in (*AcquisitionType, None) if type_ in by_type)
    return {
        "root": str(collection.root),
        "layout": collection.layout,
        "total": count_pictures(pictures),
        "types": {str(t or "unknown"): count_pictures(by_type[t]) for t in types},
        "parts": dict(Counter(picture.part or "unknown" for picture in pictures)),
        "species": count_by_species(pictures),
        "missing": _list_files(collection.find_missing()),
        "unreadable": [check.error for check in checks if check.error is not None],
        "damaged": [line for check in checks for line in check.warnings],
        "duplicates": [*map(_list_files, duplicates)],
        "problems": list(collection.problems),
        "warnings": list(find_risks(pictures, duplicates)),
    }


def _find_duplicates(
    pictures: Iterable[Picture], digests: Mapping[Path, str]
) -> list[list[Picture]]:
    readable = (picture for picture in pictures if picture.file in digests)
    by_digest = group_by(readable, lambda picture: digests[picture.file])
    return [group for group in by_digest.values() if len(group) > 1]


def _list_files(pictures: Iterable[Picture]) -> list[str]:
    return [str(picture.file) for picture in pictures]


def count_pictures(pictures: Sequence[Picture]) -> dict[str, int]:
    """Count pictures, and the species, plants and authors among them.

    Unknown ones don't count.
    """
    # Another collection's plant may have the same identifier.
    plants = {picture.group for picture in pictures if picture.plant is not None}
    return {
        "pictures": len(pictures),
        "species": len({picture.species for picture in pictures} - {None}),
        "plants": len(plants),
        "authors": len({picture.author for picture in pictures} - {None}),
    }


def count_by_species(pictures: Iterable[Picture]) -> list[dict[str, Any]]:
    """Count pictures and plants of each species, and its pictures by type.

    Species are sorted by their number of pictures, then by name. A picture of unknown
    plant counts as a plant, as it does in a split.
    """
    counts = []
    for species, group in group_by_species(pictures).items():
        types = sorted(str(picture.type or "unknown") for picture in group)
        count = {
            "species": species,
            "pictures": len(group),
            "plants": count_plants(group),
            "by_type": dict(Counter(types)),
        }
        counts.append(count)
    return sorted(counts, key=lambda entry: (entry["pictures"], entry["species"]))


def find_risks(
    pictures: Sequence[Picture],
    duplicates: Groups,
    fields: Iterable[str] = _NOUNS,
) -> Iterator[str]:
    """Find risks of an experiment, such as groups that differ in `fields`."""
    labelled = [picture for picture in pictures if picture.species]
    with_plant = (picture for picture in labelled if picture.plant is not None)
    plants = group_by(with_plant, lambda picture: picture.group).values()
    groups = {"duplicate": duplicates, "plant": [*plants]}
    for noun, field in product(groups, fields):
        mixed = _select_mixed(groups[noun], field)
        if mixed:
            # The first group gives an example: a picture for each value.
            example = {getattr(p, field): p.file for p in mixed[0]}
            first, second, *_ = example.values()
            count = f"{count_noun(len(mixed), noun)} of several {_NOUNS[field]}"
            advice = "correct the metadata, or remove pictures"
            yield f"{count}, {first} and {second} first: {advice}"
    if labelled and not plants and "group" in fields:
        yield (
            "the plants are unknown: where several pictures show one, held-out scores "
            "are too high; say --plants-from, or look for pictures of one leaf with "
            "--similar"
        )


def _select_mixed(groups: Groups, field: str) -> Groups:
    """Select the groups whose pictures differ in a field."""
    mixed = []
    for group in groups:
        if len({getattr(picture, field) for picture in group}) > 1:
            mixed.append(group)
    return mixed


def warn_of_shared_pictures(pictures: Sequence[Picture]) -> None:
    """Warn where parts share a plant, or parts or collections a picture."""
    collections = [*group_by_collection(pictures).values()]
    groups: Groups
    for field, groups in (("part", collections), ("collection", [pictures])):
        # Most pictures differ in size, and needn't be read.
        for get_key in (_get_size, _hash_content):
            by_key = [
                group_by(group, get_key) for group in _select_mixed(groups, field)
            ]
            groups = [group for same in by_key for group in same.values()]
        for line in find_risks(pictures, groups, [field]):
            logger.warning("%s", line)


def _get_size(picture: Picture) -> int:
    with suppress(OSError):
        return picture.file.stat().st_size
    return 0


def _hash_content(picture: Picture) -> str:
    """Hash a file; one that can't be read (see `check_file`) is like no other one."""
    with suppress(LeafidError):
        return hash_picture_file(picture.file)
    return str(picture.file)


def compute_fingerprint(pictures: Iterable[Picture]) -> str:
    """Hash the files and labels of pictures, whatever their order and folder.

    The hash is a SHA-256 in hexadecimal digits. It covers each picture's name, type,
    species, plant and content.
    """
    return hashlib.sha256(b"".join(sorted(map(_encode_picture, pictures)))).hexdigest()


def _encode_picture(picture: Picture) -> bytes:
    data = picture.data
    if data is None:
        data = read_picture_bytes(picture.file)
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
