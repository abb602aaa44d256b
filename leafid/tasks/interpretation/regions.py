"""Objects in pictures: a class, a box, and pixels where they are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from leafid.errors import LeafidError
from leafid.segmentation.result import find_bounding_box


class Box(NamedTuple):
    """An upright rectangle in pixels.

    ``left, top`` is its corner nearest to the origin of the picture.
    """

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """The product of width and height."""
        return self.width * self.height

    def common_area(self, box: Box) -> float:
        """Compute the area that two boxes share."""
        width = min(self.left + self.width, box.left + box.width) - max(
            self.left, box.left
        )
        height = min(self.top + self.height, box.top + box.height) - max(
            self.top, box.top
        )
        return max(width, 0.0) * max(height, 0.0)

    def check(self, width: float | None = None, height: float | None = None) -> Box:
        """Return the box if it is in the picture and has an area, or raise an error."""
        text = f"{self.width:g}x{self.height:g}+{self.left:g}+{self.top:g}"
        if self.width <= 0 or self.height <= 0:
            raise LeafidError(f"expected a box of some area, found {text}")
        right = width or math.inf
        bottom = height or math.inf
        if (
            min(self.left, self.top) < 0
            or self.left + self.width > right
            or self.top + self.height > bottom
        ):
            size = f" of {width:g}x{height:g}" if width and height else ""
            raise LeafidError(f"expected a box inside the picture{size}, found {text}")
        return self


def box_overlap(first: Box, second: Box) -> float:
    """Compute the intersection over union of two boxes, 0 to 1.

    Examples
    --------
    >>> box_overlap(Box(0, 0, 10, 10), Box(5, 0, 10, 10))
    0.3333333333333333
    """
    common = first.common_area(second)
    return common / (first.area + second.area - common)


@dataclass(frozen=True, eq=False)
class Region:
    """A mask, bool (H, W), cut from a picture at `top`, `left`; it isn't empty."""

    mask: np.ndarray
    top: int = 0
    left: int = 0

    @cached_property
    def area(self) -> int:
        """The number of pixels."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def box(self) -> Box:
        """The smallest box around the pixels."""
        row0, row1, col0, col1 = find_bounding_box(self.mask)
        return Box(
            float(self.left + col0),
            float(self.top + row0),
            float(col1 - col0),
            float(row1 - row0),
        )

    def common_area(self, region: Region) -> int:
        """Count the pixels that two regions share."""
        top = max(self.top, region.top)
        left = max(self.left, region.left)
        first, second = (
            part.mask[top - part.top :, left - part.left :] for part in (self, region)
        )
        # Regions far apart have no rows or no columns left.
        height, width = np.minimum(first.shape, second.shape)
        return int(np.count_nonzero(first[:height, :width] & second[:height, :width]))


class BoxedObject(NamedTuple):
    """An object: its class, box, confidence (0 to 1), and its pixels if known."""

    name: str
    box: Box
    confidence: float = 1.0
    region: Region | None = None


class ObjectPair(NamedTuple):
    """The objects of a picture in the truth and in the result."""

    picture: str
    truth: Sequence[BoxedObject]
    result: Sequence[BoxedObject]
