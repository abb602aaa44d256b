"""Local features, and patches of 4 × 4 cells on a grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import cv2
import numpy as np

from leafid.descriptors.arrays import Floats, Indices, Singles
from leafid.descriptors.local.gradients import (
    CELL,
    N_CELLS,
    N_ORIENTATIONS,
    SIFT_LENGTH,
    Level,
    Pyramid,
    order_orientations,
)
from leafid.segmentation.pixels import Mask
from leafid.segmentation.result import downsample2

# Symmetry k is turned counter-clockwise by k // 2 quarters, and then mirrored where k is odd.
N_SYMMETRIES = 8


@dataclass(frozen=True, slots=True)
class LocalFeatures:
    """Descriptors of many patches."""

    #: float32 (n, d).
    descriptors: Singles
    #: float32 (n, 2): row and column of each patch's centre, relative to the picture's rows and columns, in [0, 1].
    positions: Singles
    #: float32 (n,): binary logarithm of the patch's side relative to the picture's longest side.
    scales: Singles

    def __len__(self) -> int:
        return len(self.descriptors)

    def take(self, indices: Indices | slice) -> Self:
        """Select features by their indices; a slice gives views."""
        return type(self)(
            self.descriptors[indices], self.positions[indices], self.scales[indices]
        )

    @classmethod
    def zeros(cls, number: int, length: int) -> Self:
        """Make all-zero features of `length` values."""
        return cls(
            *(
                np.zeros(shape, np.float32)
                for shape in ((number, length), (number, 2), number)
            )
        )


def concatenate_features(parts: Sequence[LocalFeatures]) -> LocalFeatures:
    """Concatenate the local features of several pictures, at least one."""
    arrays = zip(
        *((part.descriptors, part.positions, part.scales) for part in parts),
        strict=True,
    )
    return LocalFeatures(*map(np.concatenate, arrays))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Selection of patches, by the keys of the same names in a recipe (`leafid.features.recipe.Expert`).

    Neighbouring patches overlap by three quarters, so that an even selection of them holds nearly the same information.
    With `symmetry`, the set is nearly the same for all eight turned and mirrored pictures, without more patches.
    """

    scales: int = 5
    coverage: float = 0.1
    max_patches: int = 0
    focus: float = 0.0
    symmetry: Literal["none", "turns"] = "none"


#: All patches of five sizes.
ALL_PATCHES = Grid()


def read_patches(pyramid: Pyramid, region: Mask | None, grid: Grid) -> LocalFeatures:
    """Read the patches of a picture at all scales that a region covers as the grid demands; without a region, all.

    A descriptor of a picture with C channels has 128 C values: cell by cell, row by row, the 8 C of each. There are
    none where the picture is smaller than a patch.
    """
    n_channels = 1 if pyramid.picture.ndim == 2 else int(pyramid.picture.shape[2])
    levels = list(pyramid.iterate_levels(grid.scales))
    if not levels:
        return LocalFeatures.zeros(0, SIFT_LENGTH * n_channels)
    shapes = [reduced.cells.shape[:2] for reduced in levels]
    candidates = [
        np.arange((n_rows - N_CELLS + 1) * (n_cols - N_CELLS + 1))
        for n_rows, n_cols in shapes
    ]
    if region is not None:
        regions = Pyramid(region.view(np.uint8) * np.uint8(255)).iterate_levels(
            grid.scales
        )
        candidates = [
            np.flatnonzero(_mark_covered(reduced, grid.coverage)) for reduced in regions
        ]
    selected = _select_patches(candidates, shapes, grid)
    level = np.repeat(np.arange(len(levels)), [*map(len, candidates)])[selected]
    patches = np.concatenate(candidates)[selected]
    n_patch_cols = np.array([n_cols - N_CELLS + 1 for _, n_cols in shapes])[level]
    rows, cols = np.divmod(patches, n_patch_cols)
    starts = np.cumsum([0, *(n_rows * n_cols for n_rows, n_cols in shapes)])
    corner = starts[level] + rows * (n_patch_cols + N_CELLS - 1) + cols
    # Distances of a patch's cells from its first cell, in the table of all cells.
    step = np.arange(N_CELLS)
    offsets = np.array(
        [(n_cols * step[:, None] + step).ravel() for _, n_cols in shapes]
    )
    table = np.concatenate(
        [reduced.cells.reshape(-1, reduced.cells.shape[2]) for reduced in levels]
    )
    values = table.take(corner[:, None] + offsets[level], axis=0)
    values = values.reshape(len(corner), N_CELLS, N_CELLS, n_channels, N_ORIENTATIONS)
    # The size of a reduced picture in cells includes a remainder at its edge.
    sides = np.array([reduced.shape for reduced in levels]) / CELL
    row, col = (
        (rows + N_CELLS / 2) / sides[level, 0],
        (cols + N_CELLS / 2) / sides[level, 1],
    )
    n_symmetries = N_SYMMETRIES if grid.symmetry == "turns" else 1
    for k in range(1, n_symmetries):
        selection = slice(k, None, n_symmetries)
        for _ in range(k // 2):
            row[selection], col[selection] = 1 - col[selection], row[selection].copy()
        turned = np.rot90(values[selection], k // 2, axes=(1, 2))
        if k % 2:
            col[selection] = 1 - col[selection]
            turned = turned[:, :, ::-1]
        values[selection] = turned[..., order_orientations(k)]
    positions = np.stack([row, col], axis=1).astype(np.float32)
    scales = np.log2(N_CELLS / np.max(sides, axis=1)).astype(np.float32)[level]
    return LocalFeatures(
        values.reshape(len(values), SIFT_LENGTH * n_channels), positions, scales
    )


def _mark_covered(region: Level, coverage: float) -> Mask:
    """Mark the patches of which the region covers a part; bool, one for the corner of each patch."""
    cells, window = downsample2(region.half), (N_CELLS, N_CELLS)
    total = cv2.boxFilter(
        cells,
        cv2.CV_32F,
        window,
        anchor=(0, 0),
        normalize=False,
        borderType=cv2.BORDER_CONSTANT,
    )
    # Rounding loses up to half a grey level a cell: a patch that is covered exactly enough is kept.
    return total[: 1 - N_CELLS, : 1 - N_CELLS] >= (coverage * 255 - 0.5) * N_CELLS**2


def _select_patches(
    candidates: Sequence[Indices], shapes: Sequence[tuple[int, int]], grid: Grid
) -> Indices:
    """Select from the concatenated patches of all scales by `Grid.max_patches` and `Grid.focus`; ascending indices.

    `candidates` are the covered patches of each scale, row by row; `shapes` are the scales' rows and columns, in cells.
    """
    count = sum(map(len, candidates))
    number = min(grid.max_patches or count, count)
    if not grid.focus:
        return np.linspace(0, count - 1, number).astype(np.intp)
    weights = []
    for patches, shape in zip(candidates, shapes, strict=True):
        centres = (
            (np.arange(n_cells - N_CELLS + 1) + N_CELLS / 2) / n_cells
            for n_cells in shape
        )
        by_row, by_col = (
            weigh_positions(positions, grid.focus) for positions in centres
        )
        weights.append(np.outer(by_row, by_col).ravel()[patches])
    return sample_by_weight(np.concatenate(weights), number)


def sample_by_weight(weights: Floats | Singles, number: int) -> Indices:
    """Select by systematic sampling: at equal distances on the cumulated weights; ascending indices.

    What is heavier than the distance would be selected twice, which adds no information, and is selected once.
    """
    if not number:
        return np.zeros(0, np.intp)
    ends = np.cumsum(weights)
    chosen = np.searchsorted(ends, (np.arange(number) + 0.5) * (ends[-1] / number))
    # Ascending numbers need no np.unique, which would take longer than the search.
    return chosen[np.diff(chosen, prepend=-1) > 0]


def weigh_positions(positions: Floats, deviation: float) -> Floats:
    """Evaluate a Gaussian, 1 in the middle of a side, at positions from 0 to 1 along it."""
    return np.exp(-(((positions - 0.5) / deviation) ** 2) / 2)
