"""RootSIFT of patches along a leaf's outline, turned to its direction.

They show teeth, sinuses, the tip and the base.
"""

import cv2
import numpy as np

from leafid.descriptors.arrays import Singles
from leafid.descriptors.local.gradients import (
    CELL,
    N_CELLS,
    SIFT_LENGTH,
    Pyramid,
    describe_turned_patches,
)
from leafid.descriptors.local.grid import ALL_PATCHES, Grid, LocalFeatures
from leafid.descriptors.local.sift import normalise_patches
from leafid.segmentation.pixels import Mask

# Length of outline on each side of a point that its direction is taken from, in sides
# of the patch.
_REACH = 1 / 3
# Components with fewer points are specks.
_MIN_POINTS = 16


def extract_outline_sift(
    grey: Pyramid, region: Mask | None = None, grid: Grid = ALL_PATCHES
) -> LocalFeatures:
    """Extract RootSIFT descriptors of patches on the outline, at several patch sizes.

    A patch's rows run from outside the leaf to its inside, and its columns along the
    outline towards the upper end of the picture. So a tooth looks the same wherever it
    is, in a leaf and in its mirror image, if the leaf is upright. Points are at equal
    distances along the outlines of all components, as many at each size. The descriptor
    is leafid's.

    Parameters
    ----------
    grey : Pyramid
        The picture, uint8 (H, W).
    region : bool (H, W), optional
        The leaf; without it there are no patches.
    grid : Grid
        A `max_patches` of 0 gives a patch for every four pixels of each reduced
        picture's outline; `focus`, `symmetry` and `coverage` have no effect.

    Returns
    -------
    LocalFeatures
        The 128 values are as in `extract_dense_sift`. A position's second value is the
        distance from the vertical middle of the picture, from 0.5 there to 1.
    """
    levels = list(grey.iterate_levels(grid.scales))
    contours = [] if region is None else _trace_outlines(region)
    if not contours or not levels:
        return LocalFeatures.zeros(0, SIFT_LENGTH)
    outline = np.concatenate(contours)
    size = np.array(grey.picture.shape, np.float32)
    ratios = np.array([level.shape for level in levels], np.float32) / size
    sides = N_CELLS * CELL / ratios.max(axis=1)
    counts = np.maximum(len(outline) / sides * N_CELLS, 1).astype(int)
    if grid.max_patches:
        counts[:] = max(grid.max_patches // grid.scales, 1)
    owners = np.repeat(np.arange(len(levels)), counts)
    samples = []
    chords = []
    for count, reach in zip(counts.tolist(), (_REACH * sides).tolist(), strict=True):
        places = np.linspace(0, len(outline), count, endpoint=False).astype(np.intp)
        samples.append(outline[places])
        chords.append(_measure_chords(contours, reach)[places])
    points = np.concatenate(samples) + np.float32(0.5)
    directions = np.concatenate(chords)
    norms = np.hypot(directions[:, :1], directions[:, 1:])
    directions /= np.maximum(norms, np.float32(1e-6))
    # Columns run up the picture; rows towards the inside, which is on the left of the
    # outline's direction.
    along = np.where(directions[:, :1] > 0, -directions, directions)
    across = directions[:, ::-1] * np.array([-1, 1], np.float32)
    centres = points * ratios[owners] - np.float32(0.5)
    descriptors = describe_turned_patches(
        levels, owners, points=centres, across=across, along=along
    )
    positions = points / size
    positions[:, 1] = 0.5 + np.abs(positions[:, 1] - 0.5)
    scales = np.log2(sides / size.max())[owners]
    return normalise_patches(LocalFeatures(descriptors, positions, scales))


def _trace_outlines(region: Mask) -> list[Singles]:
    """Trace the outer contours, rows and columns, with the inside on their left."""
    contours, _ = cv2.findContours(
        region.view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    large = [contour for contour in contours if len(contour) >= _MIN_POINTS]
    return [contour[:, 0, ::-1].astype(np.float32) for contour in large]


def _measure_chords(contours: list[Singles], reach: float) -> Singles:
    """Measure the chords between what lies on both sides of each point, (n, 2)."""
    chords = []
    for contour in contours:
        step = min(max(round(reach), 2), len(contour) // 4)
        after, before = (np.roll(contour, turn, axis=0) for turn in (-step, step))
        chords.append(after - before)
    return np.concatenate(chords)
