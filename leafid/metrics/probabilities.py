"""Checks on the arrays that set-valued predictions are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def checked_probabilities(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Take probabilities as float64 (pictures, classes).

    Raises
    ------
    ValueError
        When the shape is another, or a value is none from 0 to 1.
    """
    p = np.asarray(probabilities, np.float64)
    if p.ndim != 2 or not p.shape[1]:
        raise ValueError(f"expected probabilities of shape (pictures, classes), found {p.shape}")
    wrong = ~((p >= 0) & (p <= 1 + 1e-9))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(f"expected probabilities from 0 to 1, found {p[row, column]} in row {row}, column {column}")
    return p


def checked(probabilities: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Take probabilities and the labels that belong to them; at least one picture."""
    p = checked_probabilities(probabilities)
    if not len(p):
        raise ValueError("expected labelled pictures, found none")
    return p, checked_labels(labels, p.shape)


def checked_labels(labels: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Take labels for an array of shape (pictures, classes).

    Raises
    ------
    ValueError
        When they are not as many, not whole, or not columns.
    """
    y = np.asarray(labels)
    if y.shape != shape[:1] or (len(y) and not np.issubdtype(y.dtype, np.integer)):
        raise ValueError(f"expected {shape[0]} whole numbers as labels, found shape {y.shape} of {y.dtype}")
    if len(y) and not (y.min() >= 0 and y.max() < shape[1]):
        raise ValueError(f"expected labels from 0 to {shape[1] - 1}, found {y.min()} to {y.max()}")
    return y.astype(np.intp)
