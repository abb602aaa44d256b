"""The guided filter against its formula, window by window."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.segmentation.natural import EPSILON, RADIUS, filter_by_guide


def filter_literally(values, guide, radius, epsilon):
    """Fit a line in every window; average what the windows around a pixel predict for it."""
    rows, cols = guide.shape
    wide_guide, wide_values = (np.pad(plane.astype(np.float64), radius, mode="edge") for plane in (guide, values))
    slope, offset = np.empty((rows, cols)), np.empty((rows, cols))
    side = 2 * radius + 1
    for row in range(rows):
        for col in range(cols):
            x = wide_guide[row : row + side, col : col + side].ravel()
            y = wide_values[row : row + side, col : col + side].ravel()
            slope[row, col] = np.mean((x - x.mean()) * (y - y.mean())) / (x.var() + epsilon)
            offset[row, col] = y.mean() - slope[row, col] * x.mean()
    slope, offset = np.pad(slope, radius, mode="edge"), np.pad(offset, radius, mode="edge")
    filtered = np.empty((rows, cols))
    for row in range(rows):
        for col in range(cols):
            window = np.s_[row : row + side, col : col + side]
            filtered[row, col] = slope[window].mean() * guide[row, col] + offset[window].mean()
    return filtered


@settings(max_examples=25)
@given(st.integers(0, 99), st.integers(1, 9), st.integers(1, 9))
def test_equals_the_literal_formula(seed, rows, cols):
    values, guide = np.random.default_rng(seed).random((2, rows, cols), np.float32)
    # Differences of single-precision means of squares, divided by variance + epsilon.
    expected = filter_literally(values, guide, RADIUS, EPSILON)
    np.testing.assert_allclose(filter_by_guide(values, guide), expected, atol=2e-6 / EPSILON**0.5)
