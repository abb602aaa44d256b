"""Outlines of masks along the edges of pixels: exact polygons with holes, and simpler lines to draw."""

import cv2
import numpy as np

from leafid.segmentation.pixels import Mask, find_bounding_box

#: Column and row of a corner of pixels: (0, 0) is the upper left corner of the picture.
Point = list[float]
#: The corners in their order; the first is not repeated.
Ring = list[Point]

# Parts of the outline smaller than this share of the largest one aren't drawn, nor are the steps of single pixels.
_PART_SHARE, _STEP = 0.02, 1.0


def trace_polygons(mask: Mask) -> list[list[Ring]]:
    """Trace a mask along the edges of its pixels; return polygons, whose areas add up to the number of pixels.

    Each polygon is a list of rings: the outline, and then those of holes, which run the other way round. Pixels that
    meet at a corner only are parts of one polygon where other pixels connect them, and are else several polygons.
    So no ring crosses or touches itself, and the polygons are valid by the OGC's standard of simple features.
    """
    row0, row1, col0, col1 = find_bounding_box(mask)
    inside = np.pad(mask[row0:row1, col0:col1], 1)
    _, labels = cv2.connectedComponents(inside.view(np.uint8), connectivity=4)
    upper_left, upper_right = inside[:-1, :-1], inside[:-1, 1:]
    lower_left, lower_right = inside[1:, :-1], inside[1:, 1:]
    is_crossing = (
        (upper_left == lower_right)
        & (upper_right == lower_left)
        & (upper_left != upper_right)
    )
    is_turn = upper_left ^ upper_right ^ lower_left ^ lower_right | is_crossing
    rows, cols = np.nonzero(is_turn)
    # Two lines turn where two pixels meet at a corner.
    rows, cols = np.repeat((rows, cols), 1 + is_crossing[rows, cols], axis=1)
    # Row by row, every second turn is the right end of the horizontal line that begins at the turn before. Column by
    # column it is the lower end of a vertical line; the order of two turns at a crossing says which lines they join.
    upper = np.maximum(labels[rows, cols], labels[rows, cols + 1])
    lower = np.maximum(labels[rows + 1, cols], labels[rows + 1, cols + 1])
    joins_left_with_upper = upper_left[rows, cols] ^ (upper == lower)
    turns = np.arange(len(rows))
    order = np.lexsort((np.where(joins_left_with_upper, turns, -turns), rows, cols))
    vertical = np.empty_like(turns)
    vertical[order[::2]], vertical[order[1::2]] = order[1::2], order[::2]

    corners = np.stack([cols + col0, rows + row0], axis=1)
    polygons: dict[int, list[Ring]] = {}
    for ring in _follow_lines(vertical.tolist()):
        # The first turn of a ring is the leftmost of the uppermost ones.
        row, col = rows[ring[0]], cols[ring[0]]
        is_hole = not inside[row + 1, col + 1]
        label = labels[row if is_hole else row + 1, col + 1]
        line = corners[ring[::-1] if is_hole else ring]
        polygons.setdefault(int(label), []).append(line.tolist())
    return list(polygons.values())


def _follow_lines(vertical: list[int]) -> list[list[int]]:
    """Follow horizontal lines, between turns 2n and 2n + 1, and vertical ones by turns into rings."""
    rings = []
    is_free = [True] * len(vertical)
    for start in range(0, len(vertical), 2):
        ring: list[int] = []
        turn = start
        while is_free[turn]:
            is_free[turn] = is_free[turn ^ 1] = False
            ring += [turn, turn ^ 1]
            turn = vertical[turn ^ 1]
        if ring:
            rings.append(ring)
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
