"""Selects the regions of a leaf, and separates several leaves from parts of one."""

import itertools
from collections.abc import Sequence
from functools import reduce

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import (
    Image,
    Mask,
    Plane,
    add_margin,
    find_bounding_box,
    find_convex_hull,
    find_outlines,
    get_window,
    list_border,
    make_square,
)
from leafid.segmentation.sheets.contrast import measure_distance_around

# Of 255, of a reduced pixel that counts as leaf; a petiole one pixel wide covers a
# third.
_MIN_COVERAGE = 50
_GAP = 0.05  # widest gap between leaflets whose rachis was lost, in √area
_MIN_GROUP = 0.05  # smallest group of regions, as a part of the largest one's area
_MIN_SPECK = 0.0015  # smallest region, as a part of the leaf's area
_MAX_PINHOLE = 0.002  # largest hole that is filled in any leaf, as a part of its area
# Largest hole that is filled in a leaf with a closed outline, as a part of its area.
_MAX_REFLECTION = 0.2
# Area over the convex hull's area of a closed outline; compound leaves have less.
_CLOSED_SOLIDITY = 0.8
# Mean distance from the sheet, relative to the largest region's, below which a region
# is a shadow.
_FAINT = 0.4
# Leaves are separate where even what differs from the sheet by _LINK of the leaves'
# mean distance doesn't connect them: a lost rachis leaves so much.
_LINK = 0.06
# Length of contact with the picture's border, in √area, of a rim or corner: a half disc
# cut by the border has 1.6, a filled corner 2.8. A region above _RIM_SHARE of the
# picture is no rim.
_RIM_CONTACT = 2.4
_RIM_SHARE = 0.3
# A region is a thing with straight sides and right angles (a colour chart, a ruler, a
# label) where this part of its outline runs along two directions at right angles, which
# it meets within _ANGLE radians; thin regions are petioles. It is dropped where another
# region, the leaf, has _MIN_LEAF of its area.
_STRAIGHT = 0.85
_ANGLE = 0.1
_THIN = 0.03
_MIN_LEAF = 0.1
_TOLERANCE = 1.5  # pixels by which the sides of an outline may be off
# Paper is ruled where lines lead from at least this number of places of a border to the
# opposite one.
_MIN_LINES = 3
# Lines on it are narrower, in pixels of the reduced picture.
_LINE_WIDTH = 3

#: Smallest part of the largest leaf's area that another leaf has.
MIN_SHARE = 0.15
# Smallest part of the largest leaf's largest region that a region of another leaf has.
_MIN_REGION = 0.05

#: (n, 1, 2), columns and rows.
Outline = NDArray[np.int32]

# Longest side of the mask that bodies are searched in, in pixels.
_SIDE = 160
# Smallest piece that may be a leaf, as a part of the largest one's area.
_MIN_PIECE = 0.15
_MAX_PIECES = 3
# Smallest piece that may be a leaflet, likewise.
_MIN_FRAGMENT = 0.05
# A mask in one piece that takes this part of its convex hull is one leaf; and every how
# many pixels of outlines and sheets are measured.
_UNDIVIDED = 0.9
_STRIDE = 8
# A rachis differs from the sheet by this part of what the leaf does, for each pixel of
# √area: the thinner, the paler it is. Where it has enough pixels, it differs by
# _MOST_TRACE in a channel, or by _MOST_HUE_TRACE in its hue, which JPEG files have at
# half the resolution, so that it fills narrow gaps.
_TRACE = 0.0018
_MOST_TRACE = 0.44
_MOST_HUE_TRACE = 0.3
# Width, in pixels, of the sheet around a mask that shows its colour.
_RIM_WIDTH = 32
# Smallest part of a mask that its leaves take.
_MIN_WHOLE = 0.85
# Radius of the disc that fits into a body, in radii of the largest one that fits.
_BODY = 0.4
# Smallest body, as a part of the largest one's area.
_MIN_BODY = 0.08
# Smallest of two bodies or pieces that may be two leaves, as a part of the larger one.
_EQUAL = 0.45
# Smallest part of its convex hull that a simple leaf takes; half a compound one is
# less.
_SOLID = 0.52
# Of two leaves that overlap, without a margin, in radii of the largest disc: the
# smallest depth of the sinuses between them, in √area; the greatest distance of these,
# in the sum of their depths; and the part of its convex hull that each leaf takes.
_MARGIN = 0.2
_SINUS = 0.04
_WAIST = 0.6
_HALF_SOLID = 0.925


def select_leaf_regions(coverage: Plane, distance: Plane) -> tuple[Plane, Plane]:
    """Select the leaf's regions of a thresholded picture, without dust and rims.

    Takes the share of each pixel that differs from the sheet, 0 to 255, and its
    colour's distance from the sheet's; returns 1 for leaf, 0 for background, and
    likewise 1 for things with straight sides beside the leaf. The method is leafid's. A
    connected region is dropped when it touches much of the picture's border for its
    size, is a speck beside the largest one, has straight sides and right angles, or is
    faint beside the others (a shadow). The other regions are grouped across narrow
    gaps, as between leaflets, and small groups are dropped.
    """
    marked = (coverage > _MIN_COVERAGE).view(np.uint8)
    things = np.zeros_like(marked)
    # Counting labels takes a fraction of the time of OpenCV's statistics.
    count, labels = cv2.connectedComponents(marked, connectivity=8)
    if _is_ruled(labels):
        # Lines are erased with all that is as thin.
        marked = cv2.morphologyEx(marked, cv2.MORPH_OPEN, make_square(_LINE_WIDTH))
        count, labels = cv2.connectedComponents(marked, connectivity=8)
    pixels = np.bincount(labels.ravel(), minlength=count)
    area = pixels.astype(float)
    area[0] = 0
    contact = np.bincount(list_border(labels), minlength=count)
    is_rim = contact > _RIM_CONTACT * np.sqrt(area)
    area[is_rim & (area < _RIM_SHARE * marked.size)] = 0
    if not area.any():
        return things, things
    area[area < _MIN_SPECK * area.max()] = 0
    if np.count_nonzero(area) > 1:
        straight = _find_straight_regions(labels, np.flatnonzero(area))
        if np.delete(area, straight).max() >= _MIN_LEAF * area.max():
            area[straight] = 0
            things = np.isin(labels, straight).view(np.uint8)
    if np.count_nonzero(area) > 1:
        # The background may have no pixel.
        strength = np.bincount(
            labels.ravel(), weights=distance.ravel(), minlength=count
        ) / np.maximum(pixels, 1)
        area[strength < _FAINT * strength[area.argmax()]] = 0
    if np.count_nonzero(area) == 1:
        return _fill_holes((labels == area.argmax()).view(np.uint8)), things

    joined = _bridge_gaps((area > 0).take(labels).view(np.uint8), area.max())
    n_groups, group_labels = cv2.connectedComponents(joined, connectivity=8)
    group = np.zeros(count, np.intp)
    # Every pixel of a region has the same group.
    group[labels.ravel()] = group_labels.ravel()
    group_area = np.bincount(group, weights=area, minlength=n_groups)
    selected = (area > 0) & (group_area[group] >= _MIN_GROUP * group_area.max())
    selected &= area >= _MIN_SPECK * area[selected].sum()
    leaf = selected.take(labels).view(np.uint8)
    return _fill_holes(leaf) if leaf.any() else leaf, things


def _is_ruled(labels: NDArray[np.int32]) -> bool:
    """Whether lines run through a picture of labelled regions."""
    pairs = (labels[0], labels[-1]), (labels[:, 0], labels[:, -1])
    for border, opposite in pairs:
        if border.any() and opposite.any():
            is_line = np.isin(border, opposite) & (border > 0)
            starts = np.diff(is_line.view(np.int8), prepend=0) > 0
            if np.count_nonzero(starts) >= _MIN_LINES:
                return True
    return False


def _bridge_gaps(marked: Plane, area: float) -> Plane:
    """Connect regions across gaps that are narrow for a leaf of some area."""
    side = max(1, round(_GAP * np.sqrt(area))) | 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    return cv2.dilate(marked, disc)


def pick_leaf(leaf: Plane, distance: Plane) -> tuple[Plane, int]:
    """Pick the largest of several leaves, and count them.

    Regions that may belong to one leaf stay together. Takes 1 for leaf and 0 for
    background, and the distance from the sheet's colour. Smaller regions that nothing
    connects with the leaf are dropped: they are parts of things. What touches the
    picture's border beside the leaf is as often a thing, and does not count.
    """
    n_regions, regions = cv2.connectedComponents(leaf, connectivity=8)
    if n_regions <= 2:
        return leaf, 1
    bridges = _bridge_gaps(leaf, cv2.countNonZero(leaf))
    linked = _mark_trace(leaf, distance, _LINK) | bridges
    labels = cv2.connectedComponents(linked, connectivity=8)[1] * leaf
    area = np.bincount(labels.ravel())
    area[0] = 0
    largest = area.argmax()
    # A word on a label may be as large as a leaf, but none of its letters.
    owner = np.zeros(n_regions, np.intp)
    owner[regions.ravel()] = labels.ravel()
    part = np.zeros_like(area)
    np.maximum.at(part, owner, np.bincount(regions.ravel()))
    part[0] = 0
    is_large = part >= _MIN_REGION * part[largest]
    leaves = np.flatnonzero(is_large & (area >= MIN_SHARE * area.max()))
    whole = np.setdiff1d(leaves, list_border(labels))
    return (labels == largest).view(np.uint8), len(np.union1d(whole, largest))


def _mark_trace(leaf: Plane, distance: Plane, share: float) -> Plane:
    """Mark what is farther from the sheet than a share of the leaf's mean distance."""
    # A sample has nearly the same median, and saves half of the time.
    sheet = float(np.median(distance[leaf == 0][::_STRIDE]))
    least = sheet + share * (cv2.mean(distance, leaf)[0] - sheet)
    return cv2.threshold(distance, least, 1, cv2.THRESH_BINARY)[1]


def _find_straight_regions(
    labels: NDArray[np.int32], regions: NDArray[np.intp]
) -> list[int]:
    """Find the regions whose outlines have straight sides and right angles."""
    straight = []
    for region in regions.tolist():
        (outline, *_) = find_outlines((labels == region).view(np.uint8))
        if min(cv2.minAreaRect(outline)[1]) < _THIN * max(labels.shape):
            continue
        corners = cv2.approxPolyDP(outline, _TOLERANCE, closed=True)[:, 0].astype(float)
        sides = corners - np.roll(corners, 1, axis=0)
        lengths = np.hypot(*sides.T)
        # Angles to the longest side, from -45° to 45° and the same after a quarter of a
        # turn.
        angles = np.arctan2(*sides.T)
        turned = np.angle(np.exp(4j * (angles - angles[lengths.argmax()]))) / 4
        if lengths[np.abs(turned) < _ANGLE].sum() >= _STRAIGHT * lengths.sum():
            straight.append(region)
    return straight


def _fill_holes(leaf: Plane) -> Plane:
    """Fill pin-holes, and reflections of light in a leaf with a closed outline."""
    canvas = np.zeros_like(leaf)
    filled = cv2.drawContours(canvas, find_outlines(leaf), -1, 1, cv2.FILLED)
    holes = filled - leaf
    if not holes.any():
        return leaf
    _, labels = cv2.connectedComponents(holes, connectivity=4)
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    hull_area = cv2.contourArea(find_convex_hull(leaf))
    is_closed = cv2.countNonZero(filled) > _CLOSED_SOLIDITY * hull_area
    max_size = _MAX_REFLECTION if is_closed else _MAX_PINHOLE
    return filled & (sizes <= max_size * cv2.countNonZero(leaf)).take(labels)


def split_leaves(mask: Mask, image: Image) -> list[Mask]:
    """Split a mask into leaves, where its picture shows no trace of a rachis.

    The largest comes first. Leaflets stay together: their rachis is paler than they
    are, the more so the fewer pixels it has, but a gap between leaves is paler still.
    Small parts belong to the leaf that is nearest. The method is leafid's.
    """
    window = get_window(find_bounding_box(mask), _RIM_WIDTH)
    leaf = np.ascontiguousarray(mask[window]).view(np.uint8)
    inside = leaf.view(bool)
    n_pixels = cv2.countNonZero(leaf)
    trace = np.zeros_like(leaf)
    for measure, most in (
        (_measure_largest_difference, _MOST_TRACE),
        (measure_distance_around, _MOST_HUE_TRACE),
    ):
        share = min(most, _TRACE * np.sqrt(n_pixels))
        distance = measure(image[window], inside)
        trace |= _mark_trace(leaf, distance, share)
        labels = cv2.connectedComponents(trace, connectivity=8)[1]
        area = np.bincount(labels[inside])
        area[0] = 0
        large = np.flatnonzero(area >= _MIN_PIECE * area.max())
        is_whole = area[large].sum() >= _MIN_WHOLE * n_pixels
        if not 2 <= len(large) <= _MAX_PIECES or not is_whole:
            return [mask]
    owner = _find_nearest(np.where(inside & np.isin(labels, large), labels, 0))
    leaves = []
    for label in large[np.argsort(-area[large])].tolist():
        part = (owner == label) & (labels > 0) & inside
        leaves.append(np.zeros_like(mask))
        leaves[-1][window] = _fill(_outline_pieces(part, 0), mask[window])
    return leaves


def _measure_largest_difference(image: Image, mask: Mask) -> Plane:
    """Measure the largest difference of a channel from the mean around a mask."""
    sheet = cv2.mean(image, (~mask).view(np.uint8))
    return reduce(cv2.max, cv2.split(cv2.absdiff(image, sheet)))


def may_be_split(mask: Mask) -> bool:
    """Whether a mask is in pieces, or has two or three bodies where a disc fits."""
    pieces = _outline_pieces(mask, _MIN_FRAGMENT)
    if len(pieces) > 1:
        return True
    if all(_is_solid(outline[::_STRIDE].copy(), _UNDIVIDED) for outline in pieces):
        return False
    return 2 <= len(_find_bodies(mask, _BODY)) <= _MAX_PIECES


def _outline_pieces(mask: Mask, least: float) -> list[Outline]:
    """Outline the pieces of a mask, but for those small beside the largest."""
    # Outlines take a thirtieth of the time of labels.
    outlines = find_outlines(np.ascontiguousarray(mask).view(np.uint8))
    smallest = least * max(map(cv2.contourArea, outlines), default=0)
    return [outline for outline in outlines if cv2.contourArea(outline) >= smallest]


def _find_nearest(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Find the nearest label above 0 of each pixel."""
    is_none = (labels == 0).view(np.uint8)
    _, places = cv2.distanceTransformWithLabels(
        is_none, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL
    )
    table = np.zeros(places.max() + 1, np.int32)
    table[places[labels > 0]] = labels[labels > 0]
    return table[places]


def _fill(outlines: Sequence[Outline], mask: Mask) -> Mask:
    """Select the part of a mask inside outlines."""
    filled = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(filled, outlines, -1, 1, cv2.FILLED)
    return filled.view(bool) & mask


def may_be_several(mask: Mask, *, is_whole: bool = False) -> bool:
    """Whether a mask may be of several leaves: apart, or two that touch or overlap.

    They aren't apart if it `is_whole`.
    """
    if not mask.any():
        return False
    pieces = [] if is_whole else _outline_pieces(mask, _MIN_PIECE)
    if 2 <= len(pieces) <= _MAX_PIECES:
        largest = max(pieces, key=cv2.contourArea)
        body = _fill([largest], mask)
        if _is_solid(largest, _SOLID) and len(_find_bodies(body, _BODY)) == 1:
            return True
    bodies = _find_bodies(mask, _MARGIN)
    if len(bodies) == 2:
        return _are_equal(bodies)
    return len(bodies) == 1 and _has_waist(bodies[0])


def _find_bodies(mask: Mask, share: float) -> list[Outline]:
    """Outline what remains of a mask where a disc of a share of the radius fits."""
    step = -(-max(mask.shape) // _SIDE)
    leaf = add_margin(mask[::step, ::step].view(np.uint8), 1)
    depth = cv2.distanceTransform(leaf, cv2.DIST_L2, cv2.DIST_MASK_5)
    return _outline_pieces(depth > share * depth.max(), _MIN_BODY)


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
        if waist > _WAIST * (depth + other_depth):
            continue
        halves = [
            outline[first : last + 1],
            np.concatenate([outline[last:], outline[: first + 1]]),
        ]
        is_solid = all(_is_solid(half, _HALF_SOLID) for half in halves)
        if is_solid and _are_equal(halves):
            return True
    return False


def _is_solid(outline: Outline, least: float) -> bool:
    hull_area = cv2.contourArea(cv2.convexHull(outline))
    return cv2.contourArea(outline) >= least * hull_area
