"""The table of scores: runs by metrics, with intervals and significant differences."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from math import isnan
from typing import Any, Literal

import numpy as np

from leafid.errors import UsageError
from leafid.metrics.averages import Indices
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import Metric, find_metrics
from leafid.scoring.power import (
    POWER,
    SIGNIFICANT,
    Difference,
    find_differences,
    find_smallest_difference,
)
from leafid.scoring.reading.truth import ALL, TYPE_ORDER, UNKNOWN, GroundTruth
from leafid.scoring.resampling import (
    Bootstrap,
    Statistics,
    average_statistics,
    bootstrap_scores,
    correct_holm,
    subtract,
)
from leafid.scoring.tables import LETTERS, Cell, Estimate, Rows, Table

#: What pictures can be grouped by, besides their types.
GROUPS = ("species", "genus", "family", "author", "plant")
MEAN_OF_TYPES = "mean of types"
#: How the spread of a score is shown: the ends of its interval, its standard error, or
#: not at all.
Intervals = Literal["bounds", "error", "none"]
#: The number of plants below which a note says that an interval is wide.
FEW_PLANTS = 30


@dataclass(frozen=True)
class ScoreOptions:
    """What is computed of answers."""

    metrics: Sequence[Metric]
    intervals: Intervals = "bounds"
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    #: Leave out the pictures that a run lacks, as the official scorer does; otherwise
    #: they count 0.
    leave_out_missing: bool = False

    def with_metrics(self, names: Sequence[str]) -> "ScoreOptions":
        """Take other metrics."""
        return replace(self, metrics=find_metrics(names))


@dataclass(frozen=True)
class ScoredGroup:
    """A group of pictures, and the answers of several runs to them."""

    name: str
    #: The answers of each run, in parts whose scores are averaged: repeats of a run,
    #: types of pictures. The parts of all runs have the same pictures.
    answers: Sequence[Sequence[JudgedRun]]
    #: How many repeats each run has.
    n_repeats: int = 1
    #: For a group of one species: the answers to all pictures, of which others may be
    #: taken for this species.
    everything: Sequence[Sequence[JudgedRun]] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the scores of runs on a group of pictures are computed from, and tests."""

    statistics: Sequence[Statistics]
    differences: Sequence[Difference]


#: By the names of group and metric.
Comparisons = Mapping[tuple[str, str], Comparison]


def make_groups(
    truth: GroundTruth,
    runs: Sequence[Sequence[JudgedRun]],
    by: str = "type",
    names_of_groups: Sequence[str] = (),
) -> list[ScoredGroup]:
    """Make the groups of a table in which all runs answer all pictures.

    `names_of_groups`, by default the column `by` of the truth, has the group of each
    picture. Each run has one repeat or several. The types that have pictures, in
    `TYPE_ORDER`, are followed by `MEAN_OF_TYPES`, whose types are averaged, and `ALL`.
    Where there is one type, there is only that, or `ALL` if it is unknown.
    """
    column = names_of_groups
    if not column:
        column = getattr(truth, "official_plant" if by == "plant" else by)
    rows = defaultdict(list)
    for row, name in enumerate(column):
        rows[name].append(row)

    def make_group(name: str, *parts: Any) -> ScoredGroup:
        answers = []
        for run in runs:
            answers.append([r.select(part) for r, part in product(run, parts)])
        everything = runs if by == "species" else None
        return ScoredGroup(name, answers, len(runs[0]), everything)

    names = sorted(rows, key=TYPE_ORDER.index if by == "type" else None)
    groups = [make_group(name, rows[name]) for name in names]
    if by != "type":
        return groups
    if names == [UNKNOWN]:
        return [replace(groups[0], name=ALL)]
    if len(groups) > 1:
        groups.append(make_group(MEAN_OF_TYPES, *map(rows.__getitem__, names)))
        groups.append(make_group(ALL, slice(None)))
    return groups


def make_group_table(
    truth: GroundTruth,
    runs: Sequence[JudgedRun],
    options: ScoreOptions,
    by: str = "type",
    title: str = "",
) -> Table:
    """Tabulate the scores of runs by acquisition type, or by one of `GROUPS`.

    The runs are not tested on `GROUPS`. A `UsageError` is raised where a metric needs
    pictures of several groups.
    """
    if by in ("species", "genus", "family"):
        # A group has no pictures of others, which are taken for its species.
        for metric in options.metrics:
            is_of_group = metric.score_names and by == "species"
            if not (metric.score_pictures or is_of_group):
                raise UsageError(
                    f"expected metrics of single pictures by {by}, found {metric.name}"
                )
    heading = "acquisition type" if by == "type" else by
    groups = make_groups(truth, [[run] for run in runs], by)
    return make_score_table(title or f"Scores by {heading}", by, groups, options)


def compare_runs(
    groups: Sequence[ScoredGroup], options: ScoreOptions, *, is_tested: bool = True
) -> Comparisons:
    """Compute what scores are made of, and test the runs where that is asked for."""
    comparisons = {}
    for group, metric in product(groups, options.metrics):
        answers = group.answers
        names = None
        if group.everything:
            # Pictures of other species are all of the same name: -1.
            names = np.array([-1, answers[0][0].label[0]])
            # Scores of names count pictures outside the group that get them.
            if metric.score_names:
                answers = group.everything
        if options.leave_out_missing:
            answers = _leave_out_missing(answers)
        statistics = compute_statistics(metric, answers, names)
        differences = []
        if is_tested:
            differences = find_differences(statistics, options.bootstrap)
        comparisons[group.name, metric.name] = Comparison(statistics, differences)
    return comparisons


def make_score_table(
    title: str,
    heading: str,
    groups: Sequence[ScoredGroup],
    options: ScoreOptions,
    comparisons: Comparisons | None = None,
) -> Table:
    """Tabulate the scores of each run on each group of pictures, called `heading`.

    Of several runs, scores are marked that are the best, or significantly better than
    other runs' scores. There is no test of more runs than there are `LETTERS`, or of
    `GROUPS`. A score is NaN where no picture counts, its interval also where there is a
    single plant. `comparisons` are computed here where they aren't given.
    """
    is_tested = heading not in GROUPS
    names = dict.fromkeys(run[0].title for group in groups for run in group.answers)
    letters: dict[str, str] = {}
    if is_tested and 1 < len(names) <= len(LETTERS):
        letters = dict(zip(names, LETTERS, strict=False))
    if comparisons is None:
        comparisons = compare_runs(groups, options, is_tested=bool(letters))
    rows: list[list[Any]] = []
    for group in groups:
        rows += _score_group(group, options, letters, comparisons)
    details = {"missing", "plants"}
    if not any(row[3] for row in rows):
        details.add("left out")
    notes = describe_options(options)
    if letters:
        notes.append(
            f"raised letters: better than these runs (p < {SIGNIFICANT:g}, paired "
            "randomisation over plants, Holm's correction)"
        )
    if smallest := _describe_smallest(rows, options.metrics):
        notes.append(smallest)
    few = dict.fromkeys(row[0] for row in rows if row[5] < FEW_PLANTS)
    if few and notes and is_tested:
        notes.append(
            f"fewer than {FEW_PLANTS} plants, on which only large differences show: "
            f"{', '.join(few)}"
        )
    if is_tested and len(names) > len(LETTERS):
        notes.append(
            f"more than {len(LETTERS)} runs are not tested here; 'leafid compare' "
            "tests them"
        )
    counts = ["pictures", "left out", "missing", "plants"]
    return Table(
        title,
        columns=[heading, "run", *counts, *(m.name for m in options.metrics)],
        rows=rows,
        notes=notes,
        details=frozenset(details),
        n_keys=2,
        letters=letters,
    )


def _score_group(
    group: ScoredGroup,
    options: ScoreOptions,
    letters: Mapping[str, str],
    comparisons: Comparisons,
) -> Rows:
    """Make the row of each run on a group of pictures."""
    answers = group.answers
    if options.leave_out_missing:
        answers = _leave_out_missing(answers)
    rows: Rows = []
    for run, parts in zip(group.answers, answers, strict=True):
        known = [part.select(part.is_known) for part in parts]
        n_pictures = sum(len(part.rank) for part in run)
        n_scored = sum(len(part.rank) for part in known)
        n_missing = sum(int((~part.covered).sum()) for part in known)
        # Counts are means over the repeats.
        counts = [
            round(number / group.n_repeats)
            for number in (n_scored, n_pictures - n_scored, n_missing)
        ]
        n_plants = len(np.unique(np.concatenate([part.plant for part in known])))
        rows.append([group.name, run[0].title, *counts, n_plants])
    marks = [letters.get(run[0].title, "") for run in group.answers]
    for metric in options.metrics:
        comparison = comparisons[group.name, metric.name]
        estimates = _mark_scores(metric, comparison, options, marks)
        for row, estimate in zip(rows, estimates, strict=True):
            row.append(estimate)
    return rows


def _leave_out_missing(
    answers: Sequence[Sequence[JudgedRun]],
) -> list[list[JudgedRun]]:
    return [[part.select(part.covered) for part in run] for run in answers]


def _mark_scores(
    metric: Metric,
    comparison: Comparison,
    options: ScoreOptions,
    letters: Sequence[str],
) -> list[Estimate]:
    """Estimate the score of each run, and mark the best.

    A score is also marked by the letters of runs that it is significantly better than;
    without letters, nothing is tested.
    """
    estimates = estimate_scores(comparison.statistics, options)
    scores = np.array([estimate.value for estimate in estimates])
    if metric.is_error:
        scores = -scores
    if len(scores) == 1 or np.isnan(scores).all():
        return estimates
    differences = comparison.differences if all(letters) else []
    worse = [""] * len(scores)
    p_values = [dict.fromkeys(filter(None, letters), np.nan) for _ in scores]
    corrected = correct_holm([test.p for test in differences]).tolist()
    for test, p in zip(differences, corrected, strict=True):
        worst, better = sorted((test.a, test.b), key=scores.__getitem__)
        p_values[worst][letters[better]] = p
        p_values[better][letters[worst]] = p
        if p < SIGNIFICANT:
            worse[better] += letters[worst]
    smallest = find_smallest_difference([test.by_plant for test in differences])
    is_best = (subtract(scores, np.nanmax(scores)) == 0).tolist()
    return [
        replace(
            estimate,
            is_best=best,
            better_than="".join(sorted(marks)),
            p_values=p,
            smallest_difference=smallest,
        )
        for estimate, best, marks, p in zip(
            estimates, is_best, worse, p_values, strict=True
        )
    ]


def compute_statistics(
    metric: Metric,
    answers: Sequence[Sequence[JudgedRun]],
    names: Indices | None = None,
) -> list[Statistics]:
    """Compute the statistics of each run, means over its repeats and parts.

    Scores of names are of `names`, rising; by default of all.
    """
    parts = [part for run in answers for part in run]
    n_plants = 1 + max(int(part.plant.max(initial=0)) for part in parts)
    if names is None:
        columns = [(part.label, part.first) for part in parts]
        names = np.unique(np.concatenate([*chain(*columns)]))
    statistics = []
    for run in answers:
        scores = [metric.compute_statistics(part, n_plants, names) for part in run]
        statistics.append(average_statistics(scores))
    return statistics


def estimate_scores(
    statistics: Sequence[Statistics],
    options: ScoreOptions,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> list[Estimate]:
    """Estimate the scores of runs or, where there are pairs, their differences."""
    values = [score.compute() for score in statistics]
    if pairs is not None:
        values = [float(subtract(values[a], values[b])) for a, b in pairs]
    has_intervals = all(len(score.further) for score in statistics)
    if options.intervals == "none" or not has_intervals:
        return [*map(Estimate, values)]
    samples = bootstrap_scores(
        statistics, options.bootstrap, is_paired=pairs is not None
    )
    if pairs is not None:
        samples = np.array([samples[a] - samples[b][::-1] for a, b in pairs])
    # The tails are equal.
    tail = (1 - options.bootstrap.confidence) / 2
    estimates = []
    for value, (low, high) in zip(values, samples, strict=True):
        spread = {"low": np.quantile(low, tail), "high": np.quantile(high, 1 - tail)}
        if options.intervals == "error":
            spread = {"error": np.sqrt((low.var() + high.var()) / 2)}
        estimates.append(Estimate(value, {k: float(v) for k, v in spread.items()}))
    return estimates


def _describe_smallest(rows: Sequence[Any], metrics: Sequence[Metric]) -> str:
    """Describe the smallest differences that each group shows, where there are any."""
    groups: dict[Cell, str] = {}
    for row in rows:
        differences = []
        for metric, estimate in zip(metrics, row[-len(metrics) :], strict=True):
            if not isnan(smallest := estimate.smallest_difference):
                differences.append(f"{metric.name} {smallest:.2g}")
        if differences:
            groups[row[0]] = f"{row[0]} {', '.join(differences)}"
    if not groups:
        return ""
    return (
        "smallest difference that these plants show, between runs that differ so (p < "
        f"{SIGNIFICANT:g} with probability {POWER:g}): {'; '.join(groups.values())}"
    )


def describe_options(options: ScoreOptions) -> list[str]:
    """Describe the intervals or errors that follow the scores of a table."""
    bootstrap = options.bootstrap
    spreads = {
        "bounds": f"[low, high]: {100 * bootstrap.confidence:g}% interval",
        "error": "±: standard error",
    }
    spread = spreads.get(options.intervals)
    notes = []
    if spread and any(metric.score_pictures for metric in options.metrics):
        notes.append(f"{spread}, bootstrap over plants, {bootstrap}")
    return notes
