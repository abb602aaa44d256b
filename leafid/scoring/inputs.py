"""Makes the ground truth and the runs of what a caller of Python gives: files or objects."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from leafid.errors import InputError, ProblemsError, UsageError
from leafid.pictures.picture import Collection, Picture, to_run_name
from leafid.scoring.run_reading import find_problems, read_run
from leafid.scoring.runs import Run, make_run
from leafid.scoring.truth import GroundTruth, collect_known_names, make_ground_truth, read_ground_truth, select_scored
from leafid.textfiles import parse_finite_number

PathLike = str | os.PathLike[str]
#: For each picture the scores of species; or its species, the best first, with scores or without; or a single one.
Rankings = Mapping[str, Mapping[str, float] | Sequence[str] | Sequence[tuple[str, float]] | str]


def list_values(argument: str, values: Any, *kinds: type) -> list[Any]:
    """List the values of an argument, or the only one; one of another type raises an `InputError`."""
    listed = [values] if isinstance(values, kinds) or not np.iterable(values) else [*values]
    for value in listed:
        if not isinstance(value, kinds):
            raise InputError(f"{argument}: expected {' or '.join(kind.__name__ for kind in kinds)}, found {value!r}")
    return listed


def to_ground_truth(truth: Any) -> GroundTruth:
    """Make a ground truth of its path, a collection or pictures; those of unknown species are left out."""
    if isinstance(truth, (str, os.PathLike)):
        return read_ground_truth(truth).select_known(truth)
    pictures = truth.pictures if isinstance(truth, Collection) else list_values("truth", truth, Picture)
    scored = select_scored(pictures, source="pictures")
    return make_ground_truth(scored, collect_known_names(pictures), source="pictures").select_known()


def to_runs(runs: Any, truth: GroundTruth) -> list[Run]:
    """Make runs of paths and of `Rankings`, one or several, as `leafid.evaluate` takes them; names differ."""
    if isinstance(runs, Mapping):
        # A mapping is a run if it names pictures, or unless its values are runs.
        is_run = any(to_run_name(str(name)) in truth.known.pictures for name in runs)
        is_run = is_run or not all(isinstance(run, (str, os.PathLike, Mapping)) for run in runs.values())
        made = [_to_run(name, run, truth) for name, run in ({"run": runs} if is_run else runs).items()]
    else:
        made = [read_run(file, truth.known) for file in list_values("runs", runs, str, os.PathLike)]
    names = [run.name for run in made]
    if len(set(names)) < len(names) or not names:
        listed = ", ".join(map(str, names)) or "none"
        raise UsageError(f"expected runs with names that differ, found {listed}; give a mapping by name")
    return made


def _to_run(name: str, run: PathLike | Mapping[str, Any], truth: GroundTruth) -> Run:
    if not isinstance(run, Mapping):
        return replace(read_run(run, truth.known), name=name)
    names = [to_run_name(picture) for picture in list_values(f"pictures of run {name!r}", run, str)]
    pictures = {picture: code for code, picture in enumerate(names)}
    if len(pictures) < len(names):
        raise InputError(f"run {name!r}: expected names that differ without blanks, found two of one picture")
    species: dict[str, int] = {}
    rows: list[tuple[int, int, int, float, int]] = []
    for picture, ranking in zip(names, run.values(), strict=True):
        for rank, (kind, score) in enumerate(_list_species(ranking, f"run {name!r}, {picture}"), 1):
            rows.append((pictures[picture], species.setdefault(kind, len(species)), rank, score, len(rows) + 1))
    made = make_run(name, pictures, species, np.array(rows, np.float64).reshape(-1, 5))
    made = made.rename_species(truth.known.identifiers)
    if problems := sorted(find_problems(made, truth.known)):
        raise ProblemsError(f"{name}: {complaint}" for _, complaint in problems)
    return made


def _list_species(ranking: Any, place: str) -> list[tuple[str, float]]:
    """List the species of a ranking with their scores, by default 1 / rank; `place` is named in errors."""
    entries = ranking.tolist() if isinstance(ranking, np.ndarray) else ranking
    if isinstance(entries, Mapping):
        entries = [*entries.items()]
    elif not isinstance(entries, (list, tuple)):
        entries = [entries]
    pairs = [(entry, 1 / rank) if isinstance(entry, str) else entry for rank, entry in enumerate(entries, 1)]
    expected = "species, pairs of species and finite score, the best first, or a mapping of species to scores"
    for pair in pairs:
        match pair:
            case (str(), Real() as score) if parse_finite_number(str(score)) is not None:
                continue
        raise InputError(f"{place}: expected {expected}, found {pair!r}")
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0])) if isinstance(ranking, Mapping) else pairs
