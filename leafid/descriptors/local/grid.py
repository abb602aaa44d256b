"""Windows of 4 × 4 cells on a picture's pyramid: what dense local features of every kind are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from leafid.segmentation.result import downsample2

N_CELLS = 4
#: In how many ways the windows are read, in turn; way k is turned counter-clockwise by k // 2 quarters, and mirrored
#: after that where k is odd.
SYMMETRIES = {"none": 1, "mirror": 2, "turns": 8}


@dataclass(frozen=True, slots=True)
class Grid:
    """Which windows are looked at.

    Attributes
    ----------
    cell : int, default 4
        Side of a cell in pixels of each reduced copy of the picture; the grid step too.
    n_scales : int, default 5
        Number of patch sizes, each √2 times the one before.
    coverage : float, default 0.1
        The share of a patch that the region must cover: 0.1 keeps the edge of a leaf, 0.95 only its inside.
    max_coverage : float, default 1
        The share that it may cover at the most: below 1 the inside of a leaf is left out, and its edge alone kept.
    max_patches : int, default 0
        At most so many windows, spread evenly over all there are; 0 keeps all. Neighbouring windows overlap by three
        quarters: an even part of them tells nearly all that all tell.
    focus : float, default 0
        Above 0, windows are kept the more rarely the further they lie from the middle of the picture: as often as a
        Gaussian of this standard deviation says, in sides of the picture; `max_patches` is then how many are kept
        where the picture has enough of them in its middle. 0 spreads them evenly.
    symmetry : {"none", "mirror", "turns"}, default "none"
        With "mirror" every second window is read mirrored, with "turns" every eighth in each of the eight ways that a
        square can be turned by quarters and mirrored. The set is then alike for a picture and its mirror image, or for
        all eight, at no cost: neighbouring windows tell nearly the same.
    """

    cell: int = 4
    n_scales: int = 5
    coverage: float = 0.1
    max_coverage: float = 1.0
    max_patches: int = 0
    focus: float = 0.0
    symmetry: str = "none"


@dataclass(frozen=True, slots=True)
class Windows:
    """The values of windows with their places.

    Attributes
    ----------
    values : float32 (n, 16 · d)
        Cell by cell, row by row, the d values of each.
    positions : float32 (n, 2)
        Row and column of each window's centre relative to the picture's rows and columns, in [0, 1].
    scales : float32 (n,)
        Binary logarithm of the window's side relative to the picture's longest side.
    """

    values: np.ndarray
    positions: np.ndarray
    scales: np.ndarray


def read_patches(
    picture: np.ndarray,
    region: np.ndarray | None,
    grid: Grid,
    cells_of: Callable[[np.ndarray, int], np.ndarray],
    value_order: Callable[[int], np.ndarray],
) -> Windows | None:
    """Read the windows of a picture at all scales, those that a region covers far enough.

    Parameters
    ----------
    picture : uint8 (H, W) or (H, W, C)
    region : bool (H, W) or None
        None keeps all windows.
    grid : Grid
    cells_of : callable
        Gives the values of all cells, float32 (rows, cols, d), of a reduced picture and a cell's side.
    value_order : callable
        Gives the order that a cell's values have when they are read in way k (see `SYMMETRIES`), int (d,).

    Returns
    -------
    Windows or None
        None where the picture is smaller than a window; none of them where the region keeps none.
    """
    tables, kept, shapes, sizes = [], [], [], []
    for reduced, share in _pyramid(picture, region, grid):
        cells = cells_of(reduced, grid.cell)
        n_rows, n_cols = cells.shape[:2]
        tables.append(cells.reshape(n_rows * n_cols, -1))
        kept.append(np.flatnonzero(_kept(share, n_rows, n_cols, grid)))
        shapes.append((n_rows, n_cols))
        # The reduced picture's size in cells: a remainder at its edge counts too.
        sizes.append(np.divide(reduced.shape[:2], grid.cell))
    if not tables:
        return None
    chosen = _drawn(kept, shapes, grid)
    level = np.repeat(np.arange(len(kept)), [len(windows) for windows in kept])[chosen]
    windows = np.concatenate(kept)[chosen]
    across = np.array([n_cols - N_CELLS + 1 for _, n_cols in shapes])[level]
    rows = windows // across
    cols = windows - rows * across
    starts = np.cumsum([0, *(n_rows * n_cols for n_rows, n_cols in shapes)])
    corner = starts[level] + rows * (across + N_CELLS - 1) + cols
    n_ways, n_cells = SYMMETRIES[grid.symmetry], int(starts[-1])
    # Cells, or the windows' copies of them, are turned: whichever are fewer.
    by_cell = n_cells * n_ways <= len(corner) * N_CELLS**2
    if by_cell:
        tables = [cells.take(value_order(way), axis=1) if way else cells for way in range(n_ways) for cells in tables]
    table = np.concatenate(tables)
    offsets = _offsets([n_cols for _, n_cols in shapes], n_ways, n_cells if by_cell else 0)
    way_of = np.arange(len(corner)) % n_ways
    values = table.take(corner[:, None] + offsets.take(way_of * len(shapes) + level, axis=0), axis=0)
    sides = np.stack(sizes)
    place = np.empty((len(corner), 2), np.float32)
    down, right = (rows + N_CELLS / 2) / sides[level, 0], (cols + N_CELLS / 2) / sides[level, 1]
    for way in range(n_ways):
        place[way::n_ways, 0], place[way::n_ways, 1] = _turned(down[way::n_ways], right[way::n_ways], way)
        if way and not by_cell:
            values[way::n_ways] = values[way::n_ways].take(value_order(way), axis=2)
    scale = np.log2(N_CELLS / np.max(sides, axis=1)).astype(np.float32)[level]
    return Windows(values.reshape(len(corner), N_CELLS**2 * table.shape[1]), place, scale)


def average_cells(values: np.ndarray, cell: int) -> np.ndarray:
    """Average over square cells; a remainder at the lower and right edge is left out.

    Parameters
    ----------
    values : uint8, uint16 or float32 (H, W) or (H, W, C)
        Integers are rounded.
    cell : int
        The cell's side in pixels.
    """
    n_rows, n_cols = values.shape[0] // cell, values.shape[1] // cell
    values = values[: n_rows * cell, : n_cols * cell]
    while cell % 2 == 0:
        cell //= 2
        values = downsample2(values)
    return values if cell == 1 else cv2.resize(values, (n_cols, n_rows), interpolation=cv2.INTER_AREA)


def _pyramid(
    picture: np.ndarray, region: np.ndarray | None, grid: Grid
) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    """Yield the picture at each scale, as long as a window fits in, and how far the region covers its pixels."""
    planes = [picture] if region is None else [picture, region.view(np.uint8) * np.uint8(255)]
    rows, cols = picture.shape[:2]
    between = [cv2.resize(plane, _between(rows, cols), interpolation=cv2.INTER_LINEAR) for plane in planes]
    for scale in range(grid.n_scales):
        if min(planes[0].shape[:2]) < N_CELLS * grid.cell:
            return
        yield planes[0], None if region is None else planes[1]
        # Every second scale is half of the one before the last: halving takes a tenth of the time of any other factor.
        planes, between = between, [downsample2(plane) for plane in planes] if scale + 2 < grid.n_scales else []


def _between(rows: int, cols: int) -> tuple[int, int]:
    """Give the size (columns, rows), as OpenCV takes it, of the second scale."""
    return max(2, round(cols / 2**0.5)), max(2, round(rows / 2**0.5))


def _kept(share: np.ndarray | None, n_rows: int, n_cols: int, grid: Grid) -> np.ndarray:
    """Tell which windows the region covers as far as asked; bool, one for every window's corner."""
    shape = (n_rows - N_CELLS + 1, n_cols - N_CELLS + 1)
    if share is None:
        return np.ones(shape, bool)
    cells, window = average_cells(share, grid.cell), (N_CELLS, N_CELLS)
    total = cv2.boxFilter(cells, cv2.CV_32F, window, anchor=(0, 0), normalize=False, borderType=cv2.BORDER_CONSTANT)
    total = total[: shape[0], : shape[1]]
    # Half a grey level a cell is lost by rounding: a window that is covered exactly far enough is kept.
    kept = total >= (grid.coverage * 255 - 0.5) * N_CELLS**2
    return kept if grid.max_coverage == 1 else kept & (total <= (grid.max_coverage * 255 + 0.5) * N_CELLS**2)


def _drawn(kept: Sequence[np.ndarray], shapes: Sequence[tuple[int, int]], grid: Grid) -> slice | np.ndarray:
    """Choose from the windows of all scales, one after the other, as `Grid.max_patches` and `Grid.focus` ask.

    Parameters
    ----------
    kept : sequence of int (n,)
        The windows of each scale that may be chosen, row by row.
    shapes : sequence of tuple of int
        Rows and columns of each scale, in cells.
    grid : Grid

    Returns
    -------
    slice or int (k,)
        Ascending.
    """
    count = sum(map(len, kept))
    if not count:
        return slice(None)
    most = min(grid.max_patches or count, count)
    if not grid.focus:
        return np.linspace(0, count - 1, most).astype(np.intp) if most < count else slice(None)
    frequencies = []
    for windows, shape in zip(kept, shapes, strict=True):
        down, across = (_around_the_middle(n_cells, grid.focus) for n_cells in shape)
        frequencies.append(np.outer(down, across).ravel()[windows])
    # Windows lie side by side, each as wide as it is frequent, and marks in equal distances say which are taken: of
    # those that are wider than the distance some would be taken twice, which tells nothing new.
    ends = np.cumsum(np.concatenate(frequencies))
    return np.unique(np.searchsorted(ends, (np.arange(most) + 0.5) * (ends[-1] / most)))


def _around_the_middle(n_cells: int, deviation: float) -> np.ndarray:
    """Give a Gaussian, 1 in the middle of a side, at the middles of the windows along it."""
    middles = (np.arange(n_cells - N_CELLS + 1) + N_CELLS / 2) / n_cells
    return np.exp(-(((middles - 0.5) / deviation) ** 2) / 2)


@lru_cache
def _cell_order(way: int) -> np.ndarray:
    """List the cells of a window, row by row, as they stand when it is read in one of the ways."""
    turned = np.rot90(np.arange(N_CELLS**2).reshape(N_CELLS, N_CELLS), way // 2)
    return (turned[:, ::-1] if way % 2 else turned).ravel()


def _offsets(widths: Sequence[int], n_ways: int, n_cells: int) -> np.ndarray:
    """List how far a window's cells are from its first one in a table of all cells, as each way reads them.

    Parameters
    ----------
    widths : sequence of int
        Columns of each scale, in cells.
    n_ways : int
    n_cells : int
        How many cells of one way stand in the table before those of the next; 0 where there is one table for all.

    Returns
    -------
    int (n_ways * n_scales, 16)
    """
    step = np.arange(N_CELLS)
    plain = (np.array(widths)[:, None, None] * step[:, None] + step).reshape(len(widths), N_CELLS**2)
    return np.concatenate([plain[:, _cell_order(way)] + way * n_cells for way in range(n_ways)])


def _turned(row: np.ndarray, col: np.ndarray, way: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the places (row, col), in [0, 1], that points have in the turned and mirrored picture."""
    for _ in range(way // 2):
        row, col = 1 - col, row
    return row, 1 - col if way % 2 else col
