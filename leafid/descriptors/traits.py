"""Botanical traits of a leaf on a plain sheet, each with the confidence that it is measured well.

The traits are those of the Manual of Leaf Architecture [1]_, as far as an outline shows them; how they are measured is
leafid's own.

References
----------
.. [1] B. Ellis, D. C. Daly, L. J. Hickey, K. R. Johnson, J. D. Mitchell, P. Wilf, S. L. Wing, "Manual of Leaf
   Architecture", Cornell University Press, 2009, ISBN 978-0-8014-7518-4.
"""

import itertools

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.landmarks import Landmarks, find_landmarks, trace_blade
from leafid.descriptors.shape.contour import Points
from leafid.descriptors.shape.margin import compute_margin_signals, smooth_closed
from leafid.segmentation.result import Segmentation, find_convex_hull

#: Smallest confidence of a trait that is measured well enough.
MIN_CONFIDENCE = 0.5
TRAIT_NAMES = (
    "leaflets",  # 1 for a simple leaf; the other traits but the petiole are those of a simple leaf's blade
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
    "petiole",  # length of the petiole in lengths of the blade
)
_LEAFLET_DISC = 0.4  # radius of the disc that separates leaflets, in radii of the largest disc that fits into the leaf
_MERGED = 0.25  # a piece of this much less than two median ones is two leaflets: those of a leaf differ in size
_SIMPLE_DISC, _SIMPLE_SOLIDITY = 0.22, 0.65
"""A leaf of one piece is simple if a disc larger than this (in √area) fits into it, or it is as solid as this."""
_FEATHERY = 10.0  # length of the outline, in √area, above which the pieces of a leaf may be many leaflets
LOBE_DEPTH = 0.25  # smallest depth of a sinus between lobes, in distances from the lobe's end to the midvein [1]_
_SHALLOW = 0.5  # depth of the other sinuses of a lobed blade, in `LOBE_DEPTH`
_LOBE_SMOOTHING = 0.006  # standard deviation of the outline that lobes are counted in, in lengths of the outline
_MIN_LOBE = 0.2  # smallest distance of a lobe's end, relative to the farthest one
_TOOTH_SMOOTHINGS = (0.002, 0.004, 0.008, 0.014)  # standard deviations, in lengths of the outline; a tooth is 2.5 wide
_OUTER = 0.3  # what is farther from the midvein than this, in half widths, belongs to the lobes of a cordate base
_MIN_PEAK = 0.004  # smallest height of a bump that counts, in widths of the blade; without any, the margin is entire
_MIN_TEETH, _MIN_TOOTH, _MIN_TOOTH_PIXELS = 12, 0.006, 1.0
"""Smallest number of teeth, and their smallest mean height, in widths of the blade and in pixels; what is between these
and an entire margin may be the margin's waves or the pixels' grain."""
_MIN_DEEP_TEETH, _DEEP_TOOTH = 6, 0.02
"""Number of teeth that is enough if their mean height is more than this, in widths of the blade."""


def measure_reliable_traits(segmentation: Segmentation) -> tuple[dict[str, float], Landmarks | None]:
    """Measure the traits of a leaf on a plain sheet, those of `TRAIT_NAMES` that are measured well enough.

    Also returns the landmarks, if there are any. Without a leaf there is nothing.
    """
    if not segmentation.blade.any():
        return {}, None
    landmarks, confidence = find_landmarks(segmentation), segmentation.confidence
    if confidence < MIN_CONFIDENCE:
        return {}, landmarks
    leaflets = count_leaflets(segmentation.blade)
    traits = {} if leaflets is None else {"leaflets": float(leaflets)}
    if landmarks is not None:
        traits["petiole"] = landmarks.petiole / landmarks.length
    if leaflets == 1 and landmarks is not None:
        traits |= _measure_blade(landmarks, confidence)
    elif leaflets == 1:
        traits |= _measure_outline(trace_blade(segmentation), confidence)
    return traits, landmarks


def _measure_outline(contour: Points, confidence: float) -> dict[str, float]:
    """Measure a simple blade of which base and tip aren't known."""
    short, long = sorted(cv2.minAreaRect(contour[:, ::-1].astype(np.float32))[1])
    # Without landmarks the direction of the length is a guess, which is good for a long leaf only.
    ratio = long / max(short, 1e-6)
    is_long = confidence * min(ratio - 1, 1) >= MIN_CONFIDENCE
    teeth = _measure_teeth(contour, max(short, 1.0), confidence, np.ones(len(contour), bool))
    return {"length_width": ratio} | teeth if is_long else teeth


def _measure_blade(landmarks: Landmarks, confidence: float) -> dict[str, float]:
    """Measure a simple blade."""
    framed = landmarks.framed
    length, width = np.ptp(framed, axis=0)
    lobes, depth = _count_lobes(framed)
    traits = {"length_width": float(length / max(width, 1e-6))}
    if depth:
        # Sinuses between palmate lobes that are too shallow for lobes are too deep for teeth: nothing is said of them.
        return traits | {"lobes": float(lobes), "lobe_depth": depth} if lobes else traits
    is_margin = (framed[:, 0] < 0.985) & (np.hypot(*framed.T) > 0.04)
    teeth = _measure_teeth(landmarks.contour, width * landmarks.length, confidence, is_margin)
    return traits | {"lobes": 0.0} | teeth | _measure_profile(framed)


def count_leaflets(blade: NDArray[np.bool_]) -> int | None:
    """Count the leaflets of a blade, 1 for a simple leaf; None where it can't be told.

    Leaflets are the pieces that remain where a disc fits; a piece of the size of several, which overlap, counts as
    many.
    """
    leaf = np.pad(blade, 1).view(np.uint8)
    depth = cv2.distanceTransform(leaf, cv2.DIST_L2, 5)
    widest = float(depth.max())
    _, _, stats, _ = cv2.connectedComponentsWithStats((depth > _LEAFLET_DISC * widest).view(np.uint8))
    areas = np.sort(stats[1:, cv2.CC_STAT_AREA])[::-1]
    areas = areas[areas > 0.08 * areas[:3].mean()]
    if len(areas) < 3:
        side = float(np.sqrt(np.count_nonzero(leaf)))
        solidity = side**2 / max(cv2.contourArea(find_convex_hull(leaf)), 1.0)
        curves, _ = cv2.findContours(leaf, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        is_feathery = sum(cv2.arcLength(curve, True) for curve in curves) > _FEATHERY * side
        is_simple = len(areas) == 1 and (widest > _SIMPLE_DISC * side or solidity > _SIMPLE_SOLIDITY)
        return 1 if is_simple and not is_feathery else None
    return int(np.maximum(1, np.floor(areas / np.median(areas) + _MERGED)).sum())


def _count_lobes(framed: Points) -> tuple[int, float]:
    """Count the lobes of a blade in the frame of its midrib; also give the mean depth of the sinuses.

    The depth is relative to the distance from the lobe's end to the midvein, or, with a negative sign, to the base
    (palmate lobes). A blade without lobes has 0; its depth is 0 if it has no palmate sinuses either.
    """
    smooth = smooth_closed(framed.T.astype(np.float32), (_LOBE_SMOOTHING, _LOBE_SMOOTHING)).T.astype(np.float64)
    # The curve begins and ends at the base: the sinus that the petiole lies in divides no lobes.
    from_base = np.hypot(*smooth.T)
    start = int(np.argmin(from_base))
    smooth, from_base = np.roll(smooth, -start, axis=0), np.roll(from_base, -start)
    palmate = _find_sinuses(from_base)
    halves = [np.where((side * smooth[:, 1] > 0) & (smooth[:, 0] > 0.03), np.abs(smooth[:, 1]), 0) for side in (1, -1)]
    pinnate = np.concatenate([_find_sinuses(half) for half in halves])
    n_palmate, n_pinnate = (np.count_nonzero(depths >= LOBE_DEPTH) for depths in (palmate, pinnate))
    is_palmate = n_palmate >= n_pinnate
    depths = palmate if is_palmate else pinnate
    if max(n_palmate, n_pinnate) >= 2:
        return len(depths) + 1, float(np.mean(depths)) * (-1 if is_palmate else 1)
    return 0, -float(np.mean(palmate)) if len(palmate) >= 2 else 0.0


def _find_sinuses(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the sinuses between the peaks of a curve: their depths, relative to the lower of the two peaks beside them.

    The curve is the distance of an outline from a base or a midvein.
    """
    slope = np.diff(np.concatenate([[0], distance, [0]]))
    peaks = np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0) & (distance >= _MIN_LOBE * distance.max()))
    kept: list[int] = []
    for peak in peaks.tolist():
        # A peak that no sinus divides from the one before it belongs to the same lobe; the higher one stands for both.
        while kept and _measure_sinus(distance, kept[-1], peak) < _SHALLOW * LOBE_DEPTH:
            peak = max(peak, kept.pop(), key=lambda index: distance[index])
        kept.append(peak)
    return np.array([_measure_sinus(distance, *neighbours) for neighbours in itertools.pairwise(kept)])


def _measure_sinus(distance: NDArray[np.float64], peak: int, next_peak: int) -> float:
    low, high = sorted((peak, next_peak))
    return float(1 - distance[low : high + 1].min() / max(min(distance[peak], distance[next_peak]), 1e-9))


def _measure_teeth(contour: Points, width: float, confidence: float, is_margin: NDArray[np.bool_]) -> dict[str, float]:
    """Count the teeth of a margin and measure their height in percent of the blade's width, which is in pixels.

    The points that are not `is_margin`, those around tip and base, are no teeth. Empty where it can't be told whether
    there are any.
    """
    best = (0.0, 0, 0.0, 0.0)
    signals = compute_margin_signals(contour, _TOOTH_SMOOTHINGS)
    for signal in smooth_closed(signals, tuple(sigma / 4 for sigma in _TOOTH_SMOOTHINGS)):
        floor = max(_MIN_PEAK * width, 0.3 * float(np.quantile(signal, 0.95) - np.quantile(signal, 0.05)))
        # The closed signal from its lowest point on; heights are those above the mean of the valleys beside a peak.
        start = int(np.argmin(signal))
        values = np.append(np.roll(signal, -start), signal[start]).astype(np.float64)
        peaks = find_peaks(values, floor)
        valleys = np.minimum.reduceat(values, np.append(0, peaks))
        heights = values[peaks] - (valleys[:-1] + valleys[1:]) / 2
        peaks = (peaks + start) % len(signal)
        peaks, heights = peaks[is_margin[peaks]], heights[is_margin[peaks]]
        if len(peaks) < _MIN_DEEP_TEETH:
            continue
        spacings = np.diff(peaks)
        regularity = 1 / (1 + float(np.median(np.abs(spacings - np.median(spacings))) / np.median(spacings)))
        score = regularity * float(np.median(heights)) / width * np.sqrt(len(peaks))
        if score > best[0]:
            best = (score, len(peaks), float(np.median(heights)), regularity)
    _, number, height, regularity = best
    if not number:
        return {"teeth": 0.0, "tooth_depth": 0.0}
    if height < max(_MIN_TOOTH * width, _MIN_TOOTH_PIXELS) or (number < _MIN_TEETH and height < _DEEP_TOOTH * width):
        return {}
    depth = {"tooth_depth": float(100 * height / width)}
    return {"teeth": float(number)} | depth if confidence * regularity >= MIN_CONFIDENCE else depth


def find_peaks(values: NDArray[np.float64], prominence: float) -> NDArray[np.int64]:
    """Find the peaks of a signal that rise this much above the higher of the valleys between them and higher peaks.

    They are those of `scipy.signal.find_peaks`, which takes longer to import than a leaf to measure; only of a plateau,
    the first point is taken.
    """
    candidates = np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])) + 1
    kept = []
    for peak in candidates[values[candidates] - values.min() >= prominence].tolist():
        higher = np.flatnonzero(values > values[peak])
        first, last = np.append(-1, higher), np.append(higher, len(values))
        place = int(np.searchsorted(higher, peak))
        valley = max(values[first[place] + 1 : peak].min(), values[peak + 1 : last[place]].min())
        if values[peak] - valley >= prominence:
            kept.append(peak)
    return np.array(kept, np.int64)


def _measure_profile(framed: Points) -> dict[str, float]:
    """Measure the blade's width along the midrib, and the form of its two ends."""
    step = 1 / 128
    levels = np.arange(round(float(framed[:, 0].min()) / step), round(float(framed[:, 0].max()) / step) + 1)
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
