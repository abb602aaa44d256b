"""Segmentations of the COCO format: polygons, and run-length encoded masks."""

import math
from typing import TypeGuard

import numpy as np

from leafid.tasks.interpretation.region import Region

#: Maximum number of pixels of a picture whose segmentations are read.
MAX_PIXELS = 100_000_000
# Each character of a compressed count has five bits; no count of pixels needs more than these.
_MAX_CHARACTERS = 7


class SegmentationError(ValueError):
    """A segmentation that can't be read: "expected …, found …"."""


def read_segmentation(segmentation: object, width: int, height: int) -> Region:
    """Read the segmentation of an annotation in a picture of `width` and `height`.

    It is a list of polygons, each [x1, y1, x2, y2, …], whose union is the object; or an object with ``size`` ([height,
    width]) and ``counts``, the lengths of runs of pixels column by column, alternately outside and inside, as a list or
    as the COCO API's compressed text. Another form, or a region outside the picture or without a pixel, raises a
    `SegmentationError`.
    """
    if width * height > MAX_PIXELS:
        raise SegmentationError(f"expected a picture of at most {MAX_PIXELS} pixels, found {width}x{height}")
    if isinstance(segmentation, list):
        region = _fill_polygons(segmentation, width, height)
    elif isinstance(segmentation, dict):
        region = Region(_decode_runs(segmentation, width, height))
    else:
        raise SegmentationError(f"expected polygons or runs as segmentation, found {type(segmentation).__name__}")
    if not region.area:
        raise SegmentationError("expected a segmentation of some area, found an empty one")
    return region.crop()


def is_number(value: object) -> TypeGuard[float]:
    """Check whether a value of JSON is a number that a float can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:  # An integer beyond the range of float.
        return False
    return True


def _fill_polygons(polygons: list, width: int, height: int) -> Region:
    from skimage.draw import polygon as fill_polygon

    corners = [_read_corners(points, width, height) for points in polygons]
    top, left = (math.floor(min(values.min() for values in axis)) for axis in zip(*corners, strict=True))
    bottom, right = (math.ceil(max(values.max() for values in axis)) for axis in zip(*corners, strict=True))
    mask = np.zeros((max(bottom - top, 1), max(right - left, 1)), bool)
    for rows, columns in corners:
        # A pixel belongs to the polygon if its centre does.
        mask[fill_polygon(rows - top - 0.5, columns - left - 0.5, mask.shape)] = True
    return Region(mask, top, left)


def _read_corners(points: object, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Read the rows and columns of a polygon's corners."""
    if not isinstance(points, list) or len(points) < 6 or len(points) % 2 or not all(map(is_number, points)):
        raise SegmentationError("expected polygons [x1, y1, x2, y2, …] of at least three points")
    columns, rows = np.array(points[::2], float), np.array(points[1::2], float)
    inside = (columns >= 0) & (columns <= width) & (rows >= 0) & (rows <= height)
    if not inside.all():
        x, y = columns[~inside][0], rows[~inside][0]
        raise SegmentationError(f"expected a polygon inside the picture of {width}x{height}, found {x:g}, {y:g}")
    return rows, columns


def _decode_runs(runs: dict, width: int, height: int) -> np.ndarray:
    if runs.get("size") != [height, width]:
        raise SegmentationError(f"expected runs of size [{height}, {width}], found {runs.get('size')!r}")
    counts = runs.get("counts")
    counts = _decompress(counts) if isinstance(counts, str) else counts
    if (
        not isinstance(counts, list)
        or not all(is_integer(count) and count >= 0 for count in counts)
        or sum(counts) != width * height
    ):
        raise SegmentationError(f"expected lengths of runs that add up to {width * height} pixels")
    is_inside = np.arange(len(counts)) % 2 == 1
    return np.repeat(is_inside, counts).reshape(width, height).T


def is_integer(value: object) -> TypeGuard[int]:
    """Check whether a value of JSON is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _decompress(text: str) -> list[int]:
    """Decode the text of the COCO API: five bits per character, and differences from the run before the last."""
    counts: list[int] = []
    value = n_characters = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64 or n_characters == _MAX_CHARACTERS:
            raise SegmentationError("expected compressed runs of the COCO API as counts")
        value |= (code & 0x1F) << (5 * n_characters)
        n_characters += 1
        if code & 0x20:
            continue
        if code & 0x10:
            value -= 1 << (5 * n_characters)
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
        value = n_characters = 0
    if n_characters:
        raise SegmentationError("expected compressed runs of the COCO API as counts")
    return counts
