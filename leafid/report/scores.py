"""The evaluator's tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill

import numpy as np

from leafid.evaluation.average_sets import AverageKScores
from leafid.evaluation.comparison import RunComparison, score_species
from leafid.evaluation.judged_run import JudgedRun
from leafid.evaluation.resampling import Bootstrap
from leafid.evaluation.summary import RunScorer
from leafid.grouping import group_by
from leafid.learning.averages import accuracy_score, average_by_group, macro_average, top_k_scores
from leafid.metrics.plant_task import LEVEL_METRICS, PlantMetric
from leafid.metrics.registry import Metric
from leafid.metrics.set_valued import BINS, average_by_bin, compute_empty_share
from leafid.report.tables import Cell, Table
from leafid.runs.ground_truth import GroundTruth


@dataclass(frozen=True)
class TableOptions:
    """What the tables of scores show."""

    metrics: Sequence[PlantMetric]
    #: As the official scorer does.
    leave_out_missing: bool = False
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    #: One of {"S", "all", "none"}: the scores that are shown with confidence intervals.
    intervals: str = "S"


def make_score_table(
    truth: GroundTruth, runs: Sequence[JudgedRun], options: TableOptions, group: str = "type"
) -> Table:
    """Tabulate the scores of each run on each acquisition type, or each of `leafid.evaluation.summary.GROUPS`."""
    metrics = [*([LEVEL_METRICS[group]] if group in LEVEL_METRICS else []), *options.metrics]
    has_interval = [options.intervals == "all" or options.intervals == metric.name == "S" for metric in metrics]
    bootstrap = None if options.intervals == "none" else options.bootstrap
    headings = ["run", group, "pictures", "missing", "plants"]
    for metric, is_wide in zip(metrics, has_interval, strict=True):
        title = metric.column
        headings += [title, f"{title} low", f"{title} high"] if is_wide else [title]
    rows: list[list[Cell]] = []
    for run in runs:
        scorer = RunScorer(truth, run, metrics, leave_out_missing=options.leave_out_missing, bootstrap=bootstrap)
        for part in scorer.score_by(group):
            rows.append([run.name, part.name, part.pictures, part.missing, part.plants])
            for score, interval, is_wide in zip(part.scores, part.intervals, has_interval, strict=True):
                rows[-1] += [score, *interval] if is_wide else [score]
    notes = bootstrap and [
        f"low, high: {bootstrap.confidence:.0%} interval, bootstrap over plants, "
        f"{bootstrap.resamples} resamples, seed {bootstrap.seed}"
    ]
    return Table(f"Scores by {'acquisition type' if group == 'type' else group}", headings, rows, notes or ())


def make_set_tables(
    truth: GroundTruth, runs: Sequence[JudgedRun], training_pictures: Mapping[str, int] | None = None
) -> list[Table]:
    """Tabulate the scores of runs as set-valued predictions: a picture's set is all that the run names for it.

    `training_pictures` of each species add the accuracy by bins of them.
    """
    names, species = truth.encode("species")
    contents, content = truth.encode("content")
    counts = np.bincount(content).tolist()
    rows: list[list[Cell]] = []
    content_rows: list[list[Cell]] = []
    bin_rows: list[list[Cell]] = []
    for run in runs:
        hit, size = run.rank > 0, run.size
        by_species = average_by_group(hit, species)
        scores = accuracy_score(hit), macro_average(by_species), accuracy_score(size), compute_empty_share(size)
        rows.append([run.name, *scores])
        by_content = average_by_group(hit, content).tolist(), average_by_group(size, content).tolist()
        content_rows += [[run.name, *row] for row in zip(contents, counts, *by_content, strict=True)]
        if training_pictures is not None:
            accuracy, classes = average_by_bin(by_species, [training_pictures.get(name, 0) for name in names])
            bin_rows += [[run.name, *row] for row in zip(BINS, classes.tolist(), accuracy.tolist(), strict=True)]
    tables = [
        Table("Sets", ["run", "accuracy", "macro-average accuracy", "mean size", "empty sets"], rows),
        Table("Sets by content", ["run", "content", "pictures", "accuracy", "mean size"], content_rows),
    ]
    if training_pictures is not None:
        headings = ["run", "training pictures", "species", "mean bin accuracy"]
        tables.append(Table("Sets by training pictures of the species", headings, bin_rows))
    return tables


def make_macro_tables(
    truth: GroundTruth,
    runs: Sequence[JudgedRun],
    tops: Sequence[int],
    training_pictures: Mapping[str, int] | None = None,
) -> list[Table]:
    """Tabulate the top-K accuracies averaged over the species, and over those of each bin of training pictures."""
    names, species = truth.encode("species")
    rows: list[list[Cell]] = []
    bin_rows: list[list[Cell]] = []
    for run in runs:
        by_species = [average_by_group(top_k_scores(run.rank, k), species) for k in tops]
        rows.append([run.name, *map(macro_average, by_species)])
        if training_pictures is not None:
            trained = [training_pictures.get(name, 0) for name in names]
            binned = [average_by_bin(accuracy, trained) for accuracy in by_species]
            columns = [BINS, binned[0][1].tolist(), *(accuracy.tolist() for accuracy, _ in binned)]
            bin_rows += [[run.name, *row] for row in zip(*columns, strict=True)]
    titles = [f"macro top-{k}" for k in tops]
    tables = [Table("Averages over the species", ["run", *titles], rows)]
    if training_pictures is not None:
        headings = ["run", "training pictures", "species", *titles]
        tables.append(Table("Averages over the species by their training pictures", headings, bin_rows))
    return tables


def make_average_table(scores: Mapping[str, Sequence[AverageKScores]], origin: str) -> Table:
    """Tabulate the scores, by run, of sets with K species on average; `origin` is where the thresholds come from."""
    columns = ["run", "K", "threshold", "size fitted", "accuracy", "error", "macro-average accuracy"]
    rows: list[list[Cell]] = [
        [
            *(name, int(row.k) if row.k.is_integer() else row.k, row.threshold),
            *(row.fitted_size, row.accuracy, 1 - row.accuracy),
            *(row.macro_accuracy, row.size, row.empty_share),
        ]
        for name, found in scores.items()
        for row in found
    ]
    notes = [f"threshold: fitted on {origin}, where the sets have the mean size 'size fitted'"]
    return Table("Sets of K species on average", [*columns, "mean size", "empty sets"], rows, notes)


def make_comparison_table(
    comparisons: Sequence[RunComparison],
    name: str,
    *,
    scope: str = "",
    units: str = "plants",
    won: str = "",
    resamples: int = 10_000,
    seed: int = 0,
) -> Table:
    """Tabulate how every two runs differ in a score.

    `scope` is the acquisition type, or what else was compared; `units` were swapped between the runs, and `won` (by
    default the same) were won or lost.
    """
    columns = ["run A", "run B", f"{name} of A", f"{name} of B", "A - B", "p", "p (Holm)", "A wins", "ties", "B wins"]
    rows: list[list[Cell]] = [
        [
            *(c.first, c.second, c.first_score, c.second_score, c.first_score - c.second_score, c.p, c.corrected_p),
            *(c.wins, c.ties, c.losses),
        ]
        for c in comparisons
    ]
    notes = [
        f"p: paired randomisation over {units}, {resamples} resamples, seed {seed}; "
        f"Holm's correction for {len(comparisons)} comparison{'s' if len(comparisons) > 1 else ''}",
        f"wins, ties: {won or units} on which a run is better, or both are as good",
    ]
    return Table(", ".join(filter(None, ["Comparison", name, scope])), columns, rows, notes)


def make_species_table(
    truth: GroundTruth, runs: Sequence[JudgedRun], metric: PlantMetric, acquisition_type: str | None
) -> Table:
    """Tabulate each run's score on every species, averaged as S is, over one acquisition type or all pictures."""
    names, _ = truth.encode("species")
    columns = [score_species(truth, run.score_pictures(metric), acquisition_type).tolist() for run in runs]
    rows: list[list[Cell]] = [
        [name, *row] for name, row in zip(names, zip(*columns, strict=True), strict=True) if not np.isnan(row).any()
    ]
    return Table("Scores by species", ["species", *(run.name for run in runs)], rows)


def make_metrics_table(metrics: Iterable[Metric]) -> Table:
    """Tabulate metrics with everything that the registry holds of them."""
    columns = ["metric", "column", "better", "range", "command", "what it is", "citation"]
    rows = [[m.name, m.column, _name_direction(m), _format_range(m), m.command, m.summary, m.citation] for m in metrics]
    return Table("", columns, rows)


def make_metrics_tables(metrics: Iterable[Metric], width: int = 100) -> list[Table]:
    """Tabulate metrics for reading: a table for each command that prints some, and the numbered sources at the end."""
    listed = list(metrics)
    citations = dict.fromkeys(metric.citation for metric in listed)
    sources = {citation: number for number, citation in enumerate(citations, start=1)}
    headings = ["metric", "column", "better", "range", "source"]
    tables = []
    for command, members in group_by(listed, lambda metric: metric.command).items():
        rows = [
            [m.name, fill(m.column, 22), _name_direction(m), _format_range(m), f"[{sources[m.citation]}]"]
            for m in members
        ]
        # The table leaves two blanks between columns, and two more after a heading.
        rest = width
        for heading, *cells in zip(headings, *rows, strict=True):
            rest -= 2 + max(len(heading) + 2, *(len(line) for cell in cells for line in cell.split("\n")))
        described = [[*row, fill(metric.summary, rest)] for row, metric in zip(rows, members, strict=True)]
        tables.append(Table(f"leafid {command}" if command else "Python only", [*headings, "what it is"], described))
    notes = [f"[{number}] {citation}" for citation, number in sources.items()]
    return [*tables[:-1], replace(tables[-1], notes=["", *notes])]


def _name_direction(metric: Metric) -> str:
    return "higher" if metric.higher_is_better else "lower"


def _format_range(metric: Metric) -> str:
    return f"{metric.range[0]:g} to {metric.range[1]:g}"
