"""Landmarks of a leaf: base and tip of its blade."""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from leafid.descriptors.shape.contour import Points, resample, trace_contours
from leafid.descriptors.shape.geometry import find_centroid
from leafid.segmentation.crop import find_petiole_foot
from leafid.segmentation.result import Segmentation, find_bounding_box

CONTOUR_POINTS = 2048
LENGTH = 256  # rows between foot and tip of the upright leaf
_TIP_BEARING = np.radians(
    40
)  # largest angle between the tip and the blade's centroid, as seen from the base
_NOTCH_BEARING, _RACHIS_BEARING = np.radians(4), np.radians(12)
_MAX_LOPSIDEDNESS = 0.3
_BASE_WIDTH = 1.8  # width of the leaf at its base, in widths of its petiole
_MIN_LENGTH = 8  # smallest distance from base to tip, in pixels
_PAD = 3


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Base and tip of a blade in a picture: row and column, in pixels."""

    #: Outline of the largest part of the blade, (`CONTOUR_POINTS`, 2), counter-clockwise at equal arc length.
    contour: Points
    base: Points
    tip: Points
    #: Length of the petiole, in pixels.
    petiole: float

    @property
    def length(self) -> float:
        """Distance from base to tip, in pixels."""
        return float(np.hypot(*(self.tip - self.base)))

    @cached_property
    def framed(self) -> Points:
        """The contour in lengths of the midrib: along (0 at the base, 1 at the tip), and across (right is positive)."""
        return (
            (self.contour - self.base) @ _make_axes(self.base, self.tip).T / self.length
        )


def trace_blade(segmentation: Segmentation) -> Points:
    """Trace the largest part of the blade: rows and columns in the picture, (`CONTOUR_POINTS`, 2)."""
    row0, row1, col0, col1 = find_bounding_box(segmentation.blade)
    crop = segmentation.blade[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    grey = cv2.copyMakeBorder(
        crop, _PAD, _PAD, _PAD, _PAD, cv2.BORDER_CONSTANT, value=0
    )
    corner = np.array([row0, col0]) - _PAD
    return resample(trace_contours(grey)[0], CONTOUR_POINTS) + corner


def find_landmarks(
    segmentation: Segmentation, *, is_compound: bool = False
) -> Landmarks | None:
    """Find base and tip of a blade; None where no petiole tells the one from the other.

    The tip is the point of the outline that is farthest from where the petiole meets the blade, in the direction of the
    blade's centroid. The base is where the leaf, followed from the petiole towards the tip, becomes wider than the
    petiole: in a sinus between two lobes of the base, too. The tip of a compound leaf, which may lack leaflets, is that
    of the leaflet that the rachis points to. The method is leafid's own.
    """
    foot = find_petiole_foot(segmentation) if segmentation.blade.any() else None
    if foot is None:
        return None
    contour = trace_blade(segmentation)
    foot = foot[::-1]
    points = (
        np.argwhere(segmentation.blade).astype(np.float64) if is_compound else contour
    )
    centroid = points.mean(axis=0) if is_compound else find_centroid(contour)
    tip = _find_farthest(
        points, foot, centroid, _RACHIS_BEARING if is_compound else _TIP_BEARING
    )
    if (
        not is_compound
        and _measure_lopsidedness(contour, foot, tip) > _MAX_LOPSIDEDNESS
    ):
        # The farthest point is the corner of a fan or of a heart, whose tip is the notch between both corners.
        tip = _find_farthest(contour, foot, centroid, _NOTCH_BEARING)
    if np.hypot(*(tip - foot)) < _MIN_LENGTH:
        return None
    return place_landmarks(segmentation, tip, _follow_petiole(segmentation, foot, tip))


def place_landmarks(segmentation: Segmentation, tip: Points, base: Points) -> Landmarks:
    """Take a tip and a base, row and column in the picture; the petiole ends farthest from the base."""
    rows, cols = np.nonzero(segmentation.petiole)
    reach = np.hypot(rows - base[0], cols - base[1]).max(initial=0)
    return Landmarks(trace_blade(segmentation), base, tip, float(reach))


def span_blade(contour: Points) -> Landmarks:
    """Take the two points of a blade that are farthest from each other as base and tip, whichever is which."""
    corners = cv2.convexHull(contour[:, ::-1].astype(np.float32))[:, 0, ::-1].astype(
        np.float64
    )
    distances = np.hypot(*(corners[:, None] - corners).transpose(2, 0, 1))
    base, tip = corners[
        list(np.unravel_index(int(np.argmax(distances)), distances.shape))
    ]
    return Landmarks(contour, base, tip, 0.0)


def _find_farthest(
    points: Points, foot: Points, centroid: Points, bearing: float
) -> Points:
    """Find the point that is farthest from `foot` within an angle of the direction of the centroid."""
    offsets, towards = points - foot, centroid - foot
    distance = np.hypot(*offsets.T)
    cosine = offsets @ towards / np.maximum(distance * np.hypot(*towards), 1e-9)
    return points[int(np.argmax(np.where(cosine > np.cos(bearing), distance, 0)))]


def _measure_lopsidedness(contour: Points, base: Points, tip: Points) -> float:
    """Measure the difference of the areas on the two sides of a line, relative to the whole; less for a long blade."""
    along, across = _make_axes(base, tip) @ (contour - base).T
    flat = np.stack([along, np.abs(across)], axis=1)
    # The area under |across| counts both sides, that under its sign their difference.
    steps = np.diff(np.concatenate([flat, flat[:1]]), axis=0)[:, 0]
    return (
        min(1.0, np.ptp(across) / max(np.ptp(along), 1e-9))
        * abs(float((flat[:, 1] * steps).sum()))
        / max(float((np.abs(across * steps)).sum()), 1e-9)
    )


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
