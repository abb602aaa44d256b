"""Cuts leaves from sheets that don't fill the picture, or have nearly the leaf's colour."""

from collections.abc import Iterator

import cv2
import numpy as np

from leafid.segmentation.natural import segment_photo
from leafid.segmentation.result import Image, Mask, Segmentation, find_bounding_box
from leafid.segmentation.uniform import LOW_CONFIDENCE, segment_uniform

# A mask of low confidence is replaced by that of another method if that reaches _HIGH_CONFIDENCE. In grey pictures
# there is no chroma to separate leaf and sheet, and fragments of a leaf reach a higher confidence.
_LOW_CONFIDENCE_GREY, _HIGH_CONFIDENCE = 0.6, 0.7
# Before a background that is no plain sheet (clouds, stone), the mask has a lower confidence than on nearly all sheets.
# It is replaced by that of `segment_photo` if this is likely to be one leaf.
_SURE, _SURE_PHOTO = 0.9, 0.6
_GREY_RANGE = 4  # largest range of a and b, in 8-bit Lab units, of a grey picture
_MIN_SHEET_SHARE = 0.3  # smallest share of the picture that a sheet inside a frame takes
_CORNER = 0.03  # part of a sheet's shorter side that is ignored at its corners, which may be round
_EDGE = 0.01  # part of the picture's longer side that is cut off a sheet's edges, which may be shaded
_RIM = 0.03  # width of a dark rim around the sheet, as a part of the longer side
_PADDING = 0.06  # width of the border added around a leaf that fills the picture, as a part of the longer side
_CORNER_PATCH = 0.03  # side of the patches that give that border's colour, as a part of the shorter side
_MIN_SIDE = 16  # pixels; parts of a picture smaller than this are not searched


def segment_sheet(image: Image) -> Segmentation:
    """Find the leaf on a sheet by `segment_uniform`, and in other ways where its answer can't be correct.

    The method is leafid's own. A region with all four corners of its bounding box is not a leaf but the sheet, inside
    a frame (a table, a scanner's lid, bars): the leaf is searched for within it. Where nothing stands out clearly,
    three other ways are tried: without a thin rim; with a border in the colour of the corners (a narrow leaf cut out
    so tightly that most of the picture's border is leaf); by lightness as much as by hue (grey pictures). The mask of
    the highest confidence wins. Where none is sure, the background may be no sheet: `segment_photo` is asked as well.
    """
    leaf = _segment_on_sheet(image)
    if leaf.confidence < _SURE:
        photographed = segment_photo(image, sky=True)
        if photographed.confidence > _SURE_PHOTO:
            return photographed
    return leaf


def _segment_on_sheet(image: Image) -> Segmentation:
    first = _segment_inside_frames(image)
    if first.confidence > _LOW_CONFIDENCE_GREY or (first.confidence > LOW_CONFIDENCE and not _is_grey(image)):
        return first
    alternatives = (leaf for leaf in _segment_otherwise(image) if _find_sheet(leaf.mask) is None)
    best = max(alternatives, key=lambda leaf: leaf.confidence, default=first)
    return best if best.confidence > _HIGH_CONFIDENCE else first


def _segment_inside_frames(image: Image) -> Segmentation:
    leaf = segment_uniform(image)
    sheet = _find_sheet(leaf.mask)
    return (_segment_part(image, sheet, _EDGE) if sheet else None) or leaf


def _find_sheet(mask: Mask) -> tuple[int, int, int, int] | None:
    """Return the bounding box of a mask that is a sheet instead of a leaf; None for a leaf."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    rows, cols = row1 - row0, col1 - col0
    if not _MIN_SHEET_SHARE * mask.size <= rows * cols < mask.size:
        return None
    corner = max(1, round(_CORNER * min(rows, cols)))
    if min(rows, cols) <= 2 * corner:
        return None
    corners = mask[np.ix_((row0 + corner, row1 - 1 - corner), (col0 + corner, col1 - 1 - corner))]
    return (row0, row1, col0, col1) if corners.all() else None


def _is_grey(image: Image) -> bool:
    _, a, b = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2LAB))
    return all(int(hue.max()) - int(hue.min()) <= _GREY_RANGE for hue in (a, b))


def _segment_otherwise(image: Image) -> Iterator[Segmentation]:
    if inner := _segment_part(image, (0, image.shape[0], 0, image.shape[1]), _RIM):
        yield inner
    yield _segment_padded(image)
    yield segment_uniform(image, by_lightness=True)


def _segment_part(image: Image, box: tuple[int, int, int, int], margin: float) -> Segmentation | None:
    """Find the leaf in a box, less a margin relative to the picture's longer side; None where this is too small."""
    width = max(2, round(margin * max(image.shape[:2])))
    row0, row1, col0, col1 = box[0] + width, box[1] - width, box[2] + width, box[3] - width
    if min(row1 - row0, col1 - col0) < _MIN_SIDE:
        return None
    inner = _segment_inside_frames(np.ascontiguousarray(image[row0:row1, col0:col1]))
    margins = ((row0, image.shape[0] - row1), (col0, image.shape[1] - col1))
    coverage = None if inner.coverage is None else np.pad(inner.coverage, margins)
    mask = np.pad(inner.mask, margins)
    return Segmentation(mask, mask, inner.confidence, coverage)


def _segment_padded(image: Image) -> Segmentation:
    """Find the leaf with a border around the picture, in the colour of its corners."""
    rows, cols = image.shape[:2]
    side = max(1, round(_CORNER_PATCH * min(rows, cols)))
    patches = (image[:side, :side], image[:side, -side:], image[-side:, :side], image[-side:, -side:])
    colour = np.median([np.median(patch.reshape(-1, 3), axis=0) for patch in patches], axis=0)
    width = max(1, round(_PADDING * max(rows, cols)))
    padded = cv2.copyMakeBorder(image, width, width, width, width, cv2.BORDER_CONSTANT, value=colour.tolist())
    leaf = segment_uniform(padded)
    inside = slice(width, width + rows), slice(width, width + cols)
    mask = leaf.mask[inside].copy()
    return Segmentation(mask, mask, leaf.confidence, None if leaf.coverage is None else leaf.coverage[inside].copy())
