"""Folds as CSV files, so that other systems are tested on the same folds."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from leafid.errors import LeafidError
from leafid.grouping import count_noun, group_by
from leafid.pictures.name_index import NameIndex
from leafid.pictures.picture import Picture
from leafid.pictures.readers.tables import Row, read_rows
from leafid.textfiles import LineProblems, parse_whole_number

logger = logging.getLogger(__name__)

#: The folds of each repeat: the indices of each fold's pictures, ascending.
Folds = dict[int, list[np.ndarray]]


def format_folds(
    pictures: Sequence[Picture], folds: Iterable[tuple[int, int, np.ndarray]]
) -> list[list[str | int]]:
    """List the rows of a table of folds, (repeat, fold, indices of pictures) each.

    Names of pictures have to differ.
    """
    rows: list[list[str | int]] = [["picture", "plant", "fold", "repeat"]]
    for repeat, fold, members in folds:
        rows += [
            [pictures[index].title, pictures[index].plant or "", fold, repeat]
            for index in members.tolist()
        ]
    return rows


def read_folds(path: str, pictures: Sequence[Picture]) -> Folds:
    """Read a table with the columns ``picture``, ``fold`` and, if several, ``repeat``.

    Each picture has to be in one fold of each repeat, unless no picture of its type has
    a fold; a warning counts these. A picture is called by its name, or the end of its
    path; rows of other pictures are ignored with a warning, as are plants that are in
    several folds. A `ProblemsError` has the lines that are wrong.
    """
    file = Path(path)
    # A table may call a picture by its names, and by all ends of its path.
    indices = NameIndex(
        (index, [p.name, p.title, p.file, *map(p.file.relative_to, p.file.parents)])
        for index, p in enumerate(pictures)
    )
    rows, _ = read_rows(file)
    if not rows:
        raise LeafidError(f"{file}: expected rows below the heading, found none")
    if not any("fold" in record for _, _, record in rows):
        raise LeafidError(
            f"{file}: expected the folds of pictures in a column 'fold', found none"
        )
    with LineProblems(file) as problems:
        fold_of, ignored = _collect_folds(rows, pictures, indices, problems)
        if ignored and fold_of:
            message = (
                "%s: ignored %s, as the collection has no such labelled picture, or "
                "several: %r first"
            )
            n_rows = count_noun(len(ignored), "row")
            logger.warning(message, file, n_rows, ignored[0])
        # What is wrong with a row explains what is missing.
        if not problems:
            for gap in _find_gaps(pictures, fold_of):
                problems.add(None, gap)
    if not fold_of:
        raise LeafidError(
            f"{file}: expected folds of the pictures of the collection, found none of "
            "them"
        )
    if n_left := len(pictures) - min(map(len, fold_of.values())):
        message = "%s: left out %s of types without folds"
        logger.warning(message, file, count_noun(n_left, "picture"))
    for repeat, folds in fold_of.items():
        warn_of_split_plants(f"{file}: repeat {repeat}", pictures, folds)
    return {repeat: _list_folds(folds) for repeat, folds in sorted(fold_of.items())}


def _collect_folds(
    rows: Iterable[Row],
    pictures: Sequence[Picture],
    indices: NameIndex[int],
    problems: LineProblems,
) -> tuple[dict[int, dict[int, str]], list[str]]:
    """Collect the fold of each picture by repeat, and the names of other pictures."""
    ignored: list[str] = []
    fold_of: dict[int, dict[int, str]] = {}
    for line, name, record in rows:
        repeat = parse_whole_number(record.get("repeat", "0"))
        index = indices.find(name)
        if repeat is None:
            problems.add(
                line, f"expected a repeat (0, 1, …), found {record['repeat']!r}"
            )
        elif "fold" not in record:
            problems.add(line, "expected the fold of the picture, found an empty cell")
        elif index is None:
            ignored.append(name)
        elif problems.check_unique(
            line, f"every picture of repeat {repeat}", pictures[index].name
        ):
            fold_of.setdefault(repeat, {})[index] = record["fold"]
    return fold_of, ignored


def _find_gaps(
    pictures: Sequence[Picture], fold_of: Mapping[int, Mapping[int, str]]
) -> Iterator[str]:
    """Find repeats in which a picture has no fold, or all of a type have one."""
    for repeat, folds in fold_of.items():
        types = {pictures[index].type for index in folds}
        indices = [index for index, p in enumerate(pictures) if p.type in types]
        names = [pictures[index].name for index in indices if index not in folds]
        if names:
            yield (
                f"expected a fold for each of the {len(indices)} pictures in repeat "
                f"{repeat}, found none for {len(names)}, {names[0]} first"
            )
        elif len(set(folds.values())) < 2:
            yield f"expected several folds in repeat {repeat}, found one"


def _list_folds(fold_of: dict[int, str]) -> list[np.ndarray]:
    members = group_by(sorted(fold_of), fold_of.__getitem__)
    # The tenth fold comes after the second.
    names = sorted(members, key=lambda name: (len(name), name))
    return [np.array(members[name]) for name in names]


def warn_of_split_plants(
    place: str, pictures: Sequence[Picture], folds: Mapping[int, str]
) -> None:
    """Warn of plants whose pictures, by their indices, are in several folds."""
    pairs = {(pictures[index].group, fold) for index, fold in folds.items()}
    counts = Counter(plant for plant, _ in pairs)
    split = sorted(plant for plant, count in counts.items() if count > 1)
    if split:
        logger.warning(
            "%s: expected all pictures of a plant in one fold, found %s in "
            "several, %s first; scores are too high",
            place,
            count_noun(len(split), "plant"),
            split[0],
        )
