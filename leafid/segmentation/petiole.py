"""Finds the petiole (leaf stalk) of a leaf's mask."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.result import Mask, bounding_box

# The work is done at this √area, where a disc of a few percent of it still is a disc.
_WORKING_ROOT_AREA = 110.0
_DISC = 0.04  # radius, part of √area
_DISC_OF_WIDTH = 0.45  # radius, at most this part of the largest inscribed disc's (needle-shaped leaves)
_LEAST_LENGTH = 0.10  # part of √area
_LEAST_SLENDERNESS = 2.0  # length over width
_WHOLE_BLADE = 0.75  # a simple leaf keeps this part of its opened area in one piece


def remove_petiole(mask: Mask) -> Mask:
    """Take the petiole from a leaf's mask.

    The mask is opened with a disc a few percent of √area wide. Of what the opening takes away, the longest slender
    piece that hangs on the blade by one end is the petiole. Of a compound leaf, only what lies outside the convex
    hull of its leaflets can be petiole, so that the rachis stays.

    Parameters
    ----------
    mask : ndarray of bool, shape (H, W)

    Returns
    -------
    ndarray of bool, shape (H, W)
        The blade: part of the mask, and never empty unless the mask is.
    """
    row0, row1, col0, col1 = bounding_box(mask)
    if row1 == 0:
        return mask.copy()
    whole = mask[row0:row1, col0:col1].view(np.uint8)
    factor = min(1.0, _WORKING_ROOT_AREA / np.sqrt(np.count_nonzero(whole)))
    small = whole
    if factor < 1:
        size = (max(1, round(whole.shape[1] * factor)), max(1, round(whole.shape[0] * factor)))
        small = (cv2.resize(whole * np.uint8(255), size, interpolation=cv2.INTER_AREA) > 80).astype(np.uint8)
    # A margin, so that the picture's own border counts as outside.
    small = cv2.copyMakeBorder(small, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=0)
    petiole = _find(small)
    blade = mask.copy()
    if petiole is None:
        return blade
    petiole = petiole[2:-2, 2:-2]
    if factor < 1:
        petiole = cv2.resize(petiole, whole.shape[::-1], interpolation=cv2.INTER_NEAREST)
    blade[row0:row1, col0:col1] &= petiole == 0
    return blade if blade.any() else mask.copy()


def _find(small: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Mark the petiole, one pixel wider than the mask so that none of its rim stays; None where there is none."""
    root_area = float(np.sqrt(np.count_nonzero(small)))
    inside = cv2.distanceTransform(small, cv2.DIST_L2, 5)
    radius = min(_DISC * root_area, _DISC_OF_WIDTH * float(inside.max()))
    if radius < 1:
        return None
    core = (inside > radius).astype(np.uint8)
    outside_core = cv2.distanceTransform(1 - core, cv2.DIST_L2, 5)
    opened = ((outside_core <= radius + 0.5) & (small > 0)).astype(np.uint8)
    residue = ((outside_core > radius + 1.5) & (small > 0)).astype(np.uint8)
    if _is_compound(opened):
        residue &= 1 - _hull(opened)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(residue, connectivity=8)
    best, best_score = 0, 0.0
    for label in range(1, count):
        area = float(stats[label, cv2.CC_STAT_AREA])
        left, top, width, height = stats[label, :4]
        if np.hypot(width, height) < _LEAST_LENGTH * root_area:
            continue
        window = np.s_[top : top + height, left : left + width]
        piece = labels[window] == label
        depth = float(outside_core[window][piece].max()) - radius
        length = max(depth, float(np.hypot(width, height)))
        thickness = area / length
        if depth < _LEAST_LENGTH * root_area or length < _LEAST_SLENDERNESS * thickness:
            continue
        if depth > best_score:
            best, best_score = label, depth
    if not best:
        return None
    petiole = (labels == best).astype(np.uint8)
    # Take the stalk's rim too, but nothing of the opened blade.
    grown = cv2.dilate(petiole, np.ones((5, 5), np.uint8))
    return grown & (1 - opened)


def _is_compound(opened: NDArray[np.uint8]) -> bool:
    _, _, stats, _ = cv2.connectedComponentsWithStats(opened, connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA]
    return not areas.size or areas.max() < _WHOLE_BLADE * areas.sum()


def _hull(opened: NDArray[np.uint8]) -> NDArray[np.uint8]:
    points = cv2.findNonZero(opened)
    hull = np.zeros_like(opened)
    if points is not None:
        cv2.fillConvexPoly(hull, cv2.convexHull(points), 1)
    return hull
