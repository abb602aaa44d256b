"""Scores runs from Python: of any system, from files or from objects."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from leafid.errors import InputError, LeafidError, ProblemsError, UsageError
from leafid.pictures.picture import Collection, Picture, to_run_name
from leafid.scoring.plant_task import (
    GROUPS,
    ScoreOptions,
    find_plant_metric,
    judge_run,
    list_plant_metrics,
    make_score_table,
)
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.run_reading import find_problems, read_run
from leafid.scoring.runs import Run, make_run
from leafid.scoring.truth import GroundTruth, collect_known_names, make_ground_truth, read_ground_truth, select_scored
from leafid.textfiles import parse_finite_number

PathLike = str | os.PathLike[str]
#: For each picture the scores of species; or its species, the best first, with scores or without; or a single one.
Rankings = Mapping[str, Mapping[str, float] | Sequence[str] | Sequence[tuple[str, float]] | str]

#: The metrics that ``leafid evaluate`` prints of every run.
EVERY_RUN = tuple(metric.name for metric in list_plant_metrics())


def evaluate(
    truth: PathLike | Collection | Iterable[Picture],
    runs: PathLike | Rankings | Sequence[PathLike] | Mapping[str, PathLike | Rankings],
    metrics: Sequence[str] = EVERY_RUN,
    *,
    by: str = "type",
    bootstrap: Bootstrap | bool = False,
    leave_out_missing: bool = False,
) -> list[dict[str, Any]]:
    """Score runs of the plant task, as ``leafid evaluate`` does.

    Parameters
    ----------
    truth : path-like, Collection or iterable of Picture
        A folder of XML, a collection, a ``…GroundTruth.txt``, or what was read of a collection.
    runs : path-like, mapping of pictures to rankings, a sequence of path-like, or a mapping of these by name
        A ranking is a mapping of species to scores (equal ones are taken in the order of the names), a list of species,
        or of (species, score), the best first, or a single species. A picture that a run lacks, or whose ranking is
        empty, counts 0.
    metrics : sequence of str, or one
        By default those that ``leafid evaluate`` prints; also "genus", "family" and "top-K" for any K.
    by : {"type", "species", "genus", "family", "author", "plant"}, default "type"
        What the rows are. By type there are two more: "mean of types" and "all pictures". By genus and family, their
        own S is added.
    bootstrap : Bootstrap or bool, default False
        Adds an interval to every score, as "S low" and "S high"; True uses the command's defaults.
    leave_out_missing : bool, default False
        Leave the pictures that a run lacks out of its means, as the official scorer does.

    Returns
    -------
    list of dict
        A record for each run and group, with "run", the group's name under `by`, "pictures", "missing", "plants", and
        a score for each metric under its heading in tables (NaN where there is none).

    Raises
    ------
    LeafidError
        When there is no such metric or group, nothing to score against, or something is wrong with a run or value.

    Examples
    --------
    >>> from pathlib import Path
    >>> from leafid.pictures.picture import Taxon
    >>> maple, oak = Taxon("Acer opalus"), Taxon("Quercus ilex")
    >>> pictures = [Picture(Path("1.jpg"), taxon=maple), Picture(Path("2.jpg"), taxon=oak)]
    >>> run = {"1.jpg": ["Acer opalus", "Quercus ilex"], "2.jpg": ["Acer opalus", "Quercus ilex"]}
    >>> evaluate(pictures, run, ["inverse-rank"])[-1]
    {'run': 'run', 'type': 'all pictures', 'pictures': 2, 'missing': 0, 'plants': 2, 'inverse-rank': 0.75}
    """
    chosen = [find_plant_metric(str(name)) for name in dict.fromkeys(_list_values("metrics", metrics, str))]
    if by not in ("type", *GROUPS):
        raise UsageError(f"expected a group ({', '.join(('type', *GROUPS))}), found {by!r}")
    if not isinstance(bootstrap, bool | Bootstrap):
        raise InputError(f"bootstrap: expected True, False or a Bootstrap, found {bootstrap!r}")
    if not isinstance(leave_out_missing, bool):
        raise InputError(f"leave_out_missing: expected True or False, found {leave_out_missing!r}")
    ground_truth = _to_ground_truth(truth)
    made = _to_runs(runs, ground_truth)
    judged = [judge_run(run, ground_truth) for run in made]
    if empty := [run.name for run in judged if not run.covered.any()]:
        raise LeafidError(f"{empty[0]}: expected predictions for the labelled pictures, found none")
    if "family" in {by, *(metric.level for metric in chosen)}:
        ground_truth.warn_of_families(made)
    resampling = bootstrap if isinstance(bootstrap, Bootstrap) else Bootstrap()
    options = ScoreOptions(chosen, leave_out_missing, resampling, "all" if bootstrap else "none")
    table = make_score_table(ground_truth, judged, options, by)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _list_values(argument: str, values: Any, *kinds: type) -> list[Any]:
    """List the values of an argument, or the only one; one of another type raises an `InputError`."""
    listed = [values] if isinstance(values, kinds) or not np.iterable(values) else [*values]
    for value in listed:
        if not isinstance(value, kinds):
            raise InputError(f"{argument}: expected {' or '.join(kind.__name__ for kind in kinds)}, found {value!r}")
    return listed


def _to_ground_truth(truth: Any) -> GroundTruth:
    if isinstance(truth, (str, os.PathLike)):
        return read_ground_truth(truth).select_known(truth)
    pictures = truth.pictures if isinstance(truth, Collection) else _list_values("truth", truth, Picture)
    scored = select_scored(pictures, source="pictures")
    return make_ground_truth(scored, collect_known_names(pictures), source="pictures").select_known()


def _to_runs(runs: Any, truth: GroundTruth) -> list[Run]:
    if isinstance(runs, Mapping):
        # A mapping is a run if it names pictures, or unless its values are runs.
        is_run = any(to_run_name(str(name)) in truth.known.pictures for name in runs)
        is_run = is_run or not all(isinstance(run, (str, os.PathLike, Mapping)) for run in runs.values())
        made = [_to_run(name, run, truth) for name, run in ({"run": runs} if is_run else runs).items()]
    else:
        made = [read_run(file, truth.known) for file in _list_values("runs", runs, str, os.PathLike)]
    names = [run.name for run in made]
    if len(set(names)) < len(names) or not names:
        listed = ", ".join(map(str, names)) or "none"
        raise UsageError(f"expected runs with names that differ, found {listed}; give a mapping by name")
    return made


def _to_run(name: str, run: PathLike | Mapping[str, Any], truth: GroundTruth) -> Run:
    if not isinstance(run, Mapping):
        return replace(read_run(run, truth.known), name=name)
    names = [to_run_name(picture) for picture in _list_values(f"pictures of run {name!r}", run, str)]
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
