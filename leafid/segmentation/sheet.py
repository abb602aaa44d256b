"""Cuts a leaf from a sheet that does not fill the picture, or that the leaf hardly stands out from at first sight."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from leafid.segmentation.result import Image, Mask, find_bounding_box
from leafid.segmentation.uniform import LOW_CONFIDENCE, LeafMask, segment_uniform

# A doubtful mask is looked for in other ways, which have to be surer than that; a grey picture has no chroma to tell a
# leaf by, so that shreds of one seem surer there.
_DOUBTFUL_GREY, _SURE = 0.6, 0.7
# 8-bit Lab units: a picture whose hues differ no more is grey.
_GREY = 4
# A sheet inside a frame takes at least this part of the picture; beside its corners this part of its shorter side is
# left out, which may be round, and of its edges this part of the picture's longer side, which may be shaded.
_SHEET_SHARE, _CORNER, _EDGE = 0.3, 0.03, 0.01
# A rim too narrow to be a sheet's surroundings is cut off, by this part of the longer side; a leaf that leaves nothing
# of the border to the sheet is given a border of this part, in the colour of the corners.
_RIM, _PADDING, _CORNER_PATCH = 0.03, 0.06, 0.03
# Smaller pictures are not looked into.
_LEAST_SIDE = 16


def segment_sheet(image: Image) -> LeafMask:
    """Find the leaf on a sheet: `segment_uniform`, and a second look where its answer can't be right.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.

    Returns
    -------
    mask : ndarray of bool, shape (H, W)
    confidence : float
    coverage : ndarray of uint8, shape (H, W), or None
        All as of `segment_uniform`.

    Notes
    -----
    The method is leafid's own. What has all four corners of its bounding box is no leaf but the sheet itself, inside a
    frame (a table, a scanner's lid, bars): the leaf is looked for within. Where nothing stands out clearly, it is
    looked for without a thin rim, with a border in the colour of the corners (a narrow leaf cut out so tightly that
    most of the border is leaf), and by lightness as much as by hue (grey pictures); the surest mask counts.
    """
    found = _inside_frames(image)
    if found.confidence > _DOUBTFUL_GREY or (found.confidence > LOW_CONFIDENCE and not _is_grey(image)):
        return found
    looks = (look for look in _other_looks(image) if _sheet_box(look.mask) is None)
    surest = max(looks, key=lambda look: look.confidence, default=found)
    return surest if surest.confidence > _SURE else found


def _inside_frames(image: Image) -> LeafMask:
    found = segment_uniform(image)
    box = _sheet_box(found.mask)
    if box is None:
        return found
    row0, row1, col0, col1 = box
    edge = max(2, round(_EDGE * max(image.shape[:2])))
    return _within(image, (row0 + edge, row1 - edge, col0 + edge, col1 - edge)) or found


def _sheet_box(mask: Mask) -> tuple[int, int, int, int] | None:
    """Give the bounding box of what was found where that is the sheet."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    rows, cols = row1 - row0, col1 - col0
    if not _SHEET_SHARE * mask.size <= rows * cols < mask.size:
        return None
    corner = max(1, round(_CORNER * min(rows, cols)))
    if min(rows, cols) <= 2 * corner:
        return None
    corners = mask[np.ix_((row0 + corner, row1 - 1 - corner), (col0 + corner, col1 - 1 - corner))]
    return (row0, row1, col0, col1) if corners.all() else None


def _is_grey(image: Image) -> bool:
    _, a, b = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2LAB))
    return all(int(hue.max()) - int(hue.min()) <= _GREY for hue in (a, b))


def _other_looks(image: Image) -> Iterator[LeafMask]:
    rows, cols = image.shape[:2]
    rim = max(2, round(_RIM * max(rows, cols)))
    if (within := _within(image, (rim, rows - rim, rim, cols - rim))) is not None:
        yield within
    yield _padded(image)
    yield segment_uniform(image, by_lightness=True)


def _within(image: Image, box: tuple[int, int, int, int]) -> LeafMask | None:
    """Look for the leaf in a part of the picture; None where that is too small."""
    row0, row1, col0, col1 = box
    if min(row1 - row0, col1 - col0) < _LEAST_SIDE:
        return None
    inner = _inside_frames(np.ascontiguousarray(image[row0:row1, col0:col1]))
    mask = np.zeros(image.shape[:2], bool)
    mask[row0:row1, col0:col1] = inner.mask
    if inner.coverage is None:
        return LeafMask(mask, inner.confidence, None)
    coverage = np.zeros(image.shape[:2], np.uint8)
    coverage[row0:row1, col0:col1] = inner.coverage
    return LeafMask(mask, inner.confidence, coverage)


def _padded(image: Image) -> LeafMask:
    """Look for the leaf with more of the sheet around it, in the colour of the picture's corners."""
    rows, cols = image.shape[:2]
    side = max(1, round(_CORNER_PATCH * min(rows, cols)))
    patches = (image[:side, :side], image[:side, -side:], image[-side:, :side], image[-side:, -side:])
    colour = np.median([np.median(patch.reshape(-1, 3), axis=0) for patch in patches], axis=0)
    width = max(1, round(_PADDING * max(rows, cols)))
    wider = cv2.copyMakeBorder(image, width, width, width, width, cv2.BORDER_CONSTANT, value=colour.tolist())
    mask, confidence, coverage = segment_uniform(wider)
    inside = slice(width, width + rows), slice(width, width + cols)
    return LeafMask(mask[inside].copy(), confidence, None if coverage is None else coverage[inside].copy())
