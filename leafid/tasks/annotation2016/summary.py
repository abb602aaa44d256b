"""One run of the ImageCLEF 2016 annotation task in a few numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from leafid.errors import LeafidError
from leafid.tasks.annotation2016.files import AnnotationRun, AnnotationTruth
from leafid.tasks.annotation2016.meteor import meteor_scores
from leafid.tasks.annotation2016.metrics import (
    EARTH_RADIUS,
    OVERLAPS,
    concept_precisions,
    great_circle_distance,
    recall_at,
    selection_scores,
)
from leafid.tasks.annotation2016.results import Concept, Place, Result, Subtask

RANKS = (1, 5, 10, 25, 50, 75, 100)


@dataclass(frozen=True)
class AnnotationSummary:
    """How a run did.

    Attributes
    ----------
    scores : dict of str to float
        By metric.
    missing : int
        How many of the ground truth's pictures or documents the run lacks: they count as the worst answer.
    by_concept : dict of str to list of float
        Subtask 1 only: average precision of each concept at `OVERLAPS`.
    """

    scores: dict[str, float]
    missing: int
    by_concept: dict[str, list[float]]


def summarise_annotation(
    truth: AnnotationTruth, run: AnnotationRun, ranks: Sequence[int] = RANKS, radius: float = EARTH_RADIUS
) -> AnnotationSummary:
    """Score a run of any subtask.

    Parameters
    ----------
    truth : AnnotationTruth
    run : AnnotationRun
        Of the same subtask.
    ranks : sequence of int
        The k of recall at k, subtask 4.
    radius : float
        Of the earth in km, subtask 5.

    Returns
    -------
    AnnotationSummary

    Raises
    ------
    LeafidError
        When the subtasks differ, or METEOR is needed and isn't there.
    """
    if truth.subtask != run.subtask:
        raise LeafidError(f"{run.name}: expected subtask {truth.subtask.value}, found subtask {run.subtask.value}")
    missing = len(truth.results.keys() - run.results.keys())
    if truth.subtask is Subtask.CONCEPTS:
        precisions = concept_precisions(
            {identity: cast(Sequence[Concept], found[0]) for identity, found in truth.results.items()},
            cast(Mapping[str, Sequence[Concept]], run.results),
        )
        return AnnotationSummary(_map(precisions), missing, precisions)
    if truth.subtask is Subtask.CAPTION:
        scores = _captions(truth, run)
    elif truth.subtask is Subtask.SELECTION:
        scores = _selections(truth, run)
    elif truth.subtask is Subtask.ILLUSTRATION:
        scores = _illustrations(truth, run, ranks)
    else:
        scores = _locations(truth, run, radius)
    return AnnotationSummary(scores, missing, {})


def _map(precisions: Mapping[str, Sequence[float]]) -> dict[str, float]:
    if not precisions:
        raise LeafidError("expected a ground truth with at least one concept, found none")
    means = [math.fsum(column) / len(precisions) for column in zip(*precisions.values(), strict=True)]
    scores = {"map-0.5": means[OVERLAPS.index(0.5)], "map-0": means[0], "map-increasing": math.fsum(means) / len(means)}
    return scores | {f"map at {overlap:.1f}": mean for overlap, mean in zip(OVERLAPS, means, strict=True)}


def _captions(truth: AnnotationTruth, run: AnnotationRun) -> dict[str, float]:
    # In one order whatever the files' order.
    captions = {picture: cast(str, run.results[picture]) for picture in sorted(truth.results) if picture in run.results}
    scores = meteor_scores(captions, cast(Mapping[str, Sequence[str]], truth.results))
    return _statistics("meteor", [scores.get(picture, 0.0) for picture in sorted(truth.results)])


def _selections(truth: AnnotationTruth, run: AnnotationRun) -> dict[str, float]:
    scored = _each(truth, run, (), selection_scores)
    names = ("selection-f1", "selection-precision", "selection-recall")
    return {name: statistics.fmean(column) for name, column in zip(names, zip(*scored, strict=True), strict=True)}


def _illustrations(truth: AnnotationTruth, run: AnnotationRun, ranks: Sequence[int]) -> dict[str, float]:
    def recalls(right: tuple, found: Sequence[str]) -> list[float]:
        return [recall_at(right[0], found, k) for k in ranks]

    columns = zip(*_each(truth, run, (), recalls), strict=True)
    return {f"recall-at-{k}": statistics.fmean(column) for k, column in zip(ranks, columns, strict=True)}


def _locations(truth: AnnotationTruth, run: AnnotationRun, radius: float) -> dict[str, float]:
    if not (radius > 0 and math.isfinite(radius)):
        raise LeafidError(f"expected a radius above 0, found {radius}")

    def distance(right: tuple, found: Place | None) -> float:
        return math.pi * radius if found is None else great_circle_distance(right[0], found, radius)

    return _statistics("great-circle-km", _each(truth, run, None, distance))


def _each(truth: AnnotationTruth, run: AnnotationRun, absent: Result | None, score: Callable) -> list:
    results = run.results
    return [score(right, results.get(identity, absent)) for identity, right in sorted(truth.results.items())]


def _statistics(name: str, values: Sequence[float]) -> dict[str, float]:
    return {
        f"{name} mean": statistics.fmean(values),
        f"{name} median": statistics.median(values),
        f"{name} min": min(values),
        f"{name} max": max(values),
    }
