"""Inner-distance shape contexts: for each contour point, the others by length and angle of paths inside the leaf."""

import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.local.features import LocalFeatures
from leafid.descriptors.shape.contour import Mask, Shape, normalise_shape, resample

N_POINTS = 80
"""Contour points of the largest component, at equal arc length."""
DISTANCE_BINS = 5
ANGLE_BINS = 12
_SAMPLES = 24
"""Points on a segment that must be leaf for the segment to lie inside."""


def extract_inner_distance(mask: Mask) -> LocalFeatures:
    """Extract the inner-distance shape contexts of a mask that is not empty, as local features.

    The inner distance of two points is the length of the shortest path between them that stays inside the leaf, so it
    doesn't change where a lobe bends; the inner angle is that of the path's beginning to the outline's tangent.

    Each point has a histogram of DISTANCE_BINS × ANGLE_BINS values: the square root of the share of the other points in
    each bin of log distance (relative to the mean one; shortest first) and angle (counter-clockwise from the tangent).
    All have the same position and scale, because the descriptor itself tells where a point lies.

    References
    ----------
    H. Ling, D. W. Jacobs, "Shape classification using the inner-distance", IEEE Trans. PAMI 29, 2007,
    doi:10.1109/TPAMI.2007.41.
    """
    histograms = compute_shape_contexts(normalise_shape(mask))
    return LocalFeatures(
        histograms, np.full((len(histograms), 2), 0.5, np.float32), np.zeros(len(histograms), np.float32)
    )


def compute_shape_contexts(shape: Shape, n_points: int = N_POINTS) -> NDArray[np.float32]:
    """Compute the histogram of each contour point, float32 (n_points, DISTANCE_BINS × ANGLE_BINS)."""
    points = resample(shape.contour, n_points)
    distances, previous = compute_inner_distances(shape, n_points)
    # Row i of `previous` holds, for each j, the last stop before j on the way from i: from j's side, the first one.
    toward = points[previous] - points[None, :, :]
    tangent = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    angle = np.arctan2(-toward[..., 0], toward[..., 1]) - np.arctan2(-tangent[:, 0], tangent[:, 1])
    is_other = ~np.eye(n_points, dtype=bool)
    relative = np.log2(np.maximum(distances / max(distances[is_other].mean(), 1e-9), 1e-3))
    # Bins of one octave each, ending at twice the mean distance; the end bins include what is nearer or farther.
    ring = np.clip(np.floor(relative).astype(np.intp) + DISTANCE_BINS - 1, 0, DISTANCE_BINS - 1)
    sector = np.floor(angle * (ANGLE_BINS / (2 * np.pi)) + 0.5).astype(np.intp) % ANGLE_BINS
    cell = np.arange(n_points) * (DISTANCE_BINS * ANGLE_BINS) + ring * ANGLE_BINS + sector
    counts = np.bincount(cell[is_other], minlength=n_points * DISTANCE_BINS * ANGLE_BINS)
    return np.sqrt(counts.reshape(n_points, -1) / (n_points - 1)).astype(np.float32)


def compute_inner_distances(shape: Shape, n_points: int = N_POINTS) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Compute the shortest paths inside the leaf between contour points, by way of other contour points.

    Returns the distances, (n_points, n_points), in the shape's pixels, and as ``previous[i, j]`` the stop before j on
    the way from i.
    """
    # Importing SciPy's graphs takes long, and only this function needs them.
    from scipy.sparse.csgraph import shortest_path

    points = resample(shape.contour, n_points)
    first, second = np.triu_indices(n_points, 1)
    fraction = (np.arange(1, _SAMPLES + 1) / (_SAMPLES + 1)).astype(np.float32)
    start, segment = points[first].astype(np.float32), (points[second] - points[first]).astype(np.float32)
    rows = np.rint(start[:, :1] + segment[:, :1] * fraction).astype(np.intp)
    cols = np.rint(start[:, 1:] + segment[:, 1:] * fraction).astype(np.intp)
    height, width = shape.grey.shape
    flat = np.clip(rows, 0, height - 1) * width + np.clip(cols, 0, width - 1)
    # A quarter of coverage counts as inside: pixels on the outline itself are half covered.
    is_visible = (shape.grey.ravel()[flat] >= 64).all(axis=1)
    is_visible |= (second - first == 1) | (second - first == n_points - 1)
    length = np.where(is_visible, np.hypot(segment[:, 0], segment[:, 1]).astype(np.float64), np.inf)
    graph = np.full((n_points, n_points), np.inf)
    graph[first, second] = graph[second, first] = np.maximum(length, 1e-9)
    distances, previous = shortest_path(graph, method="FW", directed=True, return_predecessors=True)
    return distances, np.where(previous < 0, np.arange(n_points), previous).astype(np.intp)
