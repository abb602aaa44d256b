"""Outlines of masks: traced, drawn, and how sure they are.

How sure an outline is, is judged by what its segmentation goes by least.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.background import interpolate_sheet
from leafid.segmentation.pixels import (
    Field,
    Image,
    Mask,
    Plane,
    add_margin,
    find_bounding_box,
    get_window,
    make_square,
    scale_size,
)

#: Column and row of a corner of pixels: (0, 0) is the upper left corner of the picture.
Point = list[float]
#: The corners in their order; the first is not repeated.
Ring = list[Point]

# Parts of the outline smaller than this share of the largest one aren't drawn, nor are
# the steps of single pixels.
_PART_SHARE = 0.02
_STEP = 1.0

#: Grey in 8-bit Lab, apart from its lightness.
GREY_LAB = (0, 128, 128, 0)

# Longer side of the reduced picture that is judged, in pixels.
_SIDE = 260
# The sheet around the leaf in it, in the leaf's longer sides.
_MARGIN = 0.6
# The sheet's colours differ from their median by less than this many median
# differences, and this many units more.
_SHEET_SPREAD = 3.0
_SHEET_NOISE = 4.0
# Weight of lightness beside chroma.
_LIGHTNESS_SHARE = 0.5
# A leaf whose chroma is smaller, as a part of how far it is in lightness, is in a grey
# picture.
_GREY = 0.05
# Pixels beside the outline, where colours mix, and the width of the bands beside them
# whose colours are compared.
_MIXED = 1.5
_BAND = 5.0
_WINDOW = (9, 9)
# What differs from the sheet by less than this part of what the leaf does is weak.
_WEAK = 0.35
# Beside the leaf, what differs from the sheet's hue by more than this part, and more
# than this many times as much as half of the sheet does, is no sheet.
_PALE = 0.2
_NOISE = 4.0
# By how much a shadow is darker than its sheet, in 8-bit Lab units.
_MIN_SHADE = 8.0
# How far from the leaf parts may lie that are missed, in square roots of its area.
_NEAR = 0.35
# A gap, in pixels, that doesn't separate such parts from the leaf.
_JOINT = 2
# Pixels of an outline, and of a leaf, that can be judged.
_MIN_PIXELS = 8
# Smaller shares make little difference.
_FLOOR = 0.02
# Logarithms of odds: without any cue, and for each unit of the cues. `python -m
# benchmarks.outlines fit` learns them.
_OFFSET = 5.1
_SLOPES = (1.3, 1.14)


def trace_polygons(mask: Mask) -> list[list[Ring]]:
    """Trace a mask along the edges of its pixels.

    Return polygons, whose areas add up to the number of pixels. Each polygon is a list
    of rings: its outline, then the outlines of its holes, which run the other way
    round. Pixels that meet at a corner only are parts of one polygon where other pixels
    connect them, and are else several polygons. So no ring crosses or touches itself,
    and the polygons are valid by the OGC's standard of simple features.
    """
    if not mask.any():
        return []
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(
        mask.view(np.uint8), connectivity=4
    )
    polygons = []
    for label in range(1, count):
        left, top, width, height, _ = boxes[label]
        part = labels[top : top + height, left : left + width] == label
        polygons.append(_trace_part(part, np.array([left, top])))
    return polygons


def _trace_part(part: Mask, offset: NDArray[np.int64]) -> list[Ring]:
    """Trace the rings of a connected mask.

    The offset, columns and rows, is added to them.
    """
    # OpenCV's curves run through pixels: of a mask of twice the size, through those on
    # both sides of each corner.
    doubled = part.repeat(2, axis=0).repeat(2, axis=1).view(np.uint8)
    curves, hierarchy = cv2.findContours(doubled, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    rings = []
    for index in hierarchy[0, :, 3].argsort(kind="stable"):
        corners = (curves[index][::-1, 0] + 1) // 2
        corners = corners[(corners != np.roll(corners, 1, axis=0)).any(axis=1)]
        steps = corners - np.roll(corners, 1, axis=0)
        is_turn = (steps != np.roll(steps, -1, axis=0)).any(axis=1)
        rings.append((corners[is_turn] + offset).tolist())
    return rings


def sketch_outlines(mask: Mask) -> list[Ring]:
    """Return lines to draw around the larger parts of a mask, without holes."""
    outlines = [np.array(outline, np.int32) for outline, *_ in trace_polygons(mask)]
    least = _PART_SHARE * max(map(cv2.contourArea, outlines), default=0)
    return [
        cv2.approxPolyDP(outline, _STEP, True)[:, 0].tolist()
        for outline in outlines
        if cv2.contourArea(outline) > least
    ]


def estimate_outline_confidence(image: Image, mask: Mask) -> float:
    """Estimate the probability that a mask has an IoU of 0.9 with its leaf.

    It is a logistic function of the cues, and 0 where there is no outline in the
    picture.
    """
    cues = measure_outline_cues(image, mask)
    if cues is None:
        return 0.0
    return float(1 / (1 + np.exp(np.dot(_SLOPES, cues) - _OFFSET)))


def measure_outline_cues(image: Image, mask: Mask) -> NDArray[np.float64] | None:
    """Measure what speaks against an outline.

    None where there is none, or it is too small to be judged. Returns two logarithms,
    float64 (2,), 0 where nothing does: of the area that is wrong, in areas of the mask,
    for it has another hue than the sheet but is left out, or is only darker but taken
    for leaf; and of the share of the outline along which hue or colour change little.
    """
    lab, leaf = _reduce(image, mask)
    inside = _measure_depth(leaf)
    outside = _measure_depth(1 - leaf)
    is_outline = (inside > 0) & (inside <= _MIXED)
    # The border of the picture is no outline.
    is_outline[[0, -1]] = is_outline[:, [0, -1]] = False
    is_inner = inside > _MIXED
    is_outer = outside > _MIXED
    if min(map(np.count_nonzero, (is_outline, is_inner, is_outer))) < _MIN_PIXELS:
        return None
    sheet = _estimate_sheet(lab, is_outer)
    chroma = measure_chroma(lab, sheet)
    darkness = sheet[..., 0] - lab[..., 0]
    inner = _average(lab, is_inner & (inside <= _BAND + 1))[is_outline]
    outer = _average(lab, is_outer & (outside <= _BAND + 1))[is_outline]
    hue_step = measure_chroma(inner, outer)
    light_step = np.abs(inner[:, 0] - outer[:, 0])
    lightness = np.abs(darkness)
    typical = float(np.median(chroma[is_inner]))
    typical_lightness = float(np.median(lightness[is_inner]))
    if typical < _GREY * typical_lightness:
        chroma = lightness
        hue_step = light_step
        typical = typical_lightness
    step = np.hypot(hue_step, _LIGHTNESS_SHARE * light_step)
    typical_step = np.hypot(typical, _LIGHTNESS_SHARE * typical_lightness)
    is_near = outside < max(_JOINT, _NEAR * np.sqrt(np.count_nonzero(leaf)))
    noise = float(np.median(chroma[is_outer]))
    is_other = chroma > max(_PALE * typical, _NOISE * noise)
    missed = find_joined(is_other & is_outer & is_near, leaf)
    is_shade = (chroma <= _WEAK * typical) & (darkness > _MIN_SHADE)
    wrong = min(np.count_nonzero(missed) / np.count_nonzero(leaf), 1.0)
    wrong += float(np.mean(is_shade[is_inner]))
    weak = np.mean(step < _WEAK * typical_step) + np.mean(hue_step < _WEAK * typical)
    return np.log1p(np.array([wrong, weak]) / _FLOOR)


def _reduce(image: Image, mask: Mask) -> tuple[Field, Plane]:
    """Cut out the leaf with some of its sheet: in Lab, and the mask."""
    row0, row1, col0, col1 = box = find_bounding_box(mask)
    margin = round(_MARGIN * max(row1 - row0, col1 - col0)) + _JOINT
    window = get_window(box, margin)
    leaf = mask[window].astype(np.uint8) * np.uint8(255)
    size = scale_size(leaf, min(1.0, _SIDE / max(leaf.shape)))
    small = cv2.resize(image[window], size, interpolation=cv2.INTER_AREA)
    leaf = cv2.resize(leaf, size, interpolation=cv2.INTER_AREA)
    lab = centre_colours(cv2.cvtColor(small, cv2.COLOR_BGR2LAB))
    return lab, (leaf > 127).view(np.uint8)


def _measure_depth(region: Plane) -> Field:
    """Measure how deep in a region each pixel lies.

    The border of the picture is no edge of it.
    """
    wide = add_margin(region, 1, cv2.BORDER_REPLICATE)
    return cv2.distanceTransform(wide, cv2.DIST_L2, cv2.DIST_MASK_3)[1:-1, 1:-1]


def _estimate_sheet(lab: Field, is_outer: Mask) -> Field:
    """Estimate the sheet's colour from what is usual outside the leaf."""
    outer = lab[is_outer]
    middle = np.median(outer, axis=0)
    spread = np.median(np.abs(outer - middle).sum(axis=1))
    difference = np.abs(lab - middle).sum(axis=2)
    ratio = difference / (_SHEET_SPREAD * spread + _SHEET_NOISE)
    return interpolate_sheet(lab, is_outer / (1 + ratio**2) ** 2)


def centre_colours(lab: Image) -> Field:
    """Shift colours in 8-bit Lab so that a and b of grey are 0."""
    return cv2.subtract(lab, GREY_LAB, dtype=cv2.CV_32F)


def measure_chroma(lab: Field, behind: Field) -> Field:
    """Measure how far colours are from the sheet's in a and b, shadows allowed for."""
    a, b = remove_shade(lab, behind)
    # Several times faster than `numpy.hypot`.
    return np.sqrt(a * a + b * b)


def remove_shade(lab: Field, behind: Field) -> tuple[Field, Field]:
    """Subtract the sheet's a and b, as dark as a shadow makes them, from colours."""
    lightness, a, b = np.moveaxis(lab, -1, 0).copy()
    behind_lightness, behind_a, behind_b = np.moveaxis(behind, -1, 0).copy()
    # In place, because allocating a plane takes longer than computing it.
    lightness += 1
    lightness /= behind_lightness + 1
    # With both bounds, four times faster than `numpy.minimum`.
    shade = lightness.clip(0, 1, out=lightness)
    a -= np.multiply(behind_a, shade, out=behind_a)
    b -= np.multiply(behind_b, shade, out=behind_b)
    return a, b


def _average(lab: Field, selected: Mask) -> Field:
    """Average the selected colours around each pixel."""
    share = selected.astype(np.float32)[..., None]
    total = cv2.blur(np.concatenate([lab * share, share], axis=2), _WINDOW)
    return total[..., :3] / (total[..., 3:] + np.float32(1e-3))


def find_joined(parts: Mask, leaf: Plane) -> Mask:
    """Find the parts that are joined to the leaf, but for small gaps."""
    reach = cv2.dilate(leaf, make_square(2 * _JOINT + 1))
    _, labels = cv2.connectedComponents(parts.view(np.uint8), connectivity=8)
    joined = np.unique(labels[parts & (reach > 0)])
    return parts & np.isin(labels, joined)
