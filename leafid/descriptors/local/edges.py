"""RootSIFT of patches on edges, turned to them: the margins and veins of a leaf, or of all leaves of a branch."""

import cv2
import numpy as np

from leafid.descriptors.local.grid import (
    N_CELLS,
    Grid,
    LocalFeatures,
    build_pyramid,
    concatenate_features,
    sample_by_weight,
    weigh_positions,
)
from leafid.descriptors.local.sift import SIFT_LENGTH, describe_turned_patches, normalise_patches, order_orientations

# Edges have at least the first gradient, in grey levels a pixel; beyond the second they count no more.
_MIN_GRADIENT, _FULL_GRADIENT = 3, 40
# Sobel's operator gives eight times the gradient.
_SOBEL_GAIN = 8
# Distance from the middle, in standard deviations of the focus, up to which patches are sampled.
_FOCUS_REACH = 2
# Steps to the rows or columns of the window that an edge's direction is averaged over.
_WINDOW = np.arange(-2, 3)
# Of the values of a patch: the order in its mirror image, and 1 in its right half, -1 in its left half.
_MIRRORED = np.arange(SIFT_LENGTH).reshape(N_CELLS, N_CELLS, -1)[:, ::-1, order_orientations(1)].ravel()
_RIGHT_OR_LEFT = np.tile(np.repeat(np.array([-1, 1], np.float32), SIFT_LENGTH // (2 * N_CELLS)), N_CELLS)


def extract_edge_sift(grey: np.ndarray, grid: Grid | None = None) -> LocalFeatures:
    """Extract RootSIFT descriptors of patches that are centred on edges, at several patch sizes, as many at each size.

    Edges are Canny's, of each reduced picture; `Grid.max_patches` are sampled by the square root of their gradient and
    by `Grid.focus`, up to two of its standard deviations from the middle. A patch's rows run across the edge, from
    light to dark. Of a patch and its mirror image that one is described whose left half has the stronger gradients. So
    an edge looks the same in a leaf that is turned by any angle, or mirrored.

    The 128 values and the positions are those of `extract_dense_sift`. Of the grid, `symmetry` and both coverages have
    no effect. The descriptor is leafid's own.

    References
    ----------
    .. [1] J. Canny, "A computational approach to edge detection", IEEE TPAMI 8(6), 1986,
       doi:10.1109/TPAMI.1986.4767851
    .. [2] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60(2), 2004,
       doi:10.1023/B:VISI.0000029664.99615.94
    """
    grid = grid or Grid()
    levels = []
    for reduced, _ in build_pyramid(grey, None, grid):
        points, directions = _sample_edges(reduced, grid)
        # Columns run a quarter turn to the left of the rows.
        columns = directions[:, ::-1] * np.array([-1, 1], np.float32)
        cells = describe_turned_patches(reduced, points, directions, columns, grid.cell)
        descriptors = _choose_mirror_images(cells.reshape(len(points), SIFT_LENGTH))
        scale = np.float32(np.log2(N_CELLS * grid.cell / max(reduced.shape)))
        positions = (points + np.float32(0.5)) / np.array(reduced.shape, np.float32)
        levels.append(LocalFeatures(descriptors, positions, np.full(len(points), scale)))
    return normalise_patches(concatenate_features(levels)) if levels else LocalFeatures.zeros(0, SIFT_LENGTH)


def _sample_edges(grey: np.ndarray, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Sample points of edges at least half a patch from the picture's border, and the directions to their dark sides.

    Both are float32 (n, 2), rows and columns; directions are unit vectors.
    """
    border = N_CELLS * grid.cell // 2
    rows, cols = grey.shape
    right, down = cv2.spatialGradient(cv2.GaussianBlur(grey, (0, 0), 1))
    threshold = _MIN_GRADIENT * _SOBEL_GAIN
    edges = cv2.Canny(right, down, threshold, threshold, L2gradient=True)
    reach = _FOCUS_REACH * grid.focus if grid.focus else 0.5
    top, left = (max(int((0.5 - reach) * size), border) for size in (rows, cols))
    edges[:top] = edges[rows - top :] = edges[:, :left] = edges[:, cols - left :] = 0
    found = np.flatnonzero(edges > 0)
    right, down = right.ravel(), down.ravel()
    if grid.max_patches and len(found):
        across, along = (plane.take(found).astype(np.float32) for plane in (right, down))
        weights = np.sqrt(np.minimum(np.sqrt(across * across + along * along), _FULL_GRADIENT * _SOBEL_GAIN))
        if grid.focus:
            by_row, by_col = (weigh_positions((np.arange(size) + 0.5) / size, grid.focus) for size in (rows, cols))
            weights = weights * (by_row[found // cols] * by_col[found % cols])
        number = max(grid.max_patches // grid.scales, 1)
        found = found[sample_by_weight(weights, min(number, len(found)))]
    window = (_WINDOW[:, None] * cols + _WINDOW).reshape(-1, 1) + found
    # Means of pixels are rounded, as OpenCV's are.
    gradients = [np.rint(plane.take(window).mean(axis=0)) for plane in (down, right)]
    directions = -np.stack(gradients, axis=1).astype(np.float32)
    directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1)
    return np.stack(np.divmod(found, cols), axis=1).astype(np.float32), directions


def _choose_mirror_images(descriptors: np.ndarray) -> np.ndarray:
    """Mirror the patches, float32 (n, 128), whose right half has the stronger gradients, in place."""
    mirrored = np.flatnonzero((descriptors * descriptors) @ _RIGHT_OR_LEFT > 0)
    descriptors[mirrored] = descriptors.take(mirrored, axis=0).take(_MIRRORED, axis=1)
    return descriptors
