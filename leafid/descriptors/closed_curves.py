"""Closed curves of points: length, area, equal steps along them, smoothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""Contour points, float64 (n, 2), rows and cols."""


def contour_length(contour: Points) -> float:
    """Length of a closed contour, in its own unit.

    Examples
    --------
    >>> import numpy as np
    >>> contour_length(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]))
    12.0
    """
    steps = np.diff(np.concatenate([contour, contour[:1]]), axis=0)
    return float(np.sqrt((steps * steps).sum(axis=1)).sum())


def contour_area(contour: Points) -> float:
    """Signed area inside a closed contour: positive where it runs counter-clockwise as seen on the picture."""
    rows, cols = contour[:, 0], contour[:, 1]
    around = (rows[:-1] * cols[1:]).sum() - (cols[:-1] * rows[1:]).sum()
    return float(0.5 * (around + rows[-1] * cols[0] - cols[-1] * rows[0]))


def as_complex(contour: Points) -> NDArray[np.complex128]:
    """Give one complex number, row + i·col, for each point of a contour; float64 (n, 2) is read as it is."""
    return np.ascontiguousarray(contour, dtype=np.float64).view(np.complex128)[:, 0]


def resample(contour: Points, n_points: int) -> Points:
    """Points at equal arc length along a closed contour, from its first point on.

    Parameters
    ----------
    contour : ndarray of float64, shape (m, 2)
    n_points : int

    Returns
    -------
    ndarray of float64, shape (n_points, 2)
    """
    closed = np.concatenate([contour, contour[:1]])
    steps = np.diff(closed, axis=0)
    along = np.concatenate([[0.0], np.sqrt((steps * steps).sum(axis=1)).cumsum()])
    wanted = np.arange(n_points) * (along[-1] / n_points)
    # Both coordinates in one search, as one complex number a point.
    points = np.interp(wanted, along, as_complex(closed))
    return points.view(np.float64).reshape(-1, 2)


def smoothing_gain(waves: NDArray[np.number], sigma: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Tell what a Gaussian smoothing of a closed signal leaves of a wave, from 0 to 1.

    Parameters
    ----------
    waves : ndarray, shape (n,)
        In waves around the contour.
    sigma : float or ndarray that broadcasts against `waves`
        Standard deviation, as a share of the contour's length.

    Returns
    -------
    ndarray of float64, in the shape that both broadcast to
    """
    gain = np.exp(-2 * (np.pi * sigma * waves) ** 2)
    gain[gain < 1e-12] = 0.0  # denormal numbers would make the transform back ten times slower
    return gain
