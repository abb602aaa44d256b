import cmath

import numpy as np
import pytest

from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.shape.fourier import (
    DISTANCE_HARMONICS,
    ELLIPTIC_HARMONICS,
    PAIRS,
    measure_centroid_distance,
    measure_elliptic_fourier,
)

FLOOR = 1e-3


def drop(size=400):
    rows, cols = np.indices((size, size)) - size / 2
    angle = np.arctan2(rows, cols)
    return np.hypot(rows, 1.6 * cols) <= 130 * (
        1 + 0.2 * np.cos(3 * angle) + 0.15 * np.sin(angle)
    )


def kuhl_giardina(contour, k):
    """Coefficients a, b, c, d of harmonic k by the paper's sums over the polygon's sides."""
    x, y = contour[:, 1], -contour[:, 0]
    a = b = c = d = 0.0
    steps = np.hypot(np.roll(x, -1) - x, np.roll(y, -1) - y)
    total, along = steps.sum(), 0.0
    for index, step in enumerate(steps):
        following = (index + 1) % len(contour)
        slope_x, slope_y = (
            (x[following] - x[index]) / step,
            (y[following] - y[index]) / step,
        )
        before, after = (
            2 * np.pi * k * along / total,
            2 * np.pi * k * (along + step) / total,
        )
        factor = total / (2 * k**2 * np.pi**2)
        a += factor * slope_x * (np.cos(after) - np.cos(before))
        b += factor * slope_x * (np.sin(after) - np.sin(before))
        c += factor * slope_y * (np.cos(after) - np.cos(before))
        d += factor * slope_y * (np.sin(after) - np.sin(before))
        along += step
    return np.array([[a, b], [c, d]])


def test_elliptic_fourier_holds_the_axes_of_kuhl_and_giardinas_ellipses():
    shape = normalise_shape(drop())
    axes = [
        np.linalg.svd(kuhl_giardina(shape.contour, k), compute_uv=False)
        for k in range(1, ELLIPTIC_HARMONICS + 1)
    ]
    major, minor = np.array(axes).T / axes[0][0]
    values = measure_elliptic_fourier(shape)
    # The paper integrates along the sides, we sum over the points: they differ by (k/1024)² of each harmonic, and by
    # little more than the smallest harmonics themselves.
    np.testing.assert_allclose(
        np.exp(values[: ELLIPTIC_HARMONICS - 1]) - FLOOR,
        major[1:],
        rtol=0.03,
        atol=3e-4,
    )
    np.testing.assert_allclose(
        np.exp(values[ELLIPTIC_HARMONICS - 1 : 2 * ELLIPTIC_HARMONICS - 1]) - FLOOR,
        minor,
        rtol=0.03,
        atol=3e-4,
    )


def test_phase_invariants_are_the_formula_and_free_of_the_start():
    shape = normalise_shape(drop())
    points = [complex(col, -row) for row, col in shape.contour]
    for start in (0, 100):
        turned = [point * cmath.exp(0.7j) for point in points[start:] + points[:start]]

        def coefficient(k, turned=turned):
            count = len(turned)
            return (
                sum(
                    z * cmath.exp(-2j * np.pi * k * n / count)
                    for n, z in enumerate(turned)
                )
                / count
            )

        for m in (2, 3, PAIRS + 1):
            pair = coefficient(1 + m) * coefficient(1 - m) / coefficient(1) ** 2
            values = measure_elliptic_fourier(shape)[2 * ELLIPTIC_HARMONICS - 1 :]
            real, imaginary = values[m - 2], values[PAIRS + m - 2]
            assert real * abs(real) == pytest.approx(pair.real, abs=1e-5)
            assert imaginary**2 == pytest.approx(abs(pair.imag), abs=1e-5)


def test_centroid_distance_is_the_formula():
    shape = normalise_shape(drop())
    rows, cols = shape.contour.T
    distance = [
        float(np.hypot(r - rows.mean(), c - cols.mean())) for r, c in shape.contour
    ]
    count, mean = len(distance), float(np.mean(distance))
    values = measure_centroid_distance(shape)
    for k in (1, 2, 3, 10, DISTANCE_HARMONICS):
        total = sum(
            d * cmath.exp(-2j * np.pi * k * n / count) for n, d in enumerate(distance)
        )
        # A logarithm of up to 7, in float32.
        assert np.exp(values[k - 1]) == pytest.approx(
            2 * abs(total) / count / mean + 1e-3, rel=2e-6
        )
    assert values[-2:] == pytest.approx(
        [min(distance) / mean, max(distance) / mean], rel=1e-5
    )
