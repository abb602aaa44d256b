"""The leaf's margin: teeth and lobes, with their number, depth and regularity."""

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.arrays import Floats, Indices, Points, Singles
from leafid.descriptors.shape.contour import (
    Shape,
    as_complex,
    compute_contour_length,
)
from leafid.segmentation.pixels import Mask

#: Standard deviations of smoothings, as shares of the contour's length.
SMOOTHINGS = (0.0015, 0.003, 0.006, 0.012, 0.025, 0.05)
# Depth in √area (a third of a pixel of the normalised shape) below which an edge counts
# as smooth.
_FLOOR = 1.5e-3
# Standard deviation, as a share of a smoothing's, that removes the pixel grid, which
# would split the tops of teeth.
_GRAIN = 0.1
#: Edges of bands, in waves around the outline.
BANDS = tuple(sorted({round(edge) for edge in np.geomspace(2, 512, 26).tolist()}))
# Smallest depth of a listed sinus, in √area: the pixel grid makes shallower ones.
_MIN_DEPTH = 0.005
# Stretches of the outline that wide smoothings average; divides `CONTOUR_POINTS`.
_BLOCKS = 128
#: Number of listed sinuses, the deepest ones.
LOBES = 8
# Depths in √area above which sinuses are counted.
_SINUS_DEPTHS = (0.02, 0.05, 0.1, 0.2)
_KINDS = """
log_depth skewness kurtosis log_number log_height height_spread spacing_spread direction
local_low local_middle local_high
"""

TEETH_NAMES = (
    *(f"teeth_{sigma:g}_{kind}" for sigma in SMOOTHINGS for kind in _KINDS.split()),
    *(f"spectrum_log_{low}_{high}" for low, high in itertools.pairwise(BANDS)),
    *("spectrum_log_centroid", "spectrum_flatness", "spectrum_peak"),
)
LOBES_NAMES = (
    *(f"sinus_depth_{index + 1}" for index in range(LOBES)),
    *(f"sinus_mouth_{index + 1}" for index in range(LOBES)),
    *(f"sinuses_log_{depth}" for depth in _SINUS_DEPTHS),
    "hull_share",
)


def measure_teeth(shape: Shape) -> Singles:
    """Measure teeth: how the outline differs from itself smoothed, at several scales.

    The measures are leafid's.

    Parameters
    ----------
    shape : Shape
        The blade, of which the largest component's outline is measured.

    Returns
    -------
    float32 (11 × len(SMOOTHINGS) + len(BANDS) − 1 + 3,)
        For each smoothing, of the signed distance outward from the smoothed outline:
        its root mean square (log, in √area), skewness (positive: teeth stand out,
        negative: notches cut in) and kurtosis; number of teeth (log), their mean height
        (log), the spread of heights and of spacings (relative to their means; small
        means regular), how much they lean to one side (0: symmetric), and the 10 %, 50
        % and 90 % quantiles of its local root mean square over the outline, relative to
        the whole. Then the log power in bands of waves around the outline, and the
        spectrum's log centroid, flatness and highest share.
    """
    signals = compute_margin_signals(shape.contour, SMOOTHINGS) / np.float32(shape.side)
    spectra = np.fft.rfft(signals).astype(np.complex64, copy=False)
    # Smoothing shrinks the whole outline: the mean is no tooth.
    spectra[:, 0] = 0
    teeth = _summarise_teeth(spectra, signals.shape[1])
    return np.concatenate([teeth, _summarise_spectrum(spectra[-1] / signals.shape[1])])


def compute_margin_signals(
    contour: Points, sigmas: float | tuple[float, ...]
) -> Singles:
    """Compute the signed distance of each contour point from the smoothed contour.

    Parameters
    ----------
    contour : float (n, 2)
        Counter-clockwise, at equal arc length.
    sigmas : float or tuple of float
        Standard deviations of the smoothings, as shares of the contour's length.

    Returns
    -------
    float32 (len(sigmas), n)
        Positive outward, in the unit of the contour.
    """
    # Complex numbers row + i·col smooth, turn and project both coordinates at once;
    # single precision keeps a thousandth of a pixel.
    points = as_complex(contour)
    points = (points - points.mean()).astype(np.complex64)
    smooth = np.fft.ifft(
        np.fft.fft(points) * _make_gains(len(points), sigmas, is_complex=True)
    )
    tangent = np.roll(smooth, -1, axis=1) - np.roll(smooth, 1, axis=1)
    across = (points - smooth) * tangent.conj()
    # Counter-clockwise with rows pointing down: the outside is on the right, (row, col)
    # = (col', −row').
    lengths = np.sqrt(tangent.real**2 + tangent.imag**2)
    return -across.imag / np.maximum(lengths, np.float32(1e-9))


def measure_lobes(shape: Shape) -> Singles:
    """Measure lobes: the sinuses between the largest outline and its convex hull.

    The measures are leafid's.

    Parameters
    ----------
    shape : Shape
        The blade.

    Returns
    -------
    float32 (2 × LOBES + 5,)
        Depths, then mouth widths, of the deepest sinuses, the deepest first (square
        roots, in √area; 0 where there are fewer); numbers of sinuses deeper than 2 %,
        5 %, 10 % and 20 % of √area (log(1 + n)); the share of the outline on the hull.
    """
    depths, mouths, _, on_hull = measure_sinuses(shape.contour, shape.hull)
    depths = depths / shape.side
    mouths = mouths / shape.side
    order = np.argsort(-depths, kind="stable")[:LOBES]
    order = order[depths[order] > _MIN_DEPTH]
    deepest = np.zeros((2, LOBES))
    deepest[:, : len(order)] = np.sqrt([depths[order], mouths[order]])
    numbers = [np.log1p(np.count_nonzero(depths > depth)) for depth in _SINUS_DEPTHS]
    return np.concatenate([deepest.ravel(), numbers, [on_hull]]).astype(np.float32)


def _summarise_teeth(spectra: NDArray[np.complex64], count: int) -> Singles:
    """Summarise the signal of every smoothing.

    The values come smoothing by smoothing, in the order of `_KINDS`.
    """
    gains = _make_gains(count, tuple(sigma * _GRAIN for sigma in SMOOTHINGS))
    signals = np.fft.irfft(spectra * gains, n=count).astype(np.float32, copy=False)
    rms = np.sqrt(np.vecdot(signals, signals) / np.float32(count)) + np.float32(_FLOOR)
    unit = signals / rms[:, None]
    squares = unit * unit
    slope = np.roll(unit, -1, axis=1) - unit
    # Teeth point to the tip, so they lean the other way on the other half of the
    # outline: lean is measured locally.
    cubes = _average_blocks(slope * slope * slope)
    steepness = np.abs(smooth_closed(cubes, 0.125)).mean(axis=1)
    usual = (np.vecdot(slope, slope) / count) ** 1.5
    windows = tuple(max(3 * sigma, 0.02) for sigma in SMOOTHINGS)
    local = smooth_closed(_average_blocks(squares), windows)
    local = np.sort(np.sqrt(np.maximum(local, 0)))
    low = _BLOCKS // 10
    # A tooth is a local maximum on the outer side; one much lower than usual doesn't
    # count.
    is_rising = slope > 0
    is_peak = np.roll(is_rising, 1, axis=1) & ~is_rising & (unit > 0.5)
    columns = [
        np.log(rms),
        np.vecdot(squares, unit) / count,
        np.log(np.vecdot(squares, squares) / count + 0.1),
        *zip(*map(_summarise_peaks, is_peak, signals), strict=True),
        steepness / np.maximum(usual, 1e-9),
        *local[:, [low, _BLOCKS // 2, -1 - low]].T,
    ]
    return np.stack(columns, axis=1).ravel().astype(np.float32)


def _summarise_peaks(is_peak: Mask, signal: Singles) -> tuple[float, ...]:
    """Summarise the peaks of a signal.

    Logarithm of their number and of their mean height, relative spread of heights and
    of spacings.
    """
    peaks = np.flatnonzero(is_peak)
    if not len(peaks):
        return 0.0, np.log(_FLOOR), 0.0, 0.0
    heights = signal[peaks].astype(np.float64)
    spacings = np.diff(peaks, append=peaks[0] + len(signal))
    mean_height = heights.sum() / len(peaks)
    # The spacings sum up to the outline.
    mean_spacing = len(signal) / len(peaks)
    return (
        np.log1p(len(peaks)),
        np.log(mean_height + _FLOOR),
        _measure_spread(heights - mean_height) / max(mean_height, 1e-9),
        _measure_spread(spacings - mean_spacing) / mean_spacing,
    )


def _measure_spread(deviations: Floats) -> float:
    """Compute the standard deviation from deviations from the mean."""
    return float(np.sqrt(deviations @ deviations / len(deviations)))


def _average_blocks(signals: Singles) -> Singles:
    """Average `_BLOCKS` stretches: wide smoothings need no finer samples."""
    blocks = signals.reshape(len(signals), _BLOCKS, -1)
    width = blocks.shape[2]
    return blocks @ np.full(width, 1 / width, np.float32)


def smooth_closed(signals: Singles, sigmas: float | tuple[float, ...]) -> Singles:
    """Smooth rows, closed signals, by one standard deviation or by one for each."""
    count = signals.shape[1]
    spectra = np.fft.rfft(signals) * _make_gains(count, sigmas)
    return np.fft.irfft(spectra, n=count).astype(np.float32, copy=False)


def smooth_contour(points: Points, sigma: float) -> Points:
    """Smooth a closed contour, (n, 2), by a share of its length."""
    # Near 0, single precision keeps enough.
    middle = points.mean(axis=0)
    return smooth_closed((points - middle).T.astype(np.float32), sigma).T + middle


@cache
def _make_gains(
    count: int, sigmas: float | tuple[float, ...], *, is_complex: bool = False
) -> Singles:
    """Compute the frequency responses of Gaussian smoothings of a closed signal.

    The signal has `count` points, real or complex. Standard deviations are shares of
    the contour's length; shape (len(sigmas), n) as `rfft` or `fft` orders waves.
    """
    waves = (
        np.fft.fftfreq(count, 1 / count) if is_complex else np.arange(count // 2 + 1)
    )
    gains = np.exp(-2 * (np.pi * np.reshape(sigmas, (-1, 1)) * waves) ** 2)
    # Denormal numbers would make the inverse transform ten times slower.
    gains[gains < 1e-12] = 0.0
    return gains.astype(np.float32)


def _summarise_spectrum(spectrum: NDArray[np.complex64]) -> Singles:
    waves = spectrum[: BANDS[-1]].astype(np.complex128)
    power = waves.real**2 + waves.imag**2
    sums = np.add.reduceat(power, BANDS[:-1])
    share = sums / max(sums.sum(), 1e-15)
    centroid = share @ np.log(np.sqrt(np.multiply(BANDS[:-1], BANDS[1:])))
    fine = power[8:] + 1e-12
    flatness = np.exp(np.log(fine).mean()) / fine.mean()
    values = [*np.log(sums + 1e-8), centroid, np.sqrt(flatness), share.max()]
    return np.array(values, dtype=np.float32)


def measure_sinuses(
    contour: Points, hull: Indices
) -> tuple[Floats, Floats, Floats, float]:
    """Measure each stretch of a contour between neighbouring points of its hull.

    Returns
    -------
    depths, mouths : (n,)
        Greatest distance from the hull, and length of the hull there.
    fullness : (n,)
        Mean distance from the hull, in the greatest.
    on_hull : float
        Share of all points on the hull.
    """
    count = len(contour)
    # The outline from its first hull point on, and back to it, as complex numbers.
    points = as_complex(contour)
    points = np.concatenate([points[hull[0] :], points[: hull[0] + 1]])
    corners = np.append(hull - hull[0], count)
    chords = np.diff(points[corners])
    counts = np.diff(corners)
    mouths = np.abs(chords)
    start = points[corners[:-1]]
    unit = chords.conj() / np.maximum(mouths, 1e-9)
    offsets = (points[:-1] - np.repeat(start, counts)) * np.repeat(unit, counts)
    depth = np.abs(offsets.imag)
    depths = np.maximum.reduceat(depth, corners[:-1])
    sums = np.add.reduceat(depth, corners[:-1])
    fullness = sums / np.maximum(counts * depths, 1e-9)
    on_hull = np.count_nonzero(depth < 0.002 * compute_contour_length(contour)) / count
    return depths, mouths, fullness, on_hull
