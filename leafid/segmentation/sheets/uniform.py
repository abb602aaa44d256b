"""Cuts a leaf from a plain sheet: scans and scan-likes."""

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.outlines import centre_colours, find_joined, measure_chroma
from leafid.segmentation.pixels import (
    Image,
    Mask,
    Plane,
    list_border,
    list_halves,
    take_quantiles,
)
from leafid.segmentation.regions import pick_leaf, select_leaf_regions
from leafid.segmentation.result import Segmentation
from leafid.segmentation.sheets.contrast import (
    FAINT_LEAF,
    LOCAL_CUT,
    METRIC,
    SQUARE,
    Contrast,
    Metric,
    measure_contrast,
    measure_sheet_distance,
    scale,
)

# Maximum longer side of the reduced picture in which regions are selected; their edge
# is traced in the full picture.
REGION_SIZE = 256

# A hard shadow in a mask has less than this part of the leaf's chroma, is darker than
# the sheet by more than this, in 8-bit Lab units, is no dark petiole, which is a line,
# and takes more than this part of the mask.
_GREY_PART = 0.35
_MIN_SHADE = 20
_MIN_SHADE_AREA = 0.05
# A pale margin beside a mask has a chroma above this part of the leaf's, many times
# the sheet's, and above this, in 8-bit Lab units, and above this part of how much
# darker than the sheet it is (a shadow in blue light has less); its area is more than
# this part of the mask's, and at its edge the chroma drops by more than this part.
_PALE_PART = 0.15
_NOISE = 4.0
_MIN_PALE = 4.0
_HUE_OF_SHADE = 0.25
_MIN_MARGIN_AREA = 0.04
_SHARP = 0.92
# On coloured card, a leaf is faint whose mean distance is smaller, or whose difference
# in chroma is less than this part of its difference in lightness. Then this is the
# weight of lightness, and the greatest gain of the metric.
_FAINT = 25
_SAME_HUE = 0.36
_FAINT_LIGHTNESS_SHARE = 0.3
_MAX_GAIN = 4.0
# A shadow on it has less than this part of the difference in lightness in its hue.
_HUE_OF_SHADE_ON_CARD = 0.15
# Smallest confidence of the mask that allows for these, over the confidence before, and
# likewise its area: the chroma of a dark leaf is small, but none but a shadow's is 0.
_MIN_CONFIDENCE_KEPT = 0.6
_MIN_AREA_KEPT = 0.5

# Confidence up to which a mask is recomputed with a more thorough fit of the sheet.
LOW_CONFIDENCE = 0.35

# A reduced pixel is sheet (leaf) as a whole when it and its neighbours are below
# (above) these parts of the cut.
_CERTAIN_SHEET = 0.5
_CERTAIN_LEAF = 1.5


def segment_uniform(image: Image, *, by_lightness: bool = False) -> Segmentation:
    """Find the leaf on a plain sheet of any tint.

    Where nothing stands out, the mask is empty and its confidence 0. `by_lightness`
    weighs lightness like chroma, for a leaf of the sheet's hue; its shadow is then
    taken for leaf.

    The method is leafid's. The sheet's colour is fitted as a surface. Pixels count
    as leaf by their distance from it, in chroma more than in lightness (a shadow). The
    threshold is chosen around each pixel, within bounds relative to Otsu's threshold
    [1]_ of the whole picture, and lower along thin lines. Regions are selected in a
    reduced picture, and their edge is traced back to the full resolution.

    References
    ----------
    .. [1] N. Otsu, "A threshold selection method from gray-level histograms", IEEE
       Trans. SMC 9(1), 1979, doi:10.1109/TSMC.1979.4310076
    """
    metric = Metric(1.0) if by_lightness else METRIC
    pyramid = list_halves(image, REGION_SIZE)
    leaf = _find_leaf(pyramid, metric, quick=True)
    if leaf.confidence > LOW_CONFIDENCE:
        return leaf
    # The quick fit of the sheet sometimes takes the leaf for it.
    return _find_leaf(pyramid, metric, quick=False)


def _find_leaf(pyramid: list[Image], metric: Metric, *, quick: bool) -> Segmentation:
    """Find the leaf in the last picture of a pyramid; trace its edge to the first."""
    *larger, small = pyramid
    contrast = measure_contrast(small, metric, is_reduced=bool(larger), quick=quick)
    if not contrast.above.any():
        nothing = np.zeros(pyramid[0].shape[:2], bool)
        return Segmentation(nothing, nothing, 0.0)
    if larger:
        undecided = _mark_undecided(contrast.distance, contrast.cuts)
        cells, *first = _classify_subpixels(larger[-1], undecided, contrast)
        contrast.above.ravel()[cells] = first[1].sum(axis=0, dtype=np.uint8) * 63
    distance = cv2.add(contrast.distance, contrast.lines)
    leaf, things = select_leaf_regions(contrast.above, distance)
    if things.any():
        # Colours of a chart decide about the thresholds, too.
        pyramid = [_paint_over(image, things, contrast.sheet) for image in pyramid]
        return _find_leaf(pyramid, metric, quick=quick)
    confidence = _estimate_confidence(leaf, contrast)
    if metric is METRIC:
        metric = _adjust_metric(contrast, leaf, 1 if larger else 2)
        if metric is not METRIC:
            adjusted = _find_leaf(pyramid, metric, quick=quick)
            is_sure = adjusted.confidence >= _MIN_CONFIDENCE_KEPT * confidence
            if is_sure and np.mean(adjusted.mask) >= _MIN_AREA_KEPT * np.mean(leaf):
                # A dark leaf is as sure without its shadow: it stands out by less.
                best = max(confidence, adjusted.confidence)
                return replace(adjusted, confidence=best)
    leaf, n_leaves = pick_leaf(leaf, distance)
    coverage = None if larger else _estimate_coverage(leaf, contrast)
    for picture in reversed(larger):
        rim = _mark_rim(leaf)
        if picture is larger[-1]:
            is_rim = rim.view(bool).take(cells)
            indices, above = (values.compress(is_rim, axis=1) for values in first)
        else:
            _, indices, above = _classify_subpixels(picture, rim, contrast)
        leaf = _upsample2(leaf, picture)
        leaf.ravel()[indices] = above
    mask = leaf.view(bool)
    return Segmentation(mask, mask, confidence, coverage, n_leaves)


def _paint_over(image: Image, things: Plane, sheet: Image) -> Image:
    """Give marked things and their rims the colour of the sheet, in 8-bit Lab."""
    size = image.shape[1::-1]
    wide = cv2.dilate(things, SQUARE, iterations=2)
    marked = cv2.resize(wide, size, interpolation=cv2.INTER_NEAREST)
    colours = cv2.resize(cv2.cvtColor(sheet, cv2.COLOR_LAB2BGR), size)
    return cv2.copyTo(colours, marked, image.copy())


def _adjust_metric(contrast: Contrast, leaf: Plane, halo: int) -> Metric:
    """Adjust the metric to a leaf of the card's hue, a hard shadow or a pale margin.

    The first differs little from coloured card, but its shadow less. The others show in
    the chroma, shadows allowed for. A hard shadow that is taken for leaf has none, and
    is left out without the lightness. A margin that is left out has some up to a sharp
    edge; it counts like all of the leaf if no distance exceeds its chroma. JPEG blurs
    the chroma over as many pixels as `halo` around the leaf.
    """
    lab = contrast.lab
    sheet = contrast.sheet
    if contrast.chroma is None:
        return _adjust_to_card(contrast, leaf)
    chroma = cv2.magnitude(*contrast.chroma)
    inside = cv2.erode(leaf, SQUARE, iterations=halo - 1).view(bool)
    around = cv2.dilate(leaf, SQUARE, iterations=halo)
    outside = around == 0
    if not inside.any() or not outside.any():
        return METRIC
    area = cv2.countNonZero(leaf)
    typical = float(take_quantiles(chroma[inside], (0.75,))[0])
    darkness = cv2.subtract(sheet[..., 0], lab[..., 0])
    is_grey = (chroma < _GREY_PART * typical) & (darkness > _MIN_SHADE)
    is_shade = inside & is_grey & (contrast.lines < _MIN_SHADE)
    if cv2.countNonZero(_open(is_shade)) > _MIN_SHADE_AREA * area:
        return Metric(lightness_share=0.0)
    is_pale = chroma > max(_PALE_PART * typical, _MIN_PALE)
    if np.count_nonzero(is_pale & outside) < _MIN_MARGIN_AREA * area:
        return METRIC
    is_pale &= chroma > _NOISE * float(np.median(chroma[outside]))
    margin = _open(is_pale).view(bool) & (leaf == 0)
    if np.count_nonzero(margin & outside) < _MIN_MARGIN_AREA * area:
        return METRIC
    margin = find_joined(margin, leaf) & outside
    margin &= chroma > _HUE_OF_SHADE * darkness
    if np.count_nonzero(margin) < _MIN_MARGIN_AREA * area:
        return METRIC
    level = float(np.median(chroma[margin]))
    edge = _mark_rim(margin.view(np.uint8) | around) & (cv2.dilate(around, SQUARE) ^ 1)
    steps = cv2.morphologyEx(chroma, cv2.MORPH_GRADIENT, SQUARE)[edge.view(bool)]
    is_sharp = not steps.size or np.median(steps) > _SHARP * level
    return Metric(ceiling=level) if is_sharp else METRIC


def _adjust_to_card(contrast: Contrast, leaf: Plane) -> Metric:
    """Adjust the metric to a leaf that differs little from coloured card."""
    lab, sheet = contrast.lab, contrast.sheet
    lightness, a, b, _ = cv2.mean(cv2.absdiff(lab, sheet), leaf)
    has_its_hue = np.hypot(a, b) < _SAME_HUE * lightness
    if not has_its_hue and cv2.mean(contrast.distance, leaf)[0] >= _FAINT:
        return METRIC
    chroma = measure_chroma(centre_colours(lab), centre_colours(sheet))
    hue = cv2.mean(chroma, leaf)[0]
    if hue < _HUE_OF_SHADE_ON_CARD * lightness:
        # Only the lightness tells it from its shadow.
        return Metric(lightness_share=1.0) if has_its_hue else METRIC
    usual = hue + _FAINT_LIGHTNESS_SHARE * lightness
    gain = min(max(FAINT_LEAF / max(usual, 1.0), 1.0), _MAX_GAIN)
    return Metric(_FAINT_LIGHTNESS_SHARE, gain=gain)


def _open(mask: Mask) -> Plane:
    return cv2.morphologyEx(mask.view(np.uint8), cv2.MORPH_OPEN, SQUARE)


def _mark_undecided(distance: Plane, cuts: Plane) -> Plane:
    """Mark the reduced pixels whose full-resolution pixels must be classified."""
    is_above = cv2.dilate(distance, SQUARE) > scale(cuts, _CERTAIN_SHEET)
    is_below = cv2.erode(distance, SQUARE) < scale(cuts, _CERTAIN_LEAF)
    return (is_above & is_below).view(np.uint8)


def _mark_rim(mask: Plane) -> Plane:
    """Mark one pixel on both sides of a mask's edge, which may lie in either."""
    return cv2.dilate(mask, SQUARE) - cv2.erode(mask, SQUARE)


def _classify_subpixels(
    picture: Image, marked: Plane, contrast: Contrast
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """Classify the four pixels of each marked, downsampled pixel by their colour.

    `contrast` is of the smallest picture of the pyramid. Returns the flat indices of
    the n marked pixels, of their pixels in the picture, (4, n), and whether these are
    leaf.
    """
    # NumPy searches bools several times faster than integers.
    cells = np.flatnonzero(marked.view(bool))
    if not cells.size:
        # OpenCV refuses to convert the colour of nothing.
        return cells, np.zeros((4, 0), np.intp), np.zeros((4, 0), bool)
    width = marked.shape[1]
    rows, cols = np.divmod(cells, width)
    # All first pixels come first, then all second ones, and so on: NumPy and OpenCV are
    # fast on long rows.
    indices = 2 * (rows * picture.shape[1] + cols) + np.array(
        [[0], [1], [picture.shape[1]], [picture.shape[1] + 1]]
    )
    # Rows and columns that downsampling dropped at the end take the values of the last
    # one.
    last_row, last_col = np.array(contrast.cuts.shape) - 1
    factor = width // (last_col + 1)
    places = np.minimum(rows // factor, last_row) * (last_col + 1)
    places += np.minimum(cols // factor, last_col)
    lab = cv2.cvtColor(picture.reshape(-1, 3).take(indices, axis=0), cv2.COLOR_BGR2LAB)
    behind = np.stack([contrast.sheet.reshape(-1, 3).take(places, axis=0)] * 4)
    distance = measure_sheet_distance(lab, behind, contrast.metric)
    return cells, indices, distance > contrast.cuts.take(places)


def _upsample2(mask: Plane, picture: Image) -> Plane:
    """Double a mask to the size of a picture.

    An odd last row or column repeats the one before.
    """
    # Two pixels of 8 bits are one number of 16: this takes an eighth of the time of
    # OpenCV's interpolation.
    pairs = mask.astype(np.uint16) * np.uint16(257)
    mask = pairs.repeat(2, axis=0).view(np.uint8)
    below, right = np.subtract(picture.shape[:2], mask.shape).tolist()
    if not below and not right:
        return mask
    return cv2.copyMakeBorder(mask, 0, below, 0, right, cv2.BORDER_REPLICATE)


def _estimate_coverage(leaf: Plane, contrast: Contrast) -> Plane:
    """Estimate the covered part of each pixel: half at the threshold."""
    parts = cv2.divide(contrast.distance, contrast.cuts, scale=127.5)
    edge = cv2.copyTo(cv2.max(parts, 128), leaf, cv2.min(parts, 127))
    return cv2.copyTo(edge, _mark_rim(leaf), leaf * np.uint8(255))


def _estimate_confidence(leaf: Plane, contrast: Contrast) -> float:
    """Estimate the confidence of a mask: it stands out evenly and isn't cut off."""
    if cv2.countNonZero(leaf) in (0, leaf.size):
        return 0.0
    (inside,), (inside_scatter,) = cv2.meanStdDev(contrast.distance, mask=leaf)
    (outside,), (outside_scatter,) = cv2.meanStdDev(contrast.distance, mask=1 - leaf)
    step = float(inside.item() - outside.item())
    scatter = float(inside_scatter.item() + outside_scatter.item())
    # Both are 1 for a leaf on a clean sheet: a step of several times the smallest cut,
    # well above the scatter.
    enough = 3 * contrast.floor
    if contrast.metric.ceiling < METRIC.ceiling:
        enough = min(enough, LOCAL_CUT * contrast.metric.ceiling)
    height = min(max(step / enough, 0), 1)
    separation = min(max(step / (1.5 * scatter + 1e-6), 0), 1)
    return height * separation * (1 - float(list_border(leaf).mean()))
