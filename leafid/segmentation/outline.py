"""How sure the outline of a leaf is, judged by what its segmentation didn't go by."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import Image, Mask, find_bounding_box

Plane = NDArray[np.float32]

# Longer side of the reduced picture that is judged, in pixels, and the sheet around the leaf in it, in the leaf's
# longer sides. The sheet's colour is estimated at a quarter of the size, with a blur of this standard deviation.
_SIDE, _MARGIN = 300, 0.6
_SHEET_STEP, _SHEET_BLUR = 4, 7.5
# The sheet's colours differ from their median by less than this many median differences, and this many units more.
_SHEET_SPREAD, _SHEET_NOISE = 3.0, 4.0
_LIGHTNESS_SHARE = 0.5  # weight of lightness beside chroma
# Pixels beside the outline, where colours mix, and the width of the bands beside them whose colours are compared.
_MIXED, _BAND = 1.5, 5.0
_WINDOW = (9, 9)
# What differs from the sheet by less than this part of what the leaf does is weak.
_WEAK = 0.35
# Beside the leaf, what differs from the sheet's hue by more than this part, and more than this many times as much as
# half of the sheet does, is no sheet.
_PALE, _NOISE = 0.2, 4.0
_MIN_SHADE = 8.0  # by how much a shadow is darker than its sheet, in 8-bit Lab units
_NEAR = 0.35  # how far from the leaf parts may lie that are missed, in square roots of its area
_JOINT = 2  # a gap, in pixels, that doesn't separate such parts from the leaf
_MIN_PIXELS = 8  # of an outline, and of a leaf, that can be judged
_FLOOR = 0.02  # smaller shares make little difference
# Part of an outline without a change of hue that counts like an area: it may be a shadow's, or a grey leaf's.
_HUELESS_AREA = 0.2
# Logarithms of odds: without any cue, and for each e-fold of what `weigh_cues` sums up. `python -m benchmarks.outlines
# fit` learns them.
_OFFSET = 6.32
_SLOPES = (1.78, 0.56, 0.7)


class OutlineCues(NamedTuple):
    """What speaks against an outline: shares, 0 where nothing does, at most 1."""

    #: Area beside the mask, and joined to it, that has another hue than the sheet, in areas of the mask.
    missed: float
    #: Area in which the mask differs from that by hue alone, in areas of both.
    disputed: float
    #: Share of the outline along which the colour changes little.
    faint: float
    #: Share of the outline along which the hue changes little.
    hueless: float
    #: Share of the mask that has the sheet's hue, but is darker.
    shaded: float


def estimate_outline_confidence(image: Image, mask: Mask) -> float:
    """Estimate the probability that a mask has an IoU of 0.9 with the leaf that it was cut out for.

    It is a logistic function of the `OutlineCues`, and 0 where there is no outline in the picture.
    """
    cues = measure_outline_cues(image, mask)
    if cues is None:
        return 0.0
    odds = _OFFSET - np.dot(_SLOPES, weigh_cues(cues))
    return float(1 / (1 + np.exp(-odds)))


def weigh_cues(cues: OutlineCues) -> NDArray[np.float64]:
    """Sum cues up: the area that is wrong, what is disputed, what is faint; logarithms from 0, float64 (3,)."""
    wrong = cues.missed + cues.shaded + _HUELESS_AREA * cues.hueless
    return np.log1p(np.array([wrong, cues.disputed, cues.faint]) / _FLOOR)


def measure_outline_cues(image: Image, mask: Mask) -> OutlineCues | None:
    """Measure what speaks against an outline; None where there is none, or it is too small to be judged."""
    lab, leaf = _reduce(image, mask)
    inside, outside = _measure_depth(leaf), _measure_depth(1 - leaf)
    is_outline = (inside > 0) & (inside <= _MIXED)
    # The border of the picture is no outline.
    is_outline[[0, -1]] = is_outline[:, [0, -1]] = False
    is_inner, is_outer = inside > _MIXED, outside > _MIXED
    if min(map(np.count_nonzero, (is_outline, is_inner, is_outer))) < _MIN_PIXELS:
        return None
    sheet = _estimate_sheet(lab, is_outer)
    chroma = _measure_chroma(lab, sheet)
    darkness = sheet[..., 0] - lab[..., 0]
    typical = float(np.median(chroma[is_inner]))
    is_hued = chroma > _WEAK * typical
    inner = _average(lab, is_inner & (inside <= _BAND + 1))[is_outline]
    outer = _average(lab, is_outer & (outside <= _BAND + 1))[is_outline]
    chroma_step = _measure_chroma(inner, outer)
    step = np.hypot(chroma_step, _LIGHTNESS_SHARE * (inner[:, 0] - outer[:, 0]))
    typical_step = np.hypot(
        typical, _LIGHTNESS_SHARE * np.median(np.abs(darkness[is_inner]))
    )
    area = np.count_nonzero(leaf)
    is_near = outside < max(_JOINT, _NEAR * np.sqrt(area))
    by_hue = _threshold(chroma) & is_near
    overlap = np.count_nonzero(by_hue & (leaf > 0)) / np.count_nonzero(
        by_hue | (leaf > 0)
    )
    noise = float(np.median(chroma[is_outer]))
    is_other = chroma > max(_PALE * typical, _NOISE * noise)
    missed = _find_joined(is_other & is_outer & is_near, leaf)
    return OutlineCues(
        missed=min(np.count_nonzero(missed) / area, 1.0),
        disputed=1 - overlap,
        faint=float(np.mean(step < _WEAK * typical_step)),
        hueless=float(np.mean(chroma_step < _WEAK * typical)),
        shaded=float(np.mean((~is_hued & (darkness > _MIN_SHADE))[is_inner])),
    )


def _reduce(image: Image, mask: Mask) -> tuple[Plane, NDArray[np.uint8]]:
    """Cut out the leaf with some of its sheet, at most `_SIDE` pixels a side: in Lab, and the mask."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    margin = round(_MARGIN * max(row1 - row0, col1 - col0)) + _JOINT
    box = np.s_[
        max(row0 - margin, 0) : row1 + margin, max(col0 - margin, 0) : col1 + margin
    ]
    crop, leaf = image[box], mask[box].astype(np.uint8) * np.uint8(255)
    factor = min(1.0, _SIDE / max(leaf.shape))
    size = tuple(max(1, round(side * factor)) for side in leaf.shape[::-1])
    small = cv2.resize(crop, size, interpolation=cv2.INTER_AREA)
    leaf = cv2.resize(leaf, size, interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB).astype(np.float32)
    return lab - np.array([0, 128, 128], np.float32), (leaf > 127).view(np.uint8)


def _measure_depth(region: NDArray[np.uint8]) -> Plane:
    """Measure how deep in a region each pixel lies; the border of the picture is no edge of it."""
    wide = cv2.copyMakeBorder(region, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    return cv2.distanceTransform(wide, cv2.DIST_L2, cv2.DIST_MASK_3)[1:-1, 1:-1]


def _estimate_sheet(lab: Plane, is_outer: Mask) -> Plane:
    """Estimate the sheet's colour from what is usual outside the leaf: a part that is missed isn't."""
    outer = lab[is_outer]
    middle = np.median(outer, axis=0)
    spread = np.median(np.abs(outer - middle).sum(axis=1))
    difference = np.abs(lab - middle).sum(axis=2)
    ratio = difference / (_SHEET_SPREAD * spread + _SHEET_NOISE)
    weight = (is_outer / (1 + ratio**2) ** 2).astype(np.float32)[..., None]
    size = tuple(max(1, side // _SHEET_STEP) for side in weight.shape[1::-1])
    small = cv2.resize(
        np.concatenate([lab * weight, weight], axis=2),
        size,
        interpolation=cv2.INTER_AREA,
    )
    blurred = cv2.GaussianBlur(small, (0, 0), _SHEET_BLUR)
    # Far from all sheet, its usual colour.
    colour, total = blurred[..., :3] + 1e-4 * middle, blurred[..., 3:] + 1e-4
    return cv2.resize((colour / total).astype(np.float32), weight.shape[1::-1])


def _measure_chroma(lab: Plane, behind: Plane) -> Plane:
    """Measure how far colours are from those behind them in a and b, where a shadow takes its part of both."""
    shade = np.clip((lab[..., :1] + 1) / (behind[..., :1] + 1), 0, 1)
    return np.linalg.norm(lab[..., 1:] - shade * behind[..., 1:], axis=-1)


def _average(lab: Plane, selected: Mask) -> Plane:
    """Average the selected colours around each pixel."""
    share = selected.astype(np.float32)[..., None]
    total = cv2.blur(np.concatenate([lab * share, share], axis=2), _WINDOW)
    return total[..., :3] / (total[..., 3:] + np.float32(1e-3))


def _threshold(chroma: Plane) -> Mask:
    """Mark what has a hue of its own, by Otsu's threshold."""
    # Halves of a unit make a difference where the sheet has nearly the leaf's hue.
    levels = np.clip(2 * chroma, 0, 255).astype(np.uint8)
    return cv2.threshold(levels, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1].view(
        bool
    )


def _find_joined(parts: Mask, leaf: NDArray[np.uint8]) -> Mask:
    """Find the parts that are joined to the leaf, but for small gaps."""
    reach = cv2.dilate(leaf, np.ones((2 * _JOINT + 1, 2 * _JOINT + 1), np.uint8))
    _, labels = cv2.connectedComponents(parts.view(np.uint8), connectivity=8)
    joined = np.unique(labels[parts & (reach > 0)])
    return parts & np.isin(labels, joined)
