"""The leaf's margin: teeth (number, depth, direction, regularity) and lobes (number, depth, sinuses)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.closed_curves import Points, contour_length, smoothing_gain
from leafid.descriptors.contour import Mask, Shape, shape_of

SMOOTHINGS = (0.0015, 0.003, 0.006, 0.012, 0.025, 0.05)
"""Standard deviations of the smoothed outlines, as shares of the contour's length."""
_FLOOR = 1e-3
"""Depth in √area (a quarter of a pixel of the normalised shape) below which an edge counts as smooth."""
_GRAIN = 0.1
"""What is finer than this share of a smoothing is the pixel grid's; it would split a tooth's top into several."""
BANDS = tuple(int(edge) for edge in np.unique(np.geomspace(2, 512, 26).round()))
"""Edges of the spectrum's bands, in waves around the outline."""
_SHALLOWEST = 0.005
"""Depth in √area below which a sinus isn't listed: the pixel grid makes such dents, with mouths of any width."""
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
    LeafidError
        When the mask isn't two-dimensional or has no leaf in it.
    """
    shape = shape_of(leaf)
    signals = margin_signals(shape.contour, SMOOTHINGS) / shape.side
    return np.asarray([*_teeth(signals), *_spectrum(signals[-1])], dtype=np.float32)


def margin_teeth_names() -> list[str]:
    """Name the values of `margin_teeth`, in order."""
    names = [f"teeth_{sigma:g}_{kind}" for sigma in SMOOTHINGS for kind in _KINDS]
    names += [f"spectrum_log_{low}_{high}" for low, high in itertools.pairwise(BANDS)]
    names += ["spectrum_log_centroid", "spectrum_flatness", "spectrum_peak"]
    return [f"margin_{name}" for name in names]


def margin_signals(contour: Points, sigmas: Sequence[float]) -> NDArray[np.float64]:
    """Signed distance of each contour point from the contour smoothed at several scales, positive outward.

    Parameters
    ----------
    contour : ndarray of float64, shape (n, 2)
        Counter-clockwise, at equal arc length.
    sigmas : sequence of float
        Standard deviations of the smoothings, as shares of the contour's length.

    Returns
    -------
    ndarray of float64, shape (len(sigmas), n)
        In the contour's unit.
    """
    # One complex number a point, row + i·col: both are smoothed, turned and projected in one go.
    points = contour[:, 0] + 1j * contour[:, 1]
    waves = np.fft.fftfreq(len(points), 1 / len(points))
    smooth = np.fft.ifft(np.fft.fft(points) * smoothing_gain(waves, np.asarray(sigmas)[:, None]))
    tangent = np.roll(smooth, -1, axis=1) - np.roll(smooth, 1, axis=1)
    # Counter-clockwise with rows pointing down: the outside is to the right of the way, (row, col) = (col', −row').
    outward = -1j * tangent / np.maximum(np.abs(tangent), 1e-9)
    return np.real(np.conj(outward) * (points - smooth))


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
    LeafidError
        When the mask isn't two-dimensional or has no leaf in it.
    """
    shape = shape_of(leaf)
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


def _teeth(signals: NDArray[np.float64]) -> list[float]:
    """Measure the teeth in the signal of every smoothing, all of `_KINDS` of the first one first."""
    sigmas = np.asarray(SMOOTHINGS)
    count = signals.shape[1]
    signals = _smoothed(signals, sigmas * _GRAIN)
    signals = signals - signals.mean(axis=1, keepdims=True)  # smoothing draws the whole outline inward
    squares = signals * signals
    rms = np.sqrt(squares.mean(axis=1)) + _FLOOR
    unit = signals / rms[:, None]
    unit_squares = squares / (rms * rms)[:, None]
    slope = np.diff(unit, append=unit[:, :1])
    slope_squares = slope * slope
    # Teeth point to the tip, so they lean the other way on the other half of the outline: lean is taken locally.
    steepness = _smoothed(slope_squares * slope, np.full(len(sigmas), 0.125))
    lean = np.abs(steepness).mean(axis=1) / np.maximum(slope_squares.mean(axis=1) ** 1.5, 1e-9)
    local = np.sort(np.sqrt(np.maximum(_smoothed(unit_squares, np.maximum(3 * sigmas, 0.02)), 0.0)))
    # A tooth is a stretch on the outer side; one much lower than the usual doesn't count.
    peaks = (unit > np.roll(unit, 1, axis=1)) & (unit >= np.roll(unit, -1, axis=1)) & (unit > 0.5)
    columns = [
        np.log(rms),
        (unit_squares * unit).mean(axis=1),
        np.log((unit_squares * unit_squares).mean(axis=1) + 0.1),
        *np.array([_peaks(np.flatnonzero(own), signal) for own, signal in zip(peaks, signals, strict=True)]).T,
        lean,
        *local[:, [count // 10, count // 2, count - 1 - count // 10]].T,
    ]
    return np.stack(columns, axis=1).ravel().tolist()


def _peaks(where: NDArray[np.intp], signal: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Give number (log), mean height (log), and the spread of heights and of spacings relative to their means."""
    if not len(where):
        return 0.0, float(np.log(_FLOOR)), 0.0, 0.0
    heights, spacings = signal[where], np.diff(where, append=where[:1] + len(signal))
    mean = heights.mean()
    return (
        float(np.log1p(len(where))),
        float(np.log(mean + _FLOOR)),
        float(heights.std() / mean),
        float(spacings.std() / spacings.mean()),
    )


def _smoothed(signals: NDArray[np.float64], sigmas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth each row, a closed signal, by a standard deviation of its own."""
    spectrum = np.fft.rfft(signals)
    gain = smoothing_gain(np.arange(spectrum.shape[1]), sigmas[:, None])
    return np.fft.irfft(spectrum * gain, n=signals.shape[1])


def _spectrum(signal: NDArray[np.float64]) -> list[float]:
    power = np.abs(np.fft.rfft(signal) / len(signal)) ** 2
    sums = np.add.reduceat(power[: BANDS[-1]], BANDS[:-1])
    share = sums / max(sums.sum(), 1e-15)
    centroid = share @ np.log(np.sqrt(np.multiply(BANDS[:-1], BANDS[1:])))
    fine = power[8 : BANDS[-1]] + 1e-12
    flatness = np.exp(np.log(fine).mean()) / fine.mean()
    return [*np.log(sums + 1e-8).tolist(), float(centroid), float(np.sqrt(flatness)), float(share.max())]


def _sinuses(contour: Points) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Depth and mouth of each stretch between neighbouring hull points, and the share of points on the hull."""
    hull = np.sort(cv2.convexHull(contour[:, ::-1].astype(np.float32), returnPoints=False).ravel())
    count = len(contour)
    following = np.append(hull[1:], hull[0] + count)
    start, end = contour[hull], contour[following % count]
    chord = end - start
    mouths = np.hypot(chord[:, 0], chord[:, 1])
    index = np.arange(hull[0], hull[0] + count)
    stretch = np.searchsorted(hull, index, side="right") - 1
    offset = contour[index % count] - start[stretch]
    cross = chord[stretch, 1] * offset[:, 0] - chord[stretch, 0] * offset[:, 1]
    depth = np.abs(cross) / np.maximum(mouths[stretch], 1e-9)
    depths = np.maximum.reduceat(depth, hull - hull[0])
    on_hull = np.count_nonzero(depth < 0.002 * contour_length(contour)) / count
    return depths, mouths, on_hull
