"""The teeth of a blade's margin, and whether it has any."""

import numpy as np

from leafid.descriptors.arrays import Floats, Indices, Points, Singles
from leafid.descriptors.landmarks import Landmarks
from leafid.descriptors.shape.contour import as_complex, compute_contour_length
from leafid.descriptors.shape.margin import (
    compute_margin_signals,
    smooth_closed,
    smooth_contour,
)
from leafid.segmentation.pixels import Mask

# Smallest share of the outline that shows of what kind it is.
_MIN_MARGIN = 0.4
# Standard deviations of smoothings, in lengths of the outline. The teeth of lobes, the
# teeth of an unlobed blade, and lobes stray from the smoothed outlines.
_SCALES = (0.0015, 0.004, 0.03)
# How far half of the margin strays at each scale, in lengths of the outline, without
# and with teeth or lobes. Between both, waves of a margin and low teeth can't be
# distinguished.
_SMOOTH = np.array([1.05e-4, 1.7e-4, 45e-4])
_UNEVEN = np.array([1.7e-4, 2.3e-4, 51e-4])
# Resolution at which all teeth or lobes are seen; below it, `_SMOOTH` falls with these
# powers. Of the margins that are called entire in pictures of 224 pixels, or in reduced
# or blurred ones, 5 % have teeth.
_RESOLUTIONS = np.array([400.0, 300.0, 80.0])
_POWERS = np.array([2.0, 0.5, 0.5])
# Smallest distance of teeth that can be counted, in widths of the edge.
_MIN_SPACING = 8.0
# Standard deviations of the outlines that teeth are counted in; a tooth is 2.5 wide.
_TOOTH_SMOOTHINGS = (0.002, 0.0028, 0.004, 0.0056, 0.008, 0.0113, 0.016)
# Smoothing at which few wide teeth show in a margin without others, and the largest sum
# of their heights in an entire margin, in widths: 3 % of 106 have more.
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
# Greatest share by which a sure number of teeth differs at the next smoothing.
_REPEATED = 0.12


def measure_margin(
    landmarks: Landmarks, is_margin: Mask, edge: float
) -> tuple[bool | None, dict[str, float]]:
    """Judge whether a blade is lobed, and measure its teeth.

    What counts is how far half of the margin strays from the smoothed outline: a
    shadow, a bite or a fold makes no teeth, and a stretch without teeth no entire
    margin. A low resolution, the length of the outline in widths of its edge, flattens
    teeth.

    Parameters
    ----------
    landmarks : Landmarks
    is_margin : bool (n,)
        Which points of the contour are neither an end of the blade nor cut off.
    edge : float
        Width of the leaf's edge in pixels.

    Returns
    -------
    is_lobed : bool or None
        None where it is uncertain.
    traits : dict of str to float
        ``teeth`` and ``tooth_depth``, if it is certain whether there are any.
    """
    if is_margin.mean() < _MIN_MARGIN:
        return None, {}
    contour = landmarks.contour
    width = float(landmarks.extent[1])
    length = compute_contour_length(contour)
    resolution = length / edge
    signals = _filter_margin(contour, _SCALES)
    windows = tuple(max(2 * sigma, 0.01) for sigma in _SCALES)
    around = smooth_closed(signals**2, windows)[:, is_margin]
    strays = np.median(np.sqrt(np.maximum(around, 0)), axis=1) / length
    smooth = _SMOOTH * np.minimum(resolution / _RESOLUTIONS, 1) ** _POWERS
    is_doubtful = (strays > smooth) & (strays < _UNEVEN)
    is_uneven = (strays >= _UNEVEN).astype(object)
    is_uneven[is_doubtful] = None
    has_teeth_of_lobes, has_teeth, is_lobed = is_uneven.tolist()
    if is_lobed:
        has_teeth = has_teeth_of_lobes
    if is_lobed is None or has_teeth is None:
        return is_lobed, {}
    if has_teeth:
        traits = _measure_teeth(contour, width, is_margin, may_be_wavy=not is_lobed)
        if resolution < _MIN_SPACING * traits.get("teeth", 0):
            # Some of them have merged.
            del traits["teeth"]
        return is_lobed, traits
    [coarse] = _filter_margin(contour, (_COARSE,))
    rises = _measure_rises(coarse, width, is_margin)
    if not is_lobed and rises.sum() > _MAX_RISE * width:
        return is_lobed, {}
    return is_lobed, {"teeth": 0.0, "tooth_depth": 0.0}


def _filter_margin(contour: Points, sigmas: tuple[float, ...]) -> Singles:
    """Compute the signals of teeth of some sizes, without the grain of pixels."""
    signals = compute_margin_signals(contour, sigmas)
    return smooth_closed(signals, tuple(sigma / 4 for sigma in sigmas))


def _measure_teeth(
    contour: Points, width: float, is_margin: Mask, *, may_be_wavy: bool
) -> dict[str, float]:
    """Measure the height of teeth in percent of the width, and count them if sure.

    Nothing is measured of waves, which may be blunt teeth. A number is sure if it
    repeats at the next smoothing.
    """
    counts = []
    heights = []
    for signal in _filter_margin(contour, _TOOTH_SMOOTHINGS):
        rises = _measure_rises(signal, width, is_margin)
        counts.append(len(rises))
        heights.append(float(np.median(rises)) if len(rises) else 0.0)
    best = int((np.array(heights) * np.sqrt(counts)).argmax())
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
    start = signal.argmin()
    values = np.append(np.roll(signal, -start), signal[start]).astype(np.float64)
    peaks = find_peaks(values, max(_MIN_PEAK * width, 0.3 * float(high - low)))
    # A height is above the mean of the valleys beside the peak.
    valleys = np.minimum.reduceat(values, np.append(0, peaks))
    rises = values[peaks] - (valleys[:-1] + valleys[1:]) / 2
    return rises[is_margin[(peaks + start) % len(signal)]]


def _is_wavy(contour: Points, is_margin: Mask, number: int) -> bool:
    """Whether a margin with a number of crests bends evenly; teeth have corners.

    Bends, whose kurtosis decides, are relative to the bends around them.
    """
    points = as_complex(smooth_contour(contour, 1 / (_STEPS * number)))
    steps = np.roll(points, -1) - np.roll(points, 1)
    products = np.roll(steps, -1) * np.roll(steps, 1).conj()
    turns = np.angle(products)[None].astype(np.float32)
    bends = turns - smooth_closed(turns, 1.5 / number)
    around = smooth_closed(bends**2, 1 / number)
    kurtosis = (bends**2 / np.maximum(around, 1e-12))[0, is_margin] ** 2
    return bool(kurtosis.mean() < _MIN_KURTOSIS)


def find_peaks(values: Floats, prominence: float) -> Indices:
    """Find the peaks of a signal that begins and ends at its lowest value.

    `scipy.signal.find_peaks`, which takes five times as long to import, finds the same,
    but one point of a plateau, of which this finds all.

    Parameters
    ----------
    values : (n,)
    prominence : float
        Smallest height above the higher of the valleys between a peak and higher peaks.

    Returns
    -------
    int (n_peaks,)
        Ascending indices.
    """
    # It takes longer to import than a leaf to measure.
    from skimage.morphology import reconstruction

    lowered = values - prominence
    # Lower peaks are drowned by what flows from higher ones over the valleys.
    is_peak = reconstruction(lowered, values) == lowered
    return np.flatnonzero(is_peak & (lowered >= values[0]))
