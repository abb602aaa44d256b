"""Finds the petiole (leaf stalk) of a leaf's mask."""

import cv2
import numpy as np

from leafid.segmentation.pixels import (
    Field,
    Mask,
    Plane,
    add_margin,
    find_bounding_box,
    find_convex_hull,
    get_window,
    list_halves,
    make_square,
    scale_size,
)

# √area of the reduced mask: a disc with a radius of a few percent of it is still a
# disc.
_WORKING_ROOT_AREA = 100.0
# Lengths are parts of √area unless stated otherwise.
_DISC = 0.04  # radius of the disc that doesn't fit into a petiole
# Its maximum, as a part of the largest inscribed disc's radius (needle-shaped leaves).
_DISC_OF_WIDTH = 0.45
# Of a petiole.
_MIN_LENGTH = 0.08
_MIN_LENGTH_COMPOUND = 0.15
_MIN_SLENDERNESS = 2.0  # length over width
# Area of the outer half over the area of the inner one: 1 for a stalk, a third for a
# pointed tip.
_MIN_EVENNESS = 0.6
# Pixels of the reduced mask around the opened blade: the part of its rim that the disc
# can't reach.
_RIM = 1.2
# A leaf is compound when no disc larger than this fits into it and its solidity is
# below this.
_COMPOUND_DISC = 0.25
_COMPOUND_SOLIDITY = 0.65
_LEAFLET_GAP = 0.12  # half of the widest gap that is closed between leaflets
_CROWN_DISC = 0.09  # radius of the disc that fits into a compound leaf's crown
# Radius of the disc that fits into a leaflet, as a part of the largest inscribed
# disc's.
_LEAFLET_DISC_OF_WIDTH = 0.6


def remove_petiole(mask: Mask) -> Mask:
    """Remove the petiole from a leaf's mask.

    The blade that remains is empty only where the mask is. The method is leafid's. The
    mask is opened with a disc a few percent of √area wide. The petiole is the longest
    slender piece that the opening removes, if it is attached to the blade by one end
    and doesn't taper, as a leaf's tip does. In a compound leaf, the petiole is what
    lies outside the convex hull of the leaflets, so that the rachis stays.
    """
    blade = mask.copy()
    if not mask.any():
        return blade
    window = get_window(find_bounding_box(mask))
    leaf = mask[window].view(np.uint8)
    factor = min(1.0, _WORKING_ROOT_AREA / float(np.sqrt(cv2.countNonZero(leaf))))
    size = scale_size(leaf, factor)
    halved = list_halves(leaf * np.uint8(255), 2 * max(size) - 1)[-1]
    small = (cv2.resize(halved, size) > 80).view(np.uint8)
    # A margin, so that the border of the picture counts as background.
    petiole = _find_petiole(add_margin(small, 2))
    if petiole is None:
        return blade
    petiole = cv2.resize(
        petiole[2:-2, 2:-2], leaf.shape[::-1], interpolation=cv2.INTER_NEAREST
    )
    blade[window] &= petiole == 0
    return blade if blade.any() else mask.copy()


def _find_petiole(small: Plane) -> Plane | None:
    """Mark the petiole, with its rim, in a mask that is 0 along its border.

    None where there is none.
    """
    root_area = float(np.sqrt(np.count_nonzero(small)))
    depth = cv2.distanceTransform(small, cv2.DIST_L2, 5)
    widest = float(depth.max())
    hull_area = max(cv2.contourArea(find_convex_hull(small)), 1.0)
    is_narrow = widest < _COMPOUND_DISC * root_area
    if is_narrow and root_area**2 < _COMPOUND_SOLIDITY * hull_area:
        blade = _fill_crown(small, depth, root_area)
        min_length = _MIN_LENGTH_COMPOUND
    else:
        blade = _open(depth, min(_DISC * root_area, _DISC_OF_WIDTH * widest))
        min_length = _MIN_LENGTH
    if not blade.any():
        return None
    distance = cv2.distanceTransform(1 - blade, cv2.DIST_L2, 5)
    residue = (distance > _RIM).view(np.uint8) & small
    stalk = _select_stalk(residue, distance, min_length * root_area)
    if stalk is None:
        return None
    return cv2.dilate(stalk, make_square(5)) & (1 - blade)


def _select_stalk(residue: Plane, distance: Field, min_length: float) -> Plane | None:
    """Select the piece that is most like a stalk: long, slender, not tapering.

    `distance` is that to the blade.
    """
    curves, hierarchy = cv2.findContours(
        residue, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE
    )
    best = None
    best_score = 0.0
    for index, curve in enumerate(curves):
        left, top, width, height = cv2.boundingRect(curve)
        reach = float(np.hypot(width, height))
        # Most pieces are crumbs of the rim; their curve alone rules them out.
        if reach < min_length or hierarchy[0, index, 3] >= 0:
            continue
        piece = np.zeros((height, width), np.uint8)
        cv2.drawContours(piece, [curve], 0, 1, cv2.FILLED, offset=(-left, -top))
        window = np.s_[top : top + height, left : left + width]
        piece &= residue[window]
        distances = distance[window][piece.view(bool)]
        farthest = float(distances.max())
        area = distances.size
        length = max(farthest, reach)
        if farthest < min_length or length * length < _MIN_SLENDERNESS * area:
            continue
        outer = np.count_nonzero(distances > (farthest + _RIM) / 2)
        # Beside lobes, a stalk is near the blade for much of its length: halve it from
        # its end, too.
        places = np.argwhere(piece)
        from_end = np.hypot(*(places - places[distances.argmax()]).T)
        middle = from_end[distances <= distances.min() + 1].min() / 2
        outer = max(outer, np.count_nonzero(from_end < middle))
        evenness = min(1.0, outer / max(area - outer, 1))
        score = farthest * evenness**2
        if score > best_score and evenness >= _MIN_EVENNESS:
            best = np.zeros_like(residue)
            best_score = score
            best[window] = piece
    return best


def _open(depth: Field, radius: float) -> Plane:
    """Open a mask, given its distance transform, with a disc."""
    return _dilate((depth > radius).view(np.uint8), radius + 0.3)


def _dilate(mask: Plane, radius: float) -> Plane:
    return (cv2.distanceTransform(1 - mask, cv2.DIST_L2, 5) <= radius).view(np.uint8)


def _fill_crown(small: Plane, depth: Field, root_area: float) -> Plane:
    """Fill the convex hull of a compound leaf's leaflets."""
    gap = max(1.0, _LEAFLET_GAP * root_area)
    pad = round(gap) + 2
    dilated = _dilate(add_margin(small, pad), gap)
    # Closing by `gap` and then eroding by the disc equals dilating by `gap` and then
    # eroding by both.
    depths = cv2.distanceTransform(dilated, cv2.DIST_L2, 5)[pad:-pad, pad:-pad]
    radius = _CROWN_DISC * root_area
    crown = _dilate((depths > gap + radius).view(np.uint8), radius)
    leaflets = _open(depth, _LEAFLET_DISC_OF_WIDTH * float(depth.max()))
    hull = np.zeros_like(small)
    cv2.fillConvexPoly(hull, find_convex_hull(crown | leaflets), 1)
    return hull
