"""Scores runs from Python: of any system, from files or from objects."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leafid.errors import ProblemsError, UsageError
from leafid.pictures import Collection
from leafid.pictures.picture import Picture, to_run_name
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

PathLike = str | os.PathLike[str]
#: For each picture its species, the best first, with scores or without.
Rankings = Mapping[str, Sequence[str] | Sequence[tuple[str, float]]]

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
    runs : path-like, mapping of str to ranking, a sequence of path-like, or a mapping of these by name
        A ranking is a sequence of species, or of (species, score), the best first. A picture that a run lacks
        counts 0.
    metrics : sequence of str
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
        When there is no such metric or group, nothing to score against, or something is wrong with a run.

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
    chosen = [find_plant_metric(name) for name in dict.fromkeys(metrics)]
    if by not in ("type", *GROUPS):
        raise UsageError(f"expected a group ({', '.join(('type', *GROUPS))}), found {by!r}")
    ground_truth = _to_ground_truth(truth)
    judged = [judge_run(run, ground_truth) for run in _to_runs(runs, ground_truth)]
    resampling = bootstrap if isinstance(bootstrap, Bootstrap) else Bootstrap()
    options = ScoreOptions(chosen, leave_out_missing, resampling, "all" if bootstrap else "none")
    table = make_score_table(ground_truth, judged, options, by)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _to_ground_truth(truth: PathLike | Collection | Iterable[Picture]) -> GroundTruth:
    if isinstance(truth, (str, os.PathLike)):
        return read_ground_truth(truth)
    pictures = truth.pictures if isinstance(truth, Collection) else tuple(truth)
    scored = select_scored(pictures, source="pictures")
    return make_ground_truth(scored, collect_known_names(pictures), source="pictures")


def _to_runs(runs: Any, truth: GroundTruth) -> list[Run]:
    if isinstance(runs, Mapping):
        # A mapping is a run unless its values are.
        is_run = not all(isinstance(run, (str, os.PathLike, Mapping)) for run in runs.values())
        found = [_to_run(name, run, truth) for name, run in ({"run": runs} if is_run else runs).items()]
    else:
        files = [runs] if isinstance(runs, (str, os.PathLike)) else runs
        found = [read_run(file, truth.known) for file in files]
    names = [run.name for run in found]
    if len(set(names)) < len(names):
        raise UsageError(f"expected runs with names that differ, found {', '.join(names)}; give a mapping by name")
    return found


def _to_run(name: str, run: PathLike | Mapping[str, Any], truth: GroundTruth) -> Run:
    if not isinstance(run, Mapping):
        return replace(read_run(run, truth.known), name=name)
    run = {to_run_name(str(picture)): ranking for picture, ranking in run.items()}
    pictures = {picture: code for code, picture in enumerate(run)}
    species: dict[str, int] = {}
    rows: list[tuple[int, int, int, float, int]] = []
    for picture, ranking in run.items():
        for rank, entry in enumerate(ranking, 1):
            kind, score = (entry, 1 / rank) if isinstance(entry, str) else entry
            if not np.isfinite(score):
                raise ProblemsError([f"{name}: expected a finite score of {kind!r} for {picture!r}, found {score}"])
            rows.append((pictures[picture], species.setdefault(kind, len(species)), rank, score, len(rows) + 1))
    made = make_run(name, pictures, species, np.array(rows, np.float64).reshape(-1, 5))
    made = made.rename_species(truth.known.identifiers)
    if problems := sorted(find_problems(made, truth.known)):
        raise ProblemsError(f"{name}: {complaint}" for _, complaint in problems)
    return made
