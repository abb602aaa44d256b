"""Sums up what a collection holds, as plain data that can be printed or written as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TypedDict

from leafid.collection.checking import FileCheck
from leafid.collection.collection import Collection, find_name_clashes
from leafid.collection.picture import Picture
from leafid.collection.statistics import (
    count_by_species,
    count_by_type,
    count_pictures,
    find_duplicates,
    gini_index,
    top_share,
)

TOP_SHARES = (0.1, 0.2, 0.5)


class DuplicatesEntry(TypedDict):
    """Pictures of the same file content."""

    files: list[str]
    cross_species: bool
    cross_plants: bool


class SpeciesEntry(TypedDict):
    """How much there is of one species."""

    species: str
    pictures: int
    plants: int
    by_type: dict[str, int]


class Summary(TypedDict):
    """All that ``leafid info`` tells; shares are 0 to 1, lists are in the collection's order.

    `unreadable`, `damaged` and `duplicates` are of the files that were looked at; `decoded` says how closely.
    """

    root: str
    layout: str
    total: dict[str, int]
    types: dict[str, dict[str, int]]
    contents: dict[str, int]
    parts: dict[str, int]
    dates: list[str]
    species: list[SpeciesEntry]
    top_shares: dict[str, float]
    gini_index: float | None
    name_clashes: dict[str, list[str]]
    missing: list[str]
    decoded: bool
    unreadable: list[str]
    damaged: list[str]
    duplicates: list[DuplicatesEntry]
    problems: list[str]


def summarise(collection: Collection, checks: Sequence[FileCheck], decoded: bool) -> Summary:
    """Sum up a collection.

    Parameters
    ----------
    collection : Collection
    checks : sequence of FileCheck
        Of the pictures that have a file.
    decoded : bool
        Whether the pictures were decoded for that.

    Returns
    -------
    Summary
    """
    pictures = collection.pictures
    species = count_by_species(pictures)
    numbers = [one.pictures for one in species]
    by_file = {picture.file: picture for picture in pictures}
    duplicates = find_duplicates([by_file[check.file] for check in checks], [check.digest for check in checks])
    dates = sorted(picture.date for picture in pictures if picture.date)
    return Summary(
        root=str(collection.root),
        layout=collection.layout,
        total=asdict(count_pictures(pictures)),
        types={str(type_ or "unknown"): asdict(counts) for type_, counts in count_by_type(pictures).items()},
        contents=_tally(picture.content for picture in pictures),
        parts=_tally(picture.part for picture in pictures),
        dates=[dates[0], dates[-1]] if dates else [],
        species=[
            SpeciesEntry(species=one.species, pictures=one.pictures, plants=one.plants, by_type=one.by_type)
            for one in species
        ],
        top_shares={f"{share:g}": round(top_share(numbers, share), 4) for share in TOP_SHARES} if numbers else {},
        gini_index=round(gini_index(numbers), 4) if numbers else None,
        name_clashes={name: _files(bearers) for name, bearers in find_name_clashes(pictures).items()},
        missing=_files(collection.find_missing()),
        decoded=decoded,
        unreadable=[check.error for check in checks if check.error is not None],
        damaged=[line for check in checks for line in check.warnings],
        duplicates=[
            DuplicatesEntry(files=_files(one.pictures), cross_species=one.cross_species, cross_plants=one.cross_plants)
            for one in duplicates
        ],
        problems=list(collection.problems),
    )


def _tally(values: Iterable[str | None]) -> dict[str, int]:
    return {str(value or "unknown"): number for value, number in Counter(values).most_common()}


def _files(pictures: Iterable[Picture]) -> list[str]:
    return [str(picture.file) for picture in pictures]
