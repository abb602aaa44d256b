"""Landmarks of a leaf: base and tip of its blade."""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from leafid.descriptors.axis import Axis, Symmetry, find_axis, measure_symmetry
from leafid.descriptors.shape.contour import Points, resample, trace_contours
from leafid.segmentation.crop import find_petiole_foot
from leafid.segmentation.result import (
    Segmentation,
    find_bounding_box,
    find_convex_hull,
)

CONTOUR_POINTS = 2048
LENGTH = 256  # rows between foot and tip of the upright leaf
_TIP_BEARING = np.radians(
    40
)  # largest angle between the tip and the blade's centroid, as seen from the base
_RACHIS_BEARING = np.radians(12)
_SPINE_BEARING = np.radians(45)
_PLAIN = 0.5  # confidence of an axis beside which there is no petiole
_BASE_WIDTH = 1.8  # width of the leaf at its base, in widths of its petiole
_MIN_LENGTH = 8  # smallest distance from base to tip, in pixels
_PAD = 3


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Base and tip of a blade in a picture: row and column, in pixels."""

    #: Outline of the largest part of the blade, (`CONTOUR_POINTS`, 2), counter-clockwise at equal arc length.
    contour: Points
    #: Outermost pixels of all parts, and corners of their outlines, each (n, 2).
    pixels: Points
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
    def extent(self) -> tuple[float, float]:
        """Length and width of the blade, along and across the line from base to tip, in pixels."""
        along, across = _make_axes(self.base, self.tip)
        # Outlines are smooth: between straight sides they are exact, but pointed ends are cut off.
        width = float(np.ptp(self.corners @ across))
        return float(np.ptp(self.pixels @ along)) + 1, max(width, 1.0)

    @cached_property
    def framed(self) -> Points:
        """The contour in lengths of the midrib: along (0 at the base, 1 at the tip), and across (right is positive)."""
        offsets = (self.contour - self.base) @ _make_axes(self.base, self.tip).T
        return offsets / max(self.length, 1e-9)


def trace_blade(segmentation: Segmentation) -> tuple[Points, Points, Points]:
    """Trace the blade: `contour`, `pixels` and `corners` of its `Landmarks`."""
    row0, row1, col0, col1 = find_bounding_box(segmentation.blade)
    crop = segmentation.blade[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    grey = cv2.copyMakeBorder(
        crop, _PAD, _PAD, _PAD, _PAD, cv2.BORDER_CONSTANT, value=0
    )
    corner = np.array([row0, col0]) - _PAD
    contours = trace_contours(grey)
    hull = cv2.convexHull(np.concatenate(contours).astype(np.float32))
    pixels = find_convex_hull(grey)[:, 0, ::-1] + corner
    return resample(contours[0], CONTOUR_POINTS) + corner, pixels, hull[:, 0] + corner


def find_landmarks(
    segmentation: Segmentation, *, is_compound: bool = False
) -> Landmarks:
    """Find base and tip of a blade, which is not empty.

    The tip is the point of the outline that is farthest from where the petiole meets the blade, in the direction of the
    blade's centroid, or else where the axis of symmetry ends. The base is where the leaf, followed from the petiole
    towards the tip, becomes wider than the petiole: in a sinus between two lobes of the base, too. The tip of a
    compound leaf, which may lack leaflets, is that of the leaflet that the rachis points to. Without a petiole, they
    are the ends of the axis of symmetry, or else of the longest diameter. The method is leafid's own.
    """
    outlines = trace_blade(segmentation)
    symmetry = measure_symmetry(segmentation.blade)
    ends = find_axis(symmetry, outlines[2])
    foot = find_petiole_foot(segmentation)
    if foot is not None and (is_compound or not _is_spine(foot[::-1], symmetry, ends)):
        foot = foot[::-1]
        if is_compound:
            points = np.argwhere(segmentation.blade).astype(np.float64)
            tip = _find_farthest(points, foot, symmetry.centroid, _RACHIS_BEARING)
        else:
            tip = _find_tip(outlines[0], foot, symmetry)
        if np.hypot(*(tip - foot)) >= _MIN_LENGTH:
            base = _follow_petiole(segmentation, foot, tip)
            petiole = _measure_petiole(segmentation, base)
            return Landmarks(*outlines, base, tip, petiole)
    return Landmarks(*outlines, ends.base, ends.tip, None, ends.confidence)


def place_landmarks(segmentation: Segmentation, tip: Points, base: Points) -> Landmarks:
    """Take a tip and a base, row and column in the picture; the petiole ends farthest from the base."""
    petiole = _measure_petiole(segmentation, base)
    return Landmarks(*trace_blade(segmentation), base, tip, petiole)


def _measure_petiole(segmentation: Segmentation, base: Points) -> float:
    rows, cols = np.nonzero(segmentation.petiole)
    return float(np.hypot(rows - base[0], cols - base[1]).max(initial=0))


def _is_spine(foot: Points, symmetry: Symmetry, axis: Axis) -> bool:
    """Whether what looks like a petiole stands on the side of a blade whose axis is plain to see."""
    upward, along = symmetry.centroid - foot, axis.tip - axis.base
    cosine = abs(upward @ along) / max(np.hypot(*upward) * np.hypot(*along), 1e-9)
    return axis.confidence >= _PLAIN and cosine < np.cos(_SPINE_BEARING)


def _find_tip(contour: Points, foot: Points, symmetry: Symmetry) -> Points:
    """Find the tip of a simple blade: its farthest point, or the end of its axis of symmetry.

    The farthest point may be the corner of a fan or of a heart, whose tip is the notch between both corners. Of the
    two, the tip is the farther one, each distance times the overlap with the mirror image about its direction.
    """
    centroid = symmetry.centroid
    farthest = _find_farthest(contour, foot, centroid, _TIP_BEARING)
    axes, overlaps = symmetry.find_axes()
    cosines = axes @ (centroid - foot) / max(np.hypot(*(centroid - foot)), 1e-9)
    overlaps = np.where(np.abs(cosines) > np.cos(_TIP_BEARING), overlaps, 0)
    if not overlaps.any():
        return farthest
    index = int(np.argmax(overlaps))
    axis = axes[index] * np.sign(cosines[index])
    # Where the outline crosses the axis last.
    along, across = _make_axes(np.zeros(2), axis) @ (contour - centroid).T
    is_crossing = across * np.roll(across, -1) <= 0
    end = centroid + axis * np.where(is_crossing, along, 0).max()
    reaches = np.hypot(*(np.array([farthest, end]) - foot).T)
    weights = symmetry.measure_overlap(farthest - foot), overlaps[index]
    return farthest if np.argmax(reaches * weights) == 0 else end


def _find_farthest(
    points: Points, foot: Points, centroid: Points, bearing: float
) -> Points:
    """Find the point that is farthest from `foot` within an angle of the direction of the centroid."""
    offsets, towards = points - foot, centroid - foot
    distance = np.hypot(*offsets.T)
    cosine = offsets @ towards / np.maximum(distance * np.hypot(*towards), 1e-9)
    return points[int(np.argmax(np.where(cosine > np.cos(bearing), distance, 0)))]


def _make_axes(base: Points, tip: Points) -> Points:
    """Make the unit vectors from base to tip, and to the right of a leaf with its tip up: row and column, (2, 2)."""
    row, col = (tip - base) / max(float(np.hypot(*(tip - base))), 1e-9)
    return np.array([[row, col], [col, -row]])


def _follow_petiole(segmentation: Segmentation, foot: Points, tip: Points) -> Points:
    """Follow the petiole from `foot` towards the tip to where the leaf becomes wider than the petiole."""
    rows, cols = np.nonzero(segmentation.petiole)
    reach = float(np.hypot(rows - foot[0], cols - foot[1]).max())
    along, across = _make_axes(foot, tip)
    scale = float(np.hypot(*(tip - foot))) / LENGTH
    widest = _BASE_WIDTH * len(rows) / max(reach, 1.0) / scale + 2
    # The leaf turned upright, from the foot to the middle between it and the tip, `LENGTH` wide on both sides.
    mask = segmentation.mask.view(np.uint8) * np.uint8(255)
    if scale > 1.5:
        mask = cv2.GaussianBlur(mask, (0, 0), 0.4 * scale)
    up, right = (
        np.arange(LENGTH // 2)[:, None, None],
        np.arange(-LENGTH, LENGTH)[:, None],
    )
    places = (foot + scale * (up * along + right * across)).astype(np.float32)
    upright = cv2.remap(mask, places[..., 1], places[..., 0], cv2.INTER_LINEAR) > 127
    col = float(LENGTH)
    for step, row in enumerate(upright):
        edges = np.flatnonzero(~row)
        place = int(np.searchsorted(edges, col))
        if not 0 < place < len(edges):
            return foot
        low, high = edges[place - 1] + 1, edges[place]
        if high - low > widest:
            return foot + step * scale * along + (col - LENGTH) * scale * across
        if high > low:
            col = (low + high - 1) / 2
    return foot
