"""The HTML report: one page that needs no other file and no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import leafid
from leafid.collection.picture import Picture
from leafid.evaluation.judged_run import JudgedRun, judge_run
from leafid.evaluation.resampling import Bootstrap
from leafid.evaluation.summary import ALL, MEAN_OF_TYPES, GroupScores, RunScorer, select_types
from leafid.metrics.plant_task import list_plant_metrics
from leafid.report import plots
from leafid.report.facts import (
    Confusion,
    ReliabilityCurve,
    TopPredictions,
    compute_rank_curve,
    compute_reliability,
    find_confusions,
    find_top_predictions,
    score_each_species,
)
from leafid.report.thumbnails import make_thumbnail
from leafid.runs.ground_truth import GroundTruth
from leafid.runs.run import Run

if TYPE_CHECKING:
    from jinja2 import Template

# Maximum number of confusions, of missing pictures that are named, and of ranks.
CONFUSIONS_SHOWN = 12
MISSING_SHOWN = 200
DEEPEST_RANK = 20
# Maximum number of thumbnails of one confusion: the page stays at a few megabytes with any number of runs.
_WRONG_SHOWN, _EXAMPLES_SHOWN = 3, 2
# Maximum number of files tried for the examples of a species: many may be unreadable.
_EXAMPLES_TRIED = 8


@dataclass(frozen=True)
class Example:
    """A picture on the page: `image` is a data URL."""

    name: str
    image: str


@dataclass(frozen=True)
class ShownConfusion:
    """A confusion with pictures: those that were confused, and others of both species."""

    confusion: Confusion
    confused: Sequence[Example]
    correct: Sequence[Example]
    predicted: Sequence[Example]


@dataclass(frozen=True)
class RunReport:
    """What the page shows about one run."""

    name: str
    judged: JudgedRun
    top: TopPredictions
    parts: Sequence[GroupScores]
    reliability: ReliabilityCurve | None


def make_report(
    truth: GroundTruth,
    runs: Sequence[Run],
    pictures: Sequence[Picture] = (),
    *,
    source: str = "",
    bootstrap: Bootstrap | None = None,
    make_image: Callable[[Path], str | None] = make_thumbnail,
) -> str:
    """Make the report on runs, as HTML.

    Parameters
    ----------
    truth : GroundTruth
    runs : sequence of Run
        At least one, with names that differ.
    pictures : sequence of Picture
        Those that the page may show; unreadable ones are left out.
    source : str
        What the page calls the ground truth.
    bootstrap : Bootstrap, optional
        For the intervals of S.
    make_image : callable
        From a file to a data URL, or None.
    """
    resampling = bootstrap or Bootstrap()
    metrics = list_plant_metrics()
    reports = []
    for run in runs:
        judged, top = judge_run(run, truth), find_top_predictions(run, truth)
        parts = RunScorer(truth, judged, metrics, bootstrap=resampling).score_by_type()
        known = ~np.isnan(top.score)
        curve = compute_reliability(top.score[known], top.correct[known]) if top.are_probabilities else None
        reports.append(RunReport(run.name, judged, top, parts, curve))
    curves = {report.name: report.reliability for report in reports if report.reliability}
    gallery = _Gallery(pictures, make_image)
    return _read_template().render(
        version=leafid.__version__,
        source=source,
        truth=truth,
        counts=_count_by_type(truth),
        metrics=[metric.name for metric in metrics],
        bootstrap=resampling,
        reports=reports,
        lorenz_plot=plots.draw_lorenz_curves(_count_by_part(truth, pictures)),
        score_plot=_plot_scores(reports),
        rank_plot=_plot_ranks(truth, reports),
        reliability_plot=plots.draw_reliability(curves) if curves else None,
        errors={name: curve.error for name, curve in curves.items()},
        details=[_describe_run(report, truth, gallery) for report in reports],
        missing_shown=MISSING_SHOWN,
    )


class _Gallery:
    """Finds pictures to show, and shrinks each file only once."""

    def __init__(self, pictures: Sequence[Picture], make_image: Callable[[Path], str | None]) -> None:
        self.make_image = make_image
        # A package lists a test picture twice, with and without its label; both have the same file.
        self.pictures = {picture.name: picture for picture in pictures}
        self.of_species: dict[str, list[str]] = {}
        # Training pictures come first: they are what the program has seen of a species.
        for picture in sorted(pictures, key=lambda picture: picture.part != "train"):
            if picture.species:
                self.of_species.setdefault(picture.species, []).append(picture.name)
        self.images: dict[str, str | None] = {}

    def show(self, names: Sequence[str], count: int) -> list[Example]:
        """Show the first `count` of the pictures that can be read."""
        examples: list[Example] = []
        for name in names:
            if len(examples) == count:
                break
            if name not in self.images:
                self.images[name] = self.make_image(self.pictures[name].file) if name in self.pictures else None
            image = self.images[name]
            if image:
                examples.append(Example(name, image))
        return examples

    def show_species(self, species: str, like: str, except_for: Sequence[str] = ()) -> list[Example]:
        """Show pictures of a species, those of the same acquisition type as the picture `like` first."""
        names = [name for name in self.of_species.get(species, []) if name not in except_for]
        type_ = self.pictures[like].type if like in self.pictures else None
        names.sort(key=lambda name: self.pictures[name].type != type_)
        return self.show(names[:_EXAMPLES_TRIED], _EXAMPLES_SHOWN)


def _describe_run(report: RunReport, truth: GroundTruth, gallery: _Gallery) -> dict[str, object]:
    confusions = find_confusions(report.top, truth)
    shown = [
        ShownConfusion(
            confusion,
            gallery.show(confusion.pictures, _WRONG_SHOWN),
            gallery.show_species(confusion.species, confusion.pictures[0], confusion.pictures),
            gallery.show_species(confusion.predicted, confusion.pictures[0]),
        )
        for confusion in confusions[:CONFUSIONS_SHOWN]
    ]
    return {
        "name": report.name,
        "species": score_each_species(report.judged, report.top, truth),
        "confusions": shown,
        "n_confusions": len(confusions),
        "n_wrong": sum(len(confusion.pictures) for confusion in confusions),
        "missing": [name for name, found in zip(truth.pictures, report.judged.covered, strict=True) if not found],
    }


def _count_by_type(truth: GroundTruth) -> list[dict[str, object]]:
    groups = select_types(truth)
    if len(groups) > 1:
        groups[ALL] = np.arange(len(truth))
    columns = {"species": truth.species, "plants": truth.plant, "authors": truth.author}
    return [
        {
            "type": name,
            "pictures": len(indices),
            **{title: len({column[index] for index in indices}) for title, column in columns.items()},
        }
        for name, indices in groups.items()
    ]


def _count_by_part(truth: GroundTruth, pictures: Sequence[Picture]) -> dict[str, Sequence[int]]:
    """Count the pictures of each species that are scored, and of each part of the collection."""
    counts = {"scored": Counter(truth.species)}
    for picture in pictures:
        if picture.part and picture.species:
            counts.setdefault(picture.part, Counter())[picture.species] += 1
    # The part that is scored isn't drawn twice.
    return {name: [*count.values()] for name, count in counts.items() if name == "scored" or count != counts["scored"]}


def _plot_scores(reports: Sequence[RunReport]) -> str:
    # With a single type, the mean of types would repeat it.
    names = [part.name for part in reports[0].parts if part.name != ALL]
    shown = names if len(names) > 2 else names[:1]
    scores = {
        report.name: [(part.scores[0], *part.intervals[0]) for part in report.parts if part.name in shown]
        for report in reports
    }
    return plots.draw_score_bars(["mean" if name == MEAN_OF_TYPES else name for name in shown], scores)


def _plot_ranks(truth: GroundTruth, reports: Sequence[RunReport]) -> str:
    deepest = min(DEEPEST_RANK, max(2, *(int(report.judged.size.max()) for report in reports)))
    if len(reports) > 1:
        ranks = {report.name: report.judged.rank for report in reports}
    else:
        ranks = {name: reports[0].judged.rank[indices] for name, indices in select_types(truth).items()}
    return plots.draw_rank_curves({name: compute_rank_curve(rank, deepest) for name, rank in ranks.items()})


def _read_template() -> Template:
    from jinja2 import Environment, StrictUndefined

    text = (resources.files("leafid.report") / "templates" / "report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["percent"] = "{:.0%}".format
    environment.filters["score"] = lambda value: "–" if np.isnan(value) else f"{value:.3f}"
    return environment.from_string(text)
