"""Boxes around objects."""

import math
from typing import NamedTuple


class Box(NamedTuple):
    """An upright rectangle in pixels; ``left, top`` is its corner nearest to the origin of the picture."""

    left: float
    top: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        """Column and row of the centre."""
        return self.left + self.width / 2, self.top + self.height / 2

    def find_problem(self, size: tuple[float, float] | None = None) -> str | None:
        """Return what is wrong with the box ("expected …, found …") in a picture of `size` (width, height), or None."""
        shown = f"{self.width:g}x{self.height:g}+{self.left:g}+{self.top:g}"
        if not all(math.isfinite(value) for value in self):
            return f"expected a box of finite numbers, found {shown}"
        if self.width <= 0 or self.height <= 0:
            return f"expected a box of some area, found {shown}"
        if self.left < 0 or self.top < 0:
            return f"expected a box inside the picture, found {shown}"
        if size is not None and (self.left + self.width > size[0] or self.top + self.height > size[1]):
            return f"expected a box inside the picture of {size[0]:g}x{size[1]:g}, found {shown}"
        return None


def box_intersection(first: Box, second: Box) -> float:
    """Area that two boxes share, in square pixels."""
    width = min(first.left + first.width, second.left + second.width) - max(first.left, second.left)
    height = min(first.top + first.height, second.top + second.height) - max(first.top, second.top)
    return max(width, 0.0) * max(height, 0.0)


def box_overlap(first: Box, second: Box) -> float:
    """Intersection over union of two boxes, 0 to 1.

    Examples
    --------
    >>> box_overlap(Box(0, 0, 10, 10), Box(5, 0, 10, 10))
    0.3333333333333333
    """
    common = box_intersection(first, second)
    return common / (first.area + second.area - common)
