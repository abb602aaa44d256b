"""Counts the leaflets of a leaf."""

import cv2
import numpy as np

from leafid.descriptors.arrays import Singles
from leafid.segmentation.pixels import Mask
from leafid.segmentation.result import find_convex_hull

_LEAFLET_DISC = 0.4  # radius of the disc that separates leaflets, in radii of the largest disc that fits into the leaf
_NECKS = (
    0.6,
    0.75,
)  # radii of discs that separate leaflets that touch, in radii of the largest one in the piece
_PART = (
    0.25  # smallest area of what such a disc separates, relative to the largest part
)
_MERGED = 2.5  # area, in those of the median piece, above which a piece is several leaflets that nothing separates
_SIMPLE_DISC, _SIMPLE_SOLIDITY = 0.22, 0.65
"""A leaf of one piece is simple if a disc larger than this (in √area) fits into it, or it is as solid as this."""
_FEATHERY = 10.0  # length of the outline, in √area, above which the pieces of a leaf may be many leaflets
_OVERLAPPING, _OVERLAPPING_DISC, _OVERLAPPING_SOLIDITY = 7.4, 0.33, (0.72, 0.88)
"""Length above which, disc below which and solidity between which one piece may be leaflets that overlap."""
_MERGING, _MERGING_SOLIDITY, _ROUGH = 450.0, 0.8, 1.5
"""Resolution below which, solidity above which and length in lengths of the hull above which one piece may be leaflets
that have merged. Reduced until they merge, 13 of 14 leaves of Albizia are beyond, and 2 % of simple leaves."""
_TINY, _TINY_SOLIDITY = 70.0, 0.93
"""Resolution below which any leaf of several leaflets may look like a simple one that is less solid than this."""


def count_leaflets(
    blade: Mask, resolution: float = np.inf
) -> tuple[bool | None, int | None]:
    """Tell whether a leaf is compound, and of how many leaflets, from its blade; None for what can't be told.

    Leaflets are the pieces that remain where a disc fits, each of as many as a larger disc separates. The number isn't
    sure if one of them has the size of several. `resolution` is that of `measure_resolution`: where it is low, gaps
    between leaflets are not seen.
    """
    leaf = np.pad(blade, 1).view(np.uint8)
    depth = cv2.distanceTransform(leaf, cv2.DIST_L2, 5)
    widest = float(depth.max())
    _, labels, stats, _ = cv2.connectedComponentsWithStats(
        (depth > _LEAFLET_DISC * widest).view(np.uint8)
    )
    areas = stats[:, cv2.CC_STAT_AREA].copy()
    areas[0] = 0
    kept = np.flatnonzero(areas > 0.08 * np.sort(areas)[-3:].mean())
    if len(kept) < 3:
        side = float(np.sqrt(np.count_nonzero(leaf)))
        hull = find_convex_hull(leaf)
        solidity = side**2 / max(cv2.contourArea(hull), 1.0)
        curves, _ = cv2.findContours(leaf, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        outline = sum(cv2.arcLength(curve, True) for curve in curves) / side
        low, high = _OVERLAPPING_SOLIDITY
        is_overlapping = (
            outline > _OVERLAPPING
            and widest < _OVERLAPPING_DISC * side
            and low < solidity < high
        )
        roughness = outline * side / max(cv2.arcLength(hull, True), 1.0)
        may_be_merged = (resolution < _TINY and solidity < _TINY_SOLIDITY) or (
            resolution < _MERGING
            and solidity > _MERGING_SOLIDITY
            and roughness > _ROUGH
        )
        is_simple = len(kept) == 1 and (
            widest > _SIMPLE_DISC * side or solidity > _SIMPLE_SOLIDITY
        )
        return (
            (False, 1)
            if is_simple
            and not (is_overlapping or may_be_merged)
            and outline <= _FEATHERY
            else (None, None)
        )
    numbers = []
    for index in kept.tolist():
        left, top, width, height, _ = stats[index].tolist()
        window = np.s_[top : top + height, left : left + width]
        numbers.append(
            _count_parts(np.where(labels[window] == index, depth[window], 0))
        )
    is_sure = np.all(
        areas[kept] / np.median(areas[kept]) < np.array(numbers) + _MERGED - 1
    )
    return True, sum(numbers) if is_sure else None


def _count_parts(depth: Singles) -> int:
    """Count the leaflets of a piece of a leaf, given the distance of each pixel from its edge."""
    numbers = []
    for share in _NECKS:
        _, _, stats, _ = cv2.connectedComponentsWithStats(
            (depth > share * depth.max()).view(np.uint8)
        )
        areas = stats[1:, cv2.CC_STAT_AREA]
        numbers.append(int(np.count_nonzero(areas > _PART * areas.max())))
    return max(numbers)
