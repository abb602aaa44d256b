"""Boxes around objects."""

from __future__ import annotations

import math
from typing import NamedTuple


class Box(NamedTuple):
    """An upright rectangle, in pixels of its picture; ``left, top`` is the corner nearest to the picture's origin."""

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
        """Column and row of the middle."""
        return self.left + self.width / 2, self.top + self.height / 2

    def find_problem(self, size: tuple[float, float] | None = None) -> str | None:
        """Tell what is wrong with the box.

        Parameters
        ----------
        size : (float, float), optional
            Width and height of the picture, where known.

        Returns
        -------
        str or None
            "expected …, found …", or None when nothing is wrong.
        """
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


class BoxedObject(NamedTuple):
    """One object of a picture: its class, where it is, and how sure the system is of its class (0 to 1)."""

    name: str
    box: Box
    confidence: float = 1.0
