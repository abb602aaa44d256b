"""Scores of predictions that are sets of species: how often the right one is in, and how large the sets are.

The share of pictures whose set holds the right species is `leafid.metrics.plant_task.accuracy_score`.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, section 4, Table 1.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.metrics.plant_task import accuracy_score
from leafid.metrics.registry import Metric

_GARCIN = "Garcin et al., Pl@ntNet-300K, NeurIPS 2021"

#: The bins of [1]_, Table 1, by number of training pictures: the upper end belongs to the bin.
BINS = ("0-10", "10-50", "50-500", "500-2000", "> 2000")
_UPPER_ENDS = (10, 50, 500, 2000)


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


def macro_average(class_accuracy: ArrayLike) -> float:
    """Average the accuracies of the classes, however many pictures each has.

    Parameters
    ----------
    class_accuracy : float array (C,)
        From `group_means`; a class of NaN is left out.

    Returns
    -------
    float
        In [0, 1]; NaN where no class has pictures.

    Examples
    --------
    >>> macro_average([0.5, 1.0, float("nan")])
    0.75
    """
    accuracy_score = np.asarray(class_accuracy, np.float64)
    accuracy_score = accuracy_score[~np.isnan(accuracy_score)]
    return float(accuracy_score.mean()) if len(accuracy_score) else float("nan")


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
    accuracy_score : float64 (5,)
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
    accuracy_score = np.asarray(class_accuracy, np.float64)
    place = np.searchsorted(_UPPER_ENDS, np.asarray(training_pictures), side="left")
    present = ~np.isnan(accuracy_score)
    counts = np.bincount(place[present], minlength=len(BINS))
    return group_means(accuracy_score[present], place[present], len(BINS)), counts


def mean_size(sizes: ArrayLike) -> float:
    """Compute how many classes a set has on average.

    Parameters
    ----------
    sizes : int array (n,)

    Returns
    -------
    float
        NaN without pictures.
    """
    number = np.asarray(sizes)
    return float(number.mean()) if len(number) else float("nan")


def empty_share(sizes: ArrayLike) -> float:
    """Compute the share of pictures whose set is empty.

    Parameters
    ----------
    sizes : int array (n,)

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.
    """
    number = np.asarray(sizes)
    return float((number == 0).mean()) if len(number) else float("nan")


_score = partial(Metric, citation=_GARCIN, command="evaluate --sets")

METRICS = (
    _score(
        "average-K",
        "share of pictures with the right species in sets of mean size K",
        accuracy_score,
        column="accuracy",
    ),
    _score(
        "macro-average",
        "top-K or average-K accuracy of each species, then their mean",
        macro_average,
        column="macro-average accuracy",
    ),
    _score(
        "mean-bin-accuracy",
        "macro-average over species of similar training numbers",
        bin_accuracy,
        command="evaluate --sets --training",
        column="mean bin accuracy",
    ),
    _score(
        "coverage",
        "share of pictures with the right species in the set",
        accuracy_score,
        citation="Sadinle et al., JASA 2019",
        column="accuracy",
    ),
    _score(
        "mean-set-size",
        "species in a set, on average",
        mean_size,
        column="mean size",
        higher_is_better=False,
        range=(0.0, math.inf),
    ),
    _score(
        "empty-set-share",
        "share of pictures for which nothing is named",
        empty_share,
        column="empty sets",
        higher_is_better=False,
    ),
)
