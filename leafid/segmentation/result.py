"""What a segmentation is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Image = NDArray[np.uint8]
Value = TypeVar("Value", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The leaf of one picture.

    Attributes
    ----------
    mask : ndarray of bool, shape (H, W)
        The whole leaf with its petiole; all False where no leaf was found.
    blade : ndarray of bool, shape (H, W)
        The mask without the petiole; empty only where the mask is.
    confidence : float
        From 0 (no leaf found) to 1: how sure it is that this is a leaf, well cut out.
    box : tuple of int
        ``(row0, row1, col0, col1)`` of the mask, ends exclusive; all 0 for an empty mask.
    coverage : ndarray of uint8, shape (H, W), optional
        For a small picture on a sheet, where the edge lies between the pixels: above 127 where the mask is, 255 well
        within it and 0 well outside, so that the mask of an enlarged picture is where the enlarged cover exceeds 127.
    """

    mask: Mask
    blade: Mask
    confidence: float
    box: tuple[int, int, int, int]
    coverage: NDArray[np.uint8] | None = None

    @property
    def petiole(self) -> Mask:
        """What of the mask is not blade; bool, shape (H, W)."""
        return self.mask & ~self.blade

    @property
    def share(self) -> float:
        """The part of the picture that the mask covers, from 0 to 1."""
        return float(np.count_nonzero(self.mask)) / self.mask.size


def find_bounding_box(mask: Mask) -> tuple[int, int, int, int]:
    """Find the smallest box around a mask.

    Parameters
    ----------
    mask : ndarray of bool, shape (H, W)

    Returns
    -------
    tuple of int
        ``(row0, row1, col0, col1)``, ends exclusive; all 0 for an empty mask.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.zeros((4, 5), bool)
    >>> mask[1:3, 2:5] = True
    >>> bounding_box(mask)
    (1, 3, 2, 5)
    """
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    return (top, top + height, left, left + width) if width else (0, 0, 0, 0)


def shrink(image: Image, size: int) -> Image:
    """Reduce a picture by averaging until its longer side is at most `size`.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W) or (H, W, C)
    size : int
        In pixels; a smaller picture is returned as it is.

    Returns
    -------
    ndarray of uint8
    """
    image = downsample2_until(image, 2 * size)
    factor = size / max(image.shape[:2])
    if factor >= 1:
        return image
    shape = (max(1, round(image.shape[1] * factor)), max(1, round(image.shape[0] * factor)))
    return cv2.resize(image, shape, interpolation=cv2.INTER_AREA)


def find_convex_hull(mask: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Find the corners of a mask's convex hull.

    Parameters
    ----------
    mask : ndarray of uint8, shape (H, W)
        Not empty.

    Returns
    -------
    ndarray of int32, shape (N, 1, 2)
        Columns and rows, as OpenCV takes them.
    """
    # Only the first and last pixel of a row can be corners; sorting all pixels would take most of the time.
    part = mask != 0
    rows = np.flatnonzero(part.any(axis=1))
    if len(rows) < len(part):
        part = part[rows]
    points = np.empty((2 * len(rows), 2), np.int32)
    points[: len(rows), 0] = part.argmax(axis=1)
    # Numpy looks through a row from its end several times as slowly.
    points[len(rows) :, 0] = mask.shape[1] - 1 - cv2.flip(part.view(np.uint8), 1).view(bool).argmax(axis=1)
    points[: len(rows), 1] = points[len(rows) :, 1] = rows
    return cv2.convexHull(points)


def downsample2_until(image: Image, size: int) -> Image:
    """Halve a picture by averaging for as long as its longer side is at least `size`.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W) or (H, W, C)
    size : int

    Returns
    -------
    ndarray of uint8
    """
    while max(image.shape[:2]) >= max(size, 2) and min(image.shape[:2]) > 1:
        image = downsample2(image)
    return image


def downsample2(image: NDArray[Value]) -> NDArray[Value]:
    """Halve a picture by averaging; an odd row or column at the end is left out.

    Averaging by exactly two is ten times as fast as by any other factor.

    Parameters
    ----------
    image : ndarray of uint8, uint16, int16 or float32, shape (H, W) or (H, W, C)
        Of two rows and columns at least.

    Returns
    -------
    ndarray of the same dtype, shape (⌊H / 2⌋, ⌊W / 2⌋) or (⌊H / 2⌋, ⌊W / 2⌋, C)
    """
    rows, cols = image.shape[0] // 2, image.shape[1] // 2
    result: NDArray[Value] = cv2.resize(image[: 2 * rows, : 2 * cols], (cols, rows), interpolation=cv2.INTER_AREA)
    return result
