"""Folds as files: CSV tables with the fold of each picture, so that other systems are tested on the same folds."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.pictures.name_index import NameIndex
from leafid.pictures.picture import Picture
from leafid.pictures.readers.tables import read_rows
from leafid.textfiles import LineProblems, parse_whole_number

logger = logging.getLogger(__name__)

#: The folds of each repeat: the indices of each fold's pictures, ascending.
Folds = dict[int, list[np.ndarray]]


def format_folds(
    pictures: Sequence[Picture], folds: Iterable[tuple[int, int, np.ndarray]]
) -> list[list[str | int]]:
    """List the rows of a table of folds, (repeat, fold, indices of pictures) each; names of pictures have to differ."""
    rows: list[list[str | int]] = [["picture", "plant", "fold", "repeat"]]
    for repeat, fold, members in folds:
        rows += [
            [pictures[index].title, pictures[index].plant or "", fold, repeat]
            for index in members.tolist()
        ]
    return rows


def read_folds(path: str, pictures: Sequence[Picture]) -> Folds:
    """Read a table with the columns ``picture`` and ``fold``, and ``repeat`` where there are several.

    Each picture has to be in one fold of each repeat, but for those of types without any fold, which a warning counts.
    A picture is called by its name, or the end of its path; rows of other pictures are ignored with a warning, as are
    plants that are in several folds. A `ProblemsError` has the lines that are wrong.
    """
    file = Path(path)
    # A table may call a picture by its names, and by all ends of its path.
    indices = NameIndex(
        (index, [p.name, p.title, p.file, *map(p.file.relative_to, p.file.parents)])
        for index, p in enumerate(pictures)
    )
    ignored: list[str] = []
    fold_of: dict[int, dict[int, str]] = {}
    rows, _ = read_rows(file)
    if not any("fold" in record for _, _, record in rows):
        raise LeafidError(
            f"{file}: expected the folds of pictures in a column 'fold', found none"
        )
    with LineProblems(file) as problems:
        for line, name, record in rows:
            repeat = parse_whole_number(record.get("repeat", "0"))
            index = indices.find(name)
            if repeat is None:
                problems.add(
                    line, f"expected a repeat (0, 1, …), found {record['repeat']!r}"
                )
            elif "fold" not in record:
                problems.add(
                    line, "expected the fold of the picture, found an empty cell"
                )
            elif index is None:
                ignored.append(name)
            elif problems.check_unique(
                line, f"every picture of repeat {repeat}", pictures[index].name
            ):
                fold_of.setdefault(repeat, {})[index] = record["fold"]
        if ignored and fold_of:
            logger.warning(
                "%s: %d rows are ignored, as the collection has no such labelled picture, or several: %s first",
                file,
                len(ignored),
                indices.describe(ignored[0]),
            )
        # What is wrong with a row explains what is missing.
        for repeat, folds in fold_of.items() if not problems else ():
            types = {pictures[index].type for index in folds}
            if lacking := [
                picture.name
                for index, picture in enumerate(pictures)
                if index not in folds and picture.type in types
            ]:
                n_typed = len(folds) + len(lacking)
                expected = f"expected a fold for each of the {n_typed} pictures in repeat {repeat}"
                problems.add(
                    None,
                    f"{expected}, found none for {len(lacking)}, {lacking[0]} first",
                )
            elif len(set(folds.values())) < 2:
                problems.add(
                    None, f"expected several folds in repeat {repeat}, found one"
                )
    if not fold_of:
        first = f": {indices.describe(ignored[0])}" if ignored else ""
        raise LeafidError(
            f"{file}: expected folds of the pictures of the collection, found none of them{first}"
        )
    if n_left := len(pictures) - min(map(len, fold_of.values())):
        logger.warning(
            "%s: %d pictures of types without folds are left out", file, n_left
        )
    _warn_of_split_plants(file, pictures, fold_of)
    return {repeat: _list_folds(folds) for repeat, folds in sorted(fold_of.items())}


def _list_folds(fold_of: dict[int, str]) -> list[np.ndarray]:
    # The tenth fold comes after the second.
    members = group_by(sorted(fold_of), fold_of.__getitem__)
    return [
        np.array(members[name])
        for name in sorted(members, key=lambda name: (len(name), name))
    ]


def _warn_of_split_plants(
    file: Path, pictures: Sequence[Picture], fold_of: dict[int, dict[int, str]]
) -> None:
    for repeat, folds in fold_of.items():
        plants = group_by(folds, lambda index: pictures[index].group)
        if split := [
            plant
            for plant, members in plants.items()
            if len({folds[index] for index in members}) > 1
        ]:
            problem = "expected all pictures of a plant in one fold, found %d plants in several of repeat %d, %s first"
            logger.warning(
                f"%s: {problem}; scores are too high",
                file,
                len(split),
                repeat,
                split[0],
            )
