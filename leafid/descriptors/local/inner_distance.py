"""Inner-distance shape context: per contour point, where the others lie along paths inside the leaf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.closed_curves import resample
from leafid.descriptors.contour import Mask, Shape, normalise_shape

POINTS = 80
"""Contour points of the description."""
DISTANCE_BINS = 5
ANGLE_BINS = 12
_SAMPLES = 24
"""Places along a segment where it is asked whether the leaf is there."""


def inner_distance_context(leaf: Mask | Shape, n_points: int = POINTS) -> NDArray[np.float32]:
    """Inner-distance shape context of each contour point of the largest component.

    The inner distance of two points is the length of the shortest path between them that stays inside the leaf, so it
    doesn't change where a lobe bends; the inner angle is that of the path's beginning to the outline's tangent.

    Parameters
    ----------
    leaf : ndarray of bool, shape (H, W), or Shape
    n_points : int
        Contour points, at equal arc length.

    Returns
    -------
    ndarray of float32, shape (n_points, DISTANCE_BINS × ANGLE_BINS)
        One histogram a point, a local feature for a bag of words: the square root of the share of the other points in
        each bin of log distance (relative to the mean one; shortest first) and angle (counter-clockwise from the
        tangent).

    Raises
    ------
    ValueError
        When the mask isn't two-dimensional.
    LeafidError
        When it has no leaf in it.

    References
    ----------
    H. Ling, D. W. Jacobs, "Shape classification using the inner-distance", IEEE Trans. PAMI 29, 2007,
    doi:10.1109/TPAMI.2007.41.
    """
    shape = normalise_shape(leaf)
    points = resample(shape.contour, n_points)
    distances, previous = inner_distances(shape, n_points)
    # Row i of `previous` holds, for each j, the last stop before j on the way from i: from j's side, the first one.
    toward = points[previous] - points[None, :, :]
    tangent = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    angle = np.arctan2(-toward[..., 0], toward[..., 1]) - np.arctan2(-tangent[:, 0], tangent[:, 1])
    apart = ~np.eye(n_points, dtype=bool)
    relative = np.log2(np.maximum(distances / max(distances[apart].mean(), 1e-9), 1e-3))
    # Bins of one octave each, ending at twice the mean distance; what is nearer or farther counts into the end bins.
    ring = np.clip(np.floor(relative).astype(np.intp) + DISTANCE_BINS - 1, 0, DISTANCE_BINS - 1)
    sector = np.floor(angle * (ANGLE_BINS / (2 * np.pi)) + 0.5).astype(np.intp) % ANGLE_BINS
    cell = np.arange(n_points) * (DISTANCE_BINS * ANGLE_BINS) + ring * ANGLE_BINS + sector
    counts = np.bincount(cell[apart], minlength=n_points * DISTANCE_BINS * ANGLE_BINS)
    return np.sqrt(counts.reshape(n_points, -1) / (n_points - 1)).astype(np.float32)


def inner_distance_context_names() -> list[str]:
    """Name the columns of `inner_distance_context`, in order."""
    return [f"inner_distance{d + 1}_angle{a + 1}" for d in range(DISTANCE_BINS) for a in range(ANGLE_BINS)]


def inner_distances(shape: Shape, n_points: int = POINTS) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Lengths of the shortest paths inside the leaf between contour points, by way of other contour points.

    Parameters
    ----------
    shape : Shape
    n_points : int

    Returns
    -------
    distances : ndarray of float64, shape (n_points, n_points)
        In the shape's pixels.
    previous : ndarray of intp, shape (n_points, n_points)
        ``previous[i, j]``: the stop before j on the way from i.
    """
    # SciPy's graphs take their time to be imported: only those who ask for paths wait for them.
    from scipy.sparse.csgraph import shortest_path

    points = resample(shape.contour, n_points)
    first, second = np.triu_indices(n_points, 1)
    share = (np.arange(1, _SAMPLES + 1) / (_SAMPLES + 1)).astype(np.float32)
    start, way = points[first].astype(np.float32), (points[second] - points[first]).astype(np.float32)
    rows = np.rint(start[:, :1] + way[:, :1] * share).astype(np.intp)
    cols = np.rint(start[:, 1:] + way[:, 1:] * share).astype(np.intp)
    height, width = shape.grey.shape
    flat = np.clip(rows, 0, height - 1) * width + np.clip(cols, 0, width - 1)
    # A place at the very edge is inside: the outline itself is half covered.
    visible = (shape.grey.ravel()[flat] >= 64).all(axis=1)
    visible |= (second - first == 1) | (second - first == n_points - 1)
    length = np.where(visible, np.hypot(way[:, 0], way[:, 1]).astype(np.float64), np.inf)
    graph = np.full((n_points, n_points), np.inf)
    graph[first, second] = graph[second, first] = np.maximum(length, 1e-9)
    distances, previous = shortest_path(graph, method="FW", directed=True, return_predecessors=True)
    own = np.arange(n_points)
    previous = np.where(previous < 0, own[None, :], previous).astype(np.intp)
    return distances, previous
