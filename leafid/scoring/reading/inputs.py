"""Makes a ground truth and runs of the arguments of Python users: files or objects."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from leafid.errors import InputError, UsageError
from leafid.pictures.labels import make_labels
from leafid.pictures.picture import Collection, Picture, to_run_name
from leafid.pictures.readers import tables
from leafid.pictures.reading import name_clashing_pictures
from leafid.scoring.reading.run_formats import split_scores
from leafid.scoring.reading.run_reading import (
    make_checked_run,
    read_run,
    read_run_files,
)
from leafid.scoring.reading.runs import KnownNames, Run, Words
from leafid.scoring.reading.truth import (
    GroundTruth,
    collect_known_names,
    make_ground_truth,
    read_ground_truth,
    select_scored,
)
from leafid.textfiles import LineProblems, parse_finite_number

logger = logging.getLogger(__name__)

#: For each picture the scores of species; or its species, the best first, with scores
#: or without; or a single one.
Rankings = Mapping[
    str, Mapping[str, float] | Sequence[str] | Sequence[tuple[str, float]] | str
]


def list_values(argument: str, values: Any, *kinds: type) -> list[Any]:
    """List the values of an argument, or the only one.

    A value of another type raises an `InputError`.
    """
    if isinstance(values, kinds) or not np.iterable(values):
        values = [values]
    entries = [*values]
    for value in entries:
        if not isinstance(value, kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise InputError(f"{argument}: expected {names}, found {value!r}")
    return entries


def to_ground_truth(truth: Any) -> GroundTruth:
    """Make a ground truth of what a caller has, in which some species are known.

    Parameters
    ----------
    truth : path-like, Collection, pictures, mapping of pictures to species, or frame
        A data frame has the columns of a table of pictures.

    Returns
    -------
    GroundTruth

    Raises
    ------
    LeafidError
        When there is nothing to score against, or a value is of another type.
    """
    if isinstance(truth, (str, os.PathLike)):
        ground_truth = read_ground_truth(truth)
    else:
        pictures = _to_pictures(truth)
        scored = select_scored(pictures, source="pictures")
        known = collect_known_names(pictures)
        ground_truth = make_ground_truth(scored, known, source="pictures")
        truth = "truth"
    ground_truth.select_known(truth)
    return ground_truth


def _to_pictures(truth: Any) -> Sequence[Picture]:
    if isinstance(truth, Mapping):
        names = list_values("truth", truth, str, os.PathLike)
        species = list_values("truth", truth.values(), str)
        rows = zip(names, species, strict=True)
        return _make_pictures([["file", "label"], *rows])
    if _is_frame(truth):
        return _make_pictures([truth.columns, *truth.to_numpy(object).tolist()])
    if isinstance(truth, Collection):
        return truth.pictures
    return list_values("truth", truth, Picture)


def _is_frame(value: Any) -> bool:
    # pandas needn't be installed.
    return all(hasattr(value, name) for name in ("columns", "index", "to_numpy"))


def _is_scores(value: Any) -> bool:
    return _is_frame(value) or (
        isinstance(value, tuple) and len(value) == 3 and np.ndim(value[0]) == 2
    )


def _make_pictures(table: Sequence[Iterable[Any]]) -> list[Picture]:
    """Make pictures of a heading and rows, as of a CSV table without the pictures."""
    source = Path("truth")
    rows, remarks = tables.parse_rows(
        source, enumerate([*map(str, cells)] for cells in table)
    )
    pictures = tuple(tables.make_pictures(source, rows))
    unlabelled = Collection(source, tables.LAYOUT, pictures, tuple(remarks))
    labelled = make_labels(unlabelled)
    for problem in labelled.problems:
        logger.warning("%s", problem)
    return [*name_clashing_pictures(Path(), labelled.pictures)]


def to_runs(runs: Any, truth: GroundTruth) -> list[Run]:
    """Make runs of paths, `Rankings`, tuples (scores, pictures, species) or frames.

    There is one run, a sequence of paths, or a mapping of runs by name; names differ.
    """
    if isinstance(runs, Mapping) or _is_scores(runs):
        if _is_scores(runs) or _is_run(runs, truth.known):
            runs = {"run": runs}
        result = [_to_run(name, run, truth) for name, run in runs.items()]
    else:
        files = list_values("runs", runs, str, os.PathLike)
        result = [*read_run_files(files, truth.known)]
    if not result:
        raise UsageError("expected runs, found none")
    return result


def _names_pictures(names: Iterable[object], known: KnownNames) -> bool:
    pictures = (known.find_picture(to_run_name(str(name))) for name in names)
    return not known.pictures.isdisjoint(pictures)


def _is_run(runs: Mapping[object, Any], known: KnownNames) -> bool:
    """Tell whether a mapping is a run, rather than several by name.

    It names a known picture, or has a ranking that is a list or has scores.
    """
    if _names_pictures(runs, known):
        return True
    for value in runs.values():
        if isinstance(value, Mapping):
            has_scores = any(isinstance(score, Real) for score in value.values())
            if has_scores and not _names_pictures(value, known):
                return True
        elif not (isinstance(value, (str, os.PathLike)) or _is_scores(value)):
            return True
    return False


def _to_run(name: str, run: Any, truth: GroundTruth) -> Run:
    if isinstance(run, (str, os.PathLike)):
        return replace(read_run(run, truth.known), name=name)
    if isinstance(run, Mapping):
        rows = _split_rankings(name, run)
    elif _is_frame(run):
        rows = split_scores(run.to_numpy(), run.index, run.columns)
    else:
        rows = split_scores(*run)
    with LineProblems(name) as problems:
        return make_checked_run(name, rows, problems, truth.known)


def _split_rankings(name: str, run: Mapping[str, Any]) -> Iterator[Words]:
    line = 0
    for picture in list_values(f"pictures of run {name!r}", run, str, os.PathLike):
        species = _list_species(run[picture], f"run {name!r}, {picture}")
        for rank, (kind, score) in enumerate(species, 1):
            line += 1
            word = repr(float(score))
            yield line, to_run_name(str(picture)), kind, str(rank), word


def _list_species(ranking: Any, place: str) -> list[tuple[str, float]]:
    """List the species of a ranking with their scores, by default 1 / rank.

    `place` is named in errors.
    """
    entries = ranking
    if isinstance(ranking, np.ndarray):
        entries = ranking.tolist()
    if isinstance(entries, Mapping):
        entries = [*entries.items()]
    elif not isinstance(entries, (list, tuple)):
        entries = [entries]
    pairs = [
        (entry, 1 / rank) if isinstance(entry, str) else entry
        for rank, entry in enumerate(entries, 1)
    ]
    expected = (
        "species, pairs of species and finite score, the best first, or a mapping of "
        "species to scores"
    )
    for pair in pairs:
        match pair:
            case (str(), Real() as score) if (
                parse_finite_number(str(score)) is not None
            ):
                continue
        raise InputError(f"{place}: expected {expected}, found {pair!r}")
    if isinstance(ranking, Mapping):
        pairs.sort(key=lambda pair: (-pair[1], pair[0]))
    return pairs
