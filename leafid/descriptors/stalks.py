"""Finds where the stalk of a leaf ends and its blade begins, from the outline."""

from dataclasses import dataclass

import cv2
import numpy as np

from leafid.descriptors.arrays import Floats, Plane, Points
from leafid.descriptors.axis import find_axis, measure_symmetry
from leafid.descriptors.shape.contour import resample
from leafid.segmentation.result import (
    Mask,
    Segmentation,
    find_bounding_box,
    get_window,
)

CONTOUR_POINTS = 2048
_SIDE = 600
_PAD = 3
_MAX_PARTS = 12
_MAX_GAP = 0.1
_LINE = 3
_RIVAL = 0.5

# Distance between both sides of a blade, in the greatest one: of a broad blade, and of
# a slim one, whose stalk may be wider than that.
_BROAD = (0.3, 0.6)
# Width, in those of the stalk, at which it widens into the blade.
_KNEE = 1.5
# Smallest length, in widths.
_MIN_SLENDERNESS = 1.5
# Smallest width of the outer half in that of the inner one: 1 of a stalk, a third of a
# pointed tip.
_MIN_EVENNESS = 0.75
# Points of the outline on each side of the shortest stalk.
_MIN_POINTS = 4
_BLADE = 0.9


@dataclass(frozen=True, eq=False)
class Stalk:
    """An even, narrow end of a leaf; rows and columns, in pixels."""

    #: Where it meets the blade, and its far end.
    base: Points
    end: Points
    #: The outline of the blade, (n, 2).
    blade: Points

    @property
    def length(self) -> float:
        """Straight from the base to the end."""
        return float(np.hypot(*(self.end - self.base)))

    def remove(self, leaf: Mask) -> Mask:
        """Remove the stalk, and what is at it, from the mask of the leaf."""
        blade = np.zeros(leaf.shape, np.uint8)
        corners = np.rint(self.blade[:, ::-1]).astype(np.int32)
        cv2.fillPoly(blade, [corners], 1)
        return leaf & cv2.dilate(blade, np.ones((5, 5), np.uint8)).view(bool)


def find_stalk(segmentation: Segmentation) -> Stalk | None:
    """Find the stalk of a leaf: the petiole, or else the one end that is like one."""
    outline = _trace_leaf(segmentation.mask)
    petiole = np.argwhere(segmentation.petiole)
    if len(petiole):
        # The end of the petiole is the point that is farthest from the blade.
        distance = cv2.distanceTransform(1 - segmentation.blade.view(np.uint8), cv2.DIST_L2, 5)
        stalk = _follow(outline, petiole[int(np.argmax(distance[segmentation.petiole]))])
        if stalk is not None:
            return stalk
    axis = find_axis(measure_symmetry(segmentation.blade), outline)
    along = outline @ (axis.tip - axis.base)
    stalks = filter(None, (_follow(outline, end) for end in outline[[np.argmin(along), np.argmax(along)]]))
    stalks = sorted(stalks, key=lambda stalk: stalk.length)
    if len(stalks) == 2 and stalks[0].length > _RIVAL * stalks[1].length:
        return None
    return stalks[-1] if stalks else None


def _follow(outline, end):
    return follow_stalk(outline, int(np.argmin(np.hypot(*(outline - end).T))))


def _trace_leaf(leaf: Mask) -> Points:
    """Trace the outline of a leaf, whose parts are joined by lines."""
    row0, row1, col0, col1 = find_bounding_box(leaf)
    crop = leaf[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    factor = max(1, round(_SIDE / max(crop.shape)))
    grey = np.pad(crop.repeat(factor, 0).repeat(factor, 1), _PAD)
    curves, _ = cv2.findContours(grey, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    curves = sorted(curves, key=len, reverse=True)
    for curve in curves[1:_MAX_PARTS]:
        _join(grey, curves[0], curve)
    curves, _ = cv2.findContours(grey, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    curve = max(curves, key=len)[:, 0, ::-1].astype(np.float64)
    # A pixel is as many as `factor` in a row, and its middle is that of all.
    return (resample(curve, CONTOUR_POINTS) - _PAD - (factor - 1) / 2) / factor + (row0, col0)


def _join(grey: Plane, first, second) -> None:
    """Draw a line between two parts that are near each other."""
    distances = np.abs((first[:, 0] @ (1, 1j))[:, None] - second[:, 0] @ (1, 1j))
    nearest = np.unravel_index(int(distances.argmin()), distances.shape)
    if distances[nearest] <= _MAX_GAP * max(grey.shape):
        ends = first[nearest[0], 0].tolist(), second[nearest[1], 0].tolist()
        cv2.line(grey, *ends, 255, _LINE)


@dataclass(frozen=True, eq=False)
class _Side:
    """One side of an outline from an end of the leaf, and its distance to the other."""

    points: Points
    widths: Floats
    # Number of points before the blade.
    end: int

    def find_last(self, width: float) -> int:
        """Find the last place before the blade that is not wider."""
        return int(np.flatnonzero(self.widths[: self.end] <= width)[-1])


def follow_stalk(outline: Points, start: int) -> Stalk | None:
    """Follow a stalk on both sides of an outline, (n, 2), from a point of its end.

    Its sides are near each other up to the blade; what is wider before, as a bud, a
    stipule or a scrap, belongs to it. The base is where the margins of the blade, as
    straight as beside the stalk, would meet. None where the outline widens at once, or
    steadily as towards a tip. The method is leafid's own.
    """
    left = turned = np.roll(outline, -start, axis=0)
    right = np.roll(outline[::-1], start + 1, axis=0)
    half = len(outline) // 2
    left, right = left[:half], right[:half]
    distances = np.abs((left @ (1, 1j))[:, None] - right @ (1, 1j))
    widths = (distances.min(axis=1), distances.min(axis=0))
    broadest = max(width.max() for width in widths)
    for share in _BROAD:
        ends = [int(np.argmax(width >= share * broadest)) for width in widths]
        sides = list(map(_Side, (left, right), widths, ends))
        if min(ends) >= _MIN_POINTS and (stalk := _measure_stalk(sides, turned)):
            return stalk
    return None


def _measure_stalk(sides, outline):
    widths = np.concatenate([side.widths[1 : side.end] for side in sides])
    width = float(np.quantile(widths, 0.4))
    knees = [side.find_last(_KNEE * width) for side in sides]
    narrow = [side.points[: last + 1][side.widths[: last + 1] <= _KNEE * width] for side, last in zip(sides, knees, strict=True)]
    points = np.concatenate(narrow)
    knees = [
        int(np.argmax(np.where(side.widths[: last + 1] <= _KNEE * width, np.hypot(*(side.points[: last + 1] - side.points[0]).T), 0)))
        for side, last in zip(sides, knees, strict=True)
    ]
    knee = _average(sides, knees)
    end = points[int(np.argmax(np.hypot(*(points - knee).T)))]
    length = float(np.hypot(*(end - knee)))
    if length < _MIN_SLENDERNESS * width or _measure_evenness(sides, knees, width) < _MIN_EVENNESS:
        return None
    along = (end - knee) / length
    broadest = min(float(side.widths.max()) for side in sides)
    growth = np.sqrt(np.clip(_BLADE * broadest / (_KNEE * width), 1.1, 4.0))
    depths = [0.0]
    for power in (1, 2):
        level = _KNEE * width * growth ** power
        places = [place + int(np.argmax(side.widths[place:] >= level)) for side, place in zip(sides, knees, strict=True)]
        depths.append(float((knee - _average(sides, places)) @ along))
    first, second = np.diff(depths)
    is_round = second > growth**1.5 * first
    shift = max(0.0, first) / (growth ** (1 + is_round) - 1)
    if length - shift < width or np.hypot(*(sides[0].points[0] - knee)) < _MIN_SLENDERNESS * width:
        return None
    blade = outline[knees[0] : len(outline) - knees[1]]
    return Stalk(knee + shift * along, end, blade)


def _average(sides, places):
    return np.mean([side.points[place] for side, place in zip(sides, places, strict=True)], axis=0)


def _measure_evenness(sides, knees, width):
    halves = []
    for side, knee in zip(sides, knees, strict=True):
        step = np.hypot(*(side.points[1] - side.points[0]))
        first = min(round(0.5 * width / step) + 1, knee)
        middle = (first + knee) // 2
        halves.append(np.median(side.widths[first : max(middle, first + 1)]) / np.median(side.widths[middle : knee + 1]))
    return float(np.mean(halves))
