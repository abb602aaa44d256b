"""Finds where the stalk of a leaf ends and its blade begins, from the outline."""

from dataclasses import dataclass

import cv2
import numpy as np

from leafid.descriptors.arrays import Floats, Plane, Points
from leafid.descriptors.axis import find_axis, measure_symmetry
from leafid.descriptors.shape.contour import resample
from leafid.segmentation.crop import find_petiole_foot
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
_INWARDS = 1j
_MIN_LENGTH = 0.03
import os
_MIN_RACHIS = 0.1
_DROOP = 0.08
_CONCAVE = 0.8
_ROUNDS = int(os.environ.get("R","2"))
_LIM = float(os.environ.get("LIM","9"))
_QUANTILE = float(os.environ.get("Q","0.3"))
_THROUGH = float(os.environ.get("TH","0"))
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
        stalk = _follow(outline, petiole[int(np.argmax(distance[segmentation.petiole]))], 0.55)
        if stalk is not None:
            return stalk
    axis = find_axis(measure_symmetry(segmentation.blade), outline)
    along = outline @ (axis.tip - axis.base)
    stalks = filter(None, (_follow(outline, end) for end in outline[[np.argmin(along), np.argmax(along)]]))
    stalks = sorted(stalks, key=lambda stalk: stalk.length)
    if len(stalks) == 2 and stalks[0].length > _RIVAL * stalks[1].length:
        return None
    return stalks[-1] if stalks else None


def find_rachis(segmentation):
    petiole = np.argwhere(segmentation.petiole)
    foot = find_petiole_foot(segmentation)
    if foot is None:
        return None
    end = petiole[int(np.argmax(np.hypot(*(petiole - foot[::-1]).T)))]
    length = float(np.hypot(*(end - foot[::-1])))
    width = len(petiole) / max(length, 1.0)
    outline = _trace_leaf(segmentation.mask)
    start = int(np.argmin(np.hypot(*(outline - end).T)))
    turned = np.roll(outline, -start, axis=0)
    half = len(outline) // 2
    left, right = turned[:half], np.roll(turned[::-1], 1, axis=0)[:half]
    base = None
    nearest = np.inf
    for side, widths in zip((left, right), (_measure_widths(left, right), _measure_widths(right, left, -1))):
        last = int(np.argmax(widths >= 4 * width))
        knee = int(np.flatnonzero(widths[: last + 1] <= _KNEE * width)[-1])
        distance = float(np.hypot(*(side[knee] - end)))
        if distance < nearest:
            base, nearest = side[knee], distance
    stalk = Stalk(base, end, np.empty((0, 2)))
    blade = np.argwhere(segmentation.blade)
    extent = np.hypot(*np.ptp(blade, axis=0))
    along = (base - end) / max(stalk.length, 1e-9)
    below = float(((blade - base) @ along).min())
    if stalk.length < _MIN_RACHIS * extent or below < -_DROOP * extent or abs(nearest - length) > .25 * extent:
        return None
    return stalk


def _follow(outline, end, evenness=_MIN_EVENNESS):
    return follow_stalk(outline, int(np.argmin(np.hypot(*(outline - end).T))), evenness)


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


def follow_stalk(outline: Points, start: int, min_evenness: float = _MIN_EVENNESS) -> Stalk | None:
    """Follow a stalk on both sides of an outline, (n, 2), from a point of its end.

    Its sides are near each other up to the blade; what is wider before, as a bud, a
    stipule or a scrap, belongs to it. The base is where the margins of the blade, as
    straight as beside the stalk, would meet. None where the outline widens at once, or
    steadily as towards a tip. The method is leafid's own.
    """
    turned = np.roll(outline, -start, axis=0)
    half = len(outline) // 2
    left, right = turned[:half], np.roll(turned[::-1], 1, axis=0)[:half]
    widths = (_measure_widths(left, right), _measure_widths(right, left, -1))
    broadest = max(width[np.isfinite(width)].max() for width in widths)
    for share in _BROAD:
        ends = [int(np.argmax(width >= share * broadest)) for width in widths]
        sides = list(map(_Side, (left, right), widths, ends))
        if min(ends) >= _MIN_POINTS and (stalk := _measure_stalk(sides, turned, min_evenness)):
            return stalk
    return None


def _measure_stalk(sides, outline, min_evenness):
    widths = np.concatenate([side.widths[1 : side.end] for side in sides])
    width = float(np.quantile(widths, _QUANTILE))
    for _ in range(_ROUNDS):
        knees = [side.find_last(_KNEE * width) for side in sides]
        width = float(np.median(np.concatenate([side.widths[(knee + 1) // 2 : knee + 1] for side, knee in zip(sides, knees, strict=True)])))
    knees = [side.find_last(_KNEE * width) for side in sides]
    narrow = [side.points[: last + 1][side.widths[: last + 1] <= _KNEE * width] for side, last in zip(sides, knees, strict=True)]
    points = np.concatenate(narrow)
    knee = _average(sides, knees)
    end = points[int(np.argmax(np.hypot(*(points - knee).T)))]
    length = float(np.hypot(*(end - knee)))
    if length < _MIN_SLENDERNESS * width:
        return None
    along = (end - knee) / length
    broadest = min(float(side.widths[np.isfinite(side.widths)].max()) for side in sides)
    growth = np.sqrt(np.clip(_BLADE * broadest / (_KNEE * width), 1.1, 4.0))
    sharpness = []
    depths = [0.0]
    for power in (1, 2):
        level = _KNEE * width * growth ** power
        places = [place + int(np.argmax(side.widths[place:] >= level)) for side, place in zip(sides, knees, strict=True)]
        depths.append(float((knee - _average(sides, places)) @ along))
    first, second = np.diff(depths)
    for side, place, knee_ in zip(sides, places, knees, strict=True):
        after = (side.widths[place] - side.widths[knee_]) / max(place - knee_, 1)
        sharpness.append(after / (side.widths[knee_] / max(knee_, 1)))
    if _measure_evenness(sides, knees, width) < min_evenness and min(sharpness) < (4 if min_evenness==_MIN_EVENNESS else 2.5):
        return None
    is_round = second > growth**1.5 * first
    shift = max(0.0, first) / (growth ** (1 + is_round) - 1)
    if second < _CONCAVE * growth * first:
        shift = 0.0
    shift = min(shift, _LIM * width)
    if length - first / (growth - 1) < width:
        return None
    if length - shift < max(width, _MIN_LENGTH * np.hypot(*np.ptp(outline, axis=0))) or length < _MIN_SLENDERNESS * width:
        return None
    blade = outline[knees[0] : len(outline) - knees[1]]
    return Stalk(knee + shift * along, end, blade)


def _measure_widths(side, other, turn=1):
    """Measure the distance from one side to the other through the leaf."""
    points = side @ (1, 1j)
    inwards = _INWARDS * turn * np.gradient(points)
    inwards = np.convolve(np.pad(inwards, 2, "edge"), np.full(5, 0.2), "valid")
    offsets = other @ (1, 1j) - points[:, None]
    is_through = (offsets * inwards.conj()[:, None]).real >= (0 if _THROUGH else -1e9)
    distances = np.where(is_through, np.abs(offsets), np.inf)
    return distances.min(axis=1)


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
