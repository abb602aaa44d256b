"""The scores of one run of the ImageCLEF 2016 annotation task."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from leafid.errors import LeafidError
from leafid.tasks.annotation2016 import metrics
from leafid.tasks.annotation2016.files import AnnotationRun, AnnotationTruth
from leafid.tasks.annotation2016.meteor import meteor_scores
from leafid.tasks.annotation2016.metrics import EARTH_RADIUS, OVERLAPS
from leafid.tasks.annotation2016.results import Subtask

#: Default values of k for recall and success at k.
RANKS = (1, 5, 10, 25, 50, 75, 100)

_STATISTICS: dict[str, Any] = {"mean": fmean, "median": median, "min": min, "max": max}


@dataclass(frozen=True)
class AnnotationScores:
    """Scores of a run."""

    #: By metric.
    scores: dict[str, float]
    #: By picture or document, its scores by metric; in subtask 1 only on request, and empty for a picture without true
    #: concepts.
    by_picture: dict[str, dict[str, float]]
    #: Subtask 1: average precision of each concept at `OVERLAPS`.
    by_concept: dict[str, list[float]] = field(default_factory=dict)


def score_annotation(
    truth: AnnotationTruth,
    run: AnnotationRun,
    ranks: Sequence[int] = RANKS,
    radius: float = EARTH_RADIUS,
    *,
    by_picture: bool = False,
) -> AnnotationScores:
    """Score a run of the ground truth's subtask; a picture or document that it lacks counts as the worst answer.

    `ranks` are the values of k of subtask 4, `radius` is that of the earth in km for subtask 5. Subtask 1 scores each
    picture by itself only with `by_picture`, the others always. A `LeafidError` is raised when the subtasks differ, or
    METEOR is needed and missing.
    """
    if truth.subtask != run.subtask:
        raise LeafidError(f"{run.name}: expected subtask {truth.subtask.value}, found subtask {run.subtask.value}")
    # Sorted, so that the order of lines doesn't change any sum.
    correct: dict[str, Any] = dict(sorted(truth.results.items()))
    found: dict[str, Any] = {identity: run.results[identity] for identity in correct if identity in run.results}
    if truth.subtask is Subtask.CONCEPTS:
        return _score_concepts({identity: concepts for identity, (concepts,) in correct.items()}, found, by_picture)
    meteor = meteor_scores(found, correct) if truth.subtask is Subtask.CAPTION else {}
    scores: dict[str, dict[str, float]] = {}
    for identity, true in correct.items():
        match truth.subtask:
            case Subtask.CAPTION:
                scores[identity] = {"meteor": meteor.get(identity, 0.0)}
            case Subtask.SELECTION:
                f1, precision, recall = metrics.selection_scores(true, found.get(identity, ()))
                scores[identity] = {"selection-f1": f1, "selection-precision": precision, "selection-recall": recall}
            case Subtask.ILLUSTRATION:
                ranking = found.get(identity, ())
                scores[identity] = {f"recall-at-{k}": metrics.recall_at(true[0], ranking, k) for k in ranks}
                scores[identity] |= {f"success-at-{k}": metrics.success_at(true[0], ranking, k) for k in ranks}
            case Subtask.LOCATION:
                place = found.get(identity)
                distance = metrics.great_circle_distance(true[0], place, radius) if place else math.pi * radius
                scores[identity] = {"great-circle-km": distance}
    columns = {name: [values[name] for values in scores.values()] for name in next(iter(scores.values()))}
    if truth.subtask in {Subtask.CAPTION, Subtask.LOCATION}:
        means = {
            f"{name} {kind}": compute(column)
            for name, column in columns.items()
            for kind, compute in _STATISTICS.items()
        }
    else:
        means = {name: fmean(column) for name, column in columns.items()}
    return AnnotationScores(means, scores)


def _score_concepts(truth: Mapping[str, Any], run: Mapping[str, Any], by_picture: bool) -> AnnotationScores:
    by_concept = metrics.concept_precisions(truth, run)
    if not by_concept:
        raise LeafidError("expected a ground truth with at least one concept, found none")
    scores = {}
    for identity in truth if by_picture else ():
        alone = metrics.concept_precisions({identity: truth[identity]}, {identity: run.get(identity, ())})
        scores[identity] = _average_concepts(alone) if alone else {}
    by_overlap = zip(OVERLAPS, zip(*by_concept.values(), strict=True), strict=True)
    means = {f"map at {overlap:.1f}": math.fsum(column) / len(column) for overlap, column in by_overlap}
    return AnnotationScores(_average_concepts(by_concept) | means, scores, by_concept)


def _average_concepts(precisions: Mapping[str, Sequence[float]]) -> dict[str, float]:
    means = [math.fsum(column) / len(precisions) for column in zip(*precisions.values(), strict=True)]
    return {"map-0.5": means[OVERLAPS.index(0.5)], "map-0": means[0], "map-increasing": math.fsum(means) / len(means)}
