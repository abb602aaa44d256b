"""Scores runs from Python: of any system, from files or from objects."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafid.errors import InputError, LeafidError, UsageError
from leafid.pictures.picture import Collection, Picture
from leafid.scoring.inputs import PathLike, Rankings, list_values, to_ground_truth, to_runs
from leafid.scoring.plant_task import (
    GROUPS,
    ScoreOptions,
    find_plant_metric,
    judge_run,
    list_plant_metrics,
    make_score_table,
)
from leafid.scoring.resampling import Bootstrap

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
    chosen = [find_plant_metric(str(name)) for name in dict.fromkeys(list_values("metrics", metrics, str))]
    if by not in ("type", *GROUPS):
        raise UsageError(f"expected a group ({', '.join(('type', *GROUPS))}), found {by!r}")
    if not isinstance(bootstrap, bool | Bootstrap):
        raise InputError(f"bootstrap: expected True, False or a Bootstrap, found {bootstrap!r}")
    if not isinstance(leave_out_missing, bool):
        raise InputError(f"leave_out_missing: expected True or False, found {leave_out_missing!r}")
    ground_truth = to_ground_truth(truth)
    made = to_runs(runs, ground_truth)
    judged = [judge_run(run, ground_truth) for run in made]
    if empty := [run.name for run in judged if not run.covered.any()]:
        raise LeafidError(f"{empty[0]}: expected predictions for the labelled pictures, found none")
    if "family" in {by, *(metric.level for metric in chosen)}:
        ground_truth.warn_of_families(made)
    resampling = bootstrap if isinstance(bootstrap, Bootstrap) else Bootstrap()
    options = ScoreOptions(chosen, leave_out_missing, resampling, "all" if bootstrap else "none")
    table = make_score_table(ground_truth, judged, options, by)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
