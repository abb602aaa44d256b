"""Summarises a collection: what is in it, which files can't be read, and what would spoil an experiment on it."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
from leafid.pictures.collection import Collection, find_name_clashes, group_by_species
from leafid.pictures.decoding import read_image, read_image_size
from leafid.pictures.hashing import hash_picture_file
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.workers import recording_log


@dataclass(frozen=True)
class FileCheck:
    """What was found in a picture file."""

    file: Path
    #: SHA-256 of the content; None if the file can't be opened.
    digest: str | None = None
    #: Why the picture can't be read.
    error: str | None = None
    #: Damage of a picture that can be read.
    warnings: tuple[str, ...] = ()


def check_file(file: Path, decode: bool = True) -> FileCheck:
    """Read a picture and report what was found, without raising.

    Without `decode` only the header is read, which is faster but misses damage.
    """
    digest: str | None = None
    with recording_log("leafid.pictures", propagate=False) as log:
        try:
            digest = hash_picture_file(file)
            (read_image if decode else read_image_size)(file)
        except LeafidError as error:
            return FileCheck(file, digest, str(error))
    return FileCheck(file, digest, None, tuple(message for _, level, message in log if level >= logging.WARNING))


def summarise(collection: Collection, checks: Sequence[FileCheck], decoded: bool) -> dict[str, Any]:
    """Summarise a collection as the JSON of ``leafid info``; lists are in the collection's order.

    `checks` are those of its existing files, which `unreadable`, `damaged` and `duplicates` cover; `decoded` tells
    whether these were decoded. There is a Gini index for all labelled pictures, and one for each part.
    """
    pictures = collection.pictures
    by_file = {picture.file: picture for picture in pictures}
    duplicates = find_duplicates([by_file[check.file] for check in checks], [check.digest for check in checks])
    dates = sorted(picture.date for picture in pictures if picture.date)
    by_type = group_by(pictures, lambda picture: picture.type)
    by_part = group_by((p for p in pictures if p.species), lambda picture: picture.part or "no part")
    parts = {"all": [p for p in pictures if p.species], **(by_part if len(by_part) > 1 else {})}
    return {
        "root": str(collection.root),
        "layout": collection.layout,
        "total": count_pictures(pictures),
        "types": {
            str(type_ or "unknown"): count_pictures(by_type[type_])
            for type_ in (*AcquisitionType, None)
            if type_ in by_type
        },
        "contents": _count_values(picture.content for picture in pictures),
        "parts": _count_values(picture.part for picture in pictures),
        "dates": [dates[0], dates[-1]] if dates else [],
        "species": count_by_species(pictures),
        "gini_indices": {
            part: round(gini_index([*Counter(p.species for p in own).values()]), 4)
            for part, own in parts.items()
            if own
        },
        "name_clashes": {name: _list_files(clashing) for name, clashing in find_name_clashes(pictures).items()},
        "missing": _list_files(collection.find_missing()),
        "decoded": decoded,
        "unreadable": [check.error for check in checks if check.error is not None],
        "damaged": [line for check in checks for line in check.warnings],
        "duplicates": [
            {
                "files": _list_files(group),
                "cross_species": len({picture.species for picture in group}) > 1,
                "cross_plants": len({picture.group for picture in group}) > 1,
            }
            for group in duplicates
        ],
        "problems": list(collection.problems),
        "warnings": list(find_risks(pictures, duplicates)),
    }


def _count_values(values: Iterable[str | None]) -> dict[str, int]:
    return {str(value or "unknown"): number for value, number in Counter(values).most_common()}


def _list_files(pictures: Iterable[Picture]) -> list[str]:
    return [str(picture.file) for picture in pictures]


def gini_index(counts: Sequence[int]) -> float:
    """Compute the Gini index of the pictures of each species: twice the area between Lorenz curve and diagonal.

    It is 0 if all n species have the same number of pictures, and (n - 1) / n if one species has all of them.

    References
    ----------
    .. [1] J. L. Gastwirth, "The estimation of the Lorenz curve and Gini index", Review of Economics and Statistics
       54(3), 1972. https://doi.org/10.2307/1937992

    Examples
    --------
    >>> gini_index([1, 1, 1, 1]), gini_index([0, 0, 0, 4]), gini_index([1, 3])
    (0.0, 0.75, 0.25)
    """
    shares = np.concatenate([[0.0], np.cumsum(np.sort(counts))]) / np.sum(counts)
    # The curve is piecewise linear, so that trapezia give its area exactly.
    return 1 - float(np.mean(shares[1:] + shares[:-1]))


def count_pictures(pictures: Iterable[Picture]) -> dict[str, int]:
    """Count pictures, and the species, plants and authors among them; unknown ones don't count."""
    pictures = tuple(pictures)
    return {
        "pictures": len(pictures),
        "species": len({picture.species for picture in pictures} - {None}),
        "plants": len({picture.plant for picture in pictures} - {None}),
        "authors": len({picture.author for picture in pictures} - {None}),
    }


def count_by_species(pictures: Iterable[Picture]) -> list[dict[str, Any]]:
    """Count pictures, plants, and pictures by type per species, in the order of the number of pictures and the name.

    A picture of unknown plant counts as a plant of its own, as it does in a split.
    """
    counts = [
        {
            "species": species,
            "pictures": len(group),
            "plants": len({picture.group for picture in group}),
            "by_type": dict(sorted(Counter(str(picture.type or "unknown") for picture in group).items())),
        }
        for species, group in group_by_species(pictures).items()
    ]
    return sorted(counts, key=lambda entry: (entry["pictures"], entry["species"]))


def find_duplicates(pictures: Sequence[Picture], hashes: Sequence[str | None]) -> list[list[Picture]]:
    """Group the pictures with equal content hashes, in the pictures' order; a hash of None equals no other."""
    hashed = [pair for pair in zip(pictures, hashes, strict=True) if pair[1] is not None]
    groups = group_by(hashed, lambda pair: pair[1]).values()
    return [[picture for picture, _ in group] for group in groups if len(group) > 1]


def find_risks(pictures: Sequence[Picture], duplicates: Sequence[Sequence[Picture]]) -> Iterator[str]:
    """Find what would spoil an experiment on a collection; yield a line for each with what to do."""
    labelled = [picture for picture in pictures if picture.species is not None]
    by_part = group_by(labelled, lambda picture: picture.part)
    by_plant = group_by((picture for picture in labelled if picture.plant is not None), lambda picture: picture.plant)
    crossing = [group for group in duplicates if len({picture.part for picture in group}) > 1]
    mislabelled = [group for group in duplicates if len({picture.species for picture in group}) > 1]
    apart = [g for g in duplicates if g not in mislabelled and len({picture.group for picture in g}) > 1]
    if crossing:
        names = f"{crossing[0][0].name} and {crossing[0][1].name}"
        yield f"{count_noun(len(crossing), 'duplicate')} across parts, {names} first: remove from the training part"
    elif apart:
        yield f"{count_noun(len(apart), 'duplicate')} of different plants: remove, or make them one (--plants-from)"
    if mislabelled:
        yield f"{count_noun(len(mislabelled), 'duplicate')} with different labels: correct or remove them"
    if shared := [plant for plant, own in by_plant.items() if len({picture.part for picture in own}) > 1]:
        yield f"{count_noun(len(shared), 'plant')} in several parts, {shared[0]!r} first: move each plant to one part"
    if mixed := [plant for plant, own in by_plant.items() if len({picture.species for picture in own}) > 1]:
        yield (
            f"{count_noun(len(mixed), 'plant')} of several labels, {mixed[0]!r} first: number plants over all labels, "
            "or let the pattern of --plants-from include the label"
        )
    trained, tested = ({picture.species for picture in by_part.get(part, [])} for part in ("train", "test"))
    if trained and (unseen := sorted(map(str, tested - trained))):
        yield (
            f"{count_noun(len(unseen), 'label')} of the test part without a training picture, {unseen[0]!r} first: add "
            "some, or leave the pictures out"
        )
    counts = Counter(picture.species for picture in labelled)
    label, largest = counts.most_common(1)[0] if counts else (None, 0)
    if len(counts) == 1:
        yield f"all pictures have one label, {label!r}: name the folder above the folders of labels"
    elif 2 * largest > len(labelled):
        yield (
            f"{label!r} holds {100 * largest // len(labelled)}% of the pictures: accuracy says little; compare "
            "averages over labels ('leafid evaluate --macro')"
        )
    if single := [name for name, count in counts.items() if count == 1]:
        yield f"{count_noun(len(single), 'label')} with a single picture, {single[0]!r} first: no fold trains and tests"
    if labelled and not by_plant:
        yield (
            "the plants are unknown: where several pictures show one, held-out scores are too high; say --plants-from, "
            "or look for pictures of one leaf with --similar"
        )
