"""Scores of predictions that are sets of species: how often the right one is in, and how large the sets are.

Sets are bool (n, C), a row a picture, a column a class; labels are int (n,), the right class's column.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, section 4, Table 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.evaluation.probabilities import checked, checked_labels
from leafid.evaluation.registry import Metric
from leafid.evaluation.set_valued import average_k_thresholds, threshold_sets, top_k_sets

_GARCIN = "Garcin et al., Pl@ntNet-300K, NeurIPS 2021"
METRICS = (
    Metric("average-K", True, (0.0, 1.0), _GARCIN, "share of pictures with the right species in sets of mean size K"),
    Metric("macro-average", True, (0.0, 1.0), _GARCIN, "top-K or average-K accuracy of each species, then their mean"),
    Metric("mean-bin-accuracy", True, (0.0, 1.0), _GARCIN, "macro-average over species of similar training numbers"),
    Metric(
        "coverage", True, (0.0, 1.0), "Sadinle et al., JASA 2019", "share of pictures with the right species in the set"
    ),
    Metric("mean-set-size", False, (0.0, math.inf), _GARCIN, "species in a set, on average"),
    Metric("empty-set-share", False, (0.0, 1.0), _GARCIN, "share of pictures for which nothing is named"),
)

#: The bins of [1]_, Table 1, by number of training pictures: the upper end belongs to the bin.
BINS = ("0-10", "10-50", "50-500", "500-2000", "> 2000")
_UPPER_ENDS = (10, 50, 500, 2000)


@dataclass(frozen=True, slots=True)
class SetScore:
    """What one way of making sets is worth.

    Attributes
    ----------
    k : float
        The size asked for.
    accuracy, macro_average : float
        See `set_accuracy`, `macro_average_accuracy`.
    mean_size, empty_share : float
        What the sets came to.
    """

    k: float
    accuracy: float
    macro_average: float
    mean_size: float
    empty_share: float


def top_k_scores(probabilities: ArrayLike, labels: ArrayLike, ks: Sequence[int]) -> list[SetScore]:
    """Score the sets of the k likeliest classes, for several k.

    Parameters
    ----------
    probabilities : float array (n, C)
    labels : int array (n,)
    ks : sequence of int

    Returns
    -------
    list of SetScore
    """
    return [_set_score(k, top_k_sets(probabilities, k), labels) for k in ks]


def average_k_scores(
    probabilities: ArrayLike, labels: ArrayLike, ks: Sequence[float], held_out: ArrayLike
) -> list[SetScore]:
    """Score the sets of k classes on average, for several k.

    Parameters
    ----------
    probabilities : float array (n, C)
    labels : int array (n,)
    ks : sequence of float
    held_out : float array (m, C)
        The probabilities on which the thresholds are fitted: of other pictures than those judged.

    Returns
    -------
    list of SetScore
        The realised mean sizes are those of the pictures judged, and need not be k.
    """
    thresholds = average_k_thresholds(held_out, ks)
    return [_set_score(k, threshold_sets(probabilities, at), labels) for k, at in zip(ks, thresholds, strict=True)]


def hits(sets: ArrayLike, labels: ArrayLike) -> NDArray[np.bool_]:
    """Tell for each picture whether its right class is in its set.

    Parameters
    ----------
    sets : bool array (n, C)
    labels : int array (n,)

    Returns
    -------
    bool (n,)
    """
    chosen = np.asarray(sets, bool)
    y = checked_labels(labels, chosen.shape)
    return chosen[np.arange(len(y)), y]


def set_accuracy(sets: ArrayLike, labels: ArrayLike) -> float:
    """Compute the share of pictures whose right class is in their set: top-k or average-k accuracy.

    Parameters
    ----------
    sets : bool array (n, C)
    labels : int array (n,)

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.
    """
    found = hits(sets, labels)
    return float(found.mean()) if len(found) else float("nan")


def macro_average_accuracy(sets: ArrayLike, labels: ArrayLike) -> float:
    """Compute `set_accuracy` for each class that has pictures, then average over these classes.

    Parameters
    ----------
    sets : bool array (n, C)
    labels : int array (n,)

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.

    Examples
    --------
    Class 0 is found in one of two pictures, class 1 in its only one, class 2 has none.

    >>> macro_average_accuracy([[1, 0, 0], [0, 1, 0], [0, 1, 0]], [0, 0, 1])
    0.75
    """
    found = hits(sets, labels)
    if not len(found):
        return float("nan")
    return float(np.nanmean(group_means(found, labels, np.shape(sets)[1])))


def group_means(values: ArrayLike, groups: ArrayLike, number: int) -> NDArray[np.float64]:
    """Average over the pictures of each group, such as a class or the organ shown.

    Parameters
    ----------
    values : float or bool array (n,)
    groups : int array (n,)
        From 0 to number - 1.
    number : int

    Returns
    -------
    float64 (number,)
        NaN for a group without pictures.
    """
    index = np.asarray(groups, np.intp)
    counts = np.bincount(index, minlength=number)
    sums = np.bincount(index, weights=np.asarray(values, np.float64), minlength=number)
    return np.divide(sums, counts, out=np.full(number, np.nan), where=counts > 0)


def bin_accuracy(
    class_accuracy: ArrayLike, training_pictures: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Average the classes' accuracies within bins of their number of training pictures.

    Parameters
    ----------
    class_accuracy : float array (C,)
        From `group_means`; a class of NaN is left out.
    training_pictures : int array (C,)

    Returns
    -------
    accuracy : float64 (5,)
        For each of `BINS`; NaN for a bin without classes.
    classes : intp (5,)
        How many classes each is the mean of.

    References
    ----------
    .. [1] Garcin et al. 2021, Table 1.

    Examples
    --------
    >>> bin_accuracy([0.0, 0.5, 1.0], [10, 11, 50])[0][:2]
    array([0.  , 0.75])
    """
    accuracy = np.asarray(class_accuracy, np.float64)
    place = np.searchsorted(_UPPER_ENDS, np.asarray(training_pictures), side="left")
    present = ~np.isnan(accuracy)
    counts = np.bincount(place[present], minlength=len(BINS))
    return group_means(accuracy[present], place[present], len(BINS)), counts


def mean_size(sets: ArrayLike) -> float:
    """Compute how many classes a set has on average.

    Parameters
    ----------
    sets : bool array (n, C)

    Returns
    -------
    float
        NaN without pictures.
    """
    chosen = np.asarray(sets, bool)
    return float(chosen.sum(axis=1).mean()) if len(chosen) else float("nan")


def empty_share(sets: ArrayLike) -> float:
    """Compute the share of pictures whose set is empty.

    Parameters
    ----------
    sets : bool array (n, C)

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.
    """
    chosen = np.asarray(sets, bool)
    return float((~chosen.any(axis=1)).mean()) if len(chosen) else float("nan")


def size_error_curve(
    probabilities: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Follow mean set size and error over every threshold.

    The thresholds are those of the very pictures that are judged: the curve describes a model, it chooses nothing.

    Parameters
    ----------
    probabilities : float array (n, C)
    labels : int array (n,)

    Returns
    -------
    thresholds : float64 (m,)
        The distinct probabilities, falling.
    sizes : float64 (m,)
        Mean size of `threshold_sets` at each, rising to C.
    errors : float64 (m,)
        Share of pictures whose right class is not in the set, falling to 0.

    Examples
    --------
    >>> thresholds, sizes, errors = size_error_curve([[0.9, 0.1], [0.6, 0.4]], [0, 1])
    >>> sizes
    array([0.5, 1. , 1.5, 2. ])
    >>> errors
    array([0.5, 0.5, 0. , 0. ])
    """
    p, y = checked(probabilities, labels)
    rising, counts = np.unique(p, return_counts=True)
    right = np.sort(p[np.arange(len(y)), y])
    thresholds = rising[::-1]
    sizes = np.cumsum(counts[::-1]) / len(p)
    errors = np.searchsorted(right, thresholds, side="left") / len(y)
    return thresholds, sizes, errors


def _set_score(k: float, sets: NDArray[np.bool_], labels: ArrayLike) -> SetScore:
    return SetScore(
        k, set_accuracy(sets, labels), macro_average_accuracy(sets, labels), mean_size(sets), empty_share(sets)
    )
