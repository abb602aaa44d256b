"""The scores of one run of the ImageCLEF 2016 annotation task."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from leafid.errors import LeafidError
from leafid.grouping import group_by
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
from leafid.tasks.annotation2016.results import Concept, Subtask

#: Default values of k for recall and success at k.
RANKS = (1, 5, 10, 25, 50, 75, 100)

#: Minimum number of human captions per picture in the task's ground truth.
MIN_CAPTIONS = 5

_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
}


@dataclass(frozen=True)
class AnnotationSummary:
    """Scores of a run."""

    #: By metric.
    scores: dict[str, float]
    #: Number of the ground truth's pictures or documents that the run lacks; each counts as the worst answer.
    missing: int
    #: By picture or document, its scores by metric; in subtask 1 only on request, and empty for a picture without true
    #: concepts.
    by_picture: dict[str, dict[str, float]]
    #: Subtask 1: average precision of each concept at `OVERLAPS`.
    by_concept: dict[str, list[float]] = field(default_factory=dict)


def summarise_annotation(
    truth: AnnotationTruth,
    run: AnnotationRun,
    ranks: Sequence[int] = RANKS,
    radius: float = EARTH_RADIUS,
    *,
    by_picture: bool = False,
) -> AnnotationSummary:
    """Score a run of the ground truth's subtask.

    `ranks` are the values of k of subtask 4, `radius` is that of the earth in km for subtask 5. Subtask 1 scores each
    picture by itself only with `by_picture`, the others always. A `LeafidError` is raised when the subtasks differ, or
    METEOR is needed and missing.
    """
    if truth.subtask != run.subtask:
        raise LeafidError(f"{run.name}: expected subtask {truth.subtask.value}, found subtask {run.subtask.value}")
    missing = len(truth.results.keys() - run.results.keys())
    if truth.subtask is Subtask.CONCEPTS:
        return _summarise_concepts(truth, run, missing, by_picture)
    by_id = _score_pictures(truth, run, ranks, radius)
    names = next(iter(by_id.values()))
    columns = {name: [scores[name] for scores in by_id.values()] for name in names}
    if truth.subtask in {Subtask.CAPTION, Subtask.LOCATION}:
        scores = {
            f"{name} {statistic}": compute(values)
            for name, values in columns.items()
            for statistic, compute in _STATISTICS.items()
        }
    else:
        scores = {name: statistics.fmean(values) for name, values in columns.items()}
    return AnnotationSummary(scores, missing, by_id)


def find_best_runs(scored: Sequence[tuple[str, AnnotationSummary]], metric: str) -> list[tuple[str, AnnotationSummary]]:
    """Find the best run of each group by a metric of `AnnotationSummary.scores`; a run's folder is its group."""
    groups = group_by(scored, lambda run: Path(run[0]).parent)
    choose = min if metric.startswith("great-circle-km") else max
    return [choose(runs, key=lambda run: run[1].scores[metric]) for runs in groups.values()]


def _summarise_concepts(
    truth: AnnotationTruth, run: AnnotationRun, missing: int, by_picture: bool
) -> AnnotationSummary:
    true_concepts = {identity: cast(Sequence[Concept], correct[0]) for identity, correct in truth.results.items()}
    concepts = cast(Mapping[str, Sequence[Concept]], run.results)
    by_concept = concept_precisions(true_concepts, concepts)
    if not by_concept:
        raise LeafidError("expected a ground truth with at least one concept, found none")
    by_id: dict[str, dict[str, float]] = {}
    for identity in sorted(true_concepts) if by_picture else ():
        alone = concept_precisions({identity: true_concepts[identity]}, {identity: concepts.get(identity, ())})
        by_id[identity] = _average_concepts(alone) if alone else {}
    by_overlap = zip(OVERLAPS, zip(*by_concept.values(), strict=True), strict=True)
    scores = {f"map at {overlap:.1f}": math.fsum(column) / len(column) for overlap, column in by_overlap}
    return AnnotationSummary(_average_concepts(by_concept) | scores, missing, by_id, by_concept)


def _average_concepts(precisions: Mapping[str, Sequence[float]]) -> dict[str, float]:
    means = [math.fsum(column) / len(precisions) for column in zip(*precisions.values(), strict=True)]
    return {"map-0.5": means[OVERLAPS.index(0.5)], "map-0": means[0], "map-increasing": math.fsum(means) / len(means)}


def _score_pictures(
    truth: AnnotationTruth, run: AnnotationRun, ranks: Sequence[int], radius: float
) -> dict[str, dict[str, float]]:
    # Sorted, so that the order of lines doesn't change any sum.
    identities = sorted(truth.results)
    pairs: list[Any] = [(identity, truth.results[identity], run.results.get(identity)) for identity in identities]
    if truth.subtask is Subtask.CAPTION:
        captions = {identity: caption for identity, _, caption in pairs if caption is not None}
        meteor = meteor_scores(captions, cast(Mapping[str, Sequence[str]], truth.results))
        return {identity: {"meteor": meteor.get(identity, 0.0)} for identity, _, _ in pairs}
    if truth.subtask is Subtask.SELECTION:
        names = ("selection-f1", "selection-precision", "selection-recall")
        return {
            identity: dict(zip(names, selection_scores(correct, selected or ()), strict=True))
            for identity, correct, selected in pairs
        }
    if truth.subtask is Subtask.ILLUSTRATION:
        metrics = (("recall", recall_at), ("success", success_at))
        return {
            identity: {f"{name}-at-{k}": metric(correct, ranking or (), k) for name, metric in metrics for k in ranks}
            for identity, (correct,), ranking in pairs
        }
    if not (radius > 0 and math.isfinite(radius)):
        raise LeafidError(f"expected a radius above 0, found {radius}")
    return {
        identity: {
            "great-circle-km": math.pi * radius if place is None else great_circle_distance(correct, place, radius)
        }
        for identity, (correct,), place in pairs
    }
