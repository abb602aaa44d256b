"""Makes the ground truth and the runs of what a caller of Python gives: files or objects."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from leafid.errors import InputError, UsageError
from leafid.pictures.labels import make_labels
from leafid.pictures.picture import Collection, Picture, to_run_name
from leafid.pictures.readers import tables
from leafid.pictures.reading import name_clashing_pictures
from leafid.scoring.reading.run_formats import Words, collect, split_scores
from leafid.scoring.reading.run_reading import find_problems, read_run, read_run_files
from leafid.scoring.reading.runs import Run, make_run
from leafid.scoring.reading.truth import (
    GroundTruth,
    collect_known_names,
    make_ground_truth,
    read_ground_truth,
    select_scored,
)
from leafid.textfiles import LineProblems, parse_finite_number

logger = logging.getLogger(__name__)

#: For each picture the scores of species; or its species, the best first, with scores or without; or a single one.
Rankings = Mapping[
    str, Mapping[str, float] | Sequence[str] | Sequence[tuple[str, float]] | str
]


def list_values(argument: str, values: Any, *kinds: type) -> list[Any]:
    """List the values of an argument, or the only one; one of another type raises an `InputError`."""
    listed = (
        [values] if isinstance(values, kinds) or not np.iterable(values) else [*values]
    )
    for value in listed:
        if not isinstance(value, kinds):
            raise InputError(
                f"{argument}: expected {' or '.join(kind.__name__ for kind in kinds)}, found {value!r}"
            )
    return listed


def to_ground_truth(truth: Any) -> GroundTruth:
    """Make a ground truth of a path, a collection, pictures, a mapping of pictures to species or a pandas DataFrame.

    A frame has the columns of a table of pictures. Some have to be of known species.
    """
    if isinstance(truth, (str, os.PathLike)):
        made = read_ground_truth(truth)
        made.select_known(truth)
        return made
    pictures: Sequence[Picture]
    if isinstance(truth, Mapping):
        names, species = (
            list_values("truth", truth, str, os.PathLike),
            list_values("truth", truth.values(), str),
        )
        pictures = _make_pictures(
            [["file", "label"], *zip(names, species, strict=True)]
        )
    elif _is_frame(truth):
        pictures = _make_pictures([truth.columns, *truth.to_numpy(object).tolist()])
    else:
        pictures = (
            truth.pictures
            if isinstance(truth, Collection)
            else list_values("truth", truth, Picture)
        )
    scored = select_scored(pictures, source="pictures")
    made = make_ground_truth(scored, collect_known_names(pictures), source="pictures")
    made.select_known("truth")
    return made


def _is_frame(value: Any) -> bool:
    # pandas needn't be installed.
    return all(hasattr(value, name) for name in ("columns", "index", "to_numpy"))


def _is_scores(value: Any) -> bool:
    return _is_frame(value) or (
        isinstance(value, tuple) and len(value) == 3 and np.ndim(value[0]) == 2
    )


def _is_ranking(name: object, value: Any, truth: GroundTruth) -> bool:
    """Tell whether a value is that of a picture: it has scores, not of pictures, or the name is a picture's."""
    known = truth.known

    def is_picture(name: object) -> bool:
        return known.find_picture(to_run_name(str(name))) in known.pictures

    if isinstance(value, Mapping) and any(isinstance(v, Real) for v in value.values()):
        return not any(map(is_picture, value))
    return is_picture(name)


def _make_pictures(table: Sequence[Iterable[Any]]) -> list[Picture]:
    """Make pictures of a heading and rows, as of a CSV table without the pictures."""
    source = Path("truth")
    rows, remarks = tables.parse_rows(
        source, enumerate([*map(str, cells)] for cells in table)
    )
    pictures = tuple(tables.make_pictures(source, rows))
    made = make_labels(Collection(source, tables.LAYOUT, pictures, tuple(remarks)))
    for problem in made.problems:
        logger.warning("%s", problem)
    return [*name_clashing_pictures(Path(), made.pictures)]


def to_runs(runs: Any, truth: GroundTruth) -> list[Run]:
    """Make runs of paths, `Rankings`, tuples (scores, pictures, species) or frames of scores.

    There is one run, a sequence of paths, or a mapping of runs by name; names differ.
    """
    if _is_scores(runs):
        made = [_to_run("run", runs, truth)]
    elif isinstance(runs, Mapping):
        # A mapping is a run if it names pictures, or unless its values are runs.
        is_run = any(_is_ranking(name, run, truth) for name, run in runs.items())
        is_run = is_run or not all(
            isinstance(run, (str, os.PathLike, Mapping)) or _is_scores(run)
            for run in runs.values()
        )
        made = [
            _to_run(name, run, truth)
            for name, run in ({"run": runs} if is_run else runs).items()
        ]
    else:
        made = [
            *read_run_files(list_values("runs", runs, str, os.PathLike), truth.known)
        ]
    if not made:
        raise UsageError("expected runs, found none")
    return made


def _to_run(name: str, run: Any, truth: GroundTruth) -> Run:
    if isinstance(run, (str, os.PathLike)):
        return replace(read_run(run, truth.known), name=name)
    with LineProblems(name) as problems:
        if isinstance(run, Mapping):
            rows = _split_rankings(name, run)
        else:
            rows = split_scores(
                *((run.to_numpy(), run.index, run.columns) if _is_frame(run) else run)
            )
        made = make_run(name, *collect(rows, problems), truth.known)
        for _, complaint in sorted(find_problems(made, truth.known)):
            problems.add(None, complaint)
    return made


def _split_rankings(name: str, run: Mapping[str, Any]) -> Iterator[Words]:
    lines = count(1)
    for picture in list_values(f"pictures of run {name!r}", run, str, os.PathLike):
        for rank, (kind, score) in enumerate(
            _list_species(run[picture], f"run {name!r}, {picture}"), 1
        ):
            yield (
                next(lines),
                to_run_name(str(picture)),
                kind,
                str(rank),
                repr(float(score)),
            )


def _list_species(ranking: Any, place: str) -> list[tuple[str, float]]:
    """List the species of a ranking with their scores, by default 1 / rank; `place` is named in errors."""
    entries = ranking.tolist() if isinstance(ranking, np.ndarray) else ranking
    if isinstance(entries, Mapping):
        entries = [*entries.items()]
    elif not isinstance(entries, (list, tuple)):
        entries = [entries]
    pairs = [
        (entry, 1 / rank) if isinstance(entry, str) else entry
        for rank, entry in enumerate(entries, 1)
    ]
    expected = "species, pairs of species and finite score, the best first, or a mapping of species to scores"
    for pair in pairs:
        match pair:
            case (str(), Real() as score) if (
                parse_finite_number(str(score)) is not None
            ):
                continue
        raise InputError(f"{place}: expected {expected}, found {pair!r}")
    return (
        sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
        if isinstance(ranking, Mapping)
        else pairs
    )
