"""The leaf's margin: teeth (number, depth, direction, regularity) and lobes (number, depth, sinuses)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.closed_curves import Points, as_complex, contour_length, smoothing_gain
from leafid.descriptors.contour import Mask, Shape, normalise_shape

SMOOTHINGS = (0.0015, 0.003, 0.006, 0.012, 0.025, 0.05)
"""Standard deviations of the smoothed outlines, as shares of the contour's length."""
_FLOOR = 1.5e-3
"""Depth in √area (a third of a pixel of the normalised shape) below which an edge counts as smooth."""
_GRAIN = 0.1
"""What is finer than this share of a smoothing is the pixel grid's; it would split a tooth's top into several."""
BANDS = tuple(int(edge) for edge in np.unique(np.geomspace(2, 512, 26).round()))
"""Edges of the spectrum's bands, in waves around the outline."""
_SHALLOWEST = 0.005
"""Depth in √area below which a sinus isn't listed: the pixel grid makes such dents, with mouths of any width."""
_BLOCKS = 128
"""Stretches of the outline for what is smoothed over 2 % of it or more; `CONTOUR_POINTS` is a multiple."""
LOBES = 8
"""Deepest sinuses that are listed."""
_KINDS = (
    "log_depth",
    "skewness",
    "kurtosis",
    "log_number",
    "log_height",
    "height_spread",
    "spacing_spread",
    "direction",
    "local_low",
    "local_middle",
    "local_high",
)


def margin_teeth(leaf: Mask | Shape) -> NDArray[np.float32]:
    """Teeth: the outline against itself smoothed at several scales, and the spectrum of the difference.

    Parameters
    ----------
    leaf : ndarray of bool, shape (H, W), or Shape
        The outline of the largest component is measured.

    Returns
    -------
    ndarray of float32, shape (11 × len(SMOOTHINGS) + len(BANDS) − 1 + 3,)
        For each smoothing, of the signed distance outward from the smoothed outline: its root mean square (log, in
        √area), skewness (positive: teeth stand out, negative: notches cut in) and kurtosis; number of teeth (log),
        their mean height (log), the spread of heights and of spacings (relative to their means; small means regular),
        how much they lean to one side (0: symmetric), and its local root mean square's 10 %, 50 % and 90 % quantiles
        over the outline, relative to the whole. Then log power in bands of waves around the outline, and the spectrum's
        log centroid, flatness and highest share.

    Raises
    ------
    ValueError
        When the mask isn't two-dimensional.
    LeafidError
        When it has no leaf in it.

    Notes
    -----
    The measures are leafid's own.
    """
    shape = normalise_shape(leaf)
    signals = margin_signals(shape.contour, SMOOTHINGS) / np.float32(shape.side)
    spectra = np.fft.rfft(signals).astype(np.complex64, copy=False)
    return np.concatenate([_teeth(spectra, signals.shape[1]), _spectrum(spectra[-1] / signals.shape[1])])


def margin_teeth_names() -> list[str]:
    """Name the values of `margin_teeth`, in order."""
    names = [f"teeth_{sigma:g}_{kind}" for sigma in SMOOTHINGS for kind in _KINDS]
    names += [f"spectrum_log_{low}_{high}" for low, high in itertools.pairwise(BANDS)]
    names += ["spectrum_log_centroid", "spectrum_flatness", "spectrum_peak"]
    return [f"margin_{name}" for name in names]


def margin_signals(contour: Points, sigmas: Sequence[float]) -> NDArray[np.float32]:
    """Signed distance of each contour point from the contour smoothed at several scales, positive outward.

    Parameters
    ----------
    contour : ndarray of float64, shape (n, 2)
        Counter-clockwise, at equal arc length.
    sigmas : sequence of float
        Standard deviations of the smoothings, as shares of the contour's length.

    Returns
    -------
    ndarray of float32, shape (len(sigmas), n)
        In the contour's unit.
    """
    # One complex number a point, row + i·col: both are smoothed, turned and projected in one go; single precision
    # keeps a thousandth of a pixel.
    points = as_complex(contour)
    points = (points - points.mean()).astype(np.complex64)
    smooth = np.fft.ifft(np.fft.fft(points) * _gains(len(points), tuple(sigmas), whole=True))
    around = np.concatenate([smooth[:, -1:], smooth, smooth[:, :1]], axis=1)
    tangent = around[:, 2:] - around[:, :-2]
    across = (points - smooth) * tangent.conj()
    # Counter-clockwise with rows pointing down: the outside is to the right of the way, (row, col) = (col', −row').
    return -across.imag / np.maximum(np.sqrt(tangent.real**2 + tangent.imag**2), np.float32(1e-9))


def margin_lobes(leaf: Mask | Shape) -> NDArray[np.float32]:
    """Lobes: the sinuses between the outline and its convex hull.

    Parameters
    ----------
    leaf : ndarray of bool, shape (H, W), or Shape
        The outline of the largest component is measured.

    Returns
    -------
    ndarray of float32, shape (2 × LOBES + 5,)
        Depths and mouth widths of the deepest sinuses, deepest first (square roots, in √area); numbers of sinuses
        deeper than 2 %, 5 %, 10 % and 20 % of √area (log(1 + n)); share of the outline on the hull.

    Raises
    ------
    ValueError
        When the mask isn't two-dimensional.
    LeafidError
        When it has no leaf in it.

    Notes
    -----
    The measures are leafid's own.
    """
    shape = normalise_shape(leaf)
    depths, mouths, on_hull = _sinuses(shape.contour)
    depths, mouths = depths / shape.side, mouths / shape.side
    order = np.argsort(-depths, kind="stable")[:LOBES]
    order = order[depths[order] > _SHALLOWEST]
    listed = np.zeros((2, LOBES))
    listed[0, : len(order)] = np.sqrt(depths[order])
    listed[1, : len(order)] = np.sqrt(mouths[order])
    numbers = [np.log1p(np.count_nonzero(depths > limit)) for limit in (0.02, 0.05, 0.1, 0.2)]
    return np.concatenate([listed.ravel(), numbers, [on_hull]]).astype(np.float32)


def margin_lobes_names() -> list[str]:
    """Name the values of `margin_lobes`, in order."""
    names = [f"sinus_{kind}_{index + 1}" for kind in ("depth", "mouth") for index in range(LOBES)]
    names += [f"sinuses_log_{limit}" for limit in ("0.02", "0.05", "0.1", "0.2")]
    return [f"margin_{name}" for name in [*names, "hull_share"]]


def _teeth(spectra: NDArray[np.complex64], count: int) -> NDArray[np.float32]:
    """Measure the teeth in the signal of every smoothing, all of `_KINDS` of the first one first."""
    gains = _gains(count, tuple(sigma * _GRAIN for sigma in SMOOTHINGS)).copy()
    gains[:, 0] = 0  # smoothing draws the whole outline inward: only what is not the mean counts
    signals = np.fft.irfft(spectra * gains, n=count).astype(np.float32, copy=False)
    rms = np.sqrt((signals * signals).mean(axis=1)) + np.float32(_FLOOR)
    unit = signals / rms[:, None]
    squares = unit * unit
    slope = np.diff(np.concatenate([unit, unit[:, :1]], axis=1))
    slope_squares = slope * slope
    # Teeth point to the tip, so they lean the other way on the other half of the outline: lean is taken locally.
    steepness = _smoothed(_blocks(slope_squares * slope), (0.125,) * len(SMOOTHINGS))
    lean = np.abs(steepness).mean(axis=1) / np.maximum(slope_squares.mean(axis=1) ** 1.5, 1e-9)
    local = _smoothed(_blocks(squares), tuple(max(3 * sigma, 0.02) for sigma in SMOOTHINGS))
    local = np.sort(np.sqrt(np.maximum(local, 0)))
    # A tooth is a stretch on the outer side; one much lower than the usual doesn't count.
    rising = slope > 0
    peaks = np.concatenate([rising[:, -1:], rising[:, :-1]], axis=1) & ~rising & (unit > 0.5)
    columns = [
        np.log(rms),
        (squares * unit).mean(axis=1),
        np.log((squares * squares).mean(axis=1) + 0.1),
        *_peaks(peaks, signals),
        lean,
        *local[:, [_BLOCKS // 10, _BLOCKS // 2, _BLOCKS - 1 - _BLOCKS // 10]].T,
    ]
    return np.stack(columns, axis=1).ravel().astype(np.float32)


def _peaks(peaks: NDArray[np.bool_], signals: NDArray[np.float32]) -> tuple[NDArray[np.float64], ...]:
    """Give, for each signal, number (log), mean height (log), relative spread of heights and of spacings."""
    rows, count = signals.shape
    places = np.flatnonzero(peaks)
    own = places // count
    numbers = np.bincount(own, minlength=rows)
    heights = signals.ravel()[places]
    # The next peak of a signal's last one is its first one, once around.
    following = np.append(places[1:], 0)
    ends = numbers.cumsum()[numbers > 0]
    following[ends - 1] = places[ends - numbers[numbers > 0]] + count
    spacings = following - places
    some = np.maximum(numbers, 1)
    height = np.bincount(own, heights, rows) / some
    height_variance = np.bincount(own, (heights - height[own]) ** 2, rows) / some
    spacing = count / some
    spacing_variance = np.bincount(own, (spacings - spacing[own]) ** 2, rows) / some
    return (
        np.log1p(numbers),
        np.log(height + _FLOOR),
        np.sqrt(height_variance) / np.maximum(height, 1e-9),
        np.sqrt(spacing_variance) / spacing,
    )


def _blocks(signals: NDArray[np.float32]) -> NDArray[np.float32]:
    """Means of `_BLOCKS` stretches: what is smoothed widely afterwards needs no more."""
    return signals.reshape(len(signals), _BLOCKS, -1).mean(axis=2)


def _smoothed(signals: NDArray[np.float32], sigmas: tuple[float, ...]) -> NDArray[np.float32]:
    """Smooth each row, a closed signal, by a standard deviation of its own."""
    count = signals.shape[1]
    return np.fft.irfft(np.fft.rfft(signals) * _gains(count, sigmas), n=count).astype(np.float32, copy=False)


@cache
def _gains(count: int, sigmas: tuple[float, ...], *, whole: bool = False) -> NDArray[np.float32]:
    """Tell what smoothings leave of the waves of `count` points; `whole`: of those of negative frequency too."""
    waves = np.fft.fftfreq(count, 1 / count) if whole else np.arange(count // 2 + 1)
    return smoothing_gain(waves, np.asarray(sigmas)[:, None]).astype(np.float32)


def _spectrum(spectrum: NDArray[np.complex64]) -> NDArray[np.float32]:
    waves = spectrum[: BANDS[-1]].astype(np.complex128)
    power = waves.real**2 + waves.imag**2
    sums = np.add.reduceat(power, BANDS[:-1])
    share = sums / max(sums.sum(), 1e-15)
    centroid = share @ np.log(np.sqrt(np.multiply(BANDS[:-1], BANDS[1:])))
    fine = power[8:] + 1e-12
    flatness = np.exp(np.log(fine).mean()) / fine.mean()
    return np.array([*np.log(sums + 1e-8), centroid, np.sqrt(flatness), share.max()], dtype=np.float32)


def _sinuses(contour: Points) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Depth and mouth of each stretch between neighbouring hull points, and the share of points on the hull."""
    hull = np.sort(cv2.convexHull(contour[:, ::-1].astype(np.float32), returnPoints=False).ravel())
    count = len(contour)
    # The outline from its first hull point on, once around and back to it, one complex number a point.
    points = as_complex(contour)
    points = np.concatenate([points[hull[0] :], points[: hull[0] + 1]])
    places = np.append(hull - hull[0], count)
    chords = np.diff(points[places])
    mouths = np.abs(chords)
    stretch = np.repeat(np.arange(len(hull)), np.diff(places))
    start, unit = points[places[:-1]], chords.conj() / np.maximum(mouths, 1e-9)
    depth = np.abs(((points[:-1] - start[stretch]) * unit[stretch]).imag)
    depths = np.maximum.reduceat(depth, places[:-1])
    on_hull = np.count_nonzero(depth < 0.002 * contour_length(contour)) / count
    return depths, mouths, on_hull
