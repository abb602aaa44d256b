"""Finds where the stalk of a leaf ends and its blade begins, from the outline."""

from dataclasses import dataclass

import cv2
import numpy as np
from scipy.spatial import cKDTree

from leafid.descriptors.arrays import Floats, Plane, Points
from leafid.descriptors.axis import find_axis, measure_symmetry
from leafid.descriptors.shape.contour import resample
from leafid.segmentation.crop import find_petiole_foot
from leafid.segmentation.result import (
    Mask,
    Segmentation,
    find_bounding_box,
)

# Points of the outline that a stalk is followed on.
_POINTS = 2048
# Side to which a small leaf is enlarged first, and the empty pixels around it.
_SIDE = 600
_PAD = 3
# Number of parts of a leaf that are joined, and the widest gap, in sides of the leaf.
_MAX_PARTS = 12
_MAX_GAP = 0.1
_LINE_WIDTH = 3
# Distance between both sides of a blade, in the greatest one: of a broad blade, and of
# a slim one, whose stalk may be wider than that.
_BROAD = (0.3, 0.6)
# Share of the places before a blade that are narrower than its stalk at first sight.
_QUANTILE = 0.3
# How often the width of the stalk is measured again, where it was found.
_ROUNDS = 2
# Width, in those of the stalk, at which it widens into the blade, and that of the
# leaflets of a rachis.
_KNEE = 1.5
_LEAFLET = 4.0
# Reach of a sinus from its middle, in widths of the stalk.
_REACH = 4.0
# Smallest length of a stalk, in its widths, and in diagonals of the leaf.
_MIN_SLENDERNESS = 1.5
_MIN_LENGTH = 0.03
# Smallest width of the outer half in that of the inner one: 1 of a stalk, a third of a
# pointed tip; less of what the segmentation takes for a petiole.
_MIN_EVENNESS = 0.75
_MIN_EVENNESS_OF_PETIOLE = 0.55
# Widening beyond the base, in that before it, which shows a petiole that isn't even.
_SHARP = 2.5
# Widest place beside the base, in widths of the blade.
_BESIDE = 0.9
# Curvature of a margin beside the base that is concave, in that of a straight one.
_CONCAVE = 0.8
# Smallest length of a stalk in that of one at the other end which is no rival.
_RIVAL = 0.5
# Of a compound leaf in diagonals of the blade: smallest length of the petiole, how far
# leaflets may hang below its base, and how far the base may be from the foot.
_MIN_PETIOLE = 0.1
_MAX_DROOP = 0.075
_MAX_OFFSET = 0.25


@dataclass(frozen=True, eq=False)
class Stalk:
    """An even, narrow end of a leaf; rows and columns, in pixels."""

    #: Where it meets the blade, and its far end.
    base: Points
    end: Points
    #: The outline of the blade, (n, 2).
    outline: Points

    @property
    def length(self) -> float:
        """Straight from the base to the end."""
        return float(np.hypot(*(self.end - self.base)))

    def remove(self, leaf: Mask) -> Mask:
        """Remove the stalk, and what hangs on it, from the mask of the leaf."""
        blade = np.zeros(leaf.shape, np.uint8)
        cv2.fillPoly(blade, [np.rint(self.outline[:, ::-1]).astype(np.int32)], 1)
        return leaf & cv2.dilate(blade, np.ones((5, 5), np.uint8)).view(bool)

    def is_hidden(self, blade: Mask) -> bool:
        """Whether leaflets hang below the base, and may hide more of the stalk."""
        points = np.argwhere(blade).astype(np.float64)
        along = (self.base - self.end) / max(self.length, 1e-9)
        lowest = float(((points - self.base) @ along).min())
        return lowest < -_MAX_DROOP * _measure_diagonal(points)


@dataclass(frozen=True, eq=False)
class _Side:
    """One side of an outline, from an end of the leaf."""

    points: Points
    #: Distance of each point from the other side.
    widths: Floats

    def find_broad(self, width: float, start: int = 0) -> int:
        """Find the first place that is as wide as this."""
        return start + int(np.argmax(self.widths[start:] >= width))

    def find_narrow(self, width: float, end: int) -> int:
        """Find the last place before `end` that is not wider."""
        return int(np.flatnonzero(self.widths[: end + 1] <= width)[-1])


def find_stalk(segmentation: Segmentation) -> Stalk | None:
    """Find the stalk of a simple leaf: the petiole, or else one end that is like one.

    None where there is none, or where both ends are alike.
    """
    outline = _trace_leaf(segmentation.mask)
    if segmentation.petiole.any():
        end = _find_end(segmentation)
        stalk = follow_stalk(outline, end, is_petiole=True)
        if stalk is not None:
            return stalk
    axis = find_axis(measure_symmetry(segmentation.blade), outline)
    along = outline @ (axis.tip - axis.base)
    ends = outline[[int(np.argmin(along)), int(np.argmax(along))]]
    candidates = [follow_stalk(outline, end) for end in ends]
    stalks = sorted(filter(None, candidates), key=lambda stalk: stalk.length)
    if len(stalks) == 2 and stalks[0].length > _RIVAL * stalks[1].length:
        return None
    return stalks[-1] if stalks else None


def find_rachis(segmentation: Segmentation) -> Stalk | None:
    """Find the petiole of a compound leaf, up to the first leaflet.

    None where it may be longer than what is seen of it.
    """
    foot = find_petiole_foot(segmentation)
    if foot is None:
        return None
    foot = foot[::-1]
    end = _find_end(segmentation)
    length = float(np.hypot(*(foot - end)))
    width = np.count_nonzero(segmentation.petiole) / max(length, 1.0)
    outline = _trace_leaf(segmentation.mask)
    bases = []
    for side in _list_sides(outline, end):
        leaflet = side.find_broad(_LEAFLET * width)
        bases.append(side.points[side.find_narrow(_KNEE * width, leaflet)])
    base = min(bases, key=lambda point: float(np.hypot(*(point - end))))
    stalk = Stalk(base, end, outline)
    blade = np.argwhere(segmentation.blade).astype(np.float64)
    diagonal = _measure_diagonal(blade)
    is_doubtful = (
        stalk.length < _MIN_PETIOLE * diagonal
        or abs(stalk.length - length) > _MAX_OFFSET * diagonal
        or stalk.is_hidden(segmentation.blade)
    )
    return None if is_doubtful else stalk


def follow_stalk(
    outline: Points, end: Points, *, is_petiole: bool = False
) -> Stalk | None:
    """Follow a stalk on both sides of an outline, (n, 2), from its end.

    Its sides are near each other up to the blade; what is wider before, as a bud, a
    stipule or a scrap, belongs to it. The base is where the margins of the blade, as
    straight or as round as beside the stalk, meet. None where the outline widens at
    once, or steadily as towards a tip. The method is leafid's own.
    """
    sides = _list_sides(outline, end)
    broadest = min(float(side.widths.max()) for side in sides)
    for share in _BROAD:
        stalk = _measure_stalk(sides, share, broadest, is_petiole=is_petiole)
        if stalk is not None:
            return stalk
    return None


def _measure_stalk(
    sides: tuple[_Side, _Side], share: float, broadest: float, *, is_petiole: bool
) -> Stalk | None:
    """Measure the stalk before a blade that is as wide as a share of its width."""
    ends = [side.find_broad(share * broadest) for side in sides]
    before = [side.widths[1:end] for side, end in zip(sides, ends, strict=True)]
    width = (
        float(np.quantile(np.concatenate(before), _QUANTILE)) if min(ends) > 3 else 0
    )
    if not width:
        return None
    for _ in range(_ROUNDS):
        knees = _find_knees(sides, ends, width)
        inner = [
            side.widths[(knee + 1) // 2 : knee + 1]
            for side, knee in zip(sides, knees, strict=True)
        ]
        width = float(np.median(np.concatenate(inner)))
    knees = _find_knees(sides, ends, width)
    knee = _average(sides, knees)
    narrow = np.concatenate(
        [
            side.points[: last + 1][side.widths[: last + 1] <= _KNEE * width]
            for side, last in zip(sides, knees, strict=True)
        ]
    )
    end = narrow[int(np.argmax(np.hypot(*(narrow - knee).T)))]
    length = float(np.hypot(*(end - knee)))
    if length < _MIN_SLENDERNESS * width:
        return None
    along = (end - knee) / length
    # Depths at which the blade is wider and wider, from the knee.
    growth = np.sqrt(np.clip(_BESIDE * broadest / (_KNEE * width), 1.1, 4.0))
    levels = _KNEE * width * growth ** np.array([1, 2])
    places = [
        [
            side.find_broad(level, start)
            for side, start in zip(sides, knees, strict=True)
        ]
        for level in levels
    ]
    depths = [float((knee - _average(sides, place)) @ along) for place in places]
    first, second = depths[0], depths[1] - depths[0]
    evenness = _measure_evenness(sides, knees, width)
    if is_petiole:
        is_even = evenness >= _MIN_EVENNESS_OF_PETIOLE
        is_stalk = is_even or _measure_sharpness(sides, knees, places[1]) >= _SHARP
    else:
        is_stalk = evenness >= _MIN_EVENNESS
    outline = np.concatenate([sides[0].points, sides[1].points[:0:-1]])
    shortest = max(width, _MIN_LENGTH * _measure_diagonal(outline))
    if not is_stalk or length - first / (growth - 1) < shortest:
        return None
    # Straight margins meet in a line, round ones in a parabola; where they are concave,
    # the blade begins at the knee.
    is_round = second > growth**1.5 * first
    shift = max(0.0, first) / (growth ** (1 + is_round) - 1)
    if second < _CONCAVE * growth * first:
        shift = 0.0
    blade = np.concatenate(
        [sides[0].points[knees[0] :], sides[1].points[: knees[1] : -1]]
    )
    rises = [
        _measure_rise(side.points[place:] - knee, along, width)
        for side, place in zip(sides, knees, strict=True)
    ]
    return Stalk(knee + (shift - max(rises)) * along, end, blade)


def _measure_rise(offsets: Points, along: Points, width: float) -> float:
    """Measure how far a margin rises along the stalk before it turns back to a lobe.

    A lobe may touch the stalk on the other side.
    """
    heights = -offsets @ along
    across = np.abs(offsets @ (along[::-1] * (1, -1)))
    is_back = np.maximum.accumulate(heights) - heights > width / 2
    end = int(np.argmax(is_back | (across > _REACH * width)))
    return float(
        heights[0] if across[end] > _REACH * width else heights[: end + 1].max()
    )


def _find_knees(sides: tuple[_Side, _Side], ends: list[int], width: float) -> list[int]:
    return [
        side.find_narrow(_KNEE * width, end - 1)
        for side, end in zip(sides, ends, strict=True)
    ]


def _average(sides: tuple[_Side, _Side], places: list[int]) -> Points:
    """Average the points of both sides at these places."""
    points = [side.points[place] for side, place in zip(sides, places, strict=True)]
    return np.mean(points, axis=0)


def _measure_evenness(
    sides: tuple[_Side, _Side], knees: list[int], width: float
) -> float:
    """Measure the width of the outer half in that of the inner one."""
    ratios = []
    for side, knee in zip(sides, knees, strict=True):
        step = float(np.hypot(*(side.points[1] - side.points[0])))
        # The end itself is as narrow as a tip.
        first = min(round(0.5 * width / max(step, 1e-9)) + 1, knee)
        middle = (first + knee) // 2
        outer = float(np.median(side.widths[first : max(middle, first + 1)]))
        inner = float(np.median(side.widths[middle : knee + 1]))
        ratios.append(outer / max(inner, 1e-9))
    return float(np.mean(ratios))


def _measure_sharpness(
    sides: tuple[_Side, _Side], knees: list[int], places: list[int]
) -> float:
    """Measure how fast a leaf widens from the knees to places beyond, as before."""
    ratios = []
    for side, knee, place in zip(sides, knees, places, strict=True):
        after = (side.widths[place] - side.widths[knee]) / max(place - knee, 1)
        before = side.widths[knee] / max(knee, 1)
        ratios.append(after / max(before, 1e-9))
    return float(min(ratios))


def _list_sides(outline: Points, end: Points) -> tuple[_Side, _Side]:
    """List both halves of an outline, from the point that is nearest to an end."""
    start = int(np.argmin(np.hypot(*(outline - end).T)))
    turned = np.roll(outline, -start, axis=0)
    half = len(outline) // 2
    left = turned[: half + 1]
    right = np.roll(turned[::-1], 1, axis=0)[:half]
    widths = [cKDTree(right).query(left)[0], cKDTree(left).query(right)[0]]
    return _Side(left, widths[0]), _Side(right, widths[1])


def _find_end(segmentation: Segmentation) -> Points:
    """Find the point of a petiole that is farthest from the blade."""
    outside = 1 - segmentation.blade.view(np.uint8)
    distance = cv2.distanceTransform(outside, cv2.DIST_L2, 5)
    petiole = segmentation.petiole
    return np.argwhere(petiole)[int(np.argmax(distance[petiole]))].astype(np.float64)


def _measure_diagonal(points: Points) -> float:
    return float(np.hypot(*np.ptp(points, axis=0)))


def _trace_leaf(leaf: Mask) -> Points:
    """Trace the outline of a leaf, whose parts are joined by lines."""
    row0, row1, col0, col1 = find_bounding_box(leaf)
    crop = leaf[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    factor = max(1, round(_SIDE / max(crop.shape)))
    grey = np.pad(crop.repeat(factor, 0).repeat(factor, 1), _PAD)
    curves, _ = cv2.findContours(grey, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    largest, *others = sorted(curves, key=len, reverse=True)
    for curve in others[: _MAX_PARTS - 1]:
        _join(grey, largest[:, 0], curve[:, 0])
    curves, _ = cv2.findContours(grey, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    curve = max(curves, key=len)[:, 0, ::-1].astype(np.float64)
    # A pixel is `factor` pixels wide now, around the same middle.
    points = resample(curve, _POINTS) - _PAD - (factor - 1) / 2
    return points / factor + (row0, col0)


def _join(grey: Plane, first: Points, second: Points) -> None:
    """Draw a line between two parts that are near each other, columns and rows."""
    distances, nearest = cKDTree(second).query(first)
    place = int(distances.argmin())
    if distances[place] <= _MAX_GAP * max(grey.shape):
        start, end = first[place].tolist(), second[nearest[place]].tolist()
        cv2.line(grey, start, end, 255, _LINE_WIDTH)
