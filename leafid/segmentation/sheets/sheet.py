"""Cuts leaves from sheets that are smaller than the picture, or nearly as dark."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.natural import segment_photo
from leafid.segmentation.pixels import Image, Mask, find_outlines, list_border
from leafid.segmentation.result import Segmentation
from leafid.segmentation.sheets.contrast import scale
from leafid.segmentation.sheets.uniform import (
    LOW_CONFIDENCE,
    REGION_SIZE,
    segment_uniform,
)

# A mask of low confidence is replaced by another method's mask that reaches
# _HIGH_CONFIDENCE. In grey pictures there is no chroma to separate leaf and sheet, and
# fragments of a leaf reach a higher confidence.
_LOW_CONFIDENCE_GREY = 0.6
_HIGH_CONFIDENCE = 0.7
# A mask of a confidence below _CLEAR is replaced by one in even light that reaches it,
# and whose outline is _SURE.
_CLEAR = 0.95
# Before a background that is no plain sheet (clouds, stone), the mask has a lower
# confidence than on nearly all sheets. Unless its outline is likely to be right, it is
# replaced by the mask of `segment_photo` that is likely to be one leaf, if its
# confidence is higher.
_SURE = 0.9
_SURE_OUTLINE = 0.68
_SURE_PHOTO = 0.6
_MAX_CONTACT = 0.2
_GREY_RANGE = 4  # largest range of a and b, in 8-bit Lab units, of a grey picture
# Shares of the picture that a sheet inside a frame takes.
_MIN_SHEET_SHARE = 0.05
_MAX_SHEET_SHARE = 0.95
# Smallest part of the quadrilateral around a sheet to which the sheet's outline is
# nearer than _OFF, as a part of the picture's longer side. What lies across the sheet's
# edge, or its shadow, takes the rest.
_STRAIGHT = 0.8
# The same where one side is perhaps the edge of a reflection.
_MAYBE_STRAIGHT = 0.5
_OFF = 0.008
# A mask is perhaps of paper, and not of a leaf, where this share of it is lighter than
# _PAPER, of 255, in blue, which leaves absorb.
_PAPER_SHARE = 0.5
_PAPER = 170
# Distance between the rows, and between the columns, that lightness is measured in.
_STEP = 16
# Shortest side of a sheet's outline, as a part of the picture's longer side.
_MIN_SIDE_SHARE = 0.15
# Part of the quadrilateral that the convex hull of a sheet takes; few leaves have as
# much.
_MIN_FILLED = 0.9
# Smallest part of the outline's area that the quadrilateral takes; reflections beside
# the sheet take the rest.
_MIN_OF_OUTLINE = 0.75
# Part of the picture's longer side that is cut off a sheet's edges, which may be
# shaded.
_EDGE = 0.01
_RIM = 0.03  # width of a dark rim around the sheet, as a part of the longer side
# Width of the border added around a leaf that fills the picture, as a part of the
# longer side.
_PADDING = 0.06
# Side of the patches that give that border's colour, as a part of the shorter side.
_CORNER_PATCH = 0.03
# An underexposed picture has nothing lighter than this, of 255, but for reflections. It
# is brightened until that has the lightness of white paper, and smoothed by a standard
# deviation in pixels, because its noise is brightened, too.
_UNDEREXPOSED = 100
_WHITE = 230.0
_NOISE_BLUR = 1.5
# Light, of 255, that is added before light is made even: the hues of darker pixels are
# mostly noise.
_DARKEST = 8
_MIN_SIDE = 16  # pixels; parts of a picture smaller than this are not searched


def segment_sheet(image: Image) -> Segmentation:
    """Find the leaf on a sheet by `segment_uniform`, or else in other ways.

    The method is leafid's. A region whose outline is a quadrilateral is not a leaf
    but the sheet, inside a frame (a table, a scanner's lid, bars): the leaf is searched
    for within it, as seen from above. Where nothing stands out clearly, what is light
    may be such a sheet, and four other ways are tried: without a thin rim; with a
    border in the colour of the corners (a narrow leaf cut out so tightly that most of
    the picture's border is leaf); by lightness as much as by hue (grey pictures);
    brightened (underexposed pictures). The mask of the highest confidence wins. Where
    none is clear, the sheet may be half in the shade: the leaf is searched for in even
    light. Where none is sure, the background may be no sheet: `segment_photo` is asked
    as well.
    """
    leaf = _segment_on_sheet(image)
    if leaf.confidence < _CLEAR:
        in_even_light = _segment_in_even_light(image)
        if in_even_light and _is_better(in_even_light, leaf):
            return in_even_light
    # A leaf that the border cuts stands out from its sheet as others do; what fills
    # much of the border is background.
    border = list_border(leaf.mask).mean()
    if border >= _MAX_CONTACT:
        border = 0
    if leaf.confidence >= _SURE * (1 - border):
        return leaf
    leaf = replace(leaf, picture=image)
    if leaf.outline_confidence > _SURE_OUTLINE:
        return leaf
    photographed = segment_photo(image, sky=True)
    least = max(leaf.confidence, _SURE_PHOTO)
    return photographed if photographed.confidence > least else leaf


def _segment_on_sheet(image: Image) -> Segmentation:
    first = _segment_inside_frames(image)
    if first.confidence > _LOW_CONFIDENCE_GREY:
        return first
    hues = cv2.cvtColor(image, cv2.COLOR_BGR2LAB).reshape(-1, 3)[:, 1:]
    if first.confidence > LOW_CONFIDENCE and np.ptp(hues, axis=0).max() > _GREY_RANGE:
        return first
    alternatives = [
        leaf
        for leaf in _segment_otherwise(image)
        if leaf and _find_sheet(leaf.mask) is None
    ]
    best = max(alternatives, key=lambda leaf: leaf.confidence, default=first)
    return best if best.confidence > _HIGH_CONFIDENCE else first


def _segment_inside_frames(image: Image) -> Segmentation:
    leaf = segment_uniform(image)
    if (sheet := _find_sheet(leaf.mask)) is not None:
        return _segment_flattened(image, sheet) or leaf
    is_paper = _is_paper(image, leaf.mask)
    if leaf.confidence >= _SURE and not is_paper:
        return leaf
    lightness = reduce(cv2.min, cv2.split(image))
    on_sheets = []
    light = np.ones_like(leaf.mask)
    # Paper is lighter than the table, and a bright table is lighter than the leaf.
    for _ in range(2):
        otsu, _ = cv2.threshold(lightness[light], 0, 255, cv2.THRESH_OTSU)
        light = lightness > otsu
        sheet = _find_sheet(light)
        if sheet is not None and (flattened := _segment_flattened(image, sheet)):
            on_sheets.append(flattened)
    best = max(on_sheets, key=lambda flattened: flattened.confidence, default=leaf)
    return best if is_paper or best.confidence > leaf.confidence else leaf


def _is_paper(image: Image, mask: Mask) -> bool:
    # Paper is light in all channels, though one side of it may be shaded; wood isn't.
    blue = image[::_STEP, ::_STEP, 0][mask[::_STEP, ::_STEP]]
    return bool(np.count_nonzero(blue > _PAPER) > _PAPER_SHARE * blue.size)


def _find_sheet(mask: Mask) -> NDArray[np.int32] | None:
    """Find the corners, int (4, 2), of a mask that is a sheet; None for a leaf."""
    step = max(1, max(mask.shape) // REGION_SIZE)
    mask = np.ascontiguousarray(mask[::step, ::step])
    outline = max(find_outlines(mask.view(np.uint8)), key=cv2.contourArea, default=None)
    if outline is None or cv2.contourArea(outline) < _MIN_SHEET_SHARE * mask.size:
        return None
    sides = _select_straight_sides(outline, mask.shape)
    straight, corners = _fit_corners(sides, outline, mask.shape)
    if _MAYBE_STRAIGHT < straight < _STRAIGHT:
        # One side is perhaps the edge of a reflection.
        subsets = [np.delete(sides, index, axis=0) for index in range(len(sides))]
        fits = [_fit_corners(subset, outline, mask.shape) for subset in subsets]
        straight, corners = max(fits, key=lambda fit: fit[0])
    return corners * step if straight >= _STRAIGHT else None


def _fit_corners(
    sides: NDArray[np.int32], outline: NDArray[np.int32], shape: tuple[int, ...]
) -> tuple[float, NDArray[np.int32]]:
    """Fit a quadrilateral to sides: the part of it near the outline, and the corners.

    The part is 0 for what is no sheet.
    """
    nothing = 0.0, sides[:0, 0]
    near = np.zeros(shape, np.uint8)
    hull = cv2.convexHull(sides.reshape(-1, 2))
    if hull is None or len(hull) < 4:
        return nothing
    corners = cv2.approxPolyN(hull, 4, ensure_convex=True)
    area = cv2.contourArea(corners)
    is_whole = area > _MAX_SHEET_SHARE * near.size
    is_part = area < _MIN_OF_OUTLINE * cv2.contourArea(outline)
    if is_whole or is_part or cv2.contourArea(hull) < _MIN_FILLED * area:
        return nothing
    near[outline[:, 0, 1], outline[:, 0, 0]] = 1
    width = 2 * int(_OFF * max(shape)) + 1
    near = cv2.dilate(near, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width,) * 2))
    drawn = cv2.polylines(np.zeros_like(near), [corners], True, 1).view(bool)
    return float(near[drawn].mean()), corners[0]


def _select_straight_sides(
    outline: NDArray[np.int32], shape: tuple[int, ...]
) -> NDArray[np.int32]:
    """Select the ends of long sides within the picture, int (n, 2, 2).

    The reflection of a lamp beside a sheet has none.
    """
    off = _OFF * max(shape)
    starts = cv2.approxPolyDP(outline, off, True)[:, 0]
    ends = np.roll(starts, -1, axis=0)
    middles = (starts + ends) / 2
    is_inside = ((middles > off) & (middles < np.array(shape[::-1]) - off - 1)).all(
        axis=1
    )
    is_long = np.hypot(*(ends - starts).T) > _MIN_SIDE_SHARE * max(shape)
    return np.stack([starts, ends], axis=1)[is_inside & is_long]


def _segment_flattened(
    image: Image,
    corners: NDArray[np.int32],
    margin: float = _EDGE,
    colour: Sequence[float] = (),
) -> Segmentation | None:
    """Find the leaf on a sheet with four corners, int (4, 2), as seen from above.

    A margin, relative to the picture's longer side, is left out, or added in a colour
    where it is negative; None where the sheet is too small.
    """
    quadrilateral = corners.astype(np.float32)
    sides = np.linalg.norm(quadrilateral - np.roll(quadrilateral, 1, axis=0), axis=1)
    width = round(margin * max(image.shape[:2]))
    if not colour:
        width = max(2, width)
    right = round(float(max(sides[1::2]))) - width
    bottom = round(float(max(sides[::2]))) - width
    size = right - width + 1, bottom - width + 1
    if min(size) < _MIN_SIDE:
        return None
    flat = [[-width, -width], [right, -width], [right, bottom], [-width, bottom]]
    flattening = cv2.getPerspectiveTransform(quadrilateral, np.array(flat, np.float32))
    flattened = cv2.warpPerspective(image, flattening, size, borderValue=colour)
    leaf = _segment_inside_frames(flattened)
    values = leaf.coverage
    if values is None:
        values = leaf.mask * np.uint8(255)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    back = cv2.warpPerspective(values, flattening, image.shape[1::-1], flags=flags)
    coverage = None if leaf.coverage is None else back
    return replace(leaf, mask=back > 127, blade=back > 127, coverage=coverage)


def _segment_otherwise(image: Image) -> tuple[Segmentation | None, ...]:
    last_row, last_col = image.shape[0] - 1, image.shape[1] - 1
    whole = np.array([[0, 0], [last_col, 0], [last_col, last_row], [0, last_row]])
    side = max(1, round(_CORNER_PATCH * min(image.shape[:2])))
    ends = [*range(side), *range(-side, 0)]
    colour = np.median(image[np.ix_(ends, ends)].reshape(-1, 3), axis=0).tolist()
    return (
        _segment_flattened(image, whole, _RIM),
        _segment_flattened(image, whole, -_PADDING, colour),
        segment_uniform(image, by_lightness=True),
        _brighten_and_segment(image),
    )


def _segment_in_even_light(image: Image) -> Segmentation | None:
    """Find the leaf by hue: each pixel is divided by its lightest channel.

    None where it isn't clear there, or its outline isn't sure, or it is paper.
    """
    channels = cv2.split(cv2.add(image, (_DARKEST,) * 4))
    light = reduce(cv2.max, channels)
    even = cv2.merge([cv2.divide(plane, light, scale=_WHITE) for plane in channels])
    leaf = replace(segment_uniform(even), picture=even)
    if leaf.confidence < _CLEAR or leaf.outline_confidence < _SURE:
        return None
    if _is_paper(image, leaf.mask) or _find_sheet(leaf.mask) is not None:
        return None
    return leaf


def _is_better(in_even_light: Segmentation, leaf: Segmentation) -> bool:
    """Whether a leaf has a surer outline in even light than another has there."""
    before = replace(leaf, picture=in_even_light.picture).outline_confidence
    # Even light may hide what joins the leaflets of one leaf.
    is_one = in_even_light.n_leaves <= leaf.n_leaves or before < _SURE_OUTLINE
    return is_one and in_even_light.outline_confidence > before


def _brighten_and_segment(image: Image) -> Segmentation | None:
    """Find the leaf as if the picture were exposed for longer; None for a light one."""
    lightest = np.percentile(image[::_STEP, ::_STEP], 95)
    if lightest > _UNDEREXPOSED:
        return None
    smooth = cv2.GaussianBlur(image, (0, 0), _NOISE_BLUR)
    return segment_uniform(scale(smooth, _WHITE / (lightest + 1)))
