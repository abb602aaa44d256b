"""The HTML report: one page that needs no other file and no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import leafid
from leafid.collection.picture import AcquisitionType, Picture
from leafid.evaluation.judged_run import JudgedRun, judge_run
from leafid.evaluation.resampling import Bootstrap
from leafid.evaluation.summary import ALL, MEAN_OF_TYPES, GroupScores, measures, score_by_type
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
from leafid.report.thumbnails import thumbnail
from leafid.runs.ground_truth import UNKNOWN, GroundTruth
from leafid.runs.run import Run

if TYPE_CHECKING:
    from jinja2 import Template

CONFUSIONS_SHOWN = 12
MISSING_SHOWN = 200
DEEPEST_RANK = 20
# Thumbnails of one confusion; the page stays at a few megabytes with any number of runs.
_WRONG_SHOWN, _EXAMPLES_SHOWN = 3, 2


@dataclass(frozen=True)
class Example:
    """A picture as the page shows it: `image` is a data URL."""

    name: str
    image: str


@dataclass(frozen=True)
class ShownConfusion:
    """A confusion with pictures: those that were answered wrongly, and others of either species."""

    confusion: Confusion
    wrong: Sequence[Example]
    right: Sequence[Example]
    answered: Sequence[Example]


@dataclass(frozen=True)
class RunFacts:
    """One run laid beside the ground truth."""

    run: Run
    answers: JudgedRun
    first: TopPredictions
    parts: Sequence[GroupScores]


def report_page(
    truth: GroundTruth,
    runs: Sequence[Run],
    pictures: Sequence[Picture] = (),
    *,
    source: str = "",
    bootstrap: Bootstrap | None = None,
    thumbnails: Callable[[Path], str | None] = thumbnail,
) -> str:
    """Write the report on runs.

    Parameters
    ----------
    truth : Truth
    runs : sequence of Run
        At least one, with names that differ.
    pictures : sequence of Picture
        Where the pictures are that the page shows; those that can't be read are left out.
    source : str
        How the page calls the ground truth.
    bootstrap : Bootstrap, optional
        Of the intervals of S.
    thumbnails : callable
        From a file to a data URL, or None.

    Returns
    -------
    str
        HTML.
    """
    how = bootstrap or Bootstrap()
    chosen = measures((1, 5))
    facts = [
        RunFacts(
            run,
            found := judge_run(run, truth),
            find_top_predictions(run, truth),
            score_by_type(truth, found, chosen, bootstrap=how),
        )
        for run in runs
    ]
    gallery = _Gallery(truth, pictures, thumbnails)
    return _template().render(
        version=leafid.__version__,
        source=source,
        truth=truth,
        counts=_counts(truth),
        measures=[measure.name for measure in chosen],
        bootstrap=how,
        facts=facts,
        score_plot=_score_plot(facts),
        rank_plot=_rank_plot(truth, facts),
        reliability_plot=_reliability_plot(facts),
        errors={one.run.name: _reliability(one).error for one in facts if one.first.are_probabilities},
        details=[_details(one, truth, gallery) for one in facts],
        missing_shown=MISSING_SHOWN,
    )


class _Gallery:
    """Finds pictures to show; each file is shrunk once."""

    def __init__(
        self, truth: GroundTruth, pictures: Sequence[Picture], thumbnails: Callable[[Path], str | None]
    ) -> None:
        self.thumbnails = thumbnails
        # A package lists a test picture twice, with and without its label; both are the same file.
        self.file = {picture.name: picture.file for picture in pictures}
        self.scored = frozenset(truth.pictures)
        self.of_species: dict[str, list[str]] = {}
        # Training pictures come first: they are what the program had seen of a species.
        for picture in sorted(pictures, key=lambda picture: picture.part != "train"):
            if picture.species:
                self.of_species.setdefault(picture.species, []).append(picture.name)
        self.type = {picture.name: picture.type for picture in pictures}
        self.made: dict[str, str | None] = {}

    def show(self, names: Sequence[str], count: int) -> list[Example]:
        """Show the first so many of the pictures that can be read."""
        found: list[Example] = []
        for name in names:
            if len(found) == count:
                break
            if name not in self.made:
                self.made[name] = self.thumbnails(self.file[name]) if name in self.file else None
            image = self.made[name]
            if image:
                found.append(Example(name, image))
        return found

    def examples(self, species: str, like: str, besides: Sequence[str]) -> list[Example]:
        """Show pictures of a species, of the acquisition type of the picture `like` where there are some."""
        names = [name for name in self.of_species.get(species, []) if name not in besides]
        names.sort(key=lambda name: self.type.get(name) != self.type.get(like))
        # Files that can't be read must not make the page search a whole collection for others.
        return self.show(names[:8], _EXAMPLES_SHOWN)


def _details(one: RunFacts, truth: GroundTruth, gallery: _Gallery) -> dict[str, object]:
    found = find_confusions(one.first, truth)
    missing = [name for name, covered in zip(truth.pictures, one.answers.covered, strict=True) if not covered]
    shown = [
        ShownConfusion(
            confusion,
            gallery.show(confusion.pictures, _WRONG_SHOWN),
            gallery.examples(confusion.right, confusion.pictures[0], confusion.pictures),
            gallery.examples(confusion.answered, confusion.pictures[0], ()),
        )
        for confusion in found[:CONFUSIONS_SHOWN]
    ]
    return {
        "name": one.run.name,
        "species": score_each_species(one.answers, one.first, truth),
        "confusions": shown,
        "n_confusions": len(found),
        "n_wrong": sum(len(confusion.pictures) for confusion in found),
        "missing": missing,
    }


def _counts(truth: GroundTruth) -> list[dict[str, object]]:
    types = [part for part in (*map(str, AcquisitionType), UNKNOWN) if part in truth.type]
    rows = []
    for name in [*types, ALL] if len(types) > 1 else types:
        here = [index for index, type_ in enumerate(truth.type) if name in (type_, ALL)]
        columns = {"species": truth.species, "plants": truth.plant, "authors": truth.author}
        rows.append(
            {
                "type": name,
                "pictures": len(here),
                **{title: len({column[index] for index in here}) for title, column in columns.items()},
            }
        )
    return rows


def _score_plot(facts: Sequence[RunFacts]) -> str:
    # Of a single type, its mean of types says the same again.
    parts = [part.name for part in facts[0].parts if part.name != ALL]
    shown = parts if len(parts) > 2 else parts[:1]
    scores = {
        one.run.name: [(part.scores[0], *part.intervals[0]) for part in one.parts if part.name in shown]
        for one in facts
    }
    return plots.score_bars(["mean" if name == MEAN_OF_TYPES else name for name in shown], scores)


def _rank_plot(truth: GroundTruth, facts: Sequence[RunFacts]) -> str:
    deepest = min(DEEPEST_RANK, max(2, *(int(one.answers.size.max()) for one in facts)))
    if len(facts) > 1:
        return plots.rank_curves({one.run.name: compute_rank_curve(one.answers.rank, deepest) for one in facts})
    types = [part.name for part in facts[0].parts if part.name not in (ALL, MEAN_OF_TYPES)]
    kinds = np.array(truth.type)
    return plots.rank_curves(
        {name: compute_rank_curve(facts[0].answers.rank[kinds == name], deepest) for name in types}
    )


def _reliability_plot(facts: Sequence[RunFacts]) -> str | None:
    curves = {one.run.name: _reliability(one) for one in facts if one.first.are_probabilities}
    return plots.reliability_diagram(curves) if curves else None


def _reliability(one: RunFacts) -> ReliabilityCurve:
    said = ~np.isnan(one.first.score)
    return compute_reliability(one.first.score[said], one.first.right[said])


def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    text = (resources.files("leafid.report") / "templates" / "report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["percent"] = _percent
    environment.filters["score"] = _score
    return environment.from_string(text)


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _score(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"
