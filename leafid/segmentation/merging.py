"""Tells leaves that touch, or nearly so, from the parts of one leaf."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import Mask

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
# Smallest part of its convex hull that a simple leaf takes; half a compound one is less.
_SOLID = 0.52


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
    has_one_body = [len(_measure_bodies(piece)) == 1 for piece in pieces]
    hull_area = cv2.contourArea(cv2.convexHull(outlines[large[0]]))
    is_leaf = has_one_body[0] and areas[large[0]] >= _SOLID * hull_area
    is_pair = len(large) == 2 and areas[large[1]] >= _EQUAL * areas[large[0]]
    return pieces if is_leaf or (is_pair and any(has_one_body)) else [mask]


def may_be_several(mask: Mask) -> bool:
    """Whether a mask may be of several leaves: apart, or two that a neck connects."""
    if not mask.any():
        return False
    if len(split_leaves(mask)) > 1:
        return True
    bodies = _measure_bodies(mask)
    return len(bodies) == 2 and bodies.min() >= _EQUAL * bodies.max()


def _measure_bodies(mask: Mask) -> NDArray[np.int32]:
    """Measure the areas of what remains of a mask where a disc fits."""
    step = -(-max(mask.shape) // _SIDE)
    leaf = np.pad(mask[::step, ::step], 1).view(np.uint8)
    depth = cv2.distanceTransform(leaf, cv2.DIST_L2, cv2.DIST_MASK_5)
    bodies = (depth > _BODY * depth.max()).view(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(bodies)
    areas = stats[1:, cv2.CC_STAT_AREA]
    return areas[areas >= _MIN_BODY * areas.max(initial=0)]
