import cmath

import numpy as np
import pytest

from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.shape.triangle import (
    HARMONICS,
    POINTS,
    QUANTILES,
    SPANS,
    compute_triangle_signals,
    measure_arches,
    measure_triangles,
)


def leaf(size=360):
    rows, cols = np.indices((size, size)) - size / 2
    angle = np.arctan2(rows, cols)
    return np.hypot(rows, 1.4 * cols) <= 120 * (1 + 0.3 * np.cos(3 * angle))


def compute_signals_slowly(contour):
    """Each triangle by itself, in x right and y up."""
    points = [(float(col), -float(row)) for row, col in contour]
    count = len(points)
    length = sum(
        np.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1])
        for i in range(count)
    )
    signals = {
        kind: np.zeros((len(SPANS), count))
        for kind in ("area", "height", "chord", "ratio", "angle")
    }
    for row, span in enumerate(SPANS):
        arc = span * length / count
        for s in range(count):
            (x1, y1), (x2, y2), (x3, y3) = (
                points[(s - span) % count],
                points[s],
                points[(s + span) % count],
            )
            area = 0.5 * (x1 * (y2 - y3) + x2 * (y3 - y1) + x3 * (y1 - y2))
            chord = np.hypot(x3 - x1, y3 - y1)
            first, second = np.hypot(x1 - x2, y1 - y2), np.hypot(x3 - x2, y3 - y2)
            cosine = ((x1 - x2) * (x3 - x2) + (y1 - y2) * (y3 - y2)) / (first * second)
            signals["area"][row, s] = area / arc**2
            signals["height"][row, s] = 2 * area / chord / arc
            signals["chord"][row, s] = chord / (2 * arc)
            signals["ratio"][row, s] = min(first, second) / max(first, second)
            signals["angle"][row, s] = np.arccos(np.clip(cosine, -1, 1)) / np.pi
    return signals


@pytest.fixture(scope="module")
def shape():
    return normalise_shape(leaf())


@pytest.fixture(scope="module")
def slow(shape):
    return compute_signals_slowly(shape.contour[::4])


def test_signals_are_those_of_each_triangle(shape, slow):
    fast = compute_triangle_signals(shape.contour[::4])
    for kind, expected in slow.items():
        # arccos near 1 loses half of the digits.
        np.testing.assert_allclose(
            fast[kind], expected, atol=1e-6 if kind == "angle" else 1e-9, err_msg=kind
        )


def test_fourier_values_are_literal_magnitudes(shape, slow):
    values = measure_arches(shape).reshape(2, len(SPANS), HARMONICS)
    for index, kind in enumerate(("height", "chord")):
        for row in (0, 4, 9):
            for k in (0, 1, HARMONICS - 1):
                total = sum(
                    v * cmath.exp(-2j * np.pi * k * s / POINTS)
                    for s, v in enumerate(slow[kind][row])
                )
                assert values[index, row, k] == pytest.approx(
                    np.sqrt(abs(total) / POINTS), abs=1e-5
                )


def test_quantiles_are_values_of_the_sorted_signal(shape, slow):
    values = measure_triangles(shape).reshape(4, len(SPANS), len(QUANTILES))
    for index, kind in enumerate(("area", "chord", "ratio", "angle")):
        for row in range(len(SPANS)):
            ordered = sorted(slow[kind][row])
            expected = [
                ordered[round(quantile * (POINTS - 1))] for quantile in QUANTILES
            ]
            np.testing.assert_allclose(values[index, row], expected, atol=1e-5)
