"""The few operations on pictures and masks that several modules share."""

from collections.abc import Sequence
from typing import TypeVar, cast

import cv2
import numpy as np
from numpy.typing import NDArray

#: (H, W).
Mask = NDArray[np.bool_]
#: (H, W), such as a grey picture or a mask of 0 and 1.
Plane = NDArray[np.uint8]
#: (H, W) of any real values.
Field = NDArray[np.float32]
#: (H, W, 3) in OpenCV's BGR order.
Image = NDArray[np.uint8]
Value = TypeVar("Value", bound=np.generic)


def find_bounding_box(mask: Mask) -> tuple[int, int, int, int]:
    """Return ``(row0, row1, col0, col1)`` of a mask, ends exclusive.

    All 0 for an empty mask.
    """
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    return (top, top + height, left, left + width) if width else (0, 0, 0, 0)


def get_window(box: tuple[int, int, int, int], margin: int = 0) -> tuple[slice, slice]:
    """Make the index of a bounding box with a margin, as far as the picture has one."""
    row0, row1, col0, col1 = box
    return np.s_[
        max(row0 - margin, 0) : row1 + margin, max(col0 - margin, 0) : col1 + margin
    ]


def list_border(values: NDArray[Value]) -> NDArray[Value]:
    """List the values along the border of a picture, the corners twice."""
    return np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])


def add_margin(plane: Plane, width: int, border: int = cv2.BORDER_CONSTANT) -> Plane:
    """Add a margin around a plane: zeros, or what `border` says."""
    # `np.pad` takes ten times as long.
    return np.asarray(
        cv2.copyMakeBorder(plane, width, width, width, width, border), np.uint8
    )


def make_square(side: int) -> Plane:
    """Make the mask of a square: what morphology calls a structuring element."""
    return np.ones((side, side), np.uint8)


def find_outlines(mask: Plane) -> Sequence[NDArray[np.int32]]:
    """Find the outer outlines of a mask, each (n, 1, 2) columns and rows."""
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return cast("Sequence[NDArray[np.int32]]", outlines)


def find_convex_hull(mask: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Find the corners of the convex hull of a mask that is not empty.

    (n, 1, 2) columns and rows, as in OpenCV.
    """
    # Finding contours first is several times faster than sorting all pixels.
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return np.asarray(cv2.convexHull(np.concatenate(contours)), np.int32)


def downsample2(image: NDArray[Value]) -> NDArray[Value]:
    """Average blocks of 2 × 2 pixels; an odd last row or column is dropped.

    OpenCV averages by exactly two ten times faster than by any other factor. Takes
    uint8, uint16, int16 or float32 of shape (H, W) or (H, W, C), H and W at least 2.
    """
    rows, cols = image.shape[0] // 2, image.shape[1] // 2
    return cv2.resize(
        image[: 2 * rows, : 2 * cols], (cols, rows), interpolation=cv2.INTER_AREA
    )


def list_halves(image: NDArray[Value], size: int) -> list[NDArray[Value]]:
    """Halve a picture until its longer side is at most `size` pixels: list all."""
    pyramid = [image]
    while max(pyramid[-1].shape[:2]) > size and min(pyramid[-1].shape[:2]) > 1:
        pyramid.append(downsample2(pyramid[-1]))
    return pyramid


def shrink(image: Image, size: int, interpolation: int = cv2.INTER_AREA) -> Image:
    """Reduce a picture, by default by averages, to a longer side of `size` pixels.

    Return a smaller one as it is.
    """
    image = list_halves(image, 2 * size - 1)[-1]
    factor = size / max(image.shape[:2])
    if factor >= 1:
        return image
    return cv2.resize(image, scale_size(image, factor), interpolation=interpolation)


def scale_size(image: NDArray[Value], factor: float) -> list[int]:
    """Return the width and the height of a picture after scaling, at least a pixel."""
    return [max(1, round(side * factor)) for side in image.shape[1::-1]]


def take_quantiles(values: NDArray[Value], shares: Sequence[float]) -> NDArray[Value]:
    """Take the values of the nearest ranks: (…, n_shares) of (…, n), n at least 1.

    `numpy.quantile` takes several times as long for some hundred values.
    """
    ranks = np.rint(np.multiply(shares, values.shape[-1] - 1)).astype(np.intp)
    return np.partition(values, ranks)[..., ranks]
