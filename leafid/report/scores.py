"""The evaluator's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill

import numpy as np

from leafid.evaluation.comparison import RunComparison, score_species
from leafid.evaluation.judged_run import JudgedRun
from leafid.evaluation.resampling import Bootstrap
from leafid.evaluation.summary import GroupScores, Measure, level_measure, score_by_group, score_by_type
from leafid.metrics.plant_task import accuracy_score
from leafid.metrics.registry import Metric
from leafid.metrics.set_scores import BINS, bin_accuracy, empty_share, group_means, macro_average, mean_size
from leafid.report.tables import Cell, Table
from leafid.runs.ground_truth import GroundTruth


@dataclass(frozen=True)
class Options:
    """What the tables of scores show.

    Attributes
    ----------
    chosen : sequence of Measure
    leave_out_missing : bool
        As the official scorer does.
    bootstrap : Bootstrap
    intervals : {"S", "all", "none"}
        Of which scores to show confidence intervals; S means that of S alone.
    """

    chosen: Sequence[Measure]
    leave_out_missing: bool = False
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    intervals: str = "S"

    def has_interval(self, measure: Measure) -> bool:
        """Tell whether a measure is shown with its interval."""
        return self.intervals == "all" or (self.intervals == "S" and measure.name == "S")

    @property
    def used_bootstrap(self) -> Bootstrap | None:
        """The bootstrap, where an interval is shown."""
        return None if self.intervals == "none" else self.bootstrap

    @property
    def notes(self) -> list[str]:
        """How the intervals were made."""
        if self.intervals == "none":
            return []
        how = self.bootstrap
        return [
            f"low, high: {how.confidence:.0%} interval, bootstrap over plants within authors, "
            f"{how.resamples} resamples, seed {how.seed}"
        ]


def type_table(truth: GroundTruth, runs: Sequence[JudgedRun], options: Options) -> Table:
    """Compose the scores of each run on each acquisition type.

    Parameters
    ----------
    truth : Truth
    runs : sequence of Answers
    options : Options

    Returns
    -------
    Table
    """
    rows = [
        [run.name, part.name, *_cells(part, options.chosen, options)]
        for run in runs
        for part in score_by_type(
            truth,
            run,
            options.chosen,
            leave_out_missing=options.leave_out_missing,
            bootstrap=options.used_bootstrap,
        )
    ]
    return Table(
        "Scores by acquisition type", ["run", "type", *_headings(options.chosen, options)], rows, options.notes
    )


def group_table(truth: GroundTruth, runs: Sequence[JudgedRun], group: str, options: Options) -> Table:
    """Compose the scores of each run on each species, genus, family, author, plant or content.

    Parameters
    ----------
    truth : Truth
    runs : sequence of Answers
    group : str
        See `leafid.evaluation.summary.GROUPS`.
    options : Options

    Returns
    -------
    Table
    """
    extra = level_measure(group)
    chosen = [extra, *options.chosen] if extra else list(options.chosen)
    rows = [
        [run.name, part.name, *_cells(part, chosen, options)]
        for run in runs
        for part in score_by_group(
            truth,
            run,
            chosen,
            group,
            leave_out_missing=options.leave_out_missing,
            bootstrap=options.used_bootstrap,
        )
    ]
    return Table(f"Scores by {group}", ["run", group, *_headings(chosen, options)], rows, options.notes)


def set_tables(
    truth: GroundTruth, runs: Sequence[JudgedRun], training_pictures: Mapping[str, int] | None = None
) -> list[Table]:
    """Compose the scores of runs as set-valued predictions: a picture's set is all that the run names for it.

    Parameters
    ----------
    truth : Truth
    runs : sequence of Answers
        A picture that a run lacks has the empty set.
    training_pictures : mapping of str to int, optional
        How many pictures of each species a system was trained on: adds the accuracy by bins of them.

    Returns
    -------
    list of Table
    """
    names, species = truth.column("species")
    contents, content = truth.column("content")
    rows: list[list[Cell]] = []
    organs: list[list[Cell]] = []
    bins: list[list[Cell]] = []
    for run in runs:
        hit = run.rank > 0
        per_class = group_means(hit, species, len(names))
        sizes = run.size
        rows.append([run.name, accuracy_score(hit), macro_average(per_class), mean_size(sizes), empty_share(sizes)])
        for organ, score, size, count in zip(
            contents,
            group_means(hit, content, len(contents)),
            group_means(sizes, content, len(contents)),
            np.bincount(content, minlength=len(contents)),
            strict=True,
        ):
            organs.append([run.name, organ, int(count), float(score), float(size)])
        if training_pictures is not None:
            trained = np.array([training_pictures.get(name, 0) for name in names])
            for title, score, count in zip(BINS, *bin_accuracy(per_class, trained), strict=True):
                bins.append([run.name, title, int(count), float(score)])
    tables = [
        Table("Sets", ["run", "accuracy", "macro-average accuracy", "mean size", "empty sets"], rows),
        Table("Sets by content", ["run", "content", "pictures", "accuracy", "mean size"], organs),
    ]
    if training_pictures is not None:
        headings = ["run", "training pictures", "species", "mean bin accuracy"]
        tables.append(Table("Sets by training pictures of the species", headings, bins))
    return tables


def comparison_table(pairs: Sequence[RunComparison], metric: str, what: str, resamples: int, seed: int) -> Table:
    """Compose the comparison of every two runs.

    Parameters
    ----------
    pairs : sequence of Pair
    metric, what : str
        What was compared, and on which pictures.
    resamples, seed : int
        Of the randomisation.

    Returns
    -------
    Table
    """
    columns = [
        "run A",
        "run B",
        f"{metric} of A",
        f"{metric} of B",
        "A - B",
        "p",
        "p (Holm)",
        "A wins",
        "ties",
        "B wins",
    ]
    rows: list[list[Cell]] = [
        [
            pair.first,
            pair.second,
            pair.first_score,
            pair.second_score,
            pair.first_score - pair.second_score,
            pair.p,
            pair.corrected_p,
            pair.win,
            pair.tie,
            pair.loss,
        ]
        for pair in pairs
    ]
    notes = [
        f"p: paired randomisation over plants, {resamples} resamples, seed {seed}; "
        f"Holm's correction for {len(pairs)} comparison{'s' if len(pairs) > 1 else ''}",
        "wins, ties: species on which a run scores higher, or both the same",
    ]
    return Table(f"Comparison, {metric}, {what}", columns, rows, notes)


def species_table(
    truth: GroundTruth, runs: Sequence[JudgedRun], measure: Measure, acquisition_type: str | None
) -> Table:
    """Compose each run's score on every species.

    Parameters
    ----------
    truth : Truth
    runs : sequence of Answers
    measure : Measure
        Its picture score; averaged as S is.
    acquisition_type : str or None
        An acquisition type, or all pictures.

    Returns
    -------
    Table
    """
    names, _ = truth.column("species")
    columns = [score_species(truth, measure.score(run), acquisition_type).tolist() for run in runs]
    rows: list[list[Cell]] = [
        [name, *row] for name, row in zip(names, zip(*columns, strict=True), strict=True) if not np.isnan(row).any()
    ]
    return Table("Scores by species", ["species", *(run.name for run in runs)], rows)


def metrics_table(metrics: Iterable[Metric]) -> Table:
    """List metrics with everything that the registry holds of them."""
    columns = ["metric", "column", "better", "range", "command", "what it is", "citation"]
    rows = [[m.name, m.column, _direction(m), _range(m), m.command, m.summary, m.citation] for m in metrics]
    return Table("", columns, rows)


def metrics_by_command(metrics: Iterable[Metric], width: int = 100) -> list[Table]:
    """List metrics for reading: a table for each command that prints some, and the numbered sources at the end.

    Parameters
    ----------
    metrics : iterable of Metric
    width : int, default 100
        Maximum length of a line, in characters.
    """
    sources: dict[str, int] = {}
    by_command: dict[str, list[Metric]] = {}
    for metric in metrics:
        sources.setdefault(metric.citation, len(sources) + 1)
        by_command.setdefault(metric.command, []).append(metric)
    headings = ["metric", "column", "better", "range", "source"]
    tables = []
    for command, members in by_command.items():
        rows = [[m.name, fill(m.column, 22), _direction(m), _range(m), f"[{sources[m.citation]}]"] for m in members]
        # The table leaves two blanks between columns, and two more after a heading.
        rest = width
        for heading, *cells in zip(headings, *rows, strict=True):
            rest -= 2 + max(len(heading) + 2, *(len(line) for cell in cells for line in cell.split("\n")))
        described = [[*row, fill(metric.summary, rest)] for row, metric in zip(rows, members, strict=True)]
        tables.append(Table(f"leafid {command}" if command else "Python only", [*headings, "what it is"], described))
    notes = [f"[{number}] {citation}" for citation, number in sources.items()]
    return [*tables[:-1], replace(tables[-1], notes=["", *notes])]


def _direction(metric: Metric) -> str:
    return "higher" if metric.higher_is_better else "lower"


def _range(metric: Metric) -> str:
    return f"{metric.range[0]:g} to {metric.range[1]:g}"


def _headings(chosen: Sequence[Measure], options: Options) -> list[str]:
    headings = ["pictures", "missing", "plants"]
    for measure in chosen:
        headings.append(measure.name)
        if options.has_interval(measure):
            headings += [f"{measure.name} low", f"{measure.name} high"]
    return headings


def _cells(part: GroupScores, chosen: Sequence[Measure], options: Options) -> list[Cell]:
    cells: list[Cell] = [part.pictures, part.missing, part.plants]
    for measure, score, (low, high) in zip(chosen, part.scores, part.intervals, strict=True):
        cells.append(score)
        if options.has_interval(measure):
            cells += [low, high]
    return cells
