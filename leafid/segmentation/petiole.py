"""Finds the petiole (leaf stalk) of a leaf's mask."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.result import Mask, downsample2_until, find_bounding_box, find_convex_hull

# The work is done at this √area, where a disc of a few percent of it still is a disc.
_WORKING_ROOT_AREA = 100.0
# All below are parts of √area unless they say otherwise.
_DISC = 0.04  # radius of the disc that a petiole is too narrow for
_DISC_OF_WIDTH = 0.45  # at most this part of the largest inscribed disc's radius (needle-shaped leaves)
_LEAST_LENGTH = 0.08
_LEAST_LENGTH_COMPOUND = 0.15
_LEAST_SLENDERNESS = 2.0  # length over width
# Area of the outer half over that of the inner one: 1 for a stalk, a third for a pointed tip.
_LEAST_EVENNESS = 0.6
_RIM = 1.2  # working pixels around the opened blade that are not stalk: what the disc can't reach of the blade's rim
# A leaf is compound when no large disc fits into it and it leaves much of its convex hull free.
_COMPOUND_DISC, _COMPOUND_SOLIDITY = 0.25, 0.65
_LEAFLET_GAP = 0.12  # half of the widest gap that is closed between leaflets
_CROWN_DISC = 0.09
_LEAFLET_DISC_OF_WIDTH = 0.6


def remove_petiole(mask: Mask, box: tuple[int, int, int, int] | None = None) -> Mask:
    """Take the petiole from a leaf's mask.

    The mask is opened with a disc a few percent of √area wide. Of what the opening takes away, the longest slender
    piece that hangs on the blade by one end and doesn't taper (as a leaf's tip does) is the petiole. Of a compound
    leaf, the petiole is what lies outside the convex hull of the leaflets, so that the rachis stays.

    Parameters
    ----------
    mask : ndarray of bool, shape (H, W)
        The leaf; may be empty.
    box : tuple of int, optional
        ``(row0, row1, col0, col1)`` of the mask, where it is known; all 0 for an empty mask.

    Returns
    -------
    ndarray of bool, shape (H, W)
        The blade: part of the mask, and never empty unless the mask is.

    Notes
    -----
    The method is leafid's own; opening is that of mathematical morphology.
    """
    row0, row1, col0, col1 = box or find_bounding_box(mask)
    blade = mask.copy()
    if row1 == 0:
        return blade
    whole = mask[row0:row1, col0:col1].view(np.uint8)
    factor = min(1.0, _WORKING_ROOT_AREA / float(np.sqrt(cv2.countNonZero(whole))))
    small = whole
    if factor < 1:
        size = (max(1, round(whole.shape[1] * factor)), max(1, round(whole.shape[0] * factor)))
        small = cv2.resize(downsample2_until(whole * np.uint8(255), 2 * max(size)), size, interpolation=cv2.INTER_AREA)
        small = (small > 80).view(np.uint8)
    # A margin, so that the picture's own border counts as outside.
    small = cv2.copyMakeBorder(small, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=0)
    petiole = _find(small)
    if petiole is None:
        return blade
    petiole = petiole[2:-2, 2:-2]
    if factor < 1:
        petiole = cv2.resize(petiole, whole.shape[::-1], interpolation=cv2.INTER_NEAREST)
    # Where the petiole isn't, the mask stays; both are 0 and 1.
    part = blade[row0:row1, col0:col1].view(np.uint8)
    cv2.compare(part, petiole, cv2.CMP_GT, part)
    part &= 1
    return blade if blade.any() else mask.copy()


def _find(small: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Mark the petiole, with its rim, in a mask that is 0 along its border; None where there is none."""
    root_area = float(np.sqrt(np.count_nonzero(small)))
    inside = cv2.distanceTransform(small, cv2.DIST_L2, 5)
    widest = float(inside.max())
    if widest < _COMPOUND_DISC * root_area and _solidity(small) < _COMPOUND_SOLIDITY:
        blade, least = _crown(small, inside, root_area), _LEAST_LENGTH_COMPOUND
    else:
        radius = min(_DISC * root_area, _DISC_OF_WIDTH * widest)
        blade, least = _opened(inside, radius), _LEAST_LENGTH
    if not blade.any():
        return None
    away = cv2.distanceTransform(1 - blade, cv2.DIST_L2, 5)
    label_map = _best_stalk(((away > _RIM) & (small > 0)).view(np.uint8), away, least * root_area)
    if label_map is None:
        return None
    return cv2.dilate(label_map, np.ones((5, 5), np.uint8)) & (1 - blade)


def _best_stalk(residue: NDArray[np.uint8], away: NDArray[np.float32], least: float) -> NDArray[np.uint8] | None:
    """Choose the piece that is most like a stalk: long, slender, not tapering; `away` is the distance to the blade."""
    curves, hierarchy = cv2.findContours(residue, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    best, best_score = None, 0.0
    # Most pieces are crumbs of the rim, for which a look at their curve is enough.
    for place, curve in enumerate(curves):
        left, top, width, height = cv2.boundingRect(curve)
        reach = float(np.hypot(width, height))
        if reach < least or hierarchy[0, place, 3] >= 0:
            continue
        piece = np.zeros((height, width), np.uint8)
        cv2.drawContours(piece, [curve], 0, 1, cv2.FILLED, offset=(-left, -top))
        window = np.s_[top : top + height, left : left + width]
        piece &= residue[window]
        depths = away[window][piece.view(bool)]
        depth, area = float(depths.max()), depths.size
        length = max(depth, reach)
        if depth < least or length * length < _LEAST_SLENDERNESS * area:
            continue
        outer = np.count_nonzero(depths > (depth + _RIM) / 2)
        evenness = min(1.0, outer / max(area - outer, 1))
        score = depth * evenness**2
        if score > best_score and evenness >= _LEAST_EVENNESS:
            best, best_score = np.zeros_like(residue), score
            best[window] = piece
    return best


def _opened(inside: NDArray[np.float32], radius: float) -> NDArray[np.uint8]:
    """Open a mask, given its distance transform, with a disc."""
    core = (inside > radius).view(np.uint8)
    return (cv2.distanceTransform(1 - core, cv2.DIST_L2, 5) <= radius + 0.3).view(np.uint8)


def _crown(small: NDArray[np.uint8], inside: NDArray[np.float32], root_area: float) -> NDArray[np.uint8]:
    """Fill the convex hull of a compound leaf's leaflets."""
    gap = max(1.0, _LEAFLET_GAP * root_area)
    pad = round(gap) + 2
    framed = cv2.copyMakeBorder(small, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=0)
    grown = (cv2.distanceTransform(1 - framed, cv2.DIST_L2, 5) <= gap).view(np.uint8)
    deep = cv2.distanceTransform(grown, cv2.DIST_L2, 5)[pad:-pad, pad:-pad]
    # Closed by `gap` and then eroded by the disc is grown and then eroded by both.
    core = (deep > gap + _CROWN_DISC * root_area).view(np.uint8)
    crown = (
        (cv2.distanceTransform(1 - core, cv2.DIST_L2, 5) <= _CROWN_DISC * root_area).view(np.uint8)
        if core.any()
        else core
    )
    leaflets = _opened(inside, _LEAFLET_DISC_OF_WIDTH * float(inside.max()))
    hull = np.zeros_like(small)
    cv2.fillConvexPoly(hull, find_convex_hull(crown | leaflets), 1)
    return hull


def _solidity(small: NDArray[np.uint8]) -> float:
    return np.count_nonzero(small) / max(cv2.contourArea(find_convex_hull(small)), 1.0)
