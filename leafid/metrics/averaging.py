"""Means that several metrics share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def accuracy_score(values: ArrayLike) -> float:
    """Average over pictures, however many an author or a plant has; NaN without pictures."""
    array = np.asarray(values, np.float64)
    return float(array.mean()) if len(array) else float("nan")


def macro_average(values: ArrayLike) -> float:
    """Average over classes or acquisition types, each counting the same.

    Parameters
    ----------
    values : float array (m,)
        NaN for a class without pictures, which is left out.

    Returns
    -------
    float
        NaN where no class has pictures.

    Examples
    --------
    >>> macro_average([0.5, 1.0, float("nan")])
    0.75
    """
    array = np.asarray(values, np.float64)
    return accuracy_score(array[~np.isnan(array)])


def average_by_group(values: ArrayLike, groups: ArrayLike, n_groups: int = 0) -> NDArray[np.float64]:
    """Average the values of each group.

    Parameters
    ----------
    values : float or bool array (n,)
    groups : int array (n,)
        Each value's group, from 0.
    n_groups : int, default 0
        Minimum length of the result.

    Returns
    -------
    float64 (m,)
        NaN for a group without values.
    """
    indices = np.asarray(groups, np.intp)
    counts = np.bincount(indices, minlength=n_groups)
    sums = np.bincount(indices, weights=np.asarray(values, np.float64), minlength=n_groups)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
