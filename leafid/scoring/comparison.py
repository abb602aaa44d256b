"""Compares runs: their differences, with intervals and tests."""

from collections.abc import Iterable, Sequence
from itertools import product

from leafid.checking import check_arguments
from leafid.errors import UsageError
from leafid.pictures.columns import TypeName
from leafid.scoring.evaluation import (
    Part,
    Records,
    RunsLike,
    TruthLike,
    make_options,
    read_and_judge,
)
from leafid.scoring.judging import JudgedRun
from leafid.scoring.power import (
    DIFFERENCE,
    POWER,
    SIGNIFICANT,
    compute_effect_size,
    count_plants_needed,
)
from leafid.scoring.reading.inputs import to_ground_truth
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.resampling import Bootstrap, correct_holm
from leafid.scoring.score_table import (
    Comparisons,
    Intervals,
    ScoredGroup,
    ScoreOptions,
    compare_runs,
    describe_options,
    estimate_scores,
    make_groups,
    make_score_table,
)
from leafid.scoring.tables import Cell, Estimate, Rows, Table


@check_arguments
def compare(
    truth: TruthLike,
    runs: RunsLike,
    metrics: Iterable[str] | None = None,
    *,
    intervals: Intervals = "bounds",
    bootstrap: Bootstrap | None = None,
    part: Part | None = None,
    only_type: TypeName | None = None,
) -> Records:
    """Test whether runs differ, each from every other, as ``leafid compare`` does.

    Parameters
    ----------
    truth, runs, metrics, intervals, bootstrap, part, only_type
        As in `evaluate`, with at least two runs.

    Returns
    -------
    list of dict
        A record for each acquisition type (and their mean, and all pictures), metric
        and pair of runs: "A" and "B" are their scores, "A - B" the difference, "p" its
        two-sided probability by paired randomisation over plants if both were equally
        good, "p (Holm)" the same, corrected for the number of pairs, "A - B low" and
        "A - B high" the ends of its interval, "effect size" Cohen's d over plants, and
        "plants for 0.02" how many plants show such a difference (NaN where there
        is none). Its table "scores" has the scores.

    Raises
    ------
    UsageError
        When there is one run only, or no such metric.
    LeafidError
        When something is wrong with the ground truth or a run.
    """
    options = make_options(metrics, intervals, bootstrap)
    ground_truth = to_ground_truth(truth, part=part, only_type=only_type)
    _, judged = read_and_judge(runs, ground_truth)
    if len(judged) < 2:
        raise UsageError("expected at least two runs to compare, found one")
    scores, differences = make_type_tables(ground_truth, judged, options)
    return Records(differences, {"scores": scores})


def make_type_tables(
    truth: GroundTruth, runs: Sequence[JudgedRun], options: ScoreOptions
) -> tuple[Table, Table]:
    """Tabulate the scores of runs by acquisition type, and their differences."""
    groups = make_groups(truth, [[run] for run in runs])
    comparisons = compare_runs(groups, options)
    title = "Scores by acquisition type"
    scores = make_score_table(title, "type", groups, options, comparisons)
    return scores, make_comparison_table("type", groups, options, comparisons)


def make_comparison_table(
    heading: str,
    groups: Sequence[ScoredGroup],
    options: ScoreOptions,
    comparisons: Comparisons,
    *,
    first_only: bool = False,
) -> Table:
    """Tabulate the differences between runs on each group of pictures.

    Every two runs are compared, or each with the first. p is two-sided, by paired
    randomisation over plants; Holm's correction is for the pairs of a group and metric.
    """
    bootstrap = options.bootstrap
    needed = f"plants for {DIFFERENCE:g}"
    rows: Rows = []
    for group, metric in product(groups, options.metrics):
        comparison = comparisons[group.name, metric.name]
        statistics = comparison.statistics
        tests = [test for test in comparison.differences if not (first_only and test.a)]
        pairs = [(test.a, test.b) for test in tests]
        p_values = correct_holm([test.p for test in tests]).tolist()
        differences = estimate_scores(statistics, options, pairs)
        for test, corrected, difference in zip(
            tests, p_values, differences, strict=True
        ):
            row: list[Cell] = [group.name, metric.name]
            row += [group.answers[run][0].title for run in (test.a, test.b)]
            row += [Estimate(statistics[run].compute()) for run in (test.a, test.b)]
            row += [difference, test.p, corrected]
            row.append(compute_effect_size(difference.value, test.by_plant))
            row.append(count_plants_needed(test.by_plant, bootstrap.seed))
            rows.append(row)
    notes = [
        *describe_options(options),
        f"p: paired randomisation over plants, {bootstrap}; Holm's correction for the "
        "pairs of each group and metric",
        "effect size: A - B over its standard deviation by plant (Cohen's d)",
        f"{needed}: how many show a difference of {DIFFERENCE:g} between runs that "
        f"differ so (p < {SIGNIFICANT:g} with probability {POWER:g})",
    ]
    if names := [metric.name for metric in options.metrics if metric.score_all]:
        notes.append(f"there is no test of {', '.join(names)}")
    columns = ["run A", "run B", "A", "B", "A - B", "p", "p (Holm)", "effect size"]
    return Table(
        title="Differences",
        columns=[heading, "metric", *columns, needed],
        rows=rows,
        notes=notes,
        n_keys=4,
    )
