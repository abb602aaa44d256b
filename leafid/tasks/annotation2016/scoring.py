"""The metrics of the ImageCLEF 2016 annotation task, and the scores of a run."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from statistics import fmean, median
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.metrics.pairwise import haversine_distances

from leafid.errors import LeafidError
from leafid.tasks.annotation2016.files import Annotations, Place, Subtask
from leafid.tasks.interpretation.regions import BoxedObject, box_overlap

#: The overlaps of "map-increasing"; at 0 only the concept counts.
OVERLAPS = tuple(f"0.{digit}" for digit in range(10))

#: Radius of the earth in km according to the task's document (the mean radius is 6371
#: km).
EARTH_RADIUS = 6137.0
#: Values of k for recall and success at k.
RANKS = (1, 5, 10, 25, 50, 75, 100)

#: The objects in each picture.
Objects = Mapping[str, Sequence[BoxedObject]]

_get_confidence = attrgetter("confidence")
_STATISTICS: dict[str, Any] = {"mean": fmean, "median": median, "min": min, "max": max}


def average_precision(
    confidences: np.ndarray, claims: np.ndarray, n_true: int
) -> float:
    """Sum precision over the steps of recall, without interpolation.

    The sum is the area under the curve of precision by recall. Takes the confidence of
    each detection, float (N,), the index of the true box that it shows, int (N,), -1
    for none, and the number of true boxes. After the most confident detection of a true
    box, further ones of the same box are wrong, as in PASCAL VOC. Detections of equal
    confidence count together.

    References
    ----------
    .. [1] Everingham et al., "The PASCAL Visual Object Classes Challenge", IJCV 88,
       2010, doi:10.1007/s11263-009-0275-4, section 4.2.

    Examples
    --------
    Correct, wrong, correct; one of three true boxes is never found:

    >>> round(average_precision(np.array([0.9, 0.8, 0.7]), np.array([0, -1, 1]), 3), 4)
    0.5556
    """
    order = np.argsort(-confidences, kind="stable")
    claimed, first = np.unique(claims[order], return_index=True)
    is_correct = np.zeros(len(order), bool)
    is_correct[first[claimed >= 0]] = True
    if not is_correct.any():
        return 0.0
    precision = average_precision_score(is_correct, confidences[order])
    return float(precision * is_correct.sum() / n_true)


def concept_precisions(truth: Objects, run: Objects) -> dict[str, dict[str, float]]:
    """Compute the average precision of every concept of the ground truth.

    The means over the concepts are the task's MAP. At overlap 0 the most confident box
    of a concept in a picture counts, wherever it is.

    Parameters
    ----------
    truth, run : mapping of str to sequences of BoxedObject
        The objects of each picture. Pictures that only the run has don't count.

    Returns
    -------
    dict of str to dict
        By concept, sorted by name, its precision at each of `OVERLAPS`.
    """
    answered = {name: run[name] for name in sorted(truth.keys() & run.keys())}
    by_concept = _group_by_concept(answered)
    precisions: dict[str, dict[str, float]] = {}
    for name, true_objects in sorted(_group_by_concept(truth).items()):
        objects = by_concept.get(name, {})
        best = [max(map(_get_confidence, items)) for items in objects.values()]
        # A picture that doesn't show the concept is no true one.
        pictures = np.arange(len(objects))
        pictures[[picture not in true_objects for picture in objects]] = -1
        n_pictures = len(true_objects)
        by_overlap = {
            OVERLAPS[0]: average_precision(np.array(best), pictures, n_pictures)
        }
        confidences, boxes, overlaps = _match_boxes(true_objects, objects)
        n_boxes = sum(map(len, true_objects.values()))
        for overlap in OVERLAPS[1:]:
            claims = np.where(overlaps >= float(overlap), boxes, -1)
            by_overlap[overlap] = average_precision(confidences, claims, n_boxes)
        precisions[name] = by_overlap
    return precisions


def selection_scores(
    truth: Collection[Collection[int]], selected: Collection[int]
) -> tuple[float, float, float]:
    """Compute F1, precision and recall of the boxes selected for one picture.

    `truth` has the boxes that each human description mentions, at least one; `selected`
    may be empty. Precision and recall are means over the descriptions, F1 is computed
    from these means.

    References
    ----------
    .. [1] J. Wang, R. Gaizauskas, "Generating Image Descriptions with Gold Standard
       Visual Inputs", ENLG 2015.

    Examples
    --------
    >>> selection_scores([{0, 1}, {0}], {0, 2})
    (0.6, 0.5, 0.75)
    """
    chosen = set(selected)
    hits = [len(chosen & set(mentioned)) for mentioned in truth]
    if not any(hits):
        return 0.0, 0.0, 0.0
    shares = [hit / len(set(boxes)) for hit, boxes in zip(hits, truth, strict=True)]
    recall = fmean(shares)
    precision = fmean(hits) / len(chosen)
    f1 = 2 * precision * recall / (precision + recall)
    return f1, precision, recall


def great_circle_distance(truth: Place, predicted: Place) -> float:
    """Compute the distance of two points along the surface of the earth in km.

    The task prescribes the spherical law of cosines, of which the haversine formula is
    a form that keeps small distances.

    Examples
    --------
    From the pole to the equator:

    >>> round(great_circle_distance((90, 0), (0, 77)), 3)
    9639.977
    """
    distances = haversine_distances(np.radians([truth, predicted]))
    return EARTH_RADIUS * float(distances[0, 1])


def _group_by_concept(pictures: Objects) -> dict[str, dict[str, list[BoxedObject]]]:
    """Group objects by concept and picture, sorted: the lines' order has no effect."""
    groups: defaultdict[str, dict[str, list[BoxedObject]]] = defaultdict(dict)
    for picture, objects in pictures.items():
        for item in sorted(objects):
            groups[item.name].setdefault(picture, []).append(item)
    return groups


def _match_boxes(true_objects: Objects, objects: Objects) -> np.ndarray:
    """Match each box with the true box that it overlaps most.

    The result has the confidence of each box, the index of the true box, which means
    nothing where their overlap is 0, and the overlap.
    """
    # The true boxes of all pictures are numbered one after the other.
    starts: dict[str, int] = {}
    n_boxes = 0
    for picture, true_boxes in true_objects.items():
        starts[picture] = n_boxes
        n_boxes += len(true_boxes)
    rows: list[tuple[float, int, float]] = []
    for picture, items in objects.items():
        for item in items:
            overlaps = [0.0]
            for true in true_objects.get(picture, ()):
                overlaps.append(box_overlap(true.box, item.box))
            best = int(np.argmax(overlaps))
            index = starts.get(picture, 0) + best - 1
            rows.append((item.confidence, index, overlaps[best]))
    return np.array(rows, float).reshape(-1, 3).T


def score_annotation(
    truth: Annotations, run: Annotations
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Score a run of the ground truth's subtask.

    Parameters
    ----------
    truth, run : Annotations
        A picture or document that the run lacks counts as the worst answer.

    Returns
    -------
    scores : dict of str to float
        The scores by metric.
    details : dict of str to dict
        The scores of each picture or document by metric; in subtask 1, the average
        precision of each concept by overlap.

    Raises
    ------
    LeafidError
        When METEOR is needed and missing.
    """
    # Ids are sorted, so that the order of lines doesn't change any sum.
    correct = dict(sorted(truth.results.items()))
    answered = [identity for identity in correct if identity in run.results]
    answers = {identity: run.results[identity][0] for identity in answered}
    if truth.subtask is Subtask.CONCEPTS:
        true_objects = {identity: results[0] for identity, results in correct.items()}
        return _score_concepts(true_objects, answers)
    scores: dict[str, dict[str, float]]
    if truth.subtask is Subtask.CAPTION:
        meteor = meteor_scores(answers, correct)
        scores = {name: {"meteor": meteor.get(name, 0.0)} for name in correct}
    else:
        score = _SCORERS[truth.subtask]
        scores = {
            name: score(true, answers.get(name)) for name, true in correct.items()
        }
    statistics: dict[str, Any] = {"": fmean}
    if truth.subtask in (Subtask.CAPTION, Subtask.LOCATION):
        statistics = _STATISTICS
    return _summarise(scores, statistics), scores


def _summarise(
    scores: Mapping[str, Mapping[str, float]],
    statistics: Mapping[str, Callable[[list[float]], float]],
) -> dict[str, float]:
    means = {}
    for name in next(iter(scores.values())):
        values = [by_metric[name] for by_metric in scores.values()]
        for kind, compute in statistics.items():
            means[f"{name} {kind}".rstrip()] = compute(values)
    return means


def _score_selection(
    true: Sequence[Collection[int]], selected: Collection[int] | None
) -> dict[str, float]:
    names = ("selection-f1", "selection-precision", "selection-recall")
    return dict(zip(names, selection_scores(true, selected or ()), strict=True))


def _score_illustrations(
    true: Sequence[Sequence[str]], ranking: Sequence[str] | None
) -> dict[str, float]:
    pictures = set(true[0])
    recalls = {}
    for k in RANKS:
        recalls[k] = len(pictures.intersection((ranking or ())[:k])) / len(pictures)
    scores = {f"recall-at-{k}": recall for k, recall in recalls.items()}
    # The task's wording of recall: 1 if any of the document's pictures is among the
    # first k.
    for k, recall in recalls.items():
        scores[f"success-at-{k}"] = float(recall > 0)
    return scores


def _score_place(true: Sequence[Place], place: Place | None) -> dict[str, float]:
    distance = math.pi * EARTH_RADIUS
    if place:
        distance = great_circle_distance(true[0], place)
    return {"great-circle-km": distance}


_SCORERS: dict[Subtask, Callable[[Any, Any], dict[str, float]]] = {
    Subtask.SELECTION: _score_selection,
    Subtask.ILLUSTRATION: _score_illustrations,
    Subtask.LOCATION: _score_place,
}


def _score_concepts(
    truth: Objects, run: Objects
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    by_concept = concept_precisions(truth, run)
    if not by_concept:
        raise LeafidError(
            "expected a ground truth with at least one concept, found none"
        )
    rows = zip(*(values.values() for values in by_concept.values()), strict=True)
    means = dict(zip(OVERLAPS, map(fmean, rows), strict=True))
    scores = {
        "map-0.5": means["0.5"],
        "map-0": means["0.0"],
        "map-increasing": fmean(means.values()),
    }
    scores |= {f"map at {overlap}": mean for overlap, mean in means.items()}
    return scores, by_concept


def meteor_scores(
    captions: Mapping[str, str], references: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Score one caption a picture against its human captions: 0 to 1, in order.

    METEOR 1.5 for English, which normalises punctuation (``-norm``), as the package
    runs it; it takes about 2 GB of memory. A `LeafidError` is raised when Java or the
    package is missing, or METEOR fails.
    """
    if not captions:
        return {}
    machine = {}
    human = {}
    for picture, caption in captions.items():
        machine[picture] = [_clean(caption)]
        human[picture] = [*map(_clean, references[picture])]
    try:
        from pycocoevalcap.meteor.meteor import Meteor  # the package is optional

        _, scores = Meteor().compute_score(human, machine)
    except (ImportError, OSError, ValueError) as error:
        needed = (
            "Java, 2 GB of memory and the package pycocoevalcap ('pip install "
            "pycocoevalcap')"
        )
        raise LeafidError(f"METEOR failed ({error}); it needs {needed}") from error
    return dict(zip(captions, map(float, scores), strict=True))


def _clean(text: str) -> str:
    # The program reads one caption per line, and uses these bars as a separator.
    return " ".join(text.replace("|||", " ").split())
