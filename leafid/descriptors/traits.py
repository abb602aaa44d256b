"""Botanical traits of a leaf on a plain sheet, each with the confidence that it is measured well.

The traits are those of the Manual of Leaf Architecture [1]_, as far as an outline shows them; how they are measured is
leafid's own.

References
----------
.. [1] B. Ellis, D. C. Daly, L. J. Hickey, K. R. Johnson, J. D. Mitchell, P. Wilf, S. L. Wing, "Manual of Leaf
   Architecture", Cornell University Press, 2009, ISBN 978-0-8014-7518-4.
"""

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.landmarks import (
    Landmarks,
    find_landmarks,
    place_landmarks,
    trace_blade,
)
from leafid.descriptors.leaflets import count_leaflets
from leafid.descriptors.resolution import measure_resolution
from leafid.descriptors.shape.contour import Points, compute_contour_length
from leafid.descriptors.shape.margin import compute_margin_signals, smooth_closed
from leafid.segmentation.result import Mask, Segmentation

#: Smallest confidence of a trait that is measured well enough.
MIN_CONFIDENCE = 0.5
TRAIT_NAMES = (
    "compound",  # 1 for a compound leaf, 0 for a simple one; the traits below `petiole` are those of a simple blade
    "leaflets",  # number of leaflets, 1 for a simple leaf
    "petiole",  # length of the petiole in lengths of the blade
    "length_width",  # length over width of the blade
    "widest",  # position of the greatest width, 0 at the base, 1 at the tip
    "parallel",  # share of the length over which the width is within 2.5 % of the greatest
    "lobes",  # number of lobes, 0 for an unlobed blade
    "lobe_depth",  # depth of the sinuses, a share of the distance to the midvein, negative for palmate lobes
    "teeth",  # number of teeth, 0 for an entire margin
    "tooth_depth",  # their mean height in percent of the width
    "apex_angle",  # degrees, from the tip to the margin at 75 % of the length
    "apex_bulge",  # mean distance of that margin outward from the straight line, in widths there
    "base_angle",  # degrees, from the base to the margin at 25 % of the length
    "base_bulge",  # as for the apex
    "base_extension",  # how far the blade reaches below its base, in lengths
    "apex_extension",  # how far it reaches beyond its tip
)
_FINE, _TEETH, _LOBES = _SCALES = (0.0015, 0.004, 0.03)
"""Smoothings of the outline (standard deviations, in its lengths) that it strays from by the teeth of lobes, the teeth
of an unlobed blade, and lobes."""
_UNEVEN = {_FINE: (1.05e-4, 1.85e-4), _TEETH: (1.55e-4, 2.3e-4), _LOBES: (45e-4, 51e-4)}
"""How far half of the margin strays, in lengths of the outline, without and with teeth or lobes. Between both it can't
be told: between the waves of a margin and low teeth, and between spines and shallow lobes."""
_RESOLUTION = {_FINE: (400.0, 2.0), _TEETH: (300.0, 0.5), _LOBES: (80.0, 0.5)}
"""Resolution at which all teeth or lobes are seen, and the power of it with which the limit of a margin without them
falls below: of margins in pictures of 224 pixels, or reduced or blurred, that are said to be entire, 5 % have teeth."""
_MIN_SPACING = (
    6.0  # smallest distance of teeth that can be counted, in widths of the edge
)
_MAX_CUT = 0.1  # longest cut along the picture's border, in widths, of a whole blade
_SYMMETRIC = 0.06  # largest distance of an elliptic one's greatest width from the middle, in its length
_MIN_SINUS = 0.06  # smallest depth of a sinus, in distances from the lobe's end to the midvein or the base
_PALMATE = 33.0  # angle between midvein and widest place, in degrees times the width over the length, of palmate lobes
_LOBE_SMOOTHING = 0.006  # standard deviation of the outline that lobes are counted in, in lengths of the outline
_MIN_LOBE = 0.2  # smallest distance of a lobe's end, relative to the farthest one
_TOOTH_SMOOTHINGS = (0.002, 0.0028, 0.004, 0.0056, 0.008, 0.0113, 0.016)
"""Standard deviations, in lengths of the outline, that teeth are counted in; a tooth is 2.5 wide."""
_OUTER = 0.3  # what is farther from the midvein than this, in half widths, belongs to the lobes of a cordate base
_MIN_PEAK = 0.004  # smallest height of a tooth that counts, in widths of the blade


def measure_reliable_traits(
    leaf: Segmentation, ends: Points | None = None
) -> tuple[dict[str, float], Landmarks | None]:
    """Measure the traits of a leaf on a plain sheet, those of `TRAIT_NAMES` that are measured well enough.

    Also returns the landmarks: `ends`, rows and columns of tip and base, if given. Without a leaf there is nothing, and
    no trait of what may be several leaves. Where the edge is blurred in the leaf's picture, fewer teeth can be seen.
    """
    if not leaf.blade.any():
        return {}, None
    resolution = measure_resolution(trace_blade(leaf)[0], leaf.picture)
    is_compound, leaflets = count_leaflets(leaf.blade, resolution)
    landmarks = (
        find_landmarks(leaf, is_compound=bool(is_compound))
        if ends is None
        else place_landmarks(leaf, *ends)
    )
    if leaf.outline_confidence < MIN_CONFIDENCE or leaf.may_be_several:
        return {}, landmarks
    counted = {"compound": is_compound, "leaflets": leaflets}
    traits = {
        name: float(value) for name, value in counted.items() if value is not None
    }
    if measure_cut(leaf.blade) > _MAX_CUT * landmarks.extent[1]:
        # What is left of a blade has another form.
        return traits, landmarks
    if landmarks.petiole is not None and not measure_cut(leaf.petiole):
        traits["petiole"] = landmarks.petiole / landmarks.length
    if leaflets == 1:
        traits |= _measure_blade(landmarks, resolution)
    return traits, landmarks


def measure_cut(mask: Mask) -> int:
    """Measure how many pixels of a mask lie along the border of the picture."""
    sides = mask[[0, -1]], mask[1:-1, [0, -1]]
    return sum(map(np.count_nonzero, sides))


def _measure_blade(landmarks: Landmarks, resolution: float) -> dict[str, float]:
    """Measure a simple blade; without a base, what doesn't depend on which end it is."""
    contour, framed = landmarks.contour, landmarks.framed
    has_base = landmarks.has_base
    length, width = landmarks.extent
    is_framed = landmarks.confidence >= MIN_CONFIDENCE
    traits = {"length_width": length / width} if is_framed else {}
    is_margin = (framed[:, 0] < 0.985) & (np.hypot(*framed.T) > 0.06)
    uneven = _judge_unevenness(contour, is_margin, resolution)
    profile = _measure_profile(framed)
    if has_base and is_fan(profile | traits):
        # The corners of a fan, and the slits in its end, are no lobes.
        traits |= profile
    elif uneven[_LOBES] and is_framed:
        traits |= _measure_lobes(framed)
        # The width of a lobed blade is that of its lobes: a wide angle need not be that of the base.
        is_told = has_base and (
            profile["base_angle"] < 87 or profile["base_extension"] >= 0.03
        )
        traits |= {
            name: profile[name] for name in ("base_angle", "base_extension") if is_told
        }
    elif uneven[_LOBES] is False:
        traits |= {"lobes": 0.0} | (profile if has_base else {})
        if is_framed and not has_base and abs(profile["widest"] - 0.5) < _SYMMETRIC:
            traits |= {name: profile[name] for name in ("widest", "parallel")}
    has_teeth = (
        None if uneven[_LOBES] is None else uneven[_FINE if uneven[_LOBES] else _TEETH]
    )
    if has_teeth:
        traits |= _measure_teeth(contour, width, is_margin)
        if resolution < _MIN_SPACING * traits.get("teeth", 0):
            # Some of them have merged.
            del traits["teeth"]
    elif has_teeth is False:
        traits |= {"teeth": 0.0, "tooth_depth": 0.0}
    return traits


def _judge_unevenness(
    contour: Points, is_margin: NDArray[np.bool_], resolution: float
) -> dict[float, bool | None]:
    """Judge whether the margin strays from itself smoothed, by smoothing; None where it can't be told.

    What counts is the median along the margin: a shadow, a bite or a fold makes no teeth, and a stretch without teeth
    no entire margin. Where the resolution is low, teeth are flattened.
    """
    length = compute_contour_length(contour)
    signals = smooth_closed(
        compute_margin_signals(contour, _SCALES), tuple(sigma / 4 for sigma in _SCALES)
    )
    around = smooth_closed(signals**2, tuple(max(2 * sigma, 0.01) for sigma in _SCALES))
    strays = np.median(np.sqrt(np.maximum(around[:, is_margin], 0)), axis=1) / length
    judged = {}
    for sigma, stray in zip(_SCALES, strays.tolist(), strict=True):
        smooth, uneven = _UNEVEN[sigma]
        needed, power = _RESOLUTION[sigma]
        smooth *= min(1.0, resolution / needed) ** power
        judged[sigma] = True if stray >= uneven else False if stray <= smooth else None
    return judged


def _measure_lobes(framed: Points) -> dict[str, float]:
    """Count the lobes of a lobed blade in the frame of its midrib, and measure the mean depth of the sinuses.

    The depth is relative to the distance from the lobe's end to the midvein, or, with a negative sign, to the base
    (palmate lobes).
    """
    smooth = smooth_closed(
        framed.T.astype(np.float32), (_LOBE_SMOOTHING, _LOBE_SMOOTHING)
    ).T.astype(np.float64)
    along, across = smooth[np.argmax(np.abs(smooth[:, 1]))]
    length, width = np.ptp(framed, axis=0)
    is_palmate = (
        np.degrees(np.arctan2(abs(across), along)) * width / max(length, 1e-6)
        >= _PALMATE
    )
    # The curve begins and ends at the base: the sinus that the petiole lies in divides no lobes.
    from_base = np.hypot(*smooth.T)
    halves = [
        np.where(
            (side * smooth[:, 1] > 0) & (smooth[:, 0] > 0.03), np.abs(smooth[:, 1]), 0
        )
        for side in (1, -1)
    ]
    curves = [from_base] if is_palmate else halves
    start = int(np.argmin(from_base))
    depths = np.concatenate([_find_sinuses(np.roll(curve, -start)) for curve in curves])
    # Where sinuses are too shallow to be counted, there are still a middle lobe and two beside it.
    depth = float(depths.mean()) if len(depths) else _MIN_SINUS
    return {
        "lobes": max(3.0, len(depths) + 1.0),
        "lobe_depth": -depth if is_palmate else depth,
    }


def _find_sinuses(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the sinuses between the peaks of a curve: their depths, relative to the lower of the two peaks beside them.

    The curve is the distance of an outline from a base or a midvein.
    """
    slope = np.diff(np.concatenate([[0], distance, [0]]))
    peaks = np.flatnonzero(
        (slope[:-1] > 0) & (slope[1:] <= 0) & (distance >= _MIN_LOBE * distance.max())
    )
    kept: list[int] = []
    for peak in peaks.tolist():
        # A peak that no sinus divides from the one before it belongs to the same lobe; the higher one stands for both.
        while kept and _measure_sinus(distance, kept[-1], peak) < _MIN_SINUS:
            peak = max(peak, kept.pop(), key=lambda index: distance[index])
        kept.append(peak)
    return np.array(
        [
            _measure_sinus(distance, *neighbours)
            for neighbours in itertools.pairwise(kept)
        ]
    )


def _measure_sinus(distance: NDArray[np.float64], peak: int, next_peak: int) -> float:
    low, high = sorted((peak, next_peak))
    return float(
        1
        - distance[low : high + 1].min()
        / max(min(distance[peak], distance[next_peak]), 1e-9)
    )


def _measure_teeth(
    contour: Points, width: float, is_margin: NDArray[np.bool_]
) -> dict[str, float]:
    """Measure the height of teeth in percent of the blade's width, which is in pixels, and count them if that is sure.

    A number is sure if it repeats within 12 % at the next smoothing. The points that are not `is_margin`, those around
    tip and base, are no teeth.
    """
    counts, heights = [], []
    signals = compute_margin_signals(contour, _TOOTH_SMOOTHINGS)
    for signal in smooth_closed(
        signals, tuple(sigma / 4 for sigma in _TOOTH_SMOOTHINGS)
    ):
        floor = max(
            _MIN_PEAK * width,
            0.3 * float(np.quantile(signal, 0.95) - np.quantile(signal, 0.05)),
        )
        # The closed signal from its lowest point on; heights are those above the mean of the valleys beside a peak.
        start = int(np.argmin(signal))
        values = np.append(np.roll(signal, -start), signal[start]).astype(np.float64)
        peaks = find_peaks(values, floor)
        valleys = np.minimum.reduceat(values, np.append(0, peaks))
        height = values[peaks] - (valleys[:-1] + valleys[1:]) / 2
        peaks = (peaks + start) % len(signal)
        is_tooth = is_margin[peaks]
        counts.append(int(np.count_nonzero(is_tooth)))
        heights.append(float(np.median(height[is_tooth])) if counts[-1] else 0.0)
    best = int(np.argmax(np.array(heights) * np.sqrt(counts)))
    near = [counts[index] for index in (best - 1, best + 1) if 0 <= index < len(counts)]
    traits = {"tooth_depth": 100 * heights[best] / width}
    if (
        counts[best] > 2
        and min(abs(number - counts[best]) for number in near) <= 0.12 * counts[best]
    ):
        traits["teeth"] = float(counts[best])
    return traits


def find_peaks(values: NDArray[np.float64], prominence: float) -> NDArray[np.int64]:
    """Find the peaks of a signal that rise this much above the higher of the valleys between them and higher peaks.

    They are those of `scipy.signal.find_peaks`, which takes longer to import than a leaf to measure; only of a plateau,
    the first point is taken.
    """
    candidates = (
        np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])) + 1
    )
    kept = []
    for peak in candidates[values[candidates] - values.min() >= prominence].tolist():
        higher = np.flatnonzero(values > values[peak])
        first, last = np.append(-1, higher), np.append(higher, len(values))
        place = int(np.searchsorted(higher, peak))
        valley = max(
            values[first[place] + 1 : peak].min(), values[peak + 1 : last[place]].min()
        )
        if values[peak] - valley >= prominence:
            kept.append(peak)
    return np.array(kept, np.int64)


def is_fan(values: Mapping[str, float]) -> bool:
    """Whether a blade, given by its traits, is a wedge with a broad end."""
    return (
        values.get("apex_angle", 0) >= 115
        and values.get("base_bulge", 1) < 0.1
        and values["length_width"] < 1
    )


def _measure_profile(framed: Points) -> dict[str, float]:
    """Measure the blade's width along the midrib, and the form of its two ends."""
    step = 1 / 128
    levels = np.arange(
        round(float(framed[:, 0].min()) / step),
        round(float(framed[:, 0].max()) / step) + 1,
    )
    bins = np.rint(framed[:, 0] / step).astype(int) - levels[0]
    sides = []
    for side in (1, -1):
        reach = np.full(len(levels), -np.inf)
        np.maximum.at(reach, np.clip(bins, 0, len(levels) - 1), side * framed[:, 1])
        known = np.isfinite(reach)
        sides.append(np.interp(levels, levels[known], reach[known]))
    half = np.array(sides)
    width = half.sum(axis=0)
    along = levels * step
    is_wide = width >= 0.975 * width.max()
    is_outer = np.abs(framed[:, 1]) > _OUTER * np.abs(framed[:, 1]).max()
    traits = {
        "widest": float(along[width >= 0.95 * width.max()].mean()),
        "parallel": float(np.count_nonzero(is_wide) * step),
        "base_extension": max(0.0, -float(framed[is_outer, 0].min())),
        "apex_extension": max(0.0, float(framed[:, 0].max()) - 1),
    }
    for name, near, far in (("apex", 1.0, 0.75), ("base", 0.0, 0.25)):
        end = np.maximum([np.interp(far, along, side) for side in half], 1e-6)
        traits[f"{name}_angle"] = float(np.degrees(np.arctan(end / 0.25).sum()))
        at = np.linspace(near, far, 16)[1:-1]
        chord = end[:, None] * np.abs(at - near) / 0.25
        bulge = np.array([np.interp(at, along, side) for side in half]) - chord
        traits[f"{name}_bulge"] = float((bulge.mean(axis=1) / end).mean())
    return traits
