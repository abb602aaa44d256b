"""How a picture stands out from the sheet behind it, and from where it is leaf."""

from typing import NamedTuple

import cv2
import numpy as np

from leafid.segmentation.background import estimate_sheet, fit_sheet_surface
from leafid.segmentation.outlines import centre_colours, measure_chroma, remove_shade
from leafid.segmentation.pixels import Field, Image, Mask, Plane, make_square

# Weight of lightness beside chroma: a shadow changes the lightness far more than the
# chroma, a leaf changes both.
_LIGHTNESS_SHARE = 0.15
# Additional weight of lightness differences above _DEEP, which no soft shadow reaches:
# dark leaves have little chroma.
_DEEP = 90.0
_DEEP_SHARE = 0.25
# The edge lies where the distance is this part of its local maximum: near half for a
# sharp edge, and higher because the shadow of a leaf widens the step.
LOCAL_CUT = 0.66
# On coloured card the edge lies where this part of the card's chroma is lost, within
# bounds relative to the local maximum: a shadow keeps more of it. A sheet counts as
# coloured from this part of its lightness, within bounds in 8-bit Lab units.
_CARD_CUT = 0.72
_CARD_SATURATION = 0.3
_MIN_CARD_CHROMA = (24.0, 30.0)
_MIN_CARD_CUT = 0.3
_MAX_CARD_CUT = 0.75
# Radius of the local maximum, as a part of the picture's longer side.
_LOCAL_REACH = 0.012
# Bounds of the local cut, as parts of Otsu's global threshold.
_MIN_CUT_OF_OTSU = 0.55
_MAX_CUT_OF_OTSU = 1.2
# Smallest cut, in 8-bit Lab units.
_MIN_CUT = 8.0
# Chroma in the leaf's hue, in 8-bit Lab units, that few shadows on an uncoloured sheet
# have.
_MIN_LEAF_CHROMA = 10.0
# Half of the largest width of a line (rachis, petiole), as a part of the longer side.
_LINE_REACH = 0.012
# Smallest distance of a line, as a part of Otsu's threshold.
_MIN_LINE = 0.25
# Local cut along lines in a picture too small to be reduced: they are thinner than a
# pixel there, and so paler.
_SMALL_LINE_CUT = 0.5

#: Distance of a faint leaf on coloured card, to which it is multiplied; the edge lies
#: where it is half of it.
FAINT_LEAF = 40

#: A square of 3 × 3 pixels: a pixel and its neighbours.
SQUARE = make_square(3)


class Metric(NamedTuple):
    """How `measure_sheet_distance` measures."""

    #: Weight of a difference in lightness.
    lightness_share: float = _LIGHTNESS_SHARE
    #: The greatest distance.
    ceiling: float = 255.0
    #: Factor of the distance if shadows are allowed for; 0 where they aren't.
    gain: float = 0.0


METRIC = Metric()


class Contrast(NamedTuple):
    """How a picture stands out from its sheet; planes of shape (H, W)."""

    #: The picture's colours in 8-bit Lab, (H, W, 3).
    lab: Image
    #: The sheet's colour behind each pixel, likewise.
    sheet: Image
    #: The picture's a and b around 0, without the sheet's as dark as a shadow makes
    #: them; None on coloured card.
    chroma: tuple[Field, Field] | None
    #: The smallest threshold.
    floor: float
    #: Distance from the sheet, as `measure_sheet_distance` measures it.
    distance: Plane
    #: The part of the distance that belongs to thin lines.
    lines: Plane
    #: The threshold at each pixel.
    cuts: Plane
    #: 255 where the distance exceeds the threshold.
    above: Plane
    metric: Metric


def measure_contrast(
    image: Image, metric: Metric, *, is_reduced: bool, quick: bool
) -> Contrast:
    """Measure how a picture, reduced or not, stands out from its sheet.

    `quick` is as for `fit_sheet_surface`.
    """
    surface, spread = fit_sheet_surface(image, quick=quick)
    sheet = cv2.resize(
        np.clip(surface + 0.5, 0, 255).astype(np.uint8), image.shape[1::-1]
    )
    lab = cv2.cvtColor(image, cv2.COLOR_BGR2LAB)
    distance = measure_sheet_distance(lab, sheet, metric)
    # A white top-hat: what exceeds the surroundings and is narrower than the
    # structuring element.
    side = 2 * max(1, round(_LINE_REACH * max(distance.shape))) + 1
    lines = cv2.morphologyEx(distance, cv2.MORPH_TOPHAT, make_square(side))
    floor = max(min(_MIN_CUT, LOCAL_CUT * metric.ceiling), 3 * spread)
    line_cut = LOCAL_CUT if is_reduced else _SMALL_LINE_CUT
    chroma = None
    if not is_card(sheet):
        chroma = remove_shade(centre_colours(lab), centre_colours(sheet))
    if metric.gain:
        cuts = np.full_like(distance, FAINT_LEAF / 2)
    else:
        cuts = _choose_cuts(chroma, distance, lines, floor, line_cut, sheet)
    above = cv2.compare(distance, cuts, cv2.CMP_GT)
    return Contrast(lab, sheet, chroma, floor, distance, lines, cuts, above, metric)


def measure_sheet_distance(lab: Image, sheet: Image, metric: Metric = METRIC) -> Plane:
    """Measure how far each pixel's colour is from the sheet's, both in 8-bit Lab.

    In 8-bit Lab units: `lightness_share` |ΔL| + 0.25 max(|ΔL| − 90, 0) + √(Δa² + Δb²),
    at most `ceiling`; without any lightness where its share is 0. With a `gain`, it is
    this times the sum of the first and the last term, shadows allowed for in Δa and Δb.
    The root is replaced by the octagonal norm max + 0.4 min, which is at most 8 % off
    and needs no floating point.
    """
    lightness, a, b = cv2.split(cv2.absdiff(lab, sheet))
    if metric.gain:
        hue = measure_chroma(centre_colours(lab), centre_colours(sheet))
        hue += np.float32(metric.lightness_share) * lightness
        return np.asarray(cv2.convertScaleAbs(hue, alpha=metric.gain), np.uint8)
    chroma = _measure_chroma(a, b)
    if not metric.lightness_share:
        return chroma
    deep = cv2.subtract(lightness, _DEEP)
    weighted = cv2.addWeighted(lightness, metric.lightness_share, deep, _DEEP_SHARE, 0)
    return cv2.add(chroma, weighted).clip(0, int(metric.ceiling))


def measure_distance_around(image: Image, mask: Mask) -> Plane:
    """Measure how far colours are from the sheet's around a mask."""
    sheet = estimate_sheet(image, mask, in_lab=True)
    return measure_sheet_distance(cv2.cvtColor(image, cv2.COLOR_BGR2LAB), sheet)


def _measure_chroma(a: Plane, b: Plane) -> Plane:
    """Measure the length of differences in a and b by the octagonal norm."""
    return cv2.addWeighted(cv2.max(a, b), 1.0, cv2.min(a, b), 0.4, 0)


def _choose_cuts(
    chroma: tuple[Field, Field] | None,
    distance: Plane,
    lines: Plane,
    floor: float,
    line_cut: float,
    sheet: Image,
) -> Plane:
    """Choose the threshold at each pixel: on lines, `line_cut` of the local maximum."""
    otsu, _ = cv2.threshold(distance.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    side = 2 * max(1, round(_LOCAL_REACH * max(distance.shape))) + 1
    square = make_square(side)
    local_max = cv2.blur(cv2.dilate(distance, square), (side, side))
    # A pale rachis is nearer to the sheet's colour than many a shadow; only its
    # narrowness distinguishes it.
    min_line = max(_MIN_CUT, _MIN_LINE * otsu * line_cut / LOCAL_CUT)
    line = cv2.dilate(cv2.threshold(lines, min_line, 255, cv2.THRESH_BINARY)[1], square)
    low = min(round(max(floor, _MIN_CUT_OF_OTSU * otsu)), 255)
    high = min(round(max(floor, _MAX_CUT_OF_OTSU * otsu)), 255)
    line_cuts = scale(local_max, line_cut).clip(int(min(floor, 255)), high)
    cuts = scale(local_max, LOCAL_CUT).clip(low, high)
    cuts = np.where(line, line_cuts, cuts)
    if chroma:
        pale = _mark_pale_parts(chroma, distance, cuts, low)
        return np.where(cv2.dilate(pale, square), cuts.clip(0, low), cuts)
    _, a, b = cv2.split(cv2.absdiff(sheet, np.full_like(sheet, 128)))
    card = scale(_measure_chroma(a, b), _CARD_CUT)
    card = card.clip(scale(local_max, _MIN_CARD_CUT), scale(local_max, _MAX_CARD_CUT))
    # Pale lines keep their lower cut.
    return np.where(cuts < low, cuts, card.clip(low))


def is_card(sheet: Image) -> bool:
    """Whether a sheet is coloured: a leaf may then look like its shadow."""
    lightness, a, b, _ = cv2.mean(sheet)
    least = np.clip(_CARD_SATURATION * lightness, *_MIN_CARD_CHROMA)
    return bool(np.hypot(a - 128, b - 128) >= least)


def scale(plane: Plane, factor: float) -> Plane:
    """Multiply a plane by a factor; values above 255 become 255."""
    return cv2.convertScaleAbs(plane, alpha=factor)


def _mark_pale_parts(
    chroma: tuple[Field, Field], distance: Plane, cuts: Plane, low: int
) -> Plane:
    """Mark parts of a leaf between `low` and the cut (dry tips beside vivid colours).

    A shadow on the sheet is as pale, but has the sheet's chroma, reduced like the
    lightness. The chroma of a leaf differs from it in the direction of the parts above
    the cut.
    """
    leaf = cv2.compare(distance, cuts, cv2.CMP_GT)
    between = cv2.inRange(distance, low + 1, 255) & ~leaf
    between = cv2.morphologyEx(between, cv2.MORPH_OPEN, SQUARE)
    if not between.any() or not leaf.any():
        return np.zeros_like(leaf)
    hue = np.array([cv2.mean(plane, leaf)[0] for plane in chroma])
    along = cv2.addWeighted(chroma[0], hue[0], chroma[1], hue[1], 0)
    between &= cv2.compare(
        along, _MIN_LEAF_CHROMA * (np.hypot(*hue) + 1e-6), cv2.CMP_GT
    )
    return cv2.morphologyEx(between, cv2.MORPH_OPEN, SQUARE)
