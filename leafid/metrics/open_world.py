"""How well a system tells known species from unknown ones, and names the known ones.

Each picture has a score, higher where the system takes it for a known species; pictures below a threshold are rejected.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.learning.averages import accuracy_score, macro_average
from leafid.metrics.registry import Metric


def area_under_roc(known: ArrayLike, unknown: ArrayLike) -> float:
    """Compute the probability that a known picture, (n,), has a higher score than an unknown one, (m,); ties are half.

    0.5 is chance; NaN without pictures of both kinds.

    Examples
    --------
    >>> area_under_roc([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    return open_set_classification_rate(known, np.ones(len(np.asarray(known)), bool), unknown)


def open_set_classification_rate(known: ArrayLike, is_correct: ArrayLike, unknown: ArrayLike) -> float:
    """Compute the area under the curve of the correct classification rate over the false positive rate (OSCR).

    At a threshold, the former is the share of known pictures, (n,), that are accepted and named correctly, bool (n,),
    the latter the share of unknown ones, (m,), that are accepted. The area by the trapezoidal rule is the share of
    pairs of a known and an unknown picture in which the known one is named correctly and has the higher score; ties
    count half. It is at most the accuracy; NaN without pictures of both kinds.

    References
    ----------
    .. [1] A. R. Dhamija, M. Günther, T. E. Boult, "Reducing network agnostophobia", NeurIPS 2018, section 4

    Examples
    --------
    >>> open_set_classification_rate([0.9, 0.8], [True, False], [0.1])
    0.5
    """
    scores, rejected = np.asarray(known, np.float64), np.sort(np.asarray(unknown, np.float64))
    if not len(scores) or not len(rejected):
        return float("nan")
    below = np.searchsorted(rejected, scores, "left") + np.searchsorted(rejected, scores, "right")
    return float((below * np.asarray(is_correct, bool)).mean() / (2 * len(rejected)))


def false_positive_rate(known: ArrayLike, unknown: ArrayLike, true_positive_rate: float = 0.95) -> float:
    """Compute the share of unknown pictures, (m,), that are accepted where a share of the known ones, (n,), is.

    The threshold is the highest that accepts this share; NaN without pictures of both kinds.

    Examples
    --------
    >>> false_positive_rate([0.9, 0.8, 0.7, 0.1], [0.75, 0.2], 0.75)
    0.5
    """
    scores = np.sort(np.asarray(known, np.float64))[::-1]
    rejected = np.asarray(unknown, np.float64)
    if not len(scores) or not len(rejected):
        return float("nan")
    n_accepted = max(1, int(np.ceil(true_positive_rate * len(scores) - 1e-9)))
    return accuracy_score(rejected >= scores[n_accepted - 1])


def confident_share(probabilities: ArrayLike, is_named: ArrayLike, confidence: float = 0.9) -> float:
    """Compute the share of unknown pictures, (n,), that get the name of a species with at least this probability.

    `is_named`, bool (n,), says which are not rejected.

    Examples
    --------
    >>> confident_share([0.95, 0.99, 0.3, 0.1], [True, False, True, True])
    0.25
    """
    return accuracy_score((np.asarray(probabilities, np.float64) >= confidence) & np.asarray(is_named, bool))


def average_precision_by_class(
    labels: ArrayLike, pictures: ArrayLike, classes: ArrayLike, scores: ArrayLike, n_classes: int
) -> NDArray[np.float64]:
    """Compute the average precision of each class as a query for its pictures, float64 (n_classes,), NaN without any.

    Labels, int (n,), are -1 for unknown pictures. Each prediction has a picture and a class, as indices, and a score,
    (N,); a class is predicted once for a picture. The predictions of a class are sorted by falling score. Precision is
    taken at each picture of the class; a picture for which the class is not predicted contributes 0. Predictions of
    equal score enter together.
    """
    label = np.asarray(labels, np.intp)
    kind = np.asarray(classes, np.intp)
    value = np.asarray(scores, np.float64)
    order = np.lexsort((-value, kind))
    kind, value = kind[order], value[order]
    is_hit = label[np.asarray(pictures, np.intp)[order]] == kind
    total = np.bincount(label[label >= 0], minlength=n_classes)
    if not len(order):
        return np.where(total > 0, 0.0, np.nan)
    position = np.arange(len(order))
    is_start = np.append(True, kind[1:] != kind[:-1])
    start = position[is_start][np.cumsum(is_start) - 1]
    is_end = np.append((kind[1:] != kind[:-1]) | (value[1:] != value[:-1]), True)
    end = position[is_end][np.searchsorted(position[is_end], position)]
    n_hits = np.append(0, np.cumsum(is_hit))
    precision = (n_hits[end + 1] - n_hits[start]) / (end + 1 - start)
    sums = np.bincount(kind, precision * is_hit, n_classes)
    return np.divide(sums, total, out=np.full(n_classes, np.nan), where=total > 0)


def mean_average_precision(
    labels: ArrayLike, pictures: ArrayLike, classes: ArrayLike, scores: ArrayLike, n_classes: int
) -> float:
    """Average `average_precision_by_class` over the classes that have pictures; unknown pictures are distractors.

    References
    ----------
    .. [1] H. Goëau, P. Bonnet, A. Joly, "Plant identification in an open-world (LifeCLEF 2016)", CLEF 2016, section 4

    Examples
    --------
    The unknown picture 2 is taken for class 0 with the highest score.

    >>> mean_average_precision([0, 0, -1], [0, 1, 2], [0, 0, 0], [0.8, 0.7, 0.9], 1)  # (1/2 + 2/3) / 2
    0.5833333333333333
    """
    return macro_average(average_precision_by_class(labels, pictures, classes, scores, n_classes))


METRICS = (
    Metric(
        "mAP-open",
        "mean over species of the average precision of their pictures, among which unknown ones are distractors",
        mean_average_precision,
        citation="Goëau et al., LifeCLEF 2016 plant task",
        command="evaluate",
    ),
    Metric(
        "AUROC",
        "probability that a picture of a known species has a higher score than one of an unknown species",
        area_under_roc,
        citation="Fawcett, Pattern Recognition Letters 2006",
        command="evaluate",
    ),
    Metric(
        "OSCR",
        "area under the rate of known pictures accepted and correct over the rate of unknown ones accepted",
        open_set_classification_rate,
        citation="Dhamija et al., NeurIPS 2018",
        command="evaluate",
    ),
    Metric(
        "FPR-95",
        "share of unknown pictures accepted where 95 % of the known ones are",
        false_positive_rate,
        citation="Hendrycks and Gimpel, ICLR 2017",
        command="evaluate",
        higher_is_better=False,
    ),
    Metric(
        "confident-unknown",
        "share of unknown pictures that get the name of a species with a probability of 0.9 or more",
        confident_share,
        citation="leafid",
        command="evaluate",
        column="unknown ≥ 0.9",
        higher_is_better=False,
    ),
)
