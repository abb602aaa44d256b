"""The metrics of the ImageCLEF 2016 annotation task but METEOR, which has a file of its own."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from leafid.errors import LeafidError
from leafid.metrics.registry import Metric
from leafid.tasks.annotation2016.results import Concept, Place, ScoredBox
from leafid.tasks.interpretation.localisation import box_overlap

CITATION = "Gilbert et al., Overview of the ImageCLEF 2016 Scalable Concept Image Annotation Task"

OVERLAPS = tuple(step / 10 for step in range(10))
"""The increasing overlaps; at 0 only the concept counts."""

EARTH_RADIUS = 6137.0
"""In km, as the task's document has it (the mean radius of the earth is 6371 km)."""


class Detections(NamedTuple):
    """All that is found of one concept, and how well it is where.

    Attributes
    ----------
    confidence : float array (N,)
    claims : int array (N,)
        The number of the true box (or picture) that each detection overlaps most, -1 where there is none.
    overlaps : float array (N,)
        By how much (intersection over union).
    positives : int
        True boxes (or pictures with the concept).
    """

    confidence: np.ndarray
    claims: np.ndarray
    overlaps: np.ndarray
    positives: int


def average_precision(found: Detections, overlap: float) -> float:
    """Area under the curve of precision against recall, as a sum over the steps of recall.

    Parameters
    ----------
    found : Detections
    overlap : float
        The least overlap of a right detection. A true box that was claimed by a surer detection makes any further
        one wrong, as in PASCAL VOC.

    Returns
    -------
    float
        0 to 1. Detections of one confidence count together, so that the order of lines never matters.

    References
    ----------
    .. [1] Everingham et al., "The PASCAL Visual Object Classes Challenge", IJCV 88, 2010,
           doi:10.1007/s11263-009-0275-4, section 4.2.

    Examples
    --------
    Right, wrong, right; one true box is never found:

    >>> found = Detections(np.array([0.9, 0.8, 0.7]), np.array([0, -1, 1]), np.array([0.6, 0.0, 0.8]), 3)
    >>> round(average_precision(found, 0.5), 4)
    0.5556
    """
    if len(found.confidence) == 0 or found.positives == 0:
        return 0.0
    order = np.argsort(-found.confidence, kind="stable")
    claims = np.where(found.overlaps >= overlap, found.claims, -1)[order]
    claimed, first = np.unique(claims, return_index=True)
    right = np.zeros(len(order))
    right[first[claimed >= 0]] = 1
    falling = found.confidence[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    hits = np.cumsum(right)[ends]
    return float((hits / (ends + 1) * np.diff(hits, prepend=0)).sum() / found.positives)


def concept_precisions(
    truth: Mapping[str, Sequence[Concept]],
    run: Mapping[str, Sequence[Concept]],
    overlaps: Sequence[float] = OVERLAPS,
) -> dict[str, list[float]]:
    """Average precision of every concept of the ground truth.

    Parameters
    ----------
    truth, run : mapping of str to sequence of Concept
        By picture. Pictures that only the run has don't count.
    overlaps : sequence of float
        0 to 1; at 0 a picture's surest box of a concept stands for the concept, wherever it is.

    Returns
    -------
    dict of str to list of float
        By concept, sorted; a value for each of `overlaps`. Their means over the concepts are the task's MAP.
    """
    if not all(0 <= overlap <= 1 for overlap in overlaps):
        raise LeafidError(f"expected overlaps from 0 to 1, found {list(overlaps)}")
    boxes, pictures = _detections(truth, run), _detections(truth, run, whole_pictures=True)
    return {
        name: [average_precision((boxes if overlap else pictures)[name], overlap) for overlap in overlaps]
        for name in sorted(boxes)
    }


def selection_scores(truth: Collection[Collection[int]], chosen: Collection[int]) -> tuple[float, float, float]:
    """Score the boxes chosen for one picture.

    Parameters
    ----------
    truth : collection of collections of int
        The boxes that each human description mentions; at least one description, each with at least one box.
    chosen : collection of int
        Distinct; may be empty.

    Returns
    -------
    f1, precision, recall : float
        Precision and recall are means over the descriptions, F1 comes from these means.

    References
    ----------
    .. [1] J. Wang, R. Gaizauskas, "Generating Image Descriptions with Gold Standard Visual Inputs", ENLG 2015.

    Examples
    --------
    >>> selection_scores([{0, 1}, {0}], {0, 2})
    (0.6, 0.5, 0.75)
    """
    hits = [len(set(chosen) & set(mentioned)) for mentioned in truth]
    recall = math.fsum(hit / len(set(mentioned)) for hit, mentioned in zip(hits, truth, strict=True)) / len(hits)
    precision = sum(hits) / (len(set(chosen)) * len(hits)) if chosen else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f1, precision, recall


def recall_at(truth: Collection[str], ranked: Sequence[str], k: int) -> float:
    """Share of a document's pictures among the first k of a ranking, 0 to 1.

    Examples
    --------
    >>> [recall_at({"c"}, ["a", "b", "c"], k) for k in (1, 2, 3)]
    [0.0, 0.0, 1.0]
    """
    if k < 1:
        raise LeafidError(f"expected a number of ranks from 1 up, found {k}")
    return len(set(truth) & set(ranked[:k])) / len(set(truth))


def great_circle_distance(truth: Place, predicted: Place, radius: float = EARTH_RADIUS) -> float:
    """Shortest way between two points along the surface of the earth.

    Parameters
    ----------
    truth, predicted : Place
        In degrees.
    radius : float, default 6137
        Of the earth; the result has its unit.

    Returns
    -------
    float
        0 to π · radius.

    Notes
    -----
    By the spherical law of cosines, as the task has it: below some 0.1 m a distance drowns in rounding.

    Examples
    --------
    From the pole to the equator:

    >>> round(great_circle_distance(Place(90, 0), Place(0, 77)), 3)
    9639.977
    """
    g1, g2, p1, p2 = map(math.radians, (*truth, *predicted))
    cosine = math.sin(g1) * math.sin(p1) + math.cos(g1) * math.cos(p1) * math.cos(p2 - g2)
    # Rounding may put the cosine of equal or opposite points a bit outside of where arccos is defined.
    return radius * math.acos(min(1.0, max(-1.0, cosine)))


def _detections(
    truth: Mapping[str, Sequence[Concept]], run: Mapping[str, Sequence[Concept]], whole_pictures: bool = False
) -> dict[str, Detections]:
    """Gather, for each concept of the ground truth, what is found of it."""
    # A concept's true boxes are numbered in their sorted order, so that equal overlaps are claimed alike in any order.
    numbers: dict[str, dict[str, list[tuple[int, ScoredBox]]]] = {}
    positives: dict[str, int] = {}
    for picture in sorted(truth):
        for name, boxes in truth[picture]:
            start = positives.get(name, 0)
            listed = [min(boxes)] if whole_pictures else sorted(boxes)
            numbers.setdefault(name, {})[picture] = list(enumerate(listed, start))
            positives[name] = start + len(listed)
    columns: dict[str, tuple[list[float], list[int], list[float]]] = {name: ([], [], []) for name in positives}
    for picture in sorted(truth.keys() & run.keys()):
        for name, boxes in run[picture]:
            if name not in columns:
                continue
            confidences, claims, overlaps = columns[name]
            known = numbers[name].get(picture, [])
            if whole_pictures:
                confidences.append(max(confidence for _, confidence in boxes))
                claims.append(known[0][0] if known else -1)
                overlaps.append(1.0 if known else 0.0)
                continue
            for box, confidence in boxes:
                claim, overlap = -1, 0.0
                for number, (true_box, _) in known:
                    if (shared := box_overlap(true_box, box)) > overlap:
                        claim, overlap = number, shared
                confidences.append(confidence)
                claims.append(claim)
                overlaps.append(overlap)
    return {
        name: Detections(np.array(column[0]), np.array(column[1], int), np.array(column[2]), positives[name])
        for name, column in columns.items()
    }


_metric = partial(Metric, citation=CITATION, command="evaluate-annotation")

METRICS = (
    _metric("map-0.5", "mean average precision of concepts, boxes overlapping by half", concept_precisions),
    _metric("map-0", "mean average precision of concepts wherever they are in the picture", concept_precisions),
    _metric("map-increasing", "mean of map at overlaps of 0, 0.1 … 0.9", concept_precisions),
    _metric("selection-f1", "F1 of the boxes that descriptions mention", selection_scores),
    _metric("selection-precision", "share of the chosen boxes that descriptions mention", selection_scores),
    _metric("selection-recall", "share of the mentioned boxes that are chosen", selection_scores),
    _metric("recall-at-k", "share of documents whose picture is among the first k", recall_at, column="recall-at-K"),
    _metric(
        "great-circle-km",
        "distance on the earth, in km, R = 6137 km",
        great_circle_distance,
        column="great-circle-km mean, median, min, max",
        higher_is_better=False,
        range=(0.0, math.pi * EARTH_RADIUS),
    ),
)
