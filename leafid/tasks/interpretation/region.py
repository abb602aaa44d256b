"""Regions of pixels: objects that are described more closely than by a box."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from leafid.errors import LeafidError
from leafid.segmentation.result import find_bounding_box
from leafid.tasks.interpretation.box import Box, box_intersection
from leafid.tasks.interpretation.label_masks import ObjectName, ObjectNames


@dataclass(frozen=True, eq=False)
class Region:
    """A mask, bool (H, W), that is cut out of a picture at `top` and `left`."""

    mask: np.ndarray
    top: int = 0
    left: int = 0

    @classmethod
    def from_box(cls, box: Box) -> Region:
        """Fill a box, whose sides are rounded to whole pixels."""
        top, left = round(box.top), round(box.left)
        rows, columns = round(box.top + box.height) - top, round(box.left + box.width) - left
        return cls(np.ones((max(rows, 1), max(columns, 1)), bool), top, left)

    @cached_property
    def area(self) -> int:
        """Number of pixels."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def box(self) -> Box:
        """The smallest box around the pixels; at least one is needed."""
        row0, row1, col0, col1 = find_bounding_box(self.mask)
        return Box(float(self.left + col0), float(self.top + row0), float(col1 - col0), float(row1 - row0))

    def crop(self) -> Region:
        """Drop the empty rows and columns around the pixels."""
        row0, row1, col0, col1 = find_bounding_box(self.mask)
        return Region(self.mask[row0:row1, col0:col1].copy(), self.top + row0, self.left + col0)

    def count_common(self, other: Region) -> int:
        """Count the pixels that two regions share."""
        # Masks far apart would be aligned in a large one.
        if not box_intersection(self.box, other.box):
            return 0
        return int(np.count_nonzero(np.logical_and(*align_masks(self, other))))


class BoxedObject(NamedTuple):
    """An object: its class, its box, the confidence of the class (0 to 1), and its pixels if they are known."""

    name: str
    box: Box
    confidence: float = 1.0
    region: Region | None = None

    def to_region(self) -> Region:
        """Return the object's pixels, or those of its box."""
        return self.region or Region.from_box(self.box)


def make_objects(mask: np.ndarray, names: ObjectNames | None = None) -> list[BoxedObject]:
    """Make an object of every label above 0 of a label mask, int (H, W), in rising order.

    Without `names` all objects have one class; with them, a label without a name raises a `LeafidError`.
    """
    from scipy.ndimage import find_objects

    objects = []
    for label, slices in enumerate(find_objects(mask), start=1):
        if slices is None:
            continue
        if names is not None and label not in names:
            raise LeafidError(f"expected a class for every label of the mask, found none for {label}")
        name = ObjectName() if names is None else names[label]
        region = Region(mask[slices] == label, slices[0].start, slices[1].start)
        objects.append(BoxedObject(name.name, region.box, name.confidence, region))
    return objects


def align_masks(first: Region, second: Region) -> tuple[np.ndarray, np.ndarray]:
    """Paste two regions into masks of one size, which covers both."""
    top, left = min(first.top, second.top), min(first.left, second.left)
    bottom = max(first.top + first.mask.shape[0], second.top + second.mask.shape[0])
    right = max(first.left + first.mask.shape[1], second.left + second.mask.shape[1])

    def paste(region: Region) -> np.ndarray:
        row, column = region.top - top, region.left - left
        mask = np.zeros((bottom - top, right - left), bool)
        mask[row : row + region.mask.shape[0], column : column + region.mask.shape[1]] = region.mask
        return mask

    return paste(first), paste(second)
