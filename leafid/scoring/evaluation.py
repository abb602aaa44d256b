"""Scores runs from Python: of any system, from files or from objects."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leafid.errors import ProblemsError, UsageError
from leafid.pictures import Collection
from leafid.pictures.picture import Picture
from leafid.scoring.plant_task import GROUPS, ScoreOptions, find_plant_metric, judge_run, list_plant_metrics, score_run
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.run_reading import find_problems, read_run
from leafid.scoring.runs import Run, make_run
from leafid.scoring.truth import GroundTruth, collect_known_names, make_ground_truth, read_ground_truth, select_scored

PathLike = str | os.PathLike[str]
#: For each picture its species, the best first, with scores or without.
Rankings = Mapping[str, Sequence[str] | Sequence[tuple[str, float]]]
RunLike = PathLike | Run | Rankings

#: The metrics that ``leafid evaluate`` prints of every run.
EVERY_RUN = tuple(metric.name for metric in list_plant_metrics())


def evaluate(
    truth: PathLike | GroundTruth | Collection | Iterable[Picture],
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    metrics: Sequence[str] = EVERY_RUN,
    *,
    by: str = "type",
    bootstrap: Bootstrap | bool = False,
    leave_out_missing: bool = False,
) -> list[dict[str, Any]]:
    """Score runs of the plant task, as ``leafid evaluate`` does.

    Parameters
    ----------
    truth : path-like, GroundTruth, Collection or iterable of Picture
        A folder of XML, a collection, a ``…GroundTruth.txt``, or what was read of them.
    runs : path-like, Run, mapping of str to ranking, or a sequence or a mapping by name of these
        A ranking is a sequence of species, or of (species, score), the best first. A picture that a run lacks
        counts 0.
    metrics : sequence of str
        By default those that ``leafid evaluate`` prints; also "genus", "family" and "top-K" for any K.
    by : {"type", "species", "genus", "family", "author", "plant", "content"}, default "type"
        What the rows are. By type there are two more: "mean of types" and "all pictures".
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
        When there is no such metric or group or nothing to score against; all problems of all runs
        are reported together.

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
    chosen = [find_plant_metric(name) for name in metrics]
    if by not in ("type", *GROUPS):
        raise UsageError(f"expected a group ({', '.join(('type', *GROUPS))}), found {by!r}")
    ground_truth = _to_ground_truth(truth)
    resampling = Bootstrap() if bootstrap is True else bootstrap or None
    records = []
    for run in _to_runs(runs, ground_truth):
        options = ScoreOptions(chosen, leave_out_missing, resampling)
        for part in score_run(ground_truth, judge_run(run, ground_truth), options, by):
            record: dict[str, Any] = {"run": run.name, by: part.name}
            record |= {"pictures": part.pictures, "missing": part.missing, "plants": part.plants}
            for metric, score, (low, high) in zip(chosen, part.scores, part.intervals, strict=True):
                record[metric.column] = score
                if resampling:
                    record |= {f"{metric.column} low": low, f"{metric.column} high": high}
            records.append(record)
    return records


def _to_ground_truth(truth: PathLike | GroundTruth | Collection | Iterable[Picture]) -> GroundTruth:
    if isinstance(truth, GroundTruth):
        return truth
    if isinstance(truth, (str, os.PathLike)):
        return read_ground_truth(truth)
    pictures = truth.pictures if isinstance(truth, Collection) else tuple(truth)
    scored = select_scored(pictures, source="pictures")
    return make_ground_truth(scored, collect_known_names(pictures), source="pictures")


def _to_runs(runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike], truth: GroundTruth) -> list[Run]:
    named: Iterable[tuple[str | None, Any]]
    if isinstance(runs, (str, os.PathLike, Run)):
        named = [(None, runs)]
    elif not isinstance(runs, Mapping):
        named = [(None, run) for run in runs]
    # A mapping is a run unless its values are.
    elif all(isinstance(run, (str, os.PathLike, Run, Mapping)) for run in runs.values()):
        named = runs.items()
    else:
        named = [(None, runs)]
    found: list[Run] = []
    problems: list[str] = []
    for name, run in named:
        try:
            found.append(_to_run(name, run, truth))
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    names = [run.name for run in found]
    if len(set(names)) < len(names):
        raise UsageError(f"expected runs with names that differ, found {', '.join(names)}; give a mapping by name")
    return found


def _to_run(name: str | None, run: Any, truth: GroundTruth) -> Run:
    if isinstance(run, (str, os.PathLike)):
        found = read_run(run, truth.known)
        return replace(found, name=name) if name else found
    found = replace(run, name=name or run.name) if isinstance(run, Run) else _make_run(name or "run", run)
    found = found.rename_species(truth.known.identifiers)
    if problems := sorted(find_problems(found, truth.known)):
        raise ProblemsError(f"{found.name}: {complaint}" for _, complaint in problems)
    return found


def _make_run(name: str, rankings: Mapping[str, Sequence[Any]]) -> Run:
    pictures = {picture: code for code, picture in enumerate(rankings)}
    species: dict[str, int] = {}
    rows: list[tuple[int, int, int, float, int]] = []
    for picture, ranking in rankings.items():
        for rank, entry in enumerate(ranking, 1):
            kind, score = (entry, 1 / rank) if isinstance(entry, str) else entry
            if not np.isfinite(score):
                raise ProblemsError([f"{name}: expected a finite score of {kind!r} for {picture!r}, found {score}"])
            rows.append((pictures[picture], species.setdefault(kind, len(species)), rank, score, len(rows) + 1))
    return make_run(name, pictures, species, np.array(rows, np.float64).reshape(-1, 5))
