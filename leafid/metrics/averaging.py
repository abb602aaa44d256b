"""Means that several metrics share."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def accuracy_score(values: ArrayLike) -> float:
    """Average over pictures, however many an author or a plant has; NaN without pictures."""
    array = np.asarray(values, np.float64)
    return float(array.mean()) if len(array) else float("nan")


def macro_average(values: ArrayLike) -> float:
    """Average over classes or acquisition types, each counting the same; NaN, a class without pictures, is left out.

    Examples
    --------
    >>> macro_average([0.5, 1.0, float("nan")])
    0.75
    """
    array = np.asarray(values, np.float64)
    return accuracy_score(array[~np.isnan(array)])


def average_by_group(values: ArrayLike, groups: ArrayLike, n_groups: int = 0) -> NDArray[np.float64]:
    """Average the values of each group, numbered from 0; NaN for a group without values, of at least `n_groups`."""
    indices = np.asarray(groups, np.intp)
    counts = np.bincount(indices, minlength=n_groups)
    sums = np.bincount(indices, weights=np.asarray(values, np.float64), minlength=n_groups)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
