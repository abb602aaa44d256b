"""Makes a ground truth and runs of the arguments of Python users: files or objects."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leafid.errors import InputError, UsageError
from leafid.files import StrPath
from leafid.pictures.columns import (
    TypeName,
    is_frame,
    is_path,
    list_values,
    parse_type,
    read_pictures,
    to_pictures,
)
from leafid.pictures.picture import Picture, to_run_name
from leafid.scoring.reading.run_formats import split_scores
from leafid.scoring.reading.run_reading import (
    make_checked_run,
    read_run,
)
from leafid.scoring.reading.runs import KnownNames, Run, Words
from leafid.scoring.reading.truth import (
    GroundTruth,
    collect_known_names,
    make_ground_truth,
)
from leafid.scoring.reading.truth_reading import read_ground_truth, select_scored
from leafid.textfiles import LineProblems, parse_finite_number

#: For each picture the scores of species; or its species, the best first, with scores
#: or without; or a single one.
Rankings = Mapping[
    str, Mapping[str, float] | Sequence[str] | Sequence[tuple[str, float]] | str
]
#: Scores, float (n, n_species), of pictures and species, or a data frame.
Scores = tuple[ArrayLike, Sequence[str], Sequence[str]] | Any
RunLike = StrPath | Run | Rankings | Scores
# The kinds of runs that have a name.
_NAMED = (str, os.PathLike, Run)


def to_ground_truth(
    truth: Any,
    *,
    part: str | None = None,
    only_type: TypeName | None = None,
    taxonomy: Any = None,
    **reading: str | None,
) -> GroundTruth:
    """Make a ground truth of what a caller has, in which some species are known.

    Parameters
    ----------
    truth : path-like, Collection, pictures, mapping or data frame
        `read_ground_truth` reads a path, with `reading`; `to_pictures` makes pictures
        of all others.
    part, only_type : str, optional
        The part and the acquisition type of the pictures that are scored.
    taxonomy : as `truth`, optional
        A collection of more species.

    Returns
    -------
    GroundTruth

    Raises
    ------
    LeafidError
        When there is nothing to score against, or a value is of another type.
    """
    if isinstance(truth, GroundTruth):
        return truth
    type_ = parse_type("only_type", only_type)
    source = "truth"
    more: Sequence[Picture] = ()
    if taxonomy is not None:
        more = read_pictures(taxonomy, "taxonomy")
    if not is_path(truth):
        pictures = to_pictures(truth, source)
        source = str(getattr(truth, "root", source))
        scored = select_scored(pictures, part, source=source)
        known = collect_known_names([*more, *pictures])
        ground_truth = make_ground_truth(scored, known, source=source)
    else:
        source = os.fspath(truth)
        ground_truth = read_ground_truth(truth, part=part, more=more, **reading)
    ground_truth = ground_truth.select_type(type_, source)
    ground_truth.select_known(source)
    return ground_truth


def _is_scores(value: Any) -> bool:
    return is_frame(value) or (
        isinstance(value, tuple) and len(value) == 3 and np.ndim(value[0]) == 2
    )


def to_runs(
    runs: Any, known: KnownNames | None, *, official: bool = False
) -> list[Run]:
    """Make runs of paths, runs, `Rankings`, tuples (scores, pictures, species), frames.

    There is one run, a sequence of paths or runs, or a mapping of runs by name; names
    differ. They are read, and checked, as by `read_run`.
    """
    if isinstance(runs, _NAMED) or not np.iterable(runs):
        runs = [runs]
    if _is_scores(runs) or (isinstance(runs, Mapping) and _is_run(runs, known)):
        runs = {"run": runs}
    elif not isinstance(runs, Mapping):
        runs = _name_runs([*runs])
    if not runs:
        raise UsageError("expected runs, found none")
    return [
        to_run(str(name), run, known, official=official) for name, run in runs.items()
    ]


def _name_runs(runs: Sequence[Any]) -> dict[str, Any]:
    """Name runs after their files or, where their stems are equal, after the paths.

    A `UsageError` says that a run is there twice.
    """
    files = []
    for run in runs:
        if not isinstance(run, _NAMED):
            raise InputError(f"runs: expected a path or a run, found {run!r:.100}")
        files.append(run.name if isinstance(run, Run) else os.fspath(run))
    names = [PurePath(file).name for file in files]
    if len({PurePath(name).stem for name in names}) < len(runs):
        names = [re.sub(r"\W+", "-", file).strip("-") for file in files]
    if len({*names}) < len(runs):
        raise UsageError(
            f"expected run files that differ, found {', '.join(files)}; name each once"
        )
    return dict(zip(names, runs, strict=True))


def _names_pictures(names: Iterable[object], known: KnownNames | None) -> bool:
    if known is None:
        return False
    pictures = (known.find_picture(to_run_name(str(name))) for name in names)
    return not known.pictures.isdisjoint(pictures)


def _is_run(runs: Mapping[object, Any], known: KnownNames | None) -> bool:
    """Tell whether a mapping is a run, rather than several by name.

    It has a ranking that is a list or has scores, or names a known picture.
    """
    for value in runs.values():
        if isinstance(value, Mapping):
            has_scores = any(isinstance(score, Real) for score in value.values())
            if has_scores != _names_pictures(value, known):
                return has_scores
        elif isinstance(value, Run) or _is_scores(value):
            return False
        elif not is_path(value):
            return True
    # Runs may also be called 1 and 2, as pictures are.
    return _names_pictures(runs, known)


def to_run(
    name: str, run: Any, known: KnownNames | None, *, official: bool = False
) -> Run:
    """Make a run of one of the kinds that `to_runs` takes, and check it."""
    if is_path(run):
        return replace(read_run(run, known, official=official), name=name)
    if isinstance(run, Run):
        rows = run.split()
    elif isinstance(run, Mapping):
        rows = _split_rankings(name, run)
    elif is_frame(run):
        if run.index.name is None and np.asarray(run.index).dtype.kind in "iuf":
            raise InputError(
                f"run {name!r}: expected a frame with the names of pictures as its "
                "index, and a column for each species, found the numbers of rows as "
                "index; set it by frame.set_index(…)"
            )
        rows = split_scores(run.to_numpy(), run.index, run.columns)
    elif _is_scores(run):
        rows = split_scores(*run)
    else:
        raise InputError(
            f"run {name!r}: expected a path, a mapping of pictures to rankings, a "
            f"tuple (scores, pictures, species) or a frame, found {run!r:.100}"
        )
    with LineProblems(name) as problems:
        return make_checked_run(name, rows, problems, known, official=official)


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
