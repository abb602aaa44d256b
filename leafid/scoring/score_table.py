"""The table of scores: runs by metrics, in groups of pictures, with intervals and significant differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leafid.grouping import count_noun, group_by
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import Metric, find_metric
from leafid.scoring.resampling import (
    Bootstrap,
    Statistics,
    average_statistics,
    bootstrap_scores,
    correct_holm,
    randomisation_test,
)
from leafid.scoring.tables import LETTERS, Cell, Estimate, Table
from leafid.scoring.truth import ALL, UNKNOWN, GroundTruth, select_types

#: What pictures can be grouped by, besides their types.
GROUPS = ("species", "genus", "family", "author", "plant")
MEAN_OF_TYPES = "mean of types"
#: The probability below which a difference is significant.
SIGNIFICANT = 0.05
#: How the spread of a score is shown: the ends of its interval, its standard error, or not at all.
Intervals = Literal["bounds", "error", "none"]


@dataclass(frozen=True)
class ScoreOptions:
    """What is computed of answers."""

    metrics: Sequence[Metric]
    intervals: Intervals = "bounds"
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    #: Leave out the pictures that a run lacks, as the official scorer does; otherwise they count 0.
    leave_out_missing: bool = False


@dataclass(frozen=True)
class ScoredGroup:
    """A group of pictures, and the answers of several runs to them."""

    name: str
    #: The repeats of each run, of which means are taken: all runs answer the same pictures.
    runs: Sequence[Sequence[JudgedRun]]
    #: The pictures, by their indices, in the parts over which scores are averaged.
    parts: Sequence[NDArray[np.intp]]

    def compute_statistics(self, run: int, metric: Metric, leave_out_missing: bool) -> Statistics:
        """Compute the statistics of a run: the mean of those of its repeats and of the parts."""
        n_plants = int(max(repeat.plant.max() for repeat in self.runs[run])) + 1
        return average_statistics(
            [
                metric.compute_statistics(repeat.select(_choose(repeat, part, leave_out_missing)), n_plants)
                for repeat in self.runs[run]
                for part in self.parts
            ]
        )

    def count(self, run: int, leave_out_missing: bool) -> tuple[list[Cell], NDArray[np.intp]]:
        """Count the pictures that are scored, that are left out and that the run lacks, means over the repeats.

        The number of plants is the last one; the plants themselves are returned as well.
        """
        pictures = np.concatenate(self.parts)
        counts, plants = [], []
        for repeat in self.runs[run]:
            scored = _choose(repeat, pictures, leave_out_missing)
            scored = scored[repeat.is_known[scored]]
            missing = repeat.is_known[pictures] & ~repeat.covered[pictures]
            counts.append([len(scored), len(pictures) - len(scored), int(missing.sum())])
            plants.append(repeat.plant[scored])
        drawn = np.unique(np.concatenate(plants))
        return [*np.mean(counts, axis=0).round().astype(int).tolist(), len(drawn)], drawn


def _choose(run: JudgedRun, part: NDArray[np.intp], leave_out_missing: bool) -> NDArray[np.intp]:
    return part[run.covered[part]] if leave_out_missing else part


def split_pictures(truth: GroundTruth, group: str = "type") -> dict[str, list[NDArray[np.intp]]]:
    """Split the pictures into the groups of a table: the parts over which each one's scores are averaged.

    The types that have pictures, in `TYPE_ORDER`, are followed by `MEAN_OF_TYPES`, whose types are averaged, and `ALL`.
    Where there is one type, there is only that, or `ALL` if it is unknown.
    """
    if group != "type":
        column = getattr(truth, "official_plant" if group == "plant" else group)
        parts = group_by(range(len(truth)), column.__getitem__)
        return {name: [np.array(parts[name])] for name in sorted(parts)}
    types = select_types(truth)
    if len(types) == 1:
        return {ALL if name == UNKNOWN else name: [indices] for name, indices in types.items()}
    return {name: [indices] for name, indices in types.items()} | {
        MEAN_OF_TYPES: [*types.values()],
        ALL: [np.arange(len(truth))],
    }


def make_groups(truth: GroundTruth, runs: Sequence[Sequence[JudgedRun]], by: str = "type") -> list[ScoredGroup]:
    """Make the groups of a table in which all runs answer all pictures."""
    return [ScoredGroup(name, runs, parts) for name, parts in split_pictures(truth, by).items()]


def score_by_group(truth: GroundTruth, runs: Sequence[JudgedRun], options: ScoreOptions, by: str = "type") -> Table:
    """Tabulate the scores of runs by acquisition type, or by one of `GROUPS`, whose runs are not tested.

    Rows of genera and families begin with the S of genus or family, which is NaN where that is unknown.
    """
    groups = make_groups(truth, [[run] for run in runs], by)
    if by == "type":
        return make_score_table("Scores by acquisition type", by, groups, options)
    is_level = by in ("genus", "family")
    if is_level:
        level = find_metric(f"S-{by}")
        options = replace(options, metrics=[level, *(metric for metric in options.metrics if metric != level)])
    table = make_score_table(f"Scores by {by}", by, groups, options, is_tested=False)
    if is_level:
        column = len(table.columns) - len(options.metrics)
        rows = [[*row[:column], Estimate(nan), *row[column + 1 :]] if row[0] == UNKNOWN else row for row in table.rows]
        return replace(table, rows=rows)
    return table


def make_score_table(
    title: str, heading: str, groups: Sequence[ScoredGroup], options: ScoreOptions, *, is_tested: bool = True
) -> Table:
    """Tabulate the scores of each run on each group of pictures, called `heading`, with their numbers of pictures.

    Where there are several runs, scores are marked that are the best, or significantly better than those of other runs,
    which are tested if there are few enough to be called by letters. A score is NaN where no picture counts, its
    interval also where there is a single plant.
    """
    names = list(dict.fromkeys(run[0].title for group in groups for run in group.runs))
    is_tested = is_tested and 1 < len(names) <= len(LETTERS)
    letters = dict(zip(names, LETTERS, strict=False)) if is_tested else {}
    rows = [row for group in groups for row in _score_group(group, options, letters)]
    columns = [heading, "run", "pictures", "left out", "missing", "plants", *(m.name for m in options.metrics)]
    details = {"missing", "plants"} if any(row[3] for row in rows) else {"left out", "missing", "plants"}
    return Table(title, columns, rows, _describe(options, is_tested), frozenset(details), 2, True, letters)


def _score_group(group: ScoredGroup, options: ScoreOptions, letters: Mapping[str, str]) -> list[list[Cell]]:
    """Make the row of each run."""
    counts = [group.count(run, options.leave_out_missing) for run in range(len(group.runs))]
    by_metric = [
        [group.compute_statistics(run, metric, options.leave_out_missing) for run in range(len(group.runs))]
        for metric in options.metrics
    ]
    by_run = [
        _estimate([of_metric[run] for of_metric in by_metric], plants, options)
        for run, (_, plants) in enumerate(counts)
    ]
    columns = [
        _mark(metric, statistics, estimates, options.bootstrap, [letters.get(run[0].title, "") for run in group.runs])
        for metric, statistics, estimates in zip(options.metrics, by_metric, zip(*by_run, strict=True), strict=True)
    ]
    cells = zip(group.runs, counts, zip(*columns, strict=True), strict=True)
    return [[group.name, run[0].title, *numbers, *estimates] for run, (numbers, _), estimates in cells]


def _estimate(statistics: Sequence[Statistics], plants: NDArray[np.intp], options: ScoreOptions) -> list[Estimate]:
    """Estimate the scores of a run by each metric, with their spread."""
    values = [score.compute() for score in statistics]
    resampled = [index for index, metric in enumerate(options.metrics) if metric.is_resampled]
    estimates = [*map(Estimate, values)]
    if options.intervals == "none" or not resampled:
        return estimates
    samples = bootstrap_scores([statistics[index] for index in resampled], plants, options.bootstrap)
    for index, row in zip(resampled, [None] * len(resampled) if samples is None else samples, strict=True):
        if options.intervals == "error":
            estimates[index] = Estimate(values[index], error=nan if row is None else float(np.nanstd(row, ddof=1)))
        else:
            low, high = (nan, nan) if row is None else options.bootstrap.compute_interval(row)
            estimates[index] = Estimate(values[index], low, high)
    return estimates


def _mark(
    metric: Metric,
    statistics: Sequence[Statistics],
    estimates: Sequence[Estimate],
    bootstrap: Bootstrap,
    letters: Sequence[str],
) -> list[Estimate]:
    """Mark the best of several runs, and the letters of the runs that each is significantly better than."""
    scores = [-estimate.value if metric.is_error else estimate.value for estimate in estimates]
    if len(scores) == 1 or np.isnan(scores).all():
        return [*estimates]
    worse: dict[int, set[str]] = {run: set() for run in range(len(scores))}
    for difference in _test(statistics, metric, bootstrap) if all(letters) else ():
        if difference.corrected < SIGNIFICANT:
            pair = (difference.first, difference.second)
            best, worst = sorted(pair, key=scores.__getitem__, reverse=True)
            worse[best].add(letters[worst])
    return [
        replace(estimate, is_best=score == np.nanmax(scores), better_than="".join(sorted(worse[run])))
        for run, (estimate, score) in enumerate(zip(estimates, scores, strict=True))
    ]


def _describe(options: ScoreOptions, is_tested: bool) -> list[str]:
    bootstrap = options.bootstrap
    notes = []
    if options.intervals != "none" and any(metric.is_resampled for metric in options.metrics):
        bounds = f"[low, high]: {100 * bootstrap.confidence:g}% interval"
        spread = bounds if options.intervals == "bounds" else "±: standard error"
        notes.append(f"{spread}, bootstrap over plants, {bootstrap.resamples} resamples, seed {bootstrap.seed}")
    if is_tested:
        test = f"p < {SIGNIFICANT:g}, paired randomisation over plants, Holm's correction"
        notes.append(f"raised letters: better than these runs ({test})")
    return notes


@dataclass(frozen=True)
class _Difference:
    """Two runs, by their indices, and how probable their difference is if they were equally good."""

    first: int
    second: int
    p: float
    corrected: float


def _test(
    statistics: Sequence[Statistics], metric: Metric, bootstrap: Bootstrap, pairs: Literal["all", "first"] = "all"
) -> list[_Difference]:
    """Test every two of the runs that have a score, or each with the first one."""
    scored = [index for index, score in enumerate(statistics) if not np.isnan(score.compute())]
    tested = [pair for pair in combinations(scored, 2) if pairs == "all" or pair[0] == 0]
    if not metric.is_resampled or not tested:
        return []
    p_values = randomisation_test(statistics, tested, bootstrap)
    corrected = correct_holm(p_values).tolist()
    return [_Difference(*pair, p, holm) for pair, p, holm in zip(tested, p_values, corrected, strict=True)]


def make_comparison_table(
    heading: str, groups: Sequence[ScoredGroup], options: ScoreOptions, pairs: Literal["all", "first"] = "all"
) -> Table:
    """Tabulate the differences between runs on each group of pictures: of every two, or of each from the first.

    p is two-sided, by paired randomisation over plants; Holm's correction is for the pairs of a group and metric.
    """
    rows: list[list[Cell]] = []
    for group in groups:
        for metric in options.metrics:
            statistics = [group.compute_statistics(run, metric, False) for run in range(len(group.runs))]
            for difference in _test(statistics, metric, options.bootstrap, pairs):
                a, b = (statistics[run].compute() for run in (difference.first, difference.second))
                names = [group.runs[run][0].title for run in (difference.first, difference.second)]
                rows.append([group.name, metric.name, *names, a, b, a - b, difference.p, difference.corrected])
    columns = [heading, "metric", "run A", "run B", "A", "B", "A - B", "p", "p (Holm)"]
    bootstrap = options.bootstrap
    notes = [
        f"p: paired randomisation over plants, {bootstrap.resamples} resamples, seed {bootstrap.seed}; "
        f"Holm's correction for the {count_noun(len(groups[0].runs), 'run')} of a group and metric"
    ]
    return Table("Differences", columns, rows, notes, n_keys=4, is_grouped=True)
