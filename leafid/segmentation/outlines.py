"""Outlines of masks along the edges of pixels, exact or as lines to draw."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import Mask

#: Column and row of a corner of pixels: (0, 0) is the upper left corner of the picture.
Point = list[float]
#: The corners in their order; the first is not repeated.
Ring = list[Point]

# Parts of the outline smaller than this share of the largest one aren't drawn, nor are
# the steps of single pixels.
_PART_SHARE = 0.02
_STEP = 1.0


def trace_polygons(mask: Mask) -> list[list[Ring]]:
    """Trace a mask along the edges of its pixels.

    Return polygons, whose areas add up to the number of pixels.

    Each polygon is a list of rings: the outline, and then those of holes, which run the
    other way round. Pixels that meet at a corner only are parts of one polygon where
    other pixels connect them, and are else several polygons. So no ring crosses or
    touches itself, and the polygons are valid by the OGC's standard of simple features.
    """
    if not mask.any():
        return []
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(
        mask.view(np.uint8), connectivity=4
    )
    polygons = []
    for label in range(1, count):
        left, top, width, height, _ = boxes[label]
        part = labels[top : top + height, left : left + width] == label
        polygons.append(_trace_part(part, np.array([left, top])))
    return polygons


def _trace_part(part: Mask, offset: NDArray[np.int64]) -> list[Ring]:
    """Trace the rings of a connected mask.

    The offset, columns and rows, is added to them.
    """
    # OpenCV's curves run through pixels: of a mask of twice the size, through those on
    # both sides of each corner.
    doubled = part.repeat(2, axis=0).repeat(2, axis=1).view(np.uint8)
    curves, hierarchy = cv2.findContours(doubled, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    rings = []
    for index in hierarchy[0, :, 3].argsort(kind="stable"):
        corners = (curves[index][::-1, 0] + 1) // 2
        corners = corners[(corners != np.roll(corners, 1, axis=0)).any(axis=1)]
        steps = corners - np.roll(corners, 1, axis=0)
        is_turn = (steps != np.roll(steps, -1, axis=0)).any(axis=1)
        rings.append((corners[is_turn] + offset).tolist())
    return rings


def sketch_outlines(mask: Mask) -> list[Ring]:
    """Return lines to draw around the larger parts of a mask, without holes."""
    outlines = [np.array(outline, np.int32) for outline, *_ in trace_polygons(mask)]
    least = _PART_SHARE * max(map(cv2.contourArea, outlines), default=0)
    return [
        cv2.approxPolyDP(outline, _STEP, True)[:, 0].tolist()
        for outline in outlines
        if cv2.contourArea(outline) > least
    ]
