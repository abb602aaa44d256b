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
    SIFT_LENGTH,
    Level,
    Pyramid,
    order_values,
)
from leafid.segmentation.pixels import Mask
from leafid.segmentation.result import downsample2

# Symmetry k is turned counter-clockwise by k // 2 quarters, and then mirrored where k
# is odd.
N_SYMMETRIES = 8


@dataclass(frozen=True, slots=True)
class LocalFeatures:
    """Descriptors of many patches."""

    #: float32 (n, d).
    descriptors: Singles
    #: float32 (n, 2): row and column of each patch's centre, relative to the picture's
    #: rows and columns, in [0, 1].
    positions: Singles
    #: float32 (n,): binary logarithm of the patch's side relative to the picture's
    #: longest side.
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
        shapes = ((number, length), (number, 2), number)
        return cls(*(np.zeros(shape, np.float32) for shape in shapes))


def concatenate_features(parts: Sequence[LocalFeatures]) -> LocalFeatures:
    """Concatenate the local features of several pictures, at least one."""
    arrays = zip(
        *((part.descriptors, part.positions, part.scales) for part in parts),
        strict=True,
    )
    return LocalFeatures(*map(np.concatenate, arrays))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Selection of patches, by the keys of a recipe (`leafid.features.recipe.Expert`).

    Neighbouring patches overlap by three quarters, so that an even selection of them
    holds nearly the same information. With `symmetry`, the set is nearly the same for
    all eight turned and mirrored pictures, without more patches.
    """

    scales: int = 5
    coverage: float = 0.1
    max_patches: int = 0
    focus: float = 0.0
    symmetry: Literal["none", "turns"] = "none"


#: All patches of five sizes.
ALL_PATCHES = Grid()


def read_patches(pyramid: Pyramid, region: Mask | None, grid: Grid) -> LocalFeatures:
    """Read the patches of a picture at all scales.

    Parameters
    ----------
    pyramid : Pyramid
        The picture, uint8 (H, W) or (H, W, C).
    region : bool (H, W), optional
        Only patches that it covers are read; by default all are.
    grid : Grid
        Which of the patches are read.

    Returns
    -------
    LocalFeatures
        A picture with C channels has 128 C values a patch: cell by cell, row by row,
        the 8 C values of each. A picture that is smaller than a patch has no patches.
    """
    n_channels = np.atleast_3d(pyramid.picture).shape[2]
    length = SIFT_LENGTH * n_channels
    levels = list(pyramid.iterate_levels(grid.scales))
    if not levels:
        return LocalFeatures.zeros(0, length)
    # In whole cells.
    shapes = np.array([reduced.cells.shape[:2] for reduced in levels])
    are_candidates = [np.ones(shape, bool) for shape in shapes - N_CELLS + 1]
    if region is not None:
        covered = Pyramid(region.view(np.uint8) * np.uint8(255))
        are_candidates = [
            _mark_covered(reduced, grid.coverage)
            for reduced in covered.iterate_levels(grid.scales)
        ]
    candidates = [np.argwhere(is_candidate) for is_candidate in are_candidates]
    level = np.repeat(np.arange(len(levels)), [*map(len, candidates)])
    places = np.concatenate(candidates)
    selected = _select_patches((places + N_CELLS / 2) / shapes[level], grid)
    level = level[selected]
    places = places[selected]
    # The cells of all levels in one table: the first cell of each patch, and the
    # distances of its cells from that.
    table = np.concatenate(
        [reduced.cells.reshape(-1, length // 16) for reduced in levels]
    )
    starts = np.cumsum([0, *shapes.prod(axis=1)])
    n_cols = shapes[level, 1]
    corner = starts[level] + places[:, 0] * n_cols + places[:, 1]
    down, right = np.divmod(np.arange(N_CELLS**2), N_CELLS)
    cells = corner[:, None] + n_cols[:, None] * down + right
    descriptors = table.take(cells, axis=0).reshape(len(corner), length)
    # The size of a reduced picture in cells includes a remainder at its edge.
    sides = np.array([reduced.shape for reduced in levels]) / CELL
    # As complex numbers, row + i·col from the middle of the picture, positions turn.
    position = (places + N_CELLS / 2) / sides[level] @ (1, 1j) - (0.5 + 0.5j)
    n_symmetries = N_SYMMETRIES if grid.symmetry == "turns" else 1
    for k in range(1, n_symmetries):
        selection = slice(k, None, n_symmetries)
        turned = descriptors[selection].take(order_values(k, n_channels), axis=1)
        descriptors[selection] = turned
        position[selection] *= 1j ** (k // 2)
        if k % 2:
            position[selection] = position[selection].conj()
    positions = np.stack([position.real, position.imag], axis=1) + 0.5
    scales = np.log2(N_CELLS / np.max(sides, axis=1)).astype(np.float32)[level]
    return LocalFeatures(descriptors, positions.astype(np.float32), scales)


def _mark_covered(region: Level, coverage: float) -> Mask:
    """Mark the patches of which the region covers a part; bool, at their corners."""
    cells = downsample2(region.half)
    window = (N_CELLS, N_CELLS)
    total = cv2.boxFilter(cells, cv2.CV_32F, window, anchor=(0, 0), normalize=False)
    # Rounding loses up to half a grey level a cell: a patch that is covered exactly
    # enough is kept.
    return total[: 1 - N_CELLS, : 1 - N_CELLS] >= (coverage * 255 - 0.5) * N_CELLS**2


def _select_patches(centres: Floats, grid: Grid) -> Indices:
    """Select from patches by `Grid.max_patches` and `Grid.focus`; ascending indices.

    `centres` are (n, 2), relative to the rows and columns of the picture.
    """
    number = min(grid.max_patches or len(centres), len(centres))
    if not grid.focus:
        return np.linspace(0, len(centres) - 1, number).astype(np.intp)
    rows, cols = centres.T.copy()
    weights = weigh_positions(rows, grid) * weigh_positions(cols, grid)
    return sample_by_weight(weights, number)


def sample_by_weight(weights: Floats | Singles, number: int) -> Indices:
    """Select by systematic sampling: at equal distances on the cumulated weights.

    A patch that is heavier than the distance would be selected twice, which adds no
    information, and is selected once. Returns ascending indices.
    """
    if not number:
        return np.zeros(0, np.intp)
    ends = np.cumsum(weights)
    indices = np.searchsorted(ends, (np.arange(number) + 0.5) * (ends[-1] / number))
    # Ascending numbers need no np.unique, which would take longer than the search.
    return indices[np.diff(indices, prepend=-1) > 0]


def weigh_positions(positions: Floats, grid: Grid) -> Floats:
    """Evaluate the Gaussian of `Grid.focus`, 1 in the middle, at rows or columns."""
    return np.exp(-(((positions - 0.5) / grid.focus) ** 2) / 2)
