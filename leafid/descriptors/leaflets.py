"""Counts the leaflets of a leaf."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.arrays import Plane, Singles
from leafid.segmentation.pixels import Mask, add_margin, find_convex_hull

# Radius of the disc that separates leaflets, in radii of the largest disc in the leaf.
_LEAFLET_DISC = 0.4
# Smallest area of a leaflet, relative to the three largest.
_MIN_LEAFLET = 0.08
# Radii of discs that separate leaflets that touch, in radii of the largest disc in the
# piece, and the smallest area of what they separate, relative to the largest part.
_NECKS = (0.6, 0.75)
_PART = 0.25
# Area, in areas of the median piece, of a piece that is several leaflets.
_MERGED = 3.1
# A leaf of one piece is simple if a disc larger than this (in √area) fits into it, or
# it is as solid as this.
_SIMPLE_DISC = 0.22
_SIMPLE_SOLIDITY = 0.65
# Length of the outline, in √area, of a leaf whose pieces may be many leaflets.
_FEATHERY = 10.0
# Length above which, disc below which and solidity between which one piece may be
# leaflets that overlap.
_OVERLAPPING = 7.4
_OVERLAPPING_DISC = 0.33
_OVERLAPPING_SOLIDITY = (0.72, 0.88)
# Resolution below which, solidity above which and length, in lengths of the hull, above
# which one piece may be leaflets that have merged. Reduced until they merge, 13 of 14
# leaves of Albizia are beyond, and 2 % of simple leaves.
_MERGING = 600.0
_MERGING_SOLIDITY = 0.8
_ROUGH = 1.5
# Resolution below which any leaf of several leaflets may look like a simple one that is
# less solid than this.
_TINY = 76.0
_TINY_SOLIDITY = 0.93


def count_leaflets(blade: Mask, edge: float = 0.0) -> tuple[bool | None, int | None]:
    """Tell whether a leaf is compound, and of how many leaflets, from its blade.

    Leaflets are the pieces that remain where a disc fits, each of as many as a larger
    disc separates.

    Parameters
    ----------
    blade : bool (H, W)
    edge : float
        Width of the edge in pixels: gaps between leaflets that are not wider than this
        are not seen.

    Returns
    -------
    is_compound : bool or None
        None where it is uncertain.
    number : int or None
        None where it isn't sure, as where a leaflet has the size of several.
    """
    leaf = add_margin(blade.view(np.uint8), 1)
    depth = cv2.distanceTransform(leaf, cv2.DIST_L2, 5)
    labels, stats = _separate(depth, _LEAFLET_DISC)
    areas = stats[:, cv2.CC_STAT_AREA]
    kept = np.flatnonzero(areas > _MIN_LEAFLET * np.sort(areas)[-3:].mean())
    if len(kept) < 3:
        is_simple = len(kept) == 1 and _is_simple(leaf, float(depth.max()), edge)
        return (False, 1) if is_simple else (None, None)
    numbers = []
    for index in kept.tolist():
        left, top, width, height, _ = stats[index].tolist()
        window = np.s_[top : top + height, left : left + width]
        piece = np.where(labels[window] == index + 1, depth[window], 0)
        numbers.append(max(_count_parts(piece, share) for share in _NECKS))
    sizes = areas[kept] / np.median(areas[kept])
    is_sure = np.all(sizes < np.array(numbers) + _MERGED - 1)
    return True, sum(numbers) if is_sure else None


def _separate(
    depth: Singles, share: float
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Label the pieces where a disc fits, from 1, and return their statistics."""
    fits = (depth > share * depth.max()).view(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(fits)
    return np.asarray(labels, np.int32), np.asarray(stats[1:], np.int32)


def _count_parts(depth: Singles, share: float) -> int:
    """Count the leaflets of a piece, given the distance of each pixel from its edge."""
    areas = _separate(depth, share)[1][:, cv2.CC_STAT_AREA]
    return int(np.count_nonzero(areas > _PART * areas.max()))


def _is_simple(leaf: Plane, widest: float, edge: float) -> bool:
    """Whether a leaf of one piece is surely simple; `widest` is its largest disc."""
    side = float(np.count_nonzero(leaf)) ** 0.5
    hull = find_convex_hull(leaf)
    solidity = side**2 / max(cv2.contourArea(hull), 1.0)
    curves, _ = cv2.findContours(leaf, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = sum(cv2.arcLength(curve, True) for curve in curves)
    length = outline / side
    disc = widest / side
    roughness = outline / max(cv2.arcLength(hull, True), 1.0)
    resolution = outline / max(edge, 1e-9)
    low, high = _OVERLAPPING_SOLIDITY
    may_overlap = (
        length > _OVERLAPPING and disc < _OVERLAPPING_DISC and low < solidity < high
    )
    may_be_merged = (
        resolution < _MERGING and solidity > _MERGING_SOLIDITY and roughness > _ROUGH
    )
    is_tiny = resolution < _TINY and solidity < _TINY_SOLIDITY
    is_compact = disc > _SIMPLE_DISC or solidity > _SIMPLE_SOLIDITY
    is_doubtful = may_overlap or may_be_merged or is_tiny or length > _FEATHERY
    return is_compact and not is_doubtful
