"""Cuts a leaf from a plain sheet: scans and scan-likes."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.background import fit_sheet_surface
from leafid.segmentation.outlines import GREY, find_joined, measure_chroma
from leafid.segmentation.pixels import Image, Mask, Plane, list_border, list_halves
from leafid.segmentation.regions import pick_leaf, select_leaf_regions
from leafid.segmentation.result import Segmentation

# Maximum longer side of the reduced picture in which regions are selected; their edge
# is traced in the full picture.
REGION_SIZE = 256

# Weight of lightness beside chroma: a shadow changes the lightness far more than the
# chroma, a leaf changes both.
_LIGHTNESS_SHARE = 0.15
# Additional weight of lightness differences above _DEEP, which no soft shadow reaches:
# dark leaves have little chroma.
_DEEP = 90.0
_DEEP_SHARE = 0.25
# The edge lies where the distance is this part of its local maximum: near half for a
# sharp edge, and higher because a leaf's own shadow widens the step.
_LOCAL_CUT = 0.66
# On coloured card the edge lies where this part of the card's chroma is lost, within
# bounds relative to the local maximum: a shadow keeps more of it. Paler sheets (in
# 8-bit Lab units) do not count as coloured.
_CARD_CUT = 0.72
_MIN_CARD_CHROMA = 30.0
_MIN_CARD_CUT = 0.3
_MAX_CARD_CUT = 0.75
_LOCAL_REACH = (
    0.012  # radius of the local maximum, as a part of the picture's longer side
)
# Bounds of the local cut, as parts of Otsu's global threshold.
_MIN_CUT_OF_OTSU = 0.55
_MAX_CUT_OF_OTSU = 1.2
_MIN_CUT = 8.0  # smallest cut, in 8-bit Lab units
# Chroma in the leaf's hue, in 8-bit Lab units, that few shadows on an uncoloured sheet
# have.
_MIN_LEAF_CHROMA = 10.0
# Half of the largest width of a line (rachis, petiole), as a part of the longer side.
_LINE_REACH = 0.012
_MIN_LINE = 0.25  # smallest distance of a line, as a part of Otsu's threshold
# Local cut along lines in a picture too small to be reduced: they are thinner than a
# pixel there, and so paler.
_SMALL_LINE_CUT = 0.5

# A hard shadow in a mask has less than this part of the leaf's chroma, is darker than
# the sheet by more than this, in 8-bit Lab units, and takes more than this part of the
# mask.
_GREY_PART = 0.35
_MIN_SHADE = 20
_MIN_SHADE_AREA = 0.05
# A pale margin beside a mask has more than this part of the leaf's chroma, many times
# that of the sheet, and more than this, in 8-bit Lab units; it takes more than this
# part of the mask, and its chroma drops by more than this part of it at the edge.
_PALE_PART = 0.15
_NOISE = 4.0
_MIN_PALE = 4.0
_MIN_MARGIN_AREA = 0.06
_SHARP = 1.0
# Smallest confidence of the mask that allows for either, in that of the mask before.
_MIN_CONFIDENCE_KEPT = 0.9

# Confidence up to which a mask is recomputed with a more thorough fit of the sheet.
LOW_CONFIDENCE = 0.35

# A reduced pixel is sheet (leaf) as a whole when it and its neighbours are below
# (above) these parts of the cut.
_CERTAIN_SHEET = 0.5
_CERTAIN_LEAF = 1.5
_SQUARE = np.ones((3, 3), np.uint8)


def segment_uniform(image: Image, *, by_lightness: bool = False) -> Segmentation:
    """Find the leaf on a plain sheet of any tint.

    An empty mask with confidence 0 where nothing stands out.

    `by_lightness` weighs lightness like chroma, for a leaf of the sheet's hue; its
    shadow is then taken for leaf.

    The method is leafid's own. The sheet's colour is fitted as a surface. Pixels count
    as leaf by their distance from it, in chroma more than in lightness (a shadow). The
    threshold is chosen around each pixel, within bounds relative to Otsu's threshold
    [1]_ of the whole picture, and lower along thin lines. Regions are selected in a
    reduced picture, and their edge is traced back to the full resolution.

    References
    ----------
    .. [1] N. Otsu, "A threshold selection method from gray-level histograms", IEEE
       Trans. SMC 9(1), 1979, doi:10.1109/TSMC.1979.4310076
    """
    metric = _Metric(1.0) if by_lightness else _METRIC
    pyramid = list_halves(image, REGION_SIZE)
    leaf = _find_leaf(pyramid, metric, quick=True)
    if leaf.confidence > LOW_CONFIDENCE:
        return leaf
    # The quick fit of the sheet sometimes takes the leaf for it.
    return _find_leaf(pyramid, metric, quick=False)


class _Metric(NamedTuple):
    """How distances of colours are measured, as by `measure_sheet_distance`."""

    lightness_share: float = _LIGHTNESS_SHARE
    ceiling: float = 255.0


_METRIC = _Metric()


def _find_leaf(pyramid: list[Image], metric: _Metric, *, quick: bool) -> Segmentation:
    """Find the leaf in the last picture of a pyramid; trace its edge to the first."""
    *larger, small = pyramid
    contrast = _measure_contrast(
        small, _LOCAL_CUT if larger else _SMALL_LINE_CUT, metric, quick=quick
    )
    if not contrast.above.any():
        nothing = np.zeros(pyramid[0].shape[:2], bool)
        return Segmentation(nothing, nothing, 0.0)
    if larger:
        undecided = _mark_undecided(contrast.distance, contrast.cuts)
        cells, _, above = _classify_subpixels(larger[-1], undecided, contrast)
        contrast.above.ravel()[cells] = above.sum(axis=0, dtype=np.uint8) * 63
    distance = cv2.add(contrast.distance, contrast.lines)
    leaf, things = select_leaf_regions(contrast.above, distance)
    if things.any():
        # Colours of a chart decide about the thresholds, too.
        pyramid = [_paint_over(image, things, contrast.sheet) for image in pyramid]
        return _find_leaf(pyramid, metric, quick=quick)
    confidence = _estimate_confidence(leaf, contrast)
    if metric is _METRIC and not _is_card(contrast.sheet):
        metric = _adjust_metric(contrast, leaf)
        if metric is not _METRIC:
            adjusted = _find_leaf(pyramid, metric, quick=quick)
            if adjusted.confidence >= _MIN_CONFIDENCE_KEPT * confidence:
                return adjusted
    leaf, n_leaves = pick_leaf(leaf, distance)
    coverage = None if larger else _estimate_coverage(leaf, contrast)
    for picture in reversed(larger):
        rim = _mark_rim(leaf)
        if picture is larger[-1]:
            rim &= undecided
        _, indices, above = _classify_subpixels(picture, rim, contrast)
        leaf = _upsample2(leaf, picture)
        leaf.ravel()[indices] = above
    mask = leaf.view(bool)
    return Segmentation(mask, mask, confidence, coverage, n_leaves)


def _paint_over(image: Image, things: Plane, sheet: Image) -> Image:
    """Give marked things and their rims the colour of the sheet, in 8-bit Lab."""
    size = image.shape[1::-1]
    wide = cv2.dilate(things, _SQUARE, iterations=2)
    marked = cv2.resize(wide, size, interpolation=cv2.INTER_NEAREST)
    colours = cv2.resize(cv2.cvtColor(sheet, cv2.COLOR_LAB2BGR), size)
    return cv2.copyTo(colours, marked, image.copy())


def _adjust_metric(contrast: "_Contrast", leaf: Plane) -> _Metric:
    """Adjust the metric to a hard shadow that is taken for leaf, or a pale margin.

    Both are told by the chroma, shadows allowed for: a hard shadow has none, and is
    left out without the lightness; a margin that is left out has some up to a sharp
    edge, and counts like the rest of the leaf where this counts no more than it.
    """
    lab, sheet = contrast.lab, contrast.sheet
    chroma = measure_chroma(
        *(cv2.subtract(colours, GREY, dtype=cv2.CV_32F) for colours in (lab, sheet))
    )
    inside = cv2.erode(leaf, _SQUARE).view(bool)
    outside = cv2.dilate(leaf, _SQUARE, iterations=2) == 0
    if not inside.any() or not outside.any():
        return _METRIC
    area = cv2.countNonZero(leaf)
    typical = float(np.percentile(chroma[inside], 75))
    darkness = cv2.subtract(sheet[..., 0], lab[..., 0])
    is_shade = inside & (chroma < _GREY_PART * typical) & (darkness > _MIN_SHADE)
    if cv2.countNonZero(_open(is_shade)) > _MIN_SHADE_AREA * area:
        return _Metric(lightness_share=0.0)
    noise = _NOISE * float(np.median(chroma[outside]))
    is_pale = chroma > max(_PALE_PART * typical, noise, _MIN_PALE)
    margin = _open(is_pale).view(bool) & (leaf == 0)
    if np.count_nonzero(margin) < _MIN_MARGIN_AREA * area:
        return _METRIC
    margin = find_joined(margin, leaf) & outside
    if np.count_nonzero(margin) < _MIN_MARGIN_AREA * area:
        return _METRIC
    level = float(np.median(chroma[margin]))
    whole = margin.view(np.uint8) | cv2.dilate(leaf, _SQUARE, iterations=3)
    edge = _mark_rim(whole).view(bool) & (cv2.dilate(leaf, _SQUARE, iterations=4) == 0)
    steps = cv2.morphologyEx(chroma, cv2.MORPH_GRADIENT, _SQUARE)[edge]
    is_sharp = steps.size > 0 and np.median(steps) > _SHARP * level
    return _Metric(ceiling=level) if is_sharp else _METRIC


def _open(mask: Mask) -> Plane:
    return cv2.morphologyEx(mask.view(np.uint8), cv2.MORPH_OPEN, _SQUARE)


class _Contrast(NamedTuple):
    """How a picture stands out from its sheet; planes of shape (H, W)."""

    lab: Image  # the picture's colours in 8-bit Lab, shape (H, W, 3)
    sheet: Image  # the sheet's colour behind each pixel, in 8-bit Lab, shape (H, W, 3)
    floor: float  # the smallest threshold
    distance: Plane  # distance from the sheet, as `measure_sheet_distance` measures it
    lines: Plane  # the part of the distance that belongs to thin lines
    cuts: Plane  # the threshold at each pixel
    above: Plane  # 255 where the distance exceeds the threshold
    metric: _Metric


def _measure_contrast(
    image: Image, line_cut: float, metric: _Metric, *, quick: bool
) -> _Contrast:
    surface, spread = fit_sheet_surface(image, quick=quick)
    sheet = cv2.resize(
        np.clip(surface + 0.5, 0, 255).astype(np.uint8), image.shape[1::-1]
    )
    lab = cv2.cvtColor(image, cv2.COLOR_BGR2LAB)
    distance = measure_sheet_distance(lab, sheet, *metric)
    # A white top-hat: what exceeds the surroundings and is narrower than the
    # structuring element.
    side = 2 * max(1, round(_LINE_REACH * max(distance.shape))) + 1
    lines = cv2.morphologyEx(
        distance, cv2.MORPH_TOPHAT, np.ones((side, side), np.uint8)
    )
    floor = max(min(_MIN_CUT, _LOCAL_CUT * metric.ceiling), 3 * spread)
    cuts = _choose_cuts(lab, distance, lines, floor, line_cut, sheet)
    above = cv2.compare(distance, cuts, cv2.CMP_GT)
    return _Contrast(lab, sheet, floor, distance, lines, cuts, above, metric)


def measure_sheet_distance(
    lab: Image,
    sheet: Image,
    lightness_share: float = _LIGHTNESS_SHARE,
    ceiling: float = 255.0,
) -> Plane:
    """Measure how far each pixel's colour is from the sheet's, both in 8-bit Lab.

    In 8-bit Lab units: `lightness_share` |ΔL| + 0.25 max(|ΔL| − 90, 0) + √(Δa² + Δb²),
    at most `ceiling`; without any lightness where its share is 0.
    The root is replaced by the octagonal norm max + 0.4 min, which is at most 8 % off
    and needs no floating point.
    """
    lightness, a, b = cv2.split(cv2.absdiff(lab, sheet))
    chroma = _measure_chroma(a, b)
    if not lightness_share:
        return chroma
    deep = cv2.addWeighted(
        lightness, lightness_share, cv2.subtract(lightness, _DEEP), _DEEP_SHARE, 0
    )
    return np.minimum(cv2.add(chroma, deep), np.uint8(ceiling))


def _measure_chroma(a: Plane, b: Plane) -> Plane:
    """Measure the length of differences in a and b by the octagonal norm."""
    return cv2.addWeighted(cv2.max(a, b), 1.0, cv2.min(a, b), 0.4, 0)


def _choose_cuts(
    lab: Image,
    distance: Plane,
    lines: Plane,
    floor: float,
    line_cut: float,
    sheet: Image,
) -> Plane:
    """Choose the threshold at each pixel.

    Along lines at `line_cut` of the local maximum.
    """
    otsu, _ = cv2.threshold(distance.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    side = 2 * max(1, round(_LOCAL_REACH * max(distance.shape))) + 1
    square = np.ones((side, side), np.uint8)
    local_max = cv2.blur(cv2.dilate(distance, square), (side, side))
    # A pale rachis is nearer to the sheet's colour than many a shadow; only its
    # narrowness tells it.
    min_line = max(_MIN_CUT, _MIN_LINE * otsu * line_cut / _LOCAL_CUT)
    line = cv2.dilate(cv2.threshold(lines, min_line, 255, cv2.THRESH_BINARY)[1], square)
    low = min(round(max(floor, _MIN_CUT_OF_OTSU * otsu)), 255)
    high = min(round(max(floor, _MAX_CUT_OF_OTSU * otsu)), 255)
    line_cuts = _scale(local_max, line_cut).clip(int(min(floor, 255)), high)
    cuts = _scale(local_max, _LOCAL_CUT).clip(low, high)
    cuts = np.where(line, line_cuts, cuts)
    if not _is_card(sheet):
        pale = _mark_pale_parts(lab, sheet, distance, cuts, low)
        return np.where(cv2.dilate(pale, square), cuts.clip(max=low), cuts)
    _, a, b = cv2.split(cv2.absdiff(sheet, np.full_like(sheet, 128)))
    card = _scale(_measure_chroma(a, b), _CARD_CUT)
    card = card.clip(_scale(local_max, _MIN_CARD_CUT), _scale(local_max, _MAX_CARD_CUT))
    # Pale lines keep their lower cut.
    return np.where(cuts < low, cuts, card.clip(low))


def _is_card(sheet: Image) -> bool:
    """Whether a sheet is coloured: a leaf may then look like its shadow."""
    return bool(np.hypot(*np.subtract(cv2.mean(sheet)[1:3], 128)) >= _MIN_CARD_CHROMA)


def _scale(plane: Plane, factor: float) -> Plane:
    return cv2.convertScaleAbs(plane, alpha=factor)


def _mark_pale_parts(
    lab: Image, sheet: Image, distance: Plane, cuts: Plane, low: int
) -> Plane:
    """Mark parts of a leaf between `low` and the cut (dry tips beside vivid colours).

    A shadow on the sheet is as pale, but its chroma is that of the sheet, reduced like
    its lightness. A leaf's differs in the direction in which what is above the cut
    differs.
    """
    leaf = cv2.compare(distance, cuts, cv2.CMP_GT)
    between = cv2.inRange(distance, low + 1, 255) & ~leaf
    between = cv2.morphologyEx(between, cv2.MORPH_OPEN, _SQUARE)
    if not between.any() or not leaf.any():
        return np.zeros_like(leaf)
    lightness, *colour = np.stack(cv2.split(lab)).astype(np.float32)
    sheet_lightness, *sheet_colour = np.stack(cv2.split(sheet)).astype(np.float32)
    shade = np.minimum((lightness + 1) / (sheet_lightness + 1), 1)
    chroma = [
        plane - 128 - shade * (behind - 128)
        for plane, behind in zip(colour, sheet_colour, strict=True)
    ]
    hue = np.array([cv2.mean(plane, leaf)[0] for plane in chroma])
    along = cv2.addWeighted(chroma[0], hue[0], chroma[1], hue[1], 0)
    between &= cv2.compare(
        along, _MIN_LEAF_CHROMA * (np.hypot(*hue) + 1e-6), cv2.CMP_GT
    )
    return cv2.morphologyEx(between, cv2.MORPH_OPEN, _SQUARE)


def _mark_undecided(distance: Plane, cuts: Plane) -> Plane:
    """Mark the reduced pixels whose full-resolution pixels must be classified."""
    is_above = cv2.dilate(distance, _SQUARE) > _scale(cuts, _CERTAIN_SHEET)
    is_below = cv2.erode(distance, _SQUARE) < _scale(cuts, _CERTAIN_LEAF)
    return (is_above & is_below).view(np.uint8)


def _mark_rim(mask: Plane) -> Plane:
    """Mark one pixel on both sides of a mask's edge, which may lie in either."""
    return cv2.dilate(mask, _SQUARE) - cv2.erode(mask, _SQUARE)


def _classify_subpixels(
    picture: Image, marked: Plane, contrast: _Contrast
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """Classify the four pixels of each marked, downsampled pixel by their colour.

    `contrast` is that of the smallest picture of the pyramid. Returns the flat indices
    of the n marked pixels, of their pixels in the picture, (4, n), and whether these
    are leaf.
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
    distance = measure_sheet_distance(lab, behind, *contrast.metric)
    return cells, indices, distance > contrast.cuts.take(places)


def _upsample2(mask: Plane, picture: Image) -> Plane:
    """Double a mask to the size of a picture.

    An odd last row or column repeats the one before.
    """
    mask = cv2.resize(mask, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    below, right = picture.shape[0] - mask.shape[0], picture.shape[1] - mask.shape[1]
    return cv2.copyMakeBorder(mask, 0, below, 0, right, cv2.BORDER_REPLICATE)


def _estimate_coverage(leaf: Plane, contrast: _Contrast) -> Plane:
    """Estimate the covered part of each pixel: half at the threshold."""
    parts = cv2.divide(contrast.distance, contrast.cuts, scale=127.5)
    edge = cv2.copyTo(cv2.max(parts, 128), leaf, cv2.min(parts, 127))
    return cv2.copyTo(edge, _mark_rim(leaf), leaf * np.uint8(255))


def _estimate_confidence(leaf: Plane, contrast: _Contrast) -> float:
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
    if contrast.metric.ceiling < _METRIC.ceiling:
        enough = min(enough, _LOCAL_CUT * contrast.metric.ceiling)
    height = min(max(step / enough, 0), 1)
    separation = min(max(step / (1.5 * scatter + 1e-6), 0), 1)
    return height * separation * (1 - float(list_border(leaf).mean()))
