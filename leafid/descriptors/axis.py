"""Finds the axis of a blade of which no petiole shows the base.

It is the axis of symmetry, or else the longest diameter.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from leafid.descriptors.arrays import Floats, Points
from leafid.segmentation.pixels import Mask, find_bounding_box

# Samples of the polar picture: angles of the full circle, and radii.
_ANGLES = 1024
_RADII = 64
# Standard deviation that the overlap is smoothed by, in degrees of arc.
_BLUR = 2.0
#: Overlap with its mirror image of a blade that has an axis of symmetry.
MIN_OVERLAP = 0.8
# Greatest width of a blade, in its lengths.
_WIDEST = 2.0
# Smallest angle between an axis and another one.
_RIVAL_ANGLE = np.radians(30)
# Overlap that a blade e times as long as wide along an axis counts for.
_SLIM = 0.02
# Lead over all others that makes an axis sure.
_CLEAR = 0.03


@dataclass(frozen=True, eq=False)
class Symmetry:
    """How symmetric a blade is about each line through its centroid."""

    #: Row and column.
    centroid: Points
    #: Share of the blade that its mirror image covers, by the angle of the line:
    #: (`_ANGLES`,), from 0° along the columns to 180°, over 90° along the rows.
    overlap: Floats

    def measure_overlap(self, direction: Points) -> float:
        """Measure the overlap with the mirror image about a line in a direction."""
        share = float(np.arctan2(*direction)) / np.pi
        return float(self.overlap[round(share * _ANGLES) % _ANGLES])

    def find_axes(self) -> tuple[Points, Floats]:
        """Find the lines about which the blade is most symmetric.

        Returns
        -------
        axes : (n, 2)
            Unit vectors, row and column.
        overlaps : (n,)
        """
        before = np.roll(self.overlap, 1)
        after = np.roll(self.overlap, -1)
        peaks = np.flatnonzero((self.overlap >= before) & (self.overlap > after))
        angles = peaks * np.pi / _ANGLES
        return np.stack([np.sin(angles), np.cos(angles)], axis=1), self.overlap[peaks]


def measure_symmetry(blade: Mask) -> Symmetry:
    """Measure how symmetric a blade, which is not empty, is about its diameters.

    In polar coordinates a mirror image is the blade with its angles in reverse, so that
    a convolution gives the overlap at all angles. The method is leafid's.
    """
    row0, row1, col0, col1 = find_bounding_box(blade)
    crop = blade[row0:row1, col0:col1].view(np.uint8)
    moments = cv2.moments(crop, binaryImage=True)
    col, row = moments["m10"] / moments["m00"], moments["m01"] / moments["m00"]
    polar = cv2.warpPolar(
        crop * np.uint8(255),
        (_RADII, _ANGLES),
        (col, row),
        float(np.hypot(*crop.shape)),
        cv2.INTER_LINEAR | cv2.WARP_FILL_OUTLIERS,
    )
    # The area of a pixel of a ring grows with its radius.
    rings = polar / 255 * np.sqrt(np.arange(_RADII) + 0.5)
    blur = np.pi * _BLUR * np.fft.rfftfreq(_ANGLES, 360 / _ANGLES)
    spectrum = (np.fft.rfft(rings, axis=0) ** 2).sum(axis=1) * np.exp(-2 * blur**2)
    overlap = np.fft.irfft(spectrum, _ANGLES) / max((rings**2).sum(), 1e-9)
    return Symmetry(np.array([row0 + row, col0 + col]), overlap)


@dataclass(frozen=True, eq=False)
class Axis:
    """The ends of a blade, row and column, whichever is the tip."""

    base: Points
    tip: Points
    #: From 0 to 1: that the line between them is the midrib.
    confidence: float


def find_axis(symmetry: Symmetry, corners: Points) -> Axis:
    """Find the axis of a blade.

    Of several axes of symmetry it is the longest, unless a shorter one is clearly
    better. A blade is at most twice as wide as long: a bent one, too, is symmetric
    about the line across.

    Parameters
    ----------
    symmetry : Symmetry
    corners : (n, 2)
        Corners of the blade's convex hull, rows and columns.
    """
    axes, overlaps = symmetry.find_axes()
    lengths, widths = _measure_sides(corners, axes)
    is_axis = (overlaps >= MIN_OVERLAP) & (_WIDEST * lengths >= widths)
    if not is_axis.any():
        return _find_longest_diameter(corners)
    slimness = np.log(lengths / widths)
    scores = np.where(is_axis, overlaps + _SLIM * slimness, 0)
    index = scores.argmax()
    axis = axes[index]
    is_rival = np.abs(axes @ axis) < np.cos(_RIVAL_ANGLE)
    lead = scores[index] - scores[is_rival].max(initial=MIN_OVERLAP)
    along = (corners - symmetry.centroid) @ axis
    base, tip = symmetry.centroid + np.outer((along.min(), along.max()), axis)
    return Axis(base, tip, float(np.clip(lead / _CLEAR, 0, 1)))


def _find_longest_diameter(corners: Points) -> Axis:
    distances = np.linalg.norm(corners[:, None] - corners, axis=2)
    ends = np.unravel_index(distances.argmax(), distances.shape)
    base, tip = corners[list(ends)]
    length, width = _measure_sides(corners, (tip - base) / max(distances.max(), 1e-9))
    return Axis(base, tip, float(np.clip(length / width - 1, 0, 1)))


def _measure_sides(corners: Points, axes: Points) -> Points:
    """Measure the extents along and across unit vectors, (n, 2) or (2,)."""
    across = axes[..., ::-1] * (1, -1)
    sides = [np.ptp(corners @ axes.T, axis=0), np.ptp(corners @ across.T, axis=0)]
    return np.maximum(sides, 1e-9)
