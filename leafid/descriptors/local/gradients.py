"""A picture at several sizes, with gradients along eight directions, for patches."""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.arrays import Indices, Plane, Singles
from leafid.segmentation.pixels import downsample2, scale_size

#: A patch has this many cells a side, and a cell this many pixels of the reduced
#: picture.
N_CELLS = 4
CELL = 4
N_ORIENTATIONS = 8
#: Values of a patch of a grey picture: row by row of its cells, eight orientations of
#: each.
SIFT_LENGTH = N_ORIENTATIONS * N_CELLS**2

# Turned patches that are read at once: few enough to stay in the processor's cache.
_BATCH_SIZE = 192
# Pixels between pictures that patches are read from together: half the diagonal of a
# patch with its frame, twice.
_FRAME = 2 * 14
# Unit of grey levels is 1/128. A component along a diagonal is √2 times the smaller of
# the two differences.
_PRECISION = 128
_PLANE_UNITS = np.where(np.arange(N_ORIENTATIONS) % 2, np.sqrt(2), 1).astype(
    np.float32
) / (255 * _PRECISION)


class Level:
    """A reduced picture with its gradients."""

    def __init__(self, picture: Plane) -> None:
        self.picture = picture
        #: Rows and columns of the reduced picture.
        self.shape = picture.shape[:2]

    @cached_property
    def half(self) -> Plane:
        """The reduced picture at half the size.

        Its pixel (r, c) lies at (2 r + ½, 2 c + ½).
        """
        return downsample2(self.picture)

    @cached_property
    def cells(self) -> Singles:
        """Square root of each cell's mean gradient along 8 directions, of each channel.

        The directions are clockwise from the right. float32 (H // 4, W // 4, 8 C); a
        gradient of 1 is one from black to white over two pixels.
        """
        rows, cols = (length // CELL * CELL for length in self.shape)
        framed = cv2.copyMakeBorder(self.picture, 1, 1, 1, 1, cv2.BORDER_REFLECT_101)
        channels = cv2.split(framed[: rows + 2, : cols + 2])
        return np.concatenate([*map(_compute_cell_roots, channels)], axis=2)


class Pyramid:
    """A picture, uint8 (H, W) or (H, W, C), reduced by √2 from each level to the next.

    All that read patches of one picture share its pyramid: a level and its gradients
    are computed when first used.
    """

    def __init__(self, picture: Plane) -> None:
        self.picture = picture
        self._levels = [Level(picture)]

    def iterate_levels(self, number: int) -> Iterator[Level]:
        """Yield at most that many levels with room for a patch, the largest first."""
        for index in range(number):
            if index == 1 == len(self._levels):
                size = scale_size(self.picture, 2**-0.5)
                self._levels.append(Level(cv2.resize(self.picture, size)))
            elif index == len(self._levels):
                # Downsampling by 2 takes a tenth of the time of other factors.
                self._levels.append(Level(self._levels[-2].half))
            if min(self._levels[index].shape) < N_CELLS * CELL:
                return
            yield self._levels[index]


def describe_turned_patches(
    levels: Sequence[Level],
    owners: Indices,
    points: Singles,
    across: Singles,
    along: Singles,
) -> Singles:
    """Describe patches around points: rows follow `across`, columns follow `along`.

    The levels are of a grey picture, and white beyond their borders; `owners`, int
    (n,), are the indices of the levels that patches are read from. The others are
    float32 (n, 2), of rows and columns, the last two unit vectors. Returns the square
    root of each cell's mean gradient along 8 directions of the patch, clockwise from
    the right: float32 (n, 128).
    """
    side = N_CELLS * CELL
    # Patches stand side by side in a strip, because OpenCV is several times faster on
    # long rows. Each has a frame of one pixel, and so many columns after it that all of
    # them are whole cells.
    width = side + CELL
    down, right = (
        np.arange(number, dtype=np.float32) - np.float32((side + 1) / 2)
        for number in (side + 2, width)
    )
    steps = np.stack(np.broadcast_arrays(np.float32(1), down[:, None], right), axis=1)
    # The levels stand side by side on white, so that patches of all of them are read
    # together: one level has few of them.
    pictures = [level.picture for level in levels]
    ends = np.cumsum([picture.shape[1] + _FRAME for picture in pictures])
    starts = np.append(0, ends[:-1])
    canvas = np.full((max(map(len, pictures)), ends[-1]), 255, np.uint8)
    for start, picture in zip(starts, pictures, strict=True):
        canvas[: len(picture), start : start + picture.shape[1]] = picture
    corners = np.column_stack([np.zeros(len(pictures)), starts]).astype(np.float32)
    axes = np.stack([points + corners[owners], across, along], axis=2)
    rows_and_cols = axes.transpose(1, 0, 2).copy()
    patches = np.empty((len(points), N_CELLS, N_CELLS, N_ORIENTATIONS), np.float32)
    for start in range(0, len(points), _BATCH_SIZE):
        batch = slice(start, start + _BATCH_SIZE)
        rows, cols = (
            np.matmul(vectors[batch], steps).reshape(side + 2, -1)
            for vectors in rows_and_cols
        )
        strip = cv2.remap(canvas, cols, rows, cv2.INTER_LINEAR, borderValue=255)
        framed = cv2.copyMakeBorder(strip, 0, 0, 0, 2, cv2.BORDER_REPLICATE)
        cells = _compute_cell_roots(framed)
        cells = cells.reshape(N_CELLS, -1, width // CELL, N_ORIENTATIONS)
        patches[batch] = cells[:, :, :N_CELLS].transpose(1, 0, 2, 3)
    return patches.reshape(-1, SIFT_LENGTH)


@cache
def order_values(symmetry: int, n_channels: int = 1) -> Indices:
    """List the values of a patch in the order of the turned and mirrored patch.

    `N_SYMMETRIES` says how the symmetries are counted. The values are those of
    `leafid.descriptors.local.grid.read_patches`.
    """
    shape = (N_CELLS, N_CELLS, n_channels, N_ORIENTATIONS)
    values = np.rot90(np.arange(np.prod(shape)).reshape(shape), symmetry // 2)
    order = np.arange(N_ORIENTATIONS)
    if symmetry % 2:
        values = values[:, ::-1]
        order = N_ORIENTATIONS // 2 - order
    order += symmetry // 2 * (N_ORIENTATIONS // 4)
    return values[..., order % N_ORIENTATIONS].ravel()


def _compute_gradient_planes(framed: Plane) -> NDArray[np.uint16]:
    """Compute each pixel's gradient along 8 directions, in units of 1/128.

    The planes of a picture, uint8 (H, W), are uint16 (8, H - 2, W - 2). A gradient is
    decomposed into its components along the two nearest of eight directions: for the
    first octant, ``a · (1, 0) + b · (1, 1) / √2`` with ``b = √2 · down`` and ``a =
    right - down``. The shares agree with an interpolation by the angle to within a
    twelfth, and need differences and minima instead of an angle.
    """
    rows = framed.shape[0] - 2
    cols = framed.shape[1] - 2
    # Unsigned 16 bits keep the precision of the means, and subtraction saturates at 0.
    framed = framed.astype(np.uint16)
    framed *= np.uint16(_PRECISION)
    across = framed[1:-1]
    down = framed[:, 1:-1]
    left = across[:, :-2]
    right = across[:, 2:]
    above = down[:-2]
    below = down[2:]
    east = cv2.subtract(right, left)
    west = cv2.subtract(left, right)
    south = cv2.subtract(below, above)
    north = cv2.subtract(above, below)
    # Clockwise from the right, each with the differences across it.
    compass = (east, south, west, north)
    sideways = (cv2.add(south, north), cv2.add(east, west))
    planes = np.empty((N_ORIENTATIONS, rows, cols), np.uint16)
    for quarter, side in enumerate(compass):
        cv2.subtract(side, sideways[quarter % 2], planes[2 * quarter])
        cv2.min(side, compass[quarter - 3], planes[2 * quarter + 1])
    return planes


def _compute_cell_roots(framed: Plane) -> Singles:
    """Compute the square root of each cell's mean gradient.

    The picture, (H, W), has a frame of a pixel; returns (H // 4, W // 4, 8).
    """
    planes = _compute_gradient_planes(framed)
    rows = planes.shape[1] // CELL
    cols = planes.shape[2] // CELL
    # Stacked vertically, the planes are averaged in one call.
    means = downsample2(downsample2(planes.reshape(-1, planes.shape[2])))
    roots = cv2.transpose(means.reshape(N_ORIENTATIONS, -1)).astype(np.float32)
    roots *= _PLANE_UNITS
    return np.sqrt(roots, out=roots).reshape(rows, cols, N_ORIENTATIONS)
