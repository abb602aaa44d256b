"""Landmarks of a leaf: base and tip of its blade."""

from dataclasses import dataclass
from functools import cached_property
from math import dist

import numpy as np

from leafid.descriptors.arrays import Points
from leafid.descriptors.axis import MIN_OVERLAP, Symmetry, find_axis, measure_symmetry
from leafid.descriptors.shape.contour import resample
from leafid.descriptors.stalks import find_stalk, measure_cosine
from leafid.descriptors.tracing import CONTOUR_POINTS, trace_leaf
from leafid.segmentation.pixels import find_convex_hull
from leafid.segmentation.result import Segmentation

# Largest angle between the tip and the centroid of a blade, as seen from the base.
_TIP_BEARING = np.radians(40)
_RACHIS_BEARING = np.radians(12)


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Base and tip of a blade in a picture: row and column, in pixels."""

    #: Outline of the largest part of the blade, (n, 2), counter-clockwise at equal arc
    #: length.
    contour: Points
    #: `base`, `tip`: in either order without a petiole.
    base: Points
    tip: Points
    #: Length of the petiole, in pixels; None where there is none to see.
    petiole: float | None
    #: From 0 to 1: that the line from base to tip is the midrib.
    confidence: float = 1.0

    @property
    def has_base(self) -> bool:
        """Whether it is known which end is the base."""
        return self.petiole is not None

    @property
    def length(self) -> float:
        """Distance from base to tip, in pixels."""
        return dist(self.tip, self.base)

    @cached_property
    def extent(self) -> Points:
        """Length and width of the blade, along and across the midrib, in pixels."""
        points = np.vstack([self.contour, self.base, self.tip])
        axes = _make_axes(self.base, self.tip)
        return np.maximum(np.ptp(points @ axes.T, axis=0), 1.0)

    @cached_property
    def framed(self) -> Points:
        """The contour in lengths of the midrib.

        Along (0 at the base, 1 at the tip), and across (right is positive).
        """
        offsets = (self.contour - self.base) @ _make_axes(self.base, self.tip).T
        return offsets / max(self.length, 1e-9)


def find_landmarks(
    leaf: Segmentation,
    outline: Points,
    ends: Points | None,
    *,
    is_compound: bool | None,
) -> Landmarks:
    """Find base and tip of a blade, which is not empty.

    The base is where the stalk meets the blade. The tip is the point of the outline
    that is farthest from it, in the direction of the blade's centroid, or else where
    the axis of symmetry ends; of a compound leaf, which may lack leaflets, it is the
    tip of the leaflet that the rachis points to. Without a stalk, or with one at both
    ends, base and tip are the ends of the axis of symmetry, or else of the longest
    diameter. The method is leafid's.

    Parameters
    ----------
    leaf : Segmentation
    outline : (n, 2)
        As `trace_leaf` returns it.
    ends : (2, 2) or None
        Rows and columns of tip and base, where a person chose them.
    is_compound : bool or None
        None where nobody knows.

    Returns
    -------
    Landmarks
    """
    symmetry = measure_symmetry(leaf.blade)
    hull = find_convex_hull(leaf.blade.view(np.uint8))[:, 0, ::-1].astype(np.float64)
    axis = find_axis(symmetry, hull)
    stalk = find_stalk(leaf, outline, axis, is_compound=bool(is_compound))
    if stalk is not None and is_compound is not False and stalk.is_hidden:
        stalk = None
    if stalk is None:
        contour = trace_leaf(leaf.blade)
        if ends is None:
            return Landmarks(contour, axis.base, axis.tip, None, axis.confidence)
        return Landmarks(contour, ends[1], ends[0], 0.0)
    contour = resample(stalk.outline, CONTOUR_POINTS)
    confidence = 1.0
    if ends is not None:
        tip, base = ends
    elif is_compound:
        base = stalk.base
        tip = _find_farthest(hull, base, symmetry.centroid, _RACHIS_BEARING)
    else:
        base = stalk.base
        tip = _find_tip(contour, base, symmetry)
        # A bent blade isn't symmetric.
        overlap = symmetry.measure_overlap(tip - base)
        confidence = min(overlap / MIN_OVERLAP, 1.0)
    petiole = dist(stalk.end, base)
    return Landmarks(contour, base, tip, petiole, confidence)


def _find_tip(contour: Points, foot: Points, symmetry: Symmetry) -> Points:
    """Find the tip of a simple blade: its farthest point, or the end of its axis.

    The farthest point may be the corner of a fan or of a heart, whose tip is the notch
    between both corners. Of the two, the tip is the farther one, each distance times
    the overlap with the mirror image about its direction.
    """
    centroid = symmetry.centroid
    farthest = _find_farthest(contour, foot, centroid, _TIP_BEARING)
    axes, overlaps = symmetry.find_axes()
    cosines = measure_cosine(axes, centroid - foot)
    overlaps = np.where(np.abs(cosines) > np.cos(_TIP_BEARING), overlaps, 0)
    if not overlaps.any():
        return farthest
    index = overlaps.argmax()
    axis = axes[index] * np.sign(cosines[index])
    # Where the outline crosses the axis last.
    along, across = _make_axes(np.zeros(2), axis) @ (contour - centroid).T
    is_crossing = across * np.roll(across, -1) <= 0
    end = centroid + axis * np.where(is_crossing, along, 0).max()
    return max(farthest, end, key=lambda point: _score_tip(point - foot, symmetry))


def _score_tip(offset: Points, symmetry: Symmetry) -> float:
    return float(np.hypot(*offset)) * symmetry.measure_overlap(offset)


def _find_farthest(
    points: Points, foot: Points, centroid: Points, bearing: float
) -> Points:
    """Find the point farthest from `foot` within an angle of the centroid's bearing."""
    offsets = points - foot
    is_ahead = measure_cosine(offsets, centroid - foot) > np.cos(bearing)
    return points[np.where(is_ahead, np.hypot(*offsets.T), 0).argmax()]


def _make_axes(base: Points, tip: Points) -> Points:
    """Make the unit vectors from base to tip, and to the right of an upright leaf."""
    row, col = (tip - base) / max(dist(tip, base), 1e-9)
    return np.array([[row, col], [col, -row]])
