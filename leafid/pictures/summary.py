"""Summarises a collection as plain data that can be printed or written as JSON."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from leafid.pictures.checking import FileCheck
from leafid.pictures.collection import Collection, find_name_clashes
from leafid.pictures.picture import Picture
from leafid.pictures.statistics import (
    count_by_species,
    count_by_type,
    count_pictures,
    differ_in_plant,
    differ_in_species,
    find_duplicates,
    find_risks,
    gini_index,
    lorenz_curve,
)


def summarise(collection: Collection, checks: Sequence[FileCheck], decoded: bool) -> dict[str, Any]:
    """Summarise a collection as the JSON of ``leafid info``; shares are 0 to 1, lists are in the collection's order.

    `checks` are those of its existing files, which `unreadable`, `damaged` and `duplicates` cover; `decoded` tells
    whether these were decoded. A Lorenz curve has points of the share of species, the fewest pictures first, and the
    share of pictures that these hold; there is one for all labelled pictures, and one for each part.
    """
    pictures = collection.pictures
    counts = _count_by_part(pictures)
    by_file = {picture.file: picture for picture in pictures}
    duplicates = find_duplicates([by_file[check.file] for check in checks], [check.digest for check in checks])
    dates = sorted(picture.date for picture in pictures if picture.date)
    return {
        "root": str(collection.root),
        "layout": collection.layout,
        "total": count_pictures(pictures),
        "types": count_by_type(pictures),
        "contents": _count_values(picture.content for picture in pictures),
        "parts": _count_values(picture.part for picture in pictures),
        "dates": [dates[0], dates[-1]] if dates else [],
        "species": count_by_species(pictures),
        "gini_indices": {part: round(gini_index(numbers), 4) for part, numbers in counts.items()},
        "lorenz_curves": {part: _round_points(*lorenz_curve(numbers)) for part, numbers in counts.items()},
        "name_clashes": {name: _list_files(clashing) for name, clashing in find_name_clashes(pictures).items()},
        "missing": _list_files(collection.find_missing()),
        "decoded": decoded,
        "unreadable": [check.error for check in checks if check.error is not None],
        "damaged": [line for check in checks for line in check.warnings],
        "duplicates": [
            {
                "files": _list_files(group),
                "cross_species": differ_in_species(group),
                "cross_plants": differ_in_plant(group),
            }
            for group in duplicates
        ],
        "problems": list(collection.problems),
        "warnings": list(find_risks(pictures, duplicates)),
    }


def _count_by_part(pictures: Iterable[Picture]) -> dict[str, list[int]]:
    """Count the pictures of each species, of all parts and of each part; a single part is all."""
    counts: dict[str, Counter[str]] = {}
    for picture in pictures:
        if picture.species:
            for name in ("all", picture.part or "no part"):
                counts.setdefault(name, Counter())[picture.species] += 1
    return {name: [*count.values()] for name, count in counts.items() if len(counts) > 2 or name == "all"}


def _round_points(*axes: Iterable[float]) -> list[list[float]]:
    return [[round(float(value), 4) for value in point] for point in zip(*axes, strict=True)]


def _count_values(values: Iterable[str | None]) -> dict[str, int]:
    return {str(value or "unknown"): number for value, number in Counter(values).most_common()}


def _list_files(pictures: Iterable[Picture]) -> list[str]:
    return [str(picture.file) for picture in pictures]
