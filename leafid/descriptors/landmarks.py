"""Landmarks of a leaf: base and tip of its blade."""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from leafid.descriptors.axis import (
    MIN_OVERLAP,
    Axis,
    Symmetry,
    find_axis,
    measure_symmetry,
)
from leafid.descriptors.shape.contour import Points, resample, trace_contours
from leafid.descriptors.stalks import find_rachis, find_stalk
from leafid.segmentation.result import Mask, Segmentation, find_bounding_box

CONTOUR_POINTS = 2048
# Largest angle between the tip and the centroid of a blade, as seen from the base.
_TIP_BEARING = np.radians(40)
_RACHIS_BEARING = np.radians(12)
_SPINE_BEARING = np.radians(45)
# Confidence of an axis beside which there is no petiole.
_PLAIN = 0.8
# Smallest distance from base to tip, in pixels.
_MIN_LENGTH = 8
# Empty pixels around a traced blade.
_PAD = 3


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Base and tip of a blade in a picture: row and column, in pixels."""

    #: Outline of the largest part of the blade, (`CONTOUR_POINTS`, 2),
    #: counter-clockwise at equal arc length.
    contour: Points
    #: Corners of the convex hull of all parts, (n, 2).
    corners: Points
    #: `base`, `tip`: whichever is which where no petiole tells the one from the other.
    base: Points
    tip: Points
    #: Length of the petiole, in pixels; None where none was found.
    petiole: float | None
    #: From 0 to 1: that the line from base to tip is the midrib.
    confidence: float = 1.0

    @property
    def has_base(self) -> bool:
        """Whether base and tip are told from each other."""
        return self.petiole is not None

    @property
    def length(self) -> float:
        """Distance from base to tip, in pixels."""
        return float(np.hypot(*(self.tip - self.base)))

    @cached_property
    def extent(self) -> Points:
        """Length and width of the blade, along and across the midrib, in pixels."""
        axes = _make_axes(self.base, self.tip)
        return np.maximum(np.ptp(self.corners @ axes.T, axis=0), 1.0)

    @cached_property
    def framed(self) -> Points:
        """The contour in lengths of the midrib.

        Along (0 at the base, 1 at the tip), and across (right is positive).
        """
        offsets = (self.contour - self.base) @ _make_axes(self.base, self.tip).T
        return offsets / max(self.length, 1e-9)


def trace_blade(blade: Mask) -> tuple[Points, Points]:
    """Trace a blade: `contour` and `corners` of its `Landmarks`."""
    row0, row1, col0, col1 = find_bounding_box(blade)
    crop = blade[row0:row1, col0:col1].astype(np.uint8)
    grey = np.pad(crop * np.uint8(255), _PAD)
    corner = np.array([row0, col0]) - _PAD
    contours = trace_contours(grey)
    # Outlines are smooth, between straight sides they are exact; pointed ends are in
    # the pixels alone.
    pixels = np.argwhere(grey)
    hull = cv2.convexHull(np.concatenate([*contours, pixels]).astype(np.float32))
    return resample(contours[0], CONTOUR_POINTS) + corner, hull[:, 0] + corner


def find_landmarks(
    segmentation: Segmentation,
    ends: Points | None = None,
    *,
    is_compound: bool | None = False,
) -> Landmarks:
    """Find base and tip of a blade, which is not empty.

    The base is where the stalk meets the blade. The tip is the point of the outline
    that is farthest from it, in the direction of the blade's centroid, or else where
    the axis of symmetry ends; of a compound leaf, which may lack leaflets, it is the
    tip of the leaflet that the rachis points to. Without a stalk, or with one at both
    ends, base and tip are the ends of the axis of symmetry, or else of the longest
    diameter. The method is leafid's own.

    Parameters
    ----------
    segmentation : Segmentation
    ends : (2, 2), optional
        Rows and columns of tip and base, where a person chose them.
    is_compound : bool
    """
    blade = segmentation.blade
    if is_compound:
        stalk = find_rachis(segmentation)
    else:
        stalk = find_stalk(segmentation)
        if stalk is not None:
            blade = stalk.remove(segmentation.mask)
    if stalk is not None and is_compound is None and stalk.is_hidden(blade):
        stalk, blade = None, segmentation.blade
    contour, corners = trace_blade(blade)
    symmetry = measure_symmetry(blade)
    axis = find_axis(symmetry, corners)
    confidence = 1.0
    if ends is None and stalk is not None:
        base = stalk.base
        if is_compound:
            points = np.argwhere(blade).astype(np.float64)
            tip = _find_farthest(points, base, symmetry.centroid, _RACHIS_BEARING)
        else:
            tip = _find_tip(contour, base, symmetry)
            # A bent blade isn't symmetric.
            overlap = symmetry.measure_overlap(tip - base)
            confidence = min(overlap / MIN_OVERLAP, 1.0)
        is_petiole = is_compound or not _is_spine(base, symmetry, axis)
        if is_petiole and np.hypot(*(tip - base)) >= _MIN_LENGTH:
            ends = np.array([tip, base])
            corners = np.vstack([corners, base])
    if ends is None:
        return Landmarks(contour, corners, axis.base, axis.tip, None, axis.confidence)
    tip, base = ends
    petiole = 0.0
    if stalk is not None:
        petiole = float(np.hypot(*(stalk.end - base)))
    return Landmarks(contour, corners, base, tip, petiole, confidence)


def _is_spine(foot: Points, symmetry: Symmetry, axis: Axis) -> bool:
    """Whether a petiole stands on the side of a blade whose axis is plain to see."""
    cosine = _measure_cosine(axis.tip - axis.base, symmetry.centroid - foot)
    return axis.confidence >= _PLAIN and abs(cosine) < np.cos(_SPINE_BEARING)


def _measure_cosine(vectors: Points, direction: Points) -> Points:
    """Measure the cosine of the angle between vectors, (..., 2), and a direction."""
    lengths = np.linalg.norm(vectors, axis=-1) * np.hypot(*direction)
    return vectors @ direction / np.maximum(lengths, 1e-9)


def _find_tip(contour: Points, foot: Points, symmetry: Symmetry) -> Points:
    """Find the tip of a simple blade: its farthest point, or the end of its axis.

    The farthest point may be the corner of a fan or of a heart, whose tip is the notch
    between both corners. Of the two, the tip is the farther one, each distance times
    the overlap with the mirror image about its direction.
    """
    centroid = symmetry.centroid
    farthest = _find_farthest(contour, foot, centroid, _TIP_BEARING)
    axes, overlaps = symmetry.find_axes()
    cosines = _measure_cosine(axes, centroid - foot)
    overlaps = np.where(np.abs(cosines) > np.cos(_TIP_BEARING), overlaps, 0)
    if not overlaps.any():
        return farthest
    index = int(np.argmax(overlaps))
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
    is_ahead = _measure_cosine(offsets, centroid - foot) > np.cos(bearing)
    return points[int(np.argmax(np.where(is_ahead, np.hypot(*offsets.T), 0)))]


def _make_axes(base: Points, tip: Points) -> Points:
    """Make the unit vectors from base to tip, and to the right of an upright leaf."""
    row, col = (tip - base) / max(float(np.hypot(*(tip - base))), 1e-9)
    return np.array([[row, col], [col, -row]])
