"""Counts the pairs of secondary veins of a leaf with a midvein, by the sums of the picture along their directions."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.landmarks import LENGTH, Landmarks
from leafid.descriptors.shape.contour import find_closed_peaks
from leafid.descriptors.surface.veins import remove_shading

Values = NDArray[np.float32]

# Lengths are rows of the upright picture, in which base and tip are `LENGTH` apart, unless stated otherwise.
_ANGLES = np.radians(np.arange(25, 86, 6))
_STARTS = np.arange(0.03, 0.86, 1 / LENGTH)  # positions on the midvein, from base (0) to tip (1)
_REACH = np.linspace(0.12, 0.75, 32)  # positions along a vein, in half widths of the blade
_MIN_SAMPLES, _MIN_STARTS = 12, 80
_RIM, _SHADING = 3, 33
"""Width of the blade's edge that is left out, and of the window that the slow shading is averaged in."""
_SMOOTH, _SLOW = 1.5, 12.0  # standard deviations that the grain along the midvein, and its slow part, are smoothed with
_VEINED_SHARE = 0.93  # share of the midvein that secondary veins leave from
# What both sides of a leaf must show, so that lines across it are veins.
_MIN_VEINS, _MIN_CONTRAST, _MAX_UNEVENNESS = 4, 2.0, 0.2
_MAX_TURN, _MAX_RATIO = np.radians(12), 1.25


class _Side(NamedTuple):
    """The lines on one side of a leaf: their number, mean spacing, angle, contrast, and unevenness of spacing."""

    number: int
    spacing: float
    angle: float
    contrast: float
    unevenness: float


def count_vein_pairs(image: NDArray[np.uint8], blade: NDArray[np.bool_], landmarks: Landmarks) -> float | None:
    """Estimate the number of pairs of secondary veins; None where they can't be seen clearly on both sides.

    The picture without its shading is summed along lines that leave the midvein at some angle. At the angle of the
    veins these sums vary most from base to tip, with a peak at each vein. The number follows from the median distance
    between the peaks. The method is leafid's own.
    """
    grey = landmarks.turn_upright(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)).astype(np.float32)
    inside = landmarks.turn_upright(blade.view(np.uint8) * np.uint8(255)) > 127
    inside = cv2.erode(inside.view(np.uint8), np.ones((2 * _RIM + 1,) * 2, np.uint8)).view(np.bool_)
    if not inside.any():
        return None
    weight = inside.astype(np.float32)
    detail = np.clip(remove_shading(grey, weight, _SHADING), -2.5, 2.5)
    half_width = float(np.abs(np.flatnonzero(inside.any(axis=0)) - LENGTH).max()) / LENGTH
    right, left = (_find_lines(detail, weight, half_width, side) for side in (1, -1))
    if right is None or left is None or not all(_is_clear(side) for side in (right, left)):
        return None
    spacings = right.spacing, left.spacing
    if abs(right.angle - left.angle) > _MAX_TURN or max(spacings) > _MAX_RATIO * min(spacings):
        return None
    return _VEINED_SHARE * LENGTH / float(np.sqrt(right.spacing * left.spacing))


def _is_clear(side: _Side) -> bool:
    return side.number >= _MIN_VEINS and side.contrast >= _MIN_CONTRAST and side.unevenness <= _MAX_UNEVENNESS


def _find_lines(detail: Values, weight: Values, half_width: float, side: int) -> _Side | None:
    """Find the lines on the right (1) or left (-1) side, at the angle at which they are clearest."""
    variances, best = [], (0.0, 0.0, np.empty(0, np.float32))
    for angle in _ANGLES:
        sums = _sum_along(detail, weight, _REACH * half_width / np.sin(angle), angle, side)
        if len(sums) < _MIN_STARTS:
            continue
        slow = cv2.GaussianBlur(sums[:, None], (1, 4 * round(_SLOW) + 1), _SLOW)
        lines = cv2.GaussianBlur(sums[:, None] - slow, (1, 9), _SMOOTH)[:, 0]
        variances.append(float(lines.var()))
        if variances[-1] > best[0]:
            best = variances[-1], float(angle), lines
    variance, angle, lines = best
    peaks, _ = find_closed_peaks(lines, float(np.sqrt(variance))) if variance else (np.empty(0, int), None)
    if len(peaks) < _MIN_VEINS:
        return None
    spacings = np.diff(np.sort(peaks))
    spacing = float(np.median(spacings))
    unevenness = float(np.median(np.abs(spacings - spacing))) / spacing
    return _Side(len(peaks), spacing, angle, variance / float(np.median(variances)), unevenness)


def _sum_along(detail: Values, weight: Values, reach: NDArray[np.float64], angle: float, side: int) -> Values:
    """Average the picture along lines from `_STARTS`, of those that lie in the blade for long enough."""
    along = _STARTS[:, None] + reach * np.cos(angle)
    cols = (LENGTH * (1 + side * reach * np.sin(angle)) + 0 * along).astype(np.float32)
    rows = (LENGTH * (1.5 - along)).astype(np.float32)
    samples = cv2.remap(weight, cols, rows, cv2.INTER_LINEAR).sum(axis=1)
    sums = cv2.remap(detail, cols, rows, cv2.INTER_LINEAR).sum(axis=1)
    is_long = samples > _MIN_SAMPLES
    return sums[is_long] / samples[is_long]
