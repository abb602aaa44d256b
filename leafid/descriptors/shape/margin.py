"""The leaf's margin: teeth (number, depth, direction, regularity) and lobes (number, depth, sinuses)."""

import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.shape.contour import (
    Points,
    Shape,
    as_complex,
    compute_contour_length,
    measure_lengths,
)

Signals = NDArray[np.float32]

SMOOTHINGS = (
    0.0015,
    0.003,
    0.006,
    0.012,
    0.025,
    0.05,
)  # standard deviations, as shares of the contour's length
_FLOOR = 1.5e-3  # depth in √area (a third of a pixel of the normalised shape) below which an edge counts as smooth
_GRAIN = 0.1  # standard deviation, in a smoothing's, that removes the pixel grid, which would split the tops of teeth
BANDS = tuple(
    sorted({round(edge) for edge in np.geomspace(2, 512, 26).tolist()})
)  # edges, in waves around the outline
_MIN_DEPTH = 0.005  # smallest depth of a listed sinus, in √area: the pixel grid makes shallower ones
_BLOCKS = 128  # stretches of the outline that wide smoothings average; divides `CONTOUR_POINTS`
LOBES = 8  # number of listed sinuses, the deepest ones
_SINUS_DEPTHS = (
    0.02,
    0.05,
    0.1,
    0.2,
)  # depths in √area above which sinuses are counted
_KINDS = (
    *(
        "log_depth",
        "skewness",
        "kurtosis",
        "log_number",
        "log_height",
        "height_spread",
        "spacing_spread",
    ),
    *("direction", "local_low", "local_middle", "local_high"),
)

TEETH_NAMES = (
    *(f"teeth_{sigma:g}_{kind}" for sigma in SMOOTHINGS for kind in _KINDS),
    *(f"spectrum_log_{low}_{high}" for low, high in itertools.pairwise(BANDS)),
    *("spectrum_log_centroid", "spectrum_flatness", "spectrum_peak"),
)
LOBES_NAMES = (
    *(
        f"sinus_{kind}_{index + 1}"
        for kind in ("depth", "mouth")
        for index in range(LOBES)
    ),
    *(f"sinuses_log_{depth}" for depth in _SINUS_DEPTHS),
    "hull_share",
)


def measure_teeth(shape: Shape) -> Signals:
    """Measure teeth: the largest component's outline minus itself smoothed at several scales.

    For each smoothing, of the signed distance outward from the smoothed outline: its root mean square (log, in √area),
    skewness (positive: teeth stand out, negative: notches cut in) and kurtosis; number of teeth (log), their mean
    height (log), the spread of heights and of spacings (relative to their means; small means regular), how much they
    lean to one side (0: symmetric), and the 10 %, 50 % and 90 % quantiles of its local root mean square over the
    outline, relative to the whole. Then log power in bands of waves around the outline, and the spectrum's log
    centroid, flatness and highest share: float32 (11 × len(SMOOTHINGS) + len(BANDS) − 1 + 3,). The measures are
    leafid's own.
    """
    signals = compute_margin_signals(shape.contour, SMOOTHINGS) / np.float32(shape.side)
    spectra = np.fft.rfft(signals).astype(np.complex64, copy=False)
    teeth = _summarise_teeth(spectra, signals.shape[1])
    return np.concatenate([teeth, _summarise_spectrum(spectra[-1] / signals.shape[1])])


def compute_margin_signals(contour: Points, sigmas: Sequence[float]) -> Signals:
    """Compute the signed distance of each contour point from the smoothed contour, positive outward, in its unit.

    The contour, (n, 2), is counter-clockwise and at equal arc length; `sigmas` are the standard deviations of the
    smoothings, as shares of its length. Returns float32 (len(sigmas), n).
    """
    # Complex numbers row + i·col smooth, turn and project both coordinates at once; single precision keeps a
    # thousandth of a pixel.
    points = as_complex(contour)
    points = (points - points.mean()).astype(np.complex64)
    smooth = np.fft.ifft(
        np.fft.fft(points) * _make_gains(len(points), tuple(sigmas), is_complex=True)
    )
    around = np.concatenate([smooth[:, -1:], smooth, smooth[:, :1]], axis=1)
    tangent = around[:, 2:] - around[:, :-2]
    across = (points - smooth) * tangent.conj()
    # Counter-clockwise with rows pointing down: the outside is on the right, (row, col) = (col', −row').
    return -across.imag / np.maximum(measure_lengths(tangent), np.float32(1e-9))


def measure_lobes(shape: Shape) -> Signals:
    """Measure lobes: the sinuses between the largest component's outline and its convex hull.

    Depths and mouth widths of the deepest sinuses, deepest first (square roots, in √area); numbers of sinuses deeper
    than 2 %, 5 %, 10 % and 20 % of √area (log(1 + n)); share of the outline on the hull: float32 (2 × LOBES + 5,). The
    measures are leafid's own.
    """
    depths, mouths, on_hull = _measure_sinuses(shape.contour, shape.hull)
    depths, mouths = depths / shape.side, mouths / shape.side
    order = np.argsort(-depths, kind="stable")[:LOBES]
    order = order[depths[order] > _MIN_DEPTH]
    listed = np.zeros((2, LOBES))
    listed[:, : len(order)] = np.sqrt([depths[order], mouths[order]])
    numbers = [np.log1p(np.count_nonzero(depths > depth)) for depth in _SINUS_DEPTHS]
    return np.concatenate([listed.ravel(), numbers, [on_hull]]).astype(np.float32)


def _summarise_teeth(spectra: NDArray[np.complex64], count: int) -> Signals:
    """Summarise the signal of every smoothing; all of `_KINDS` of the first one come first."""
    gains = _make_gains(count, tuple(sigma * _GRAIN for sigma in SMOOTHINGS)).copy()
    gains[:, 0] = 0  # smoothing shrinks the whole outline: the mean is no tooth
    signals = np.fft.irfft(spectra * gains, n=count).astype(np.float32, copy=False)
    rms = np.sqrt(np.vecdot(signals, signals) / np.float32(count)) + np.float32(_FLOOR)
    unit = signals / rms[:, None]
    squares = unit * unit
    slope = np.concatenate([unit[:, 1:], unit[:, :1]], axis=1) - unit
    # Teeth point to the tip, so they lean the other way on the other half of the outline: lean is measured locally.
    steepness = smooth_closed(
        _average_blocks(slope * slope * slope), (0.125,) * len(SMOOTHINGS)
    )
    lean = np.abs(steepness).mean(axis=1) / np.maximum(
        (np.vecdot(slope, slope) / count) ** 1.5, 1e-9
    )
    local = smooth_closed(
        _average_blocks(squares), tuple(max(3 * sigma, 0.02) for sigma in SMOOTHINGS)
    )
    local = np.sort(np.sqrt(np.maximum(local, 0)))
    # A tooth is a local maximum on the outer side; one much lower than usual doesn't count.
    is_rising = slope > 0
    is_peak = (
        np.concatenate([is_rising[:, -1:], is_rising[:, :-1]], axis=1)
        & ~is_rising
        & (unit > 0.5)
    )
    columns = [
        np.log(rms),
        np.vecdot(squares, unit) / count,
        np.log(np.vecdot(squares, squares) / count + 0.1),
        *zip(*map(_summarise_peaks, is_peak, signals), strict=True),
        lean,
        *local[:, [_BLOCKS // 10, _BLOCKS // 2, _BLOCKS - 1 - _BLOCKS // 10]].T,
    ]
    return np.stack(columns, axis=1).ravel().astype(np.float32)


def _summarise_peaks(is_peak: NDArray[np.bool_], signal: Signals) -> tuple[float, ...]:
    """Compute number (log), mean height (log), relative spread of heights and of spacings of a signal's peaks."""
    peaks = np.flatnonzero(is_peak)
    if not len(peaks):
        return 0.0, np.log(_FLOOR), 0.0, 0.0
    heights = signal[peaks].astype(np.float64)
    spacings = np.diff(peaks, append=peaks[0] + len(signal))
    spreads = (
        values.std() / max(values.mean(), 1e-9) for values in (heights, spacings)
    )
    return np.log1p(len(peaks)), np.log(heights.mean() + _FLOOR), *spreads


def _average_blocks(signals: Signals) -> Signals:
    """Average `_BLOCKS` stretches: wide smoothings need no finer samples."""
    width = signals.shape[1] // _BLOCKS
    return signals.reshape(len(signals), _BLOCKS, width) @ np.full(
        width, 1 / width, np.float32
    )


def smooth_closed(signals: Signals, sigmas: tuple[float, ...]) -> Signals:
    """Smooth each row, a closed signal, by its standard deviation."""
    count = signals.shape[1]
    return np.fft.irfft(
        np.fft.rfft(signals) * _make_gains(count, sigmas), n=count
    ).astype(np.float32, copy=False)


@cache
def _make_gains(
    count: int, sigmas: tuple[float, ...], *, is_complex: bool = False
) -> Signals:
    """Compute the frequency responses of Gaussian smoothings of a closed signal of `count` points, real or complex.

    Standard deviations are shares of the contour's length; shape (len(sigmas), n) as `rfft` or `fft` orders waves.
    """
    waves = (
        np.fft.fftfreq(count, 1 / count) if is_complex else np.arange(count // 2 + 1)
    )
    gains = np.exp(-2 * (np.pi * np.asarray(sigmas)[:, None] * waves) ** 2)
    gains[gains < 1e-12] = (
        0.0  # denormal numbers would make the inverse transform ten times slower
    )
    return gains.astype(np.float32)


def _summarise_spectrum(spectrum: NDArray[np.complex64]) -> Signals:
    waves = spectrum[: BANDS[-1]].astype(np.complex128)
    power = waves.real**2 + waves.imag**2
    sums = np.add.reduceat(power, BANDS[:-1])
    share = sums / max(sums.sum(), 1e-15)
    centroid = share @ np.log(np.sqrt(np.multiply(BANDS[:-1], BANDS[1:])))
    fine = power[8:] + 1e-12
    flatness = np.exp(np.log(fine).mean()) / fine.mean()
    return np.array(
        [*np.log(sums + 1e-8), centroid, np.sqrt(flatness), share.max()],
        dtype=np.float32,
    )


def _measure_sinuses(
    contour: Points, hull: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Measure depth and mouth of each stretch between neighbouring hull points, and the share of points on the hull."""
    count = len(contour)
    # The outline from its first hull point on, once around and back to it, as complex numbers.
    points = as_complex(contour)
    points = np.concatenate([points[hull[0] :], points[: hull[0] + 1]])
    corners = np.append(hull - hull[0], count)
    chords = np.diff(points[corners])
    mouths = np.abs(chords)
    stretch = np.repeat(np.arange(len(hull)), np.diff(corners))
    start, unit = points[corners[:-1]], chords.conj() / np.maximum(mouths, 1e-9)
    depth = np.abs(((points[:-1] - start[stretch]) * unit[stretch]).imag)
    depths = np.maximum.reduceat(depth, corners[:-1])
    on_hull = np.count_nonzero(depth < 0.002 * compute_contour_length(contour)) / count
    return depths, mouths, on_hull
