"""The scores of one run of the ImageCLEF 2016 annotation task."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

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
    success_at,
)
from leafid.tasks.annotation2016.results import Concept, Place, Subtask

#: Default values of k for recall and success at k.
RANKS = (1, 5, 10, 25, 50, 75, 100)


@dataclass(frozen=True)
class AnnotationSummary:
    """Scores of a run.

    Attributes
    ----------
    scores : dict of str to float
        By metric.
    missing : int
        Number of the ground truth's pictures or documents that the run lacks; each counts as the worst answer.
    by_concept : dict of str to list of float
        Subtask 1: average precision of each concept at `OVERLAPS`.
    """

    scores: dict[str, float]
    missing: int
    by_concept: dict[str, list[float]] = field(default_factory=dict)


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
        Values of k for recall and success at k, subtask 4.
    radius : float
        Radius of the earth in km, subtask 5.

    Raises
    ------
    LeafidError
        When the subtasks differ, or METEOR is needed and missing.
    """
    if truth.subtask != run.subtask:
        raise LeafidError(f"{run.name}: expected subtask {truth.subtask.value}, found subtask {run.subtask.value}")
    missing = len(truth.results.keys() - run.results.keys())
    by_concept: dict[str, list[float]] = {}
    # Sorted, so that the order of lines doesn't change the sums.
    pairs: list[Any] = [(truth.results[identity], run.results.get(identity)) for identity in sorted(truth.results)]
    if truth.subtask is Subtask.CONCEPTS:
        by_concept = concept_precisions(
            {identity: cast(Sequence[Concept], correct[0]) for identity, correct in truth.results.items()},
            cast(Mapping[str, Sequence[Concept]], run.results),
        )
        scores = _average_precisions(by_concept)
    elif truth.subtask is Subtask.CAPTION:
        scores = _score_captions(truth, run)
    elif truth.subtask is Subtask.SELECTION:
        columns = zip(*(selection_scores(correct, result or ()) for correct, result in pairs), strict=True)
        names = ("selection-f1", "selection-precision", "selection-recall")
        scores = {name: statistics.fmean(column) for name, column in zip(names, columns, strict=True)}
    elif truth.subtask is Subtask.ILLUSTRATION:
        scores = {
            f"{name}-at-{k}": statistics.fmean(metric(correct[0], result or (), k) for correct, result in pairs)
            for name, metric in (("recall", recall_at), ("success", success_at))
            for k in ranks
        }
    else:
        scores = _score_locations(pairs, radius)
    return AnnotationSummary(scores, missing, by_concept)


def _average_precisions(precisions: Mapping[str, Sequence[float]]) -> dict[str, float]:
    if not precisions:
        raise LeafidError("expected a ground truth with at least one concept, found none")
    means = [math.fsum(column) / len(precisions) for column in zip(*precisions.values(), strict=True)]
    scores = {"map-0.5": means[OVERLAPS.index(0.5)], "map-0": means[0], "map-increasing": math.fsum(means) / len(means)}
    return scores | {f"map at {overlap:.1f}": mean for overlap, mean in zip(OVERLAPS, means, strict=True)}


def _score_captions(truth: AnnotationTruth, run: AnnotationRun) -> dict[str, float]:
    captions = {picture: cast(str, run.results[picture]) for picture in sorted(truth.results) if picture in run.results}
    scores = meteor_scores(captions, cast(Mapping[str, Sequence[str]], truth.results))
    return _describe("meteor", [scores.get(picture, 0.0) for picture in sorted(truth.results)])


def _score_locations(pairs: Sequence[tuple[tuple[Place], Place | None]], radius: float) -> dict[str, float]:
    if not (radius > 0 and math.isfinite(radius)):
        raise LeafidError(f"expected a radius above 0, found {radius}")
    distances = [
        math.pi * radius if place is None else great_circle_distance(correct, place, radius)
        for (correct,), place in pairs
    ]
    return _describe("great-circle-km", distances)


def _describe(name: str, values: Sequence[float]) -> dict[str, float]:
    return {
        f"{name} mean": statistics.fmean(values),
        f"{name} median": statistics.median(values),
        f"{name} min": min(values),
        f"{name} max": max(values),
    }
