"""Botanical traits of a leaf on a plain sheet, as far as they are measured well.

The traits are those of the Manual of Leaf Architecture [1]_, as far as an outline shows
them; how they are measured is leafid's own.

References
----------
.. [1] B. Ellis, D. C. Daly, L. J. Hickey, K. R. Johnson, J. D. Mitchell, P. Wilf,
   S. L. Wing, "Manual of Leaf Architecture", Cornell University Press, 2009,
   ISBN 978-0-8014-7518-4.
"""

import itertools
from collections.abc import Mapping

import numpy as np

from leafid.descriptors.arrays import Floats, Indices, Points, Singles
from leafid.descriptors.edge_width import measure_edge
from leafid.descriptors.landmarks import Landmarks, find_landmarks
from leafid.descriptors.leaflets import count_leaflets
from leafid.descriptors.profile import (
    END_OF_LOBED,
    NOTCH,
    is_fan,
    measure_profile,
    share_ends,
)
from leafid.descriptors.shape.contour import compute_contour_length, find_hull
from leafid.descriptors.shape.margin import (
    compute_margin_signals,
    measure_sinuses,
    smooth_closed,
)
from leafid.descriptors.tracing import trace_leaf
from leafid.segmentation.result import Mask, Segmentation

#: Smallest confidence of a trait that is measured well enough.
MIN_CONFIDENCE = 0.5
#: Names of all traits; those below `petiole` are traits of a simple blade.
TRAIT_NAMES = (
    "compound",  # 1 for a compound leaf, 0 for a simple one
    "leaflets",  # number of leaflets, 1 for a simple leaf
    "petiole",  # length of the petiole in lengths of the blade
    "length_width",  # length over width of the blade
    "widest",  # position of the greatest width, 0 at the base, 1 at the tip
    "parallel",  # share of the length of a width within 2.5 % of the greatest
    "lobes",  # number of lobes, 0 for an unlobed blade
    "lobe_depth",  # of sinuses, in distances to the midvein; negative if palmate
    "teeth",  # number of teeth, 0 for an entire margin
    "tooth_depth",  # their mean height in percent of the width
    "apex_angle",  # degrees, from the tip to the margin at 75 % of the length
    "apex_bulge",  # mean distance of that margin from a line, in widths there
    "base_angle",  # degrees, from the base to the margin at 25 % of the length
    "base_bulge",  # as for the apex
    "base_extension",  # how far the blade reaches below its base, in lengths
    "apex_extension",  # how far it reaches beyond its tip
)
# Standard deviations of smoothings, in lengths of the outline. It strays from itself
# smoothed by the teeth of lobes, by the teeth of an unlobed blade, and by lobes.
_FINE = 0.0015
_TEETH = 0.004
_LOBES = 0.03
_SCALES = (_FINE, _TEETH, _LOBES)
# How far half of the margin strays, in lengths of the outline, without and with teeth
# or lobes. Between both, waves of a margin and low teeth can't be distinguished.
_UNEVEN = {_FINE: (1.05e-4, 1.7e-4), _TEETH: (1.7e-4, 2.3e-4), _LOBES: (45e-4, 51e-4)}
# Resolution at which all teeth or lobes are seen, and the power of it with which the
# limit of a margin without them falls below. Of margins in pictures of 224 pixels, or
# reduced or blurred, that are said to be entire, 5 % have teeth.
_RESOLUTION = {_FINE: (400.0, 2.0), _TEETH: (300.0, 0.5), _LOBES: (80.0, 0.5)}
# Smallest distance of teeth that can be counted, in widths of the edge.
_MIN_SPACING = 8.0
# Longest cut along the border of the picture, in widths, of a whole blade.
_MAX_CUT = 0.1
# Distance from the border, in pixels, of a margin that isn't cut, and the smallest
# share of the outline that shows of what kind it is.
_BORDER = 4
_MIN_MARGIN = 0.4
# Largest distance of the greatest width of an elliptic blade from its middle.
_SYMMETRIC = 0.06
# Smallest depth of a sinus, in distances from the lobe's end to the midvein or base.
_MIN_SINUS = 0.06
# Smallest angle between midvein and widest place of palmate lobes, in degrees times the
# width over the length.
_PALMATE = 33.0
# Standard deviation of the outline that lobes are counted in.
_LOBE_SMOOTHING = 0.006
# Smallest number of sinuses: a slit or a bite divides no lobes. Depth of the deepest
# one between palmate lobes that may be leaflets: 0.67 in one of 110 simple leaves, less
# in the others.
_MIN_SINUSES = 2
_SEPARATE = 2 / 3
# Smallest distance of a lobe's end, relative to the farthest one.
_MIN_LOBE = 0.2
# Smallest depth of a sinus that may be a bite, in lengths of the outline, and its mean
# depth, in its greatest, if it is one: 0.64 of half a circle, at most 0.54 in 47 lobed
# leaves of 11 species.
_MIN_BITE = 0.01
_ROUND = 0.57
# Standard deviations of the outlines that teeth are counted in; a tooth is 2.5 wide.
_TOOTH_SMOOTHINGS = (0.002, 0.0028, 0.004, 0.0056, 0.008, 0.0113, 0.016)
# Smoothing above which a margin without teeth may have few and wide ones, and the
# largest sum of their heights in an entire margin, in widths: more in 3 % of 106.
_COARSE = 0.0113
_MAX_RISE = 0.1
# Smallest number of teeth of a margin: fewer are waves, or damage.
_MIN_TEETH = 3
# Standard deviations, in a wave, of an outline whose bends are measured, and their
# smallest kurtosis in teeth: at most 1.51 in drawn waves, at least 1.79 in drawn teeth.
_STEPS = 16
_MIN_KURTOSIS = 1.55
# Smallest height of a tooth that counts, in widths of the blade.
_MIN_PEAK = 0.004
# Greatest difference of the number of teeth at the next smoothing, if it is sure.
_REPEATED = 0.12
# Traits of the ends that lobed blades have.
_ENDS = ("apex_angle", "apex_bulge", "base_angle", "base_extension")


def measure_reliable_traits(
    leaf: Segmentation, ends: Points | None = None
) -> tuple[dict[str, float], Landmarks | None]:
    """Measure the traits of a leaf on a plain sheet that are measured well enough.

    Where the edge is blurred in the leaf's picture, fewer teeth can be seen.

    Parameters
    ----------
    leaf : Segmentation
    ends : (2, 2), optional
        Rows and columns of tip and base, where a person chose them.

    Returns
    -------
    traits : dict of str to float
        By their names in `TRAIT_NAMES`; empty for what may be several leaves.
    landmarks : Landmarks or None
        None where there is no leaf.
    """
    if not leaf.blade.any():
        return {}, None
    outline = trace_leaf(leaf.mask)
    edge = measure_edge(outline, leaf.picture)
    is_compound, leaflets = count_leaflets(leaf.blade, edge)
    landmarks = find_landmarks(leaf, outline, ends, is_compound=is_compound)
    resolution = compute_contour_length(landmarks.contour) / edge
    traits: dict[str, float] = {}
    if leaf.outline_confidence < MIN_CONFIDENCE or leaf.may_be_several:
        return traits, landmarks
    if is_compound is not None:
        traits["compound"] = float(is_compound)
    if leaflets is not None:
        traits["leaflets"] = float(leaflets)
    # What is left of a blade that is cut has another form.
    is_whole = measure_cut(leaf.blade) <= _MAX_CUT * landmarks.extent[1]
    if is_whole and landmarks.petiole is not None and not measure_cut(leaf.petiole):
        traits["petiole"] = landmarks.petiole / landmarks.length
    if leaflets != 1:
        return traits, landmarks
    is_margin = _find_margin(landmarks, leaf.mask.shape)
    is_uneven = _judge_unevenness(landmarks.contour, is_margin, resolution)
    if is_whole:
        form = _measure_form(landmarks, is_uneven[_LOBES])
        if form is None:
            return drop_misfits(traits, is_compound=1), landmarks
        traits |= form
    traits |= _measure_margin(landmarks, is_margin, is_uneven, resolution)
    return traits, landmarks


def drop_misfits(
    traits: Mapping[str, float], is_compound: float | None
) -> dict[str, float]:
    """Drop the traits of a blade that doesn't fit the leaves of its species.

    Leaflets that overlap were taken for lobes, or lobes for leaflets.

    Parameters
    ----------
    traits : mapping of str to float
        As of `measure_reliable_traits`.
    is_compound : float or None
        1 where the leaves of the species are compound, 0 where they are simple; None
        where nobody knows.
    """
    is_fitting = is_compound in (None, traits.get("compound", is_compound))
    names = traits.keys() if is_fitting else traits.keys() & {"petiole"}
    return {name: traits[name] for name in names}


def measure_cut(mask: Mask) -> int:
    """Measure how many pixels of a mask lie along the border of the picture."""
    return int(np.count_nonzero(mask) - np.count_nonzero(mask[1:-1, 1:-1]))


def _find_margin(landmarks: Landmarks, size: tuple[int, ...]) -> Mask:
    """Mark the points of a contour that are neither an end nor cut by the border."""
    framed, contour = landmarks.framed, landmarks.contour
    is_inside = (contour >= _BORDER) & (contour < np.array(size) - 1 - _BORDER)
    is_between = (framed[:, 0] < 0.985) & (np.hypot(*framed.T) > 0.06)
    return is_between & is_inside.all(axis=1)


def _measure_form(
    landmarks: Landmarks, is_lobed: bool | None
) -> dict[str, float] | None:
    """Measure the form of a simple blade; None where its lobes may be leaflets.

    Without a base, only what doesn't depend on which end it is.
    """
    framed, has_base = landmarks.framed, landmarks.has_base
    length, width = landmarks.extent.tolist()
    is_framed = landmarks.confidence >= MIN_CONFIDENCE
    traits = {"length_width": length / width} if is_framed else {}
    profile = measure_profile(framed)
    n_bites, n_sinuses = _count_bites(landmarks.contour)
    if has_base and is_fan(profile | traits):
        # The corners of a fan, and the slits in its end, are no lobes.
        traits |= profile
    elif is_lobed and is_framed and n_bites <= n_sinuses:
        lobes = _measure_lobes(framed)
        if lobes is None:
            return None
        traits |= lobes
        if has_base:
            # Farther away are other lobes.
            ends = measure_profile(framed, END_OF_LOBED)
            traits |= {name: ends[name] for name in _ENDS}
    elif is_lobed is False:
        traits["lobes"] = 0.0
        is_elliptic = is_framed and abs(profile["widest"] - 0.5) < _SYMMETRIC
        if has_base:
            traits |= profile
            if n_bites and profile["apex_extension"] > NOTCH:
                # The notch may be the bite.
                del traits["apex_angle"]
        elif is_framed:
            traits |= share_ends(profile)
        if is_elliptic and not has_base:
            traits |= {name: profile[name] for name in ("widest", "parallel")}
    return traits


def _measure_margin(
    landmarks: Landmarks,
    is_margin: Mask,
    is_uneven: Mapping[float, bool | None],
    resolution: float,
) -> dict[str, float]:
    """Measure the teeth of a simple blade, if it can be told whether there are any."""
    is_lobed = is_uneven[_LOBES]
    has_teeth = is_uneven[_FINE if is_lobed else _TEETH]
    if is_lobed is None or has_teeth is None:
        return {}
    width = float(landmarks.extent[1])
    if not has_teeth:
        [signal] = _filter_margin(landmarks.contour, (_COARSE,))
        rises = _measure_rises(signal, width, is_margin)
        if not is_lobed and rises.sum() > _MAX_RISE * width:
            return {}
        return {"teeth": 0.0, "tooth_depth": 0.0}
    traits = _measure_teeth(
        landmarks.contour, width, is_margin, may_be_wavy=not is_lobed
    )
    if resolution < _MIN_SPACING * traits.get("teeth", 0):
        # Some of them have merged.
        del traits["teeth"]
    return traits


def _judge_unevenness(
    contour: Points, is_margin: Mask, resolution: float
) -> dict[float, bool | None]:
    """Judge by smoothing whether the margin strays; None where it can't be told.

    What counts is the median along the margin: a shadow, a bite or a fold makes no
    teeth, and a stretch without teeth no entire margin. Where the resolution is low,
    teeth are flattened.
    """
    if is_margin.mean() < _MIN_MARGIN:
        return dict.fromkeys(_SCALES)
    signals = _filter_margin(contour, _SCALES)
    windows = tuple(max(2 * sigma, 0.01) for sigma in _SCALES)
    around = smooth_closed(signals**2, windows)[:, is_margin]
    strays = np.median(np.sqrt(np.maximum(around, 0)), axis=1)
    strays /= compute_contour_length(contour)
    judged: dict[float, bool | None] = {}
    for sigma, stray in zip(_SCALES, strays.tolist(), strict=True):
        smooth, uneven = _UNEVEN[sigma]
        needed, power = _RESOLUTION[sigma]
        smooth *= min(1.0, resolution / needed) ** power
        judged[sigma] = stray >= uneven if stray >= uneven or stray <= smooth else None
    return judged


def _filter_margin(contour: Points, sigmas: tuple[float, ...]) -> Singles:
    """Compute the signals of teeth of some sizes, without the grain of pixels."""
    signals = compute_margin_signals(contour, sigmas)
    return smooth_closed(signals, tuple(sigma / 4 for sigma in sigmas))


def _count_bites(contour: Points) -> tuple[int, int]:
    """Count the deep sinuses that are round, as bites are, and those of lobes."""
    depths, _, fullness, _ = measure_sinuses(contour, find_hull(contour))
    is_deep = depths >= _MIN_BITE * compute_contour_length(contour)
    n_bites = int(np.count_nonzero(is_deep & (fullness > _ROUND)))
    return n_bites, int(np.count_nonzero(is_deep)) - n_bites


def _measure_lobes(framed: Points) -> dict[str, float] | None:
    """Count the lobes of a lobed blade, and measure the mean depth of the sinuses.

    The depth is relative to the distance from the lobe's end to the midvein, or, with
    a negative sign, to the base (palmate lobes). None where the
    lobes may be leaflets.
    """
    smoothings = (_LOBE_SMOOTHING, _LOBE_SMOOTHING)
    smooth = smooth_closed(framed.T.astype(np.float32), smoothings).astype(np.float64)
    along, across = smooth
    from_base = np.hypot(along, across)
    widest = int(np.argmax(np.abs(across)))
    length, width = np.ptp(framed, axis=0)
    angle = np.degrees(np.arctan2(abs(across[widest]), along[widest]))
    is_palmate = angle * width / max(length, 1e-6) >= _PALMATE
    halves = [np.where(along > 0.03, side * across, 0) for side in (1, -1)]
    curves = [from_base] if is_palmate else halves
    # The curve begins and ends at the base: the sinus of the petiole divides no lobes.
    start = int(np.argmin(from_base))
    depths = [
        depth
        for curve in curves
        for depth in _measure_sinuses(np.roll(np.maximum(curve, 1e-9), -start))
    ]
    if len(depths) < _MIN_SINUSES:
        return {}
    if is_palmate and max(depths) > _SEPARATE:
        return None
    depth = float(np.mean(depths))
    return {
        "lobes": len(depths) + 1.0,
        "lobe_depth": -depth if is_palmate else depth,
    }


def _measure_sinuses(distance: Floats) -> list[float]:
    """Measure the sinuses between the peaks of a curve, the distance of an outline.

    Returns their depths, relative to the lower of the two peaks beside them.
    """
    closed = np.concatenate([[1e-9], distance, [1e-9]])
    peaks = find_peaks(np.log(closed), -np.log(1 - _MIN_SINUS))
    peaks = peaks[closed[peaks] >= _MIN_LOBE * closed.max()]
    return [
        1 - closed[first:last].min() / min(closed[first], closed[last])
        for first, last in itertools.pairwise(peaks.tolist())
    ]


def _measure_teeth(
    contour: Points, width: float, is_margin: Mask, *, may_be_wavy: bool
) -> dict[str, float]:
    """Measure the height of teeth in percent of the width, and count them if sure.

    Nothing is measured of waves, which may be blunt teeth. The width is in pixels. A
    number is sure if it repeats at the next smoothing. The points that are not
    `is_margin`, those around tip and base, are no teeth.
    """
    counts, heights = [], []
    for signal in _filter_margin(contour, _TOOTH_SMOOTHINGS):
        rises = _measure_rises(signal, width, is_margin)
        counts.append(len(rises))
        heights.append(float(np.median(rises)) if len(rises) else 0.0)
    best = int(np.argmax(np.array(heights) * np.sqrt(counts)))
    number = counts.pop(best)
    is_wavy = number < _MIN_TEETH or _is_wavy(contour, is_margin, number)
    if may_be_wavy and is_wavy:
        return {}
    traits = {"tooth_depth": 100 * heights[best] / width}
    neighbours = counts[max(best - 1, 0) : best + 1]
    differences = [abs(neighbour - number) for neighbour in neighbours]
    if number >= _MIN_TEETH and min(differences) <= _REPEATED * number:
        traits["teeth"] = float(number)
    return traits


def _measure_rises(signal: Singles, width: float, is_margin: Mask) -> Floats:
    """Measure the heights of the peaks of a margin above the valleys beside them."""
    low, high = np.quantile(signal, (0.05, 0.95))
    # The closed signal from its lowest point on.
    start = int(np.argmin(signal))
    values = np.append(np.roll(signal, -start), signal[start]).astype(np.float64)
    peaks = find_peaks(values, max(_MIN_PEAK * width, 0.3 * float(high - low)))
    # Heights are those above the mean of the valleys beside a peak.
    valleys = np.minimum.reduceat(values, np.append(0, peaks))
    rises = values[peaks] - (valleys[:-1] + valleys[1:]) / 2
    return rises[is_margin[(peaks + start) % len(signal)]]


def _is_wavy(contour: Points, is_margin: Mask, number: int) -> bool:
    """Whether a margin with a number of crests bends evenly; teeth have corners.

    The kurtosis is that of the bends, each relative to those around it.
    """
    centred = (contour - contour.mean(axis=0)).T.astype(np.float32)
    smooth = smooth_closed(centred, (1 / (_STEPS * number),) * 2)
    rows, cols = np.roll(smooth, -1, axis=1) - np.roll(smooth, 1, axis=1)
    steps = rows + 1j * cols
    turns = np.angle(np.roll(steps, -1) * np.roll(steps, 1).conj())[None]
    bends = turns - smooth_closed(turns, (1.5 / number,))
    around = smooth_closed(bends**2, (1 / number,))
    kurtosis = (bends**2 / np.maximum(around, 1e-12))[0, is_margin] ** 2
    return bool(kurtosis.mean() < _MIN_KURTOSIS)


def find_peaks(values: Floats, prominence: float) -> Indices:
    """Find the peaks of a signal that begins and ends at its lowest value.

    They are those of `scipy.signal.find_peaks`, which takes longer to import than a
    leaf to measure; only of a plateau, the first point is taken.

    Parameters
    ----------
    values : (n,)
    prominence : float
        Smallest height above the higher one of the two valleys between a peak and
        higher ones.

    Returns
    -------
    int (n_peaks,)
        Ascending indices.
    """
    is_peak = (values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])
    is_high = values[1:-1] - values.min() >= prominence
    kept: list[int] = []
    for candidate in (np.flatnonzero(is_peak & is_high) + 1).tolist():
        peak = candidate
        # Two peaks that no valley divides are one; the higher one stands for both.
        while kept:
            valley = values[kept[-1] : peak].min()
            if min(values[kept[-1]], values[peak]) - valley >= prominence:
                break
            peak = max(peak, kept.pop(), key=values.__getitem__)
        kept.append(peak)
    return np.array(kept, np.int64)
