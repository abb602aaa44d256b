"""Multi-scale curvature of a leaf's outline by integral invariants: histograms of curvature over scale (HoCS)."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.closed_curves import Points
from leafid.descriptors.contour import Mask, Shape, normalise_shape

SCALES = tuple(float(radius) for radius in np.geomspace(0.02, 0.6, 10).round(4))
"""Radii of the discs and circles, in √area."""
BINS = 12
"""Bins of each histogram, over shares of 0 to 1."""
_ANGLES = 24
_STEP = 4
"""Every so-maniest contour point is the centre of discs: neighbours nearly agree."""


def disc_shares(shape: Shape, centres: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Share of the leaf in discs, and on circles, around the given points.

    Parameters
    ----------
    shape : Shape
    centres : ndarray of float64, shape (n, 2)
        Rows and cols in the shape's pixels.

    Returns
    -------
    areas, arcs : ndarray of float64, shape (n, len(SCALES)), 0…1
        Share of each disc's area, and of each circle's length, that lies inside the leaf.

    Notes
    -----
    The leaf's coverage, smoothed over three pixels, is read at equal angles, at the nearest pixel, on the circles and
    on a ring halfway between each two. What lies inside grows with the radius ρ by 2πρ times the share of the circle;
    Simpson's rule over ρ adds up the discs. So all discs of a point share their samples, and the work doesn't grow
    with the radius.
    """
    circles = np.asarray(SCALES) * shape.side
    steps = np.diff(circles, prepend=0.0)
    rings = np.stack([circles - steps / 2, circles], axis=1).ravel()
    # Each ring is turned against the one before by a fraction of the step, so that their samples don't line up.
    angles = (np.arange(_ANGLES) + 0.618 * np.arange(len(rings))[:, None]) * (2 * np.pi / _ANGLES)
    rows = (rings[:, None] * np.sin(angles)).ravel().astype(np.float32)
    cols = (rings[:, None] * np.cos(angles)).ravel().astype(np.float32)
    at_rows = centres[:, :1].astype(np.float32) + rows
    at_cols = centres[:, 1:].astype(np.float32) + cols
    # A soft edge at the nearest pixel is as good as a hard one interpolated, and several times faster.
    soft = cv2.blur(shape.grey, (3, 3))
    cover = cv2.remap(soft, at_cols, at_rows, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
    totals = cv2.reduce(cover.reshape(-1, _ANGLES), 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S)
    shares = totals.reshape(len(centres), len(rings)) / (255 * _ANGLES)
    growth = 2 * rings * shares
    parts = 4 * growth[:, ::2] + growth[:, 1::2]
    parts[:, 1:] += growth[:, 1:-1:2]
    return (parts * (steps / 6)).cumsum(axis=1) / circles**2, shares[:, 1::2]


def curvature_histograms(leaf: Mask | Shape) -> NDArray[np.float32]:
    """Histograms of curvature over scale: disc areas and circle arcs inside the leaf, along the outline.

    Parameters
    ----------
    leaf : ndarray of bool, shape (H, W), or Shape
        All large components count: a compound leaf's leaflets share the histograms.

    Returns
    -------
    ndarray of float32, shape (2 × len(SCALES) × BINS,)
        Scale by scale, first of areas, then of arcs: the square root of the share of contour points in each bin. A
        point between the middles of two bins counts for both in proportion, so that a small change stays small.

    Raises
    ------
    ValueError
        When the mask isn't two-dimensional.
    LeafidError
        When it has no leaf in it.

    References
    ----------
    N. Kumar et al., "Leafsnap: a computer vision system for automatic plant species identification", ECCV 2012,
    doi:10.1007/978-3-642-33709-3_36, section 4.
    S. Manay et al., "Integral invariants for shape matching", IEEE Trans. PAMI 28, 2006, doi:10.1109/TPAMI.2006.208.
    """
    shape = normalise_shape(leaf)
    areas, arcs = disc_shares(shape, shape.all_points[::_STEP])
    return np.sqrt(soft_histograms(np.concatenate([areas, arcs], axis=1), BINS)).ravel().astype(np.float32)


def curvature_histograms_names() -> list[str]:
    """Name the values of `curvature_histograms`, in order."""
    return [
        f"curvature_{kind}_{radius:g}_bin{index + 1}"
        for kind in ("area", "arc")
        for radius in SCALES
        for index in range(BINS)
    ]


def soft_histograms(values: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Histogram of each column over 0…1 with linear sharing between neighbouring bins.

    Parameters
    ----------
    values : ndarray of float64, shape (n, k), 0…1
    bins : int

    Returns
    -------
    ndarray of float64, shape (k, bins)
        Each row sums to 1.

    Examples
    --------
    >>> import numpy as np
    >>> soft_histograms(np.array([[0.0], [0.5]]), 2).tolist()
    [[0.75, 0.25]]
    """
    count, columns = values.shape
    place = np.clip(values * bins - 0.5, 0, bins - 1)
    low = np.minimum(place.astype(np.intp), max(bins - 2, 0))
    part = place - low
    base = low + np.arange(columns) * bins
    size = columns * bins
    upper = np.minimum(base + 1, size - 1)
    total = np.bincount(base.ravel(), (1 - part).ravel(), size) + np.bincount(upper.ravel(), part.ravel(), size)
    return total.reshape(columns, bins) / count
