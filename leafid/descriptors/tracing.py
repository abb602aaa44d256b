"""Traces the outline of a leaf."""

import cv2
import numpy as np

from leafid.descriptors.arrays import Plane, Points
from leafid.descriptors.shape.contour import (
    compute_contour_length,
    resample,
    trace_contours,
)
from leafid.descriptors.shape.margin import smooth_contour
from leafid.segmentation.pixels import Mask, add_margin, find_bounding_box

#: Points of an outline.
CONTOUR_POINTS = 2048
# Side to which a small leaf is enlarged first.
_SIDE = 600
# Number of parts of a leaf that are joined, and the widest gap, in sides of the leaf.
_MAX_PARTS = 40
_MAX_GAP = 0.1
_LINE_WIDTH = 3
# Empty pixels around a leaf, enough for the end of a line and for the smoothing.
_PAD = 6


def trace_leaf(leaf: Mask) -> Points:
    """Trace the outline of a leaf, whose parts are joined by lines.

    Parameters
    ----------
    leaf : bool (H, W)
        Not empty.

    Returns
    -------
    (`CONTOUR_POINTS`, 2)
        Rows and columns, counter-clockwise at equal arc length.
    """
    row0, row1, col0, col1 = find_bounding_box(leaf)
    crop = leaf[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    factor = max(1, round(_SIDE / max(crop.shape)))
    large = cv2.resize(crop, None, fx=factor, fy=factor)
    grey = add_margin(large, _PAD)
    _join_parts(grey)
    points = resample(trace_contours(grey)[0], CONTOUR_POINTS)
    if factor > 1:
        # The stairs of a small mask's pixels are no teeth.
        points = smooth_contour(points, factor / compute_contour_length(points))
    # A pixel is `factor` pixels wide now, around the same middle.
    return (points - _PAD - (factor - 1) / 2) / factor + (row0, col0)


def _join_parts(grey: Plane) -> None:
    """Draw lines from the largest part to others that are near it.

    Parts are separated at the level that is traced: at a lower one, lines would end
    before the parts of a leaf that was enlarged.
    """
    parts = (grey > 127).view(np.uint8)
    curves, _ = cv2.findContours(parts, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    largest, *others = (curve[:, 0] for curve in sorted(curves, key=len, reverse=True))
    if not others:
        return
    from scipy.spatial import cKDTree  # takes a tenth of a second to import

    for curve in others[: _MAX_PARTS - 1]:
        distances, nearest = cKDTree(curve).query(largest)
        place = int(distances.argmin())
        if distances[place] <= _MAX_GAP * max(grey.shape):
            start = largest[place].tolist()
            end = curve[nearest[place]].tolist()
            cv2.line(grey, start, end, 255, _LINE_WIDTH)
