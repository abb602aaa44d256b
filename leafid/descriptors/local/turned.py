"""Patches that are turned to a direction."""

from functools import lru_cache

import cv2
import numpy as np

from leafid.descriptors.local.grid import N_CELLS
from leafid.descriptors.local.sift import N_ORIENTATIONS, compute_strip_cells, count_strip_pixels

# Patches that are read at once: few enough to stay in the processor's cache.
_BATCH_SIZE = 192


def describe_turned_patches(
    grey: np.ndarray, points: np.ndarray, across: np.ndarray, along: np.ndarray, cell: int
) -> np.ndarray:
    """Compute the cells of patches around points, whose rows follow one another `across`, and columns `along`.

    The picture is uint8 (H, W), and white beyond its border; the others are float32 (n, 2), of rows and columns, the
    last two unit vectors. Returns what `compute_strip_cells` does, float32 (n, 4, 4, 8).
    """
    cells = np.empty((len(points), N_CELLS, N_CELLS, N_ORIENTATIONS), np.float32)
    steps = _list_steps(cell)
    for start in range(0, len(points), _BATCH_SIZE):
        part = slice(start, start + _BATCH_SIZE)
        axes = points[part], across[part], along[part]
        rows, cols = (
            np.matmul(np.stack([vectors[:, axis] for vectors in axes], axis=1), steps).reshape(len(steps), -1)
            for axis in (0, 1)
        )
        strip = cv2.remap(grey, cols, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=255)
        cells[part] = compute_strip_cells(strip, cell)
    return cells


@lru_cache
def _list_steps(cell: int) -> np.ndarray:
    """List 1 and the steps down and across from a patch's middle, for each row of a strip: float32 (rows, 3, cols)."""
    rows, cols = count_strip_pixels(cell)
    middle = np.float32((rows - 1) / 2)
    steps = np.empty((rows, 3, cols), np.float32)
    steps[:, 0] = 1
    steps[:, 1] = np.arange(rows)[:, None] - middle
    steps[:, 2] = np.arange(cols) - middle
    return steps
