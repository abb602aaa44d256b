"""Finds where the stalk of a leaf ends and its blade begins, from the outline."""

from dataclasses import dataclass
from math import dist
from typing import NamedTuple

import cv2
import numpy as np

from leafid.descriptors.arrays import Floats, Indices, Points
from leafid.descriptors.axis import Axis
from leafid.segmentation.result import Mask, Segmentation

# Distance between both sides of a blade, in the greatest one.
_BROAD = 0.3
# Quantile of the widths before a blade that is the first estimate of the stalk's width.
_QUANTILE = 0.3
# Smallest number of points of a stalk.
_MIN_PLACES = 3
# How often the width is measured again, each time up to the knees of the width before.
_ROUNDS = 2
# Width, in widths of the stalk, at which it widens into the blade.
_KNEE = 1.5
# Width of a leaflet, in widths of the stalk.
_LEAFLET = 4.0
# Reach of a sinus from its middle, in widths of the stalk.
_REACH = 4.0
# Smallest length of a stalk, in its widths, and in diagonals of the leaf.
_MIN_SLENDERNESS = 1.5
_MIN_LENGTH = 0.03
_MIN_RACHIS = 0.1


class _Limits(NamedTuple):
    """What makes an end of a leaf a stalk: one of both limits is enough."""

    #: Smallest width of the outer half over the width of the inner one: 1 of a stalk,
    #: a third of a pointed tip.
    evenness: float
    #: Smallest widening beyond the base, over the widening before it.
    sharpness: float


# For any end, and for a petiole of the segmentation.
_END = _Limits(0.75, 6.0)
_PETIOLE = _Limits(0.55, 2.5)
# Widest place beside the base, in widths of the blade.
_BESIDE = 0.9
# Bend of a margin beside the base, below which it is concave; 1 if it is straight.
_CONCAVE = 0.8
# Confidence of an axis beside which there is no petiole.
_PLAIN = 0.8
# Smallest cosine between a petiole and the blade that it belongs to.
_BEARING = np.cos(np.radians(45))
# How far leaflets may hang below the base, in diagonals of the blade.
_MAX_DROOP = 0.1


@dataclass(frozen=True, eq=False)
class Stalk:
    """An even, narrow end of a leaf; rows and columns, in pixels."""

    #: Where it meets the blade, and its far end.
    base: Points
    end: Points
    #: The outline of the blade, (n, 2), up to the base.
    outline: Points

    @property
    def length(self) -> float:
        """Straight from the base to the end."""
        return dist(self.end, self.base)

    @property
    def is_hidden(self) -> bool:
        """Whether leaflets hang below the base, and may hide more of the stalk."""
        along = (self.end - self.base) / max(self.length, 1e-9)
        droop = ((self.outline - self.base) @ along).max()
        return droop > _MAX_DROOP * _measure_diagonal(self.outline)


@dataclass(frozen=True, eq=False)
class _Sides:
    """Both sides of an outline, from an end of the leaf."""

    #: (2, n, 2).
    points: Points
    #: Distance of each point from the other side, (2, n).
    widths: Floats

    def mark(self, starts: Indices | int, ends: Indices | int) -> Mask:
        """Mark the places from the starts to before the ends."""
        places = np.arange(self.widths.shape[1])
        is_after = places >= np.reshape(starts, (-1, 1))
        return is_after & (places < np.reshape(ends, (-1, 1)))

    def find_broad(self, width: float, starts: Indices | int = 0) -> Indices:
        """Find the first places from the starts on that are as wide as this."""
        n_places = self.widths.shape[1]
        is_broad = self.mark(starts, n_places) & (self.widths >= width)
        is_broad[:, -1] = True
        return is_broad.argmax(axis=1)

    def find_knees(self, width: float, ends: Indices) -> Indices:
        """Find the last places before the ends that are as narrow as a stalk."""
        is_narrow = self.mark(0, ends) & (self.widths <= _KNEE * width)
        return is_narrow.shape[1] - 1 - is_narrow[:, ::-1].argmax(axis=1)

    def average(self, places: Indices) -> Points:
        """Average the points of both sides at these places."""
        return self.points[[0, 1], places].mean(axis=0)


def find_stalk(
    leaf: Segmentation, outline: Points, axis: Axis, *, is_compound: bool
) -> Stalk | None:
    """Find the stalk of a leaf: the petiole, or else an end that looks like a stalk.

    Parameters
    ----------
    leaf : Segmentation
    outline : (n, 2)
        Of the whole leaf.
    axis : Axis
        Of its blade; no petiole stands beside an axis of high confidence.
    is_compound : bool
        Whether leaflets follow on the stalk.

    Returns
    -------
    Stalk or None
        None where there is none, or where both ends are alike.
    """
    direction = axis.tip - axis.base
    middle = (axis.tip + axis.base) / 2
    if leaf.petiole.any():
        stalk = follow_stalk(
            outline, _find_end(leaf), _PETIOLE, is_compound=is_compound
        )
        if stalk is not None:
            offset = middle - stalk.base
            is_behind = offset @ (stalk.base - stalk.end) < 0
            cosine = measure_cosine(offset, direction)
            is_spine = axis.confidence >= _PLAIN and abs(cosine) < _BEARING
            if not is_behind and not is_spine:
                return stalk
    along = outline @ direction
    ends = outline[[along.argmin(), along.argmax()]]
    candidates = [follow_stalk(outline, end, is_compound=is_compound) for end in ends]
    stalks = [stalk for stalk in candidates if stalk is not None]
    return stalks[0] if len(stalks) == 1 else None


def follow_stalk(
    outline: Points,
    end: Points,
    limits: _Limits = _END,
    *,
    is_compound: bool,
) -> Stalk | None:
    """Follow a stalk on both sides of an outline, (n, 2), from its end.

    Its sides are near each other up to the blade; what is wider before, as a bud, a
    stipule or a scrap, belongs to it. The base is where the margins of the blade, as
    straight or as round as beside the stalk, meet; of a compound leaf it is the first
    leaflet. None where the outline widens at once, or steadily as towards a tip. The
    method is leafid's.
    """
    sides = _list_sides(outline, end)
    broadest = sides.widths.max(axis=1).min()
    broad = sides.find_broad(_BROAD * broadest)
    if min(broad) <= _MIN_PLACES:
        return None
    width, knees = _measure_width(sides, broad)
    evenness = _measure_evenness(sides, knees, width)
    sharpness = _measure_sharpness(sides, knees, broad)
    least_length = _MIN_LENGTH
    if is_compound:
        least_length = _MIN_RACHIS
        # Of two leaflets, the base is at the lower one.
        knees = sides.find_knees(width, sides.find_broad(_LEAFLET * width))
        knees[:] = knees.min()
    elif evenness < limits.evenness and sharpness < limits.sharpness:
        return None
    stalk = _make_stalk(sides, knees, width, broadest)
    shortest = max(width, least_length * _measure_diagonal(outline))
    return stalk if stalk is not None and stalk.length >= shortest else None


def _measure_width(sides: _Sides, broad: Indices) -> tuple[float, Indices]:
    """Measure the width of a stalk before broad places, and find where it ends."""
    width = float(np.quantile(sides.widths[sides.mark(1, broad)], _QUANTILE))
    for _ in range(_ROUNDS):
        knees = sides.find_knees(width, broad)
        inner = sides.mark((knees + 1) // 2, knees + 1)
        width = max(np.median(sides.widths[inner]), 1e-9)
    return width, sides.find_knees(width, broad)


def _measure_evenness(sides: _Sides, knees: Indices, width: float) -> float:
    """Measure the width of the outer half over the width of the inner one."""
    step = dist(*sides.points[0, :2])
    # The end itself is as narrow as a tip.
    first = np.minimum(round(0.5 * width / max(step, 1e-9)) + 1, knees)
    outer = sides.mark(first, np.maximum((first + knees) // 2, first + 1))
    return np.median(sides.widths[outer]) / width


def _measure_sharpness(sides: _Sides, knees: Indices, broad: Indices) -> float:
    """Measure how fast a leaf widens beyond the knees, over how fast it does before."""
    both = np.arange(2)
    widths = sides.widths[both, knees]
    after = (sides.widths[both, broad] - widths) / np.maximum(broad - knees, 1)
    before = widths / np.maximum(knees, 1)
    return (after / np.maximum(before, 1e-9)).min()


def _make_stalk(
    sides: _Sides, knees: Indices, width: float, broadest: float
) -> Stalk | None:
    """Find the ends of a stalk, given where it widens; None where it is too short.

    Straight margins of a blade meet in a line, round ones in a parabola; where they
    are concave, the blade begins at the knees.
    """
    knee = sides.average(knees)
    is_narrow = sides.mark(0, knees + 1) & (sides.widths <= _KNEE * width)
    narrow = sides.points[is_narrow]
    end = narrow[np.hypot(*(narrow - knee).T).argmax()]
    length = dist(end, knee)
    if length < _MIN_SLENDERNESS * width:
        return None
    along = (end - knee) / length
    # Depths at which the blade is wider and wider, from the knees.
    growth = np.clip(_BESIDE * broadest / (_KNEE * width), 1.1, 4.0) ** 0.5
    depth, whole = (
        (knee - sides.average(sides.find_broad(level, knees))) @ along
        for level in _KNEE * width * growth ** np.array([1, 2])
    )
    shift = max(0.0, depth) / (growth - 1)
    if length - shift < width:
        return None
    bend = (whole - depth) / max(depth * growth, 1e-9)
    if bend < _CONCAVE:
        shift = 0.0
    elif bend > growth**0.5:
        shift /= growth + 1
    rise = max(
        _measure_rise(points[place:] - knee, along, width)
        for points, place in zip(sides.points, knees, strict=True)
    )
    base = knee + (shift - rise) * along
    left, right = sides.points
    outline = np.vstack([left[knees[0] :], right[: knees[1] : -1], base])
    return Stalk(base, end, outline)


def _measure_rise(offsets: Points, along: Points, width: float) -> float:
    """Measure how far a margin rises along the stalk before it turns back to a lobe.

    A lobe may touch the stalk on the other side.
    """
    heights = -offsets @ along
    across = np.abs(offsets @ (along[::-1] * (1, -1)))
    is_back = np.maximum.accumulate(heights) - heights > width / 2
    end = (is_back | (across > _REACH * width)).argmax()
    if across[end] > _REACH * width:
        return heights[0]
    return heights[: end + 1].max()


def _list_sides(outline: Points, end: Points) -> _Sides:
    """List both halves of an outline, from the point that is nearest to an end."""
    start = np.hypot(*(outline - end).T).argmin()
    half = len(outline) // 2
    left = np.roll(outline, -start, axis=0)[:half]
    right = np.roll(outline[::-1], start + 1, axis=0)[:half]
    widths = [_measure_nearest(left, right), _measure_nearest(right, left)]
    return _Sides(np.stack([left, right]), np.stack(widths))


def _measure_nearest(points: Points, others: Points) -> Points:
    """Measure the distance from each point to the nearest other one."""
    # SciPy's k-d tree takes a tenth of a second to import.
    arrays = points.astype(np.float32), others.astype(np.float32)
    return cv2.batchDistance(arrays[0], arrays[1], cv2.CV_32F, K=1)[0][:, 0]


def _find_end(leaf: Segmentation) -> Points:
    """Find the point of a petiole that is farthest from the blade."""
    outside = 1 - leaf.blade.view(np.uint8)
    distance = cv2.distanceTransform(outside, cv2.DIST_L2, 5)
    petiole = leaf.petiole
    return np.argwhere(petiole)[distance[petiole].argmax()].astype(np.float64)


def measure_cosine(vectors: Points, direction: Points) -> Points:
    """Measure the cosine of the angle between vectors, (..., 2), and a direction."""
    lengths = np.linalg.norm(vectors, axis=-1) * np.hypot(*direction)
    return vectors @ direction / np.maximum(lengths, 1e-9)


def _measure_diagonal(points: Points) -> float:
    return float(np.hypot(*np.ptp(points, axis=0)))
