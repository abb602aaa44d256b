"""Tells leaves that touch, or nearly so, from the parts of one leaf."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import Mask, find_bounding_box, shrink

_SIDE = 256  # longest side of the mask that bodies are searched in
# Smallest piece that may be a leaf, as a part of the largest one's area. A leaf whose rachis is lost has more pieces.
_MIN_PIECE, _MAX_PIECES = 0.15, 3
_BODY = 0.4  # radius of the disc that fits into a body, in radii of the largest one that fits into the piece
_MIN_BODY = 0.08  # smallest body, as a part of the largest one's area
_EQUAL = 0.5  # smallest of two bodies that may be two leaves, as a part of the larger one's area


def split_leaves(mask: Mask) -> list[Mask]:
    """Split a mask that isn't empty into its leaves, if it is in two or three pieces that may be leaves.

    A leaf has one body, where a disc fits, or three and more, its leaflets. A piece with two bodies is what is left of
    a leaf that has lost its rachis. Small pieces are dropped where the mask is split. The method is leafid's own.
    """
    # Outlines take a thirtieth of the time of labels.
    leaf = np.ascontiguousarray(mask).view(np.uint8)
    outlines, _ = cv2.findContours(leaf, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    areas = np.array([cv2.contourArea(outline) for outline in outlines])
    large = np.flatnonzero(areas >= _MIN_PIECE * areas.max())
    if not 2 <= len(large) <= _MAX_PIECES:
        return [mask]
    pieces = []
    for index in large.tolist():
        filled = cv2.drawContours(
            np.zeros_like(leaf), outlines, index, 1, cv2.FILLED
        ).view(bool)
        pieces.append(filled & mask)
    are_leaves = all(len(_measure_bodies(piece)) != 2 for piece in pieces)
    return pieces if are_leaves else [mask]


def may_be_several(mask: Mask) -> bool:
    """Whether a mask may be of several leaves: apart, or two that a neck or a twig connects."""
    if not mask.any():
        return False
    if len(split_leaves(mask)) > 1:
        return True
    bodies = _measure_bodies(mask)
    return len(bodies) == 2 and bodies.min() >= _EQUAL * bodies.max()


def _measure_bodies(mask: Mask) -> NDArray[np.int32]:
    """Measure the areas of what remains of a mask where a disc fits."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    box = mask[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    leaf = (np.pad(shrink(box, _SIDE), 1) > 127).view(np.uint8)
    depth = cv2.distanceTransform(leaf, cv2.DIST_L2, cv2.DIST_MASK_5)
    _, _, stats, _ = cv2.connectedComponentsWithStats(
        (depth > _BODY * depth.max()).view(np.uint8)
    )
    areas = stats[1:, cv2.CC_STAT_AREA]
    return areas[areas >= _MIN_BODY * areas.max(initial=0)]
