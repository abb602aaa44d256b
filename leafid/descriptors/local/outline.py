"""RootSIFT of patches along a leaf's outline, turned to its direction: teeth, sinuses, the tip and the base."""

from __future__ import annotations

import cv2
import numpy as np

from leafid.descriptors.local.features import LocalFeatures, concatenate_features
from leafid.descriptors.local.grid import N_CELLS, Grid, build_pyramid
from leafid.descriptors.local.sift import SIFT_LENGTH, compute_patch_cells, normalise_patches

# Length of outline on each side of a point that its direction is taken from, in sides of the patch.
_REACH = 1 / 3
# Components with fewer points are specks.
_MIN_POINTS = 16
# Patches that are read at once: OpenCV maps to pictures of less than 32,767 rows.
_BATCH_SIZE = 1024


def extract_outline_sift(grey: np.ndarray, region: np.ndarray | None = None, grid: Grid | None = None) -> LocalFeatures:
    """Extract RootSIFT descriptors of patches that are centred on the region's outline, at several patch sizes.

    A patch's rows run from outside the leaf to its inside, and its columns along the outline towards the upper end of
    the picture. So a tooth looks the same wherever it is, in a leaf and in its mirror image, if the leaf is upright.
    Points are at equal distances along the outlines of all components, as many at each size. Without a region there are
    none.

    The 128 values are those of `extract_dense_sift`. A position's second value is the distance from the vertical middle
    of the picture, from 0.5 there to 1. Of the grid, `focus`, `symmetry` and both coverages have no effect; a
    `max_patches` of 0 gives a patch for every four pixels of each reduced picture's outline.

    The descriptor is leafid's own.

    References
    ----------
    .. [1] D. G. Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60(2), 2004,
       doi:10.1023/B:VISI.0000029664.99615.94
    """
    grid = grid or Grid()
    contours = [] if region is None else _find_outlines(region)
    if not contours:
        return LocalFeatures.zeros(0, SIFT_LENGTH)
    rows, cols = grey.shape
    outline, lengths = np.concatenate(contours), np.array([len(contour) for contour in contours])
    parts = []
    for reduced, _ in build_pyramid(grey, None, grid):
        ratio = np.array([reduced.shape[0] / rows, reduced.shape[1] / cols], np.float32)
        side = N_CELLS * grid.cell / float(ratio.max())
        number = grid.max_patches // grid.n_scales if grid.max_patches else int(len(outline) / side * N_CELLS)
        points, directions = _sample_outlines(outline, lengths, max(number, 1), _REACH * side)
        patches = _read_turned_patches(reduced, (points + 0.5) * ratio - 0.5, directions, N_CELLS * grid.cell)
        positions = (points + 0.5) / (rows, cols)
        positions[:, 1] = 0.5 + np.abs(positions[:, 1] - 0.5)
        scale = np.log2(side / max(rows, cols))
        descriptors = compute_patch_cells(patches, grid.cell).reshape(len(points), SIFT_LENGTH)
        parts.append(LocalFeatures(descriptors, positions.astype(np.float32), np.full(len(points), scale, np.float32)))
    return normalise_patches(concatenate_features(parts)) if parts else LocalFeatures.zeros(0, SIFT_LENGTH)


def _find_outlines(region: np.ndarray) -> list[np.ndarray]:
    """Find the outer contours of a region, each float32 (n, 2): rows and columns, with the inside on the left."""
    contours, _ = cv2.findContours(region.view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return [contour[:, 0, ::-1].astype(np.float32) for contour in contours if len(contour) >= _MIN_POINTS]


def _sample_outlines(
    points: np.ndarray, lengths: np.ndarray, number: int, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Sample points of contours of some lengths, one after the other, at equal distances.

    Returns them, and the outline's directions there: unit vectors of row and column.
    """
    starts = np.cumsum(lengths) - lengths
    chosen = np.linspace(0, len(points), number, endpoint=False).astype(np.intp)
    own = np.searchsorted(starts, chosen, side="right") - 1
    first, length = starts[own], lengths[own]
    step = np.minimum(max(round(reach), 2), length // 4)
    chords = points[first + (chosen - first + step) % length] - points[first + (chosen - first - step) % length]
    return points[chosen], chords / np.maximum(np.hypot(chords[:, :1], chords[:, 1:]), np.float32(1e-6))


def _read_turned_patches(grey: np.ndarray, points: np.ndarray, directions: np.ndarray, side: int) -> np.ndarray:
    """Read square patches around points, with a frame of one pixel, white beyond the picture.

    Returns uint8 (n, side + 2, side + 2).
    """
    # Columns run along the outline, up the picture; rows towards the inside, on the left of the outline's direction.
    along = np.where(directions[:, :1] > 0, -directions, directions)
    inward = np.stack([-directions[:, 1], directions[:, 0]], axis=1)
    width = side + 2
    offsets = np.arange(width, dtype=np.float32) - np.float32((width - 1) / 2)
    across, down = np.meshgrid(offsets, offsets)
    steps = np.stack([np.ones(width**2, np.float32), down.ravel(), across.ravel()])
    patches = np.empty((len(points), width, width), np.uint8)
    for start in range(0, len(points), _BATCH_SIZE):
        part = slice(start, start + _BATCH_SIZE)
        rows, cols = (
            (np.stack([points[part, axis], inward[part, axis], along[part, axis]], axis=1) @ steps).reshape(-1, width)
            for axis in (0, 1)
        )
        read = cv2.remap(grey, cols, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=255)
        patches[part] = read.reshape(-1, width, width)
    return patches
