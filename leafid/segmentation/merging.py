"""Tells leaves that touch, or nearly so, from the parts of one leaf."""

import itertools

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import Mask

#: (n, 1, 2), columns and rows.
Outline = NDArray[np.int32]

# Longest side of the mask that bodies are searched in, in pixels.
_SIDE = 160
# Smallest piece that may be a leaf, as a part of the largest one's area.
_MIN_PIECE = 0.15
_MAX_PIECES = 3
# Radius of the disc that fits into a body, in radii of the largest one that fits.
_BODY = 0.4
# Smallest body, as a part of the largest one's area.
_MIN_BODY = 0.08
# Smallest of two bodies or pieces that may be two leaves, as a part of the larger one.
_EQUAL = 0.45
# Smallest part of its convex hull that a simple leaf takes; half a compound one is
# less.
_SOLID = 0.52
# Of two leaves that overlap, without a margin of so many radii of the largest disc: the
# smallest depth of the sinuses between them, in √area; the greatest distance of these,
# in the sum of their depths; and the part of its convex hull that each leaf takes.
_MARGIN = 0.2
_SINUS = 0.04
_WAIST = 0.6
_HALF_SOLID = 0.925


def split_leaves(mask: Mask) -> list[Mask]:
    """Split a mask that isn't empty into its leaves, if its pieces may be leaves.

    A leaf that has lost its rachis is in pieces, too: of two or three pieces, the
    largest is a leaf if it is solid and has one body, where a disc fits; or else there
    are two of similar size, one of which has one body. Small pieces are dropped where
    the mask is split. The method is leafid's own.
    """
    # Outlines take a thirtieth of the time of labels.
    leaf = np.ascontiguousarray(mask).view(np.uint8)
    outlines, _ = cv2.findContours(leaf, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    areas = np.array([cv2.contourArea(outline) for outline in outlines])
    order = np.argsort(-areas)
    large = order[areas[order] >= _MIN_PIECE * areas.max()]
    if not 2 <= len(large) <= _MAX_PIECES:
        return [mask]
    pieces = []
    for index in large.tolist():
        filled = np.zeros_like(leaf)
        cv2.drawContours(filled, outlines, index, 1, cv2.FILLED)
        pieces.append(filled.view(bool) & mask)
    hull_area = cv2.contourArea(cv2.convexHull(outlines[large[0]]))
    is_solid = areas[large[0]] >= _SOLID * hull_area
    is_leaf = is_solid and len(_find_bodies(pieces[0], _BODY)) == 1
    return pieces if is_leaf else [mask]


def may_be_several(mask: Mask) -> bool:
    """Whether a mask may be of several leaves: apart, or two that touch or overlap."""
    if not mask.any():
        return False
    if len(split_leaves(mask)) > 1:
        return True
    bodies = _find_bodies(mask, _MARGIN)
    if len(bodies) == 2:
        return _are_equal(bodies)
    return len(bodies) == 1 and _has_waist(bodies[0])


def _find_bodies(mask: Mask, share: float) -> list[Outline]:
    """Outline what remains of a mask where a disc of a share of the radius fits."""
    step = -(-max(mask.shape) // _SIDE)
    leaf = np.pad(mask[::step, ::step], 1).view(np.uint8)
    depth = cv2.distanceTransform(leaf, cv2.DIST_L2, cv2.DIST_MASK_5)
    bodies = (depth > share * depth.max()).view(np.uint8)
    outlines, _ = cv2.findContours(bodies, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    smallest = _MIN_BODY * max(map(cv2.contourArea, outlines), default=0)
    return [
        np.asarray(outline, np.int32)
        for outline in outlines
        if cv2.contourArea(outline) >= smallest
    ]


def _are_equal(pair: list[Outline]) -> bool:
    areas = [cv2.contourArea(outline) for outline in pair]
    return min(areas) >= _EQUAL * max(areas)


def _has_waist(outline: Outline) -> bool:
    """Whether a line between two sinuses makes two solid, equal halves."""
    hull = np.sort(cv2.convexHull(outline, returnPoints=False), axis=0)
    defects = cv2.convexityDefects(outline, hull)
    if defects is None:
        return False
    # Depths are in 256ths of a pixel.
    places, depths = defects.reshape(-1, 4)[:, 2:].T
    is_deep = depths >= 256 * _SINUS * np.sqrt(cv2.contourArea(outline))
    sinuses = sorted(zip(places[is_deep], depths[is_deep] / 256, strict=True))
    for (first, depth), (last, other_depth) in itertools.combinations(sinuses, 2):
        waist = np.linalg.norm(outline[last] - outline[first])
        halves = [
            outline[first : last + 1],
            np.concatenate([outline[last:], outline[: first + 1]]),
        ]
        is_short = waist <= _WAIST * (depth + other_depth)
        if is_short and _are_equal(halves) and all(map(_is_solid, halves)):
            return True
    return False


def _is_solid(half: Outline) -> bool:
    hull_area = cv2.contourArea(cv2.convexHull(half))
    return cv2.contourArea(half) >= _HALF_SOLID * hull_area
