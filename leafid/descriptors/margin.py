"""The leaf's margin: teeth (number, depth, direction, regularity) and lobes (number, depth, sinuses)."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.contour import Mask, Points, Shape, contour_length, shape_of, smooth_closed

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
    contour = shape.contour
    values: list[float] = []
    for sigma in SMOOTHINGS:
        values += _teeth(smooth_closed(margin_signal(contour, sigma), sigma * _GRAIN) / shape.side, sigma)
    return np.asarray(values + _spectrum(margin_signal(contour, SMOOTHINGS[-1]) / shape.side), dtype=np.float32)


def margin_teeth_names() -> list[str]:
    """Name the values of `margin_teeth`, in order."""
    names = [f"teeth_{sigma:g}_{kind}" for sigma in SMOOTHINGS for kind in _KINDS]
    names += [f"spectrum_log_{low}_{high}" for low, high in itertools.pairwise(BANDS)]
    names += ["spectrum_log_centroid", "spectrum_flatness", "spectrum_peak"]
    return [f"margin_{name}" for name in names]


def margin_signal(contour: Points, sigma: float) -> NDArray[np.float64]:
    """Signed distance of each contour point from the smoothed contour, positive outward.

    Parameters
    ----------
    contour : ndarray of float64, shape (n, 2)
        Counter-clockwise, at equal arc length.
    sigma : float
        Standard deviation of the smoothing, as a share of the contour's length.

    Returns
    -------
    ndarray of float64, shape (n,)
        In the contour's unit.
    """
    smooth = smooth_closed(contour, sigma)
    tangent = np.roll(smooth, -1, axis=0) - np.roll(smooth, 1, axis=0)
    # Counter-clockwise with rows pointing down: the outside is to the right of the way, (row, col) = (col', −row').
    normal = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
    normal /= np.maximum(np.hypot(normal[:, 0], normal[:, 1]), 1e-9)[:, None]
    return ((contour - smooth) * normal).sum(axis=1)


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


def _teeth(signal: NDArray[np.float64], sigma: float) -> list[float]:
    count = len(signal)
    signal = signal - signal.mean()  # smoothing draws the whole outline inward
    power = float(np.mean(signal**2))
    rms = np.sqrt(power) + _FLOOR
    unit = signal / rms
    # A tooth is a stretch on the outer side; one much lower than the usual doesn't count.
    peaks = (unit > np.roll(unit, 1)) & (unit >= np.roll(unit, -1)) & (unit > 0.5)
    where = np.flatnonzero(peaks)
    heights = signal[where]
    spacings = np.diff(where, append=where[:1] + count)
    slope = np.diff(unit, append=unit[:1])
    window = 0.125
    # Teeth point to the tip, so they lean the other way on the other half of the outline: lean is taken locally.
    steepness = smooth_closed(np.stack([slope * slope * slope, slope * slope], axis=1), window)
    lean = np.mean(np.abs(steepness[:, 0])) / max(float(np.mean(slope**2)) ** 1.5, 1e-9)
    local = np.sort(np.sqrt(np.maximum(smooth_closed(unit**2, max(3 * sigma, 0.02)), 0.0)))
    return [
        float(np.log(rms)),
        float(np.mean(unit * unit * unit)),
        float(np.log(np.mean((unit * unit) ** 2) + 0.1)),
        float(np.log1p(len(where))),
        float(np.log(heights.mean() + _FLOOR)) if len(where) else float(np.log(_FLOOR)),
        float(heights.std() / heights.mean()) if len(where) else 0.0,
        float(spacings.std() / spacings.mean()) if len(where) else 0.0,
        float(lean),
        *local[[count // 10, count // 2, count - 1 - count // 10]].tolist(),
    ]


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
