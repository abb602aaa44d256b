import cmath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.descriptors.surface.lbp import (
    PRECISION,
    Scale,
    build_pyramid,
    compute_fourier_features,
    count_codes,
    label_uniform_codes,
    pad_level,
)

SMALL = Scale(0, 1, 1)
CLOCKWISE = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]


def count_slowly(level, is_centre, scale):
    """The formulas, pixel by pixel: sign and magnitude patterns of every centre."""
    rows, cols = level.shape

    def value(row, col):
        return int(level[min(max(row, 0), rows - 1), min(max(col, 0), cols - 1)])

    differences = []
    for row, col in zip(*np.nonzero(is_centre), strict=True):
        ring = []
        for k, (down, right) in enumerate(CLOCKWISE):
            step = scale.diagonal if k % 2 else scale.straight
            ring.append(value(row + down * step, col + right * step) - value(row, col))
        differences.append(ring)
    counts = np.zeros((2, 256), int)
    if differences:
        mean = sum(abs(d) for ring in differences for d in ring) / (
            8 * len(differences)
        )
        for ring in differences:
            counts[0, sum(2**k for k, d in enumerate(ring) if d >= 0)] += 1
            counts[1, sum(2**k for k, d in enumerate(ring) if abs(d) >= mean)] += 1
    return counts


def changes(code):
    bits = [code >> k & 1 for k in range(8)]
    return sum(bits[k] != bits[k - 1] for k in range(8))


@pytest.mark.parametrize(
    "scale", [SMALL, Scale(0, 2, 2), Scale(0, 3, 2), Scale(0, 4, 3)]
)
def test_counts_follow_the_formula(scale):
    rng = np.random.default_rng(1)
    level = rng.integers(0, 30, (13, 17)).astype(np.int16) * 500
    is_centre = rng.random(level.shape) < 0.6
    counts = count_codes(pad_level(level), np.flatnonzero(np.pad(is_centre, 4)), scale)
    np.testing.assert_array_equal(counts, count_slowly(level, is_centre, scale))


def test_labels_are_uniform_exactly_where_the_code_changes_at_most_twice():
    labels = label_uniform_codes()
    uniform = [code for code in range(256) if changes(code) <= 2]
    assert len(uniform) == 58
    assert sorted(labels[uniform]) == list(range(58))
    assert (np.delete(labels, uniform) == 58).all()


def test_features_follow_the_formula():
    counts = np.random.default_rng(2).integers(0, 50, 256)
    labels, total = label_uniform_codes(), counts.sum()
    expected = []
    for ones in range(1, 8):
        row = [counts[labels == (ones - 1) * 8 + r].sum() / total for r in range(8)]
        for u in range(5):
            expected.append(
                abs(
                    sum(
                        h * cmath.exp(-2j * cmath.pi * u * r / 8)
                        for r, h in enumerate(row)
                    )
                )
            )
    expected += [counts[labels == label].sum() / total for label in (56, 57, 58)]
    # Computed in float64 and stored in float32, whose relative precision is 6e-8.
    np.testing.assert_allclose(
        compute_fourier_features(counts), expected, rtol=1e-6, atol=1e-9
    )


@given(
    arrays(np.int64, 256, elements=st.integers(0, 1000)),
    st.integers(0, 7),
    st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_features_ignore_turns_by_45_degrees_and_mirrors(counts, turn, mirror):
    moved = np.zeros(256, int)
    for code in range(256):
        bits = [code >> k & 1 for k in range(8)]
        bits = bits[::-1] if mirror else bits
        moved[sum(bits[(k - turn) % 8] << k for k in range(8))] = counts[code]
    # Only the order of summation differs.
    np.testing.assert_allclose(
        compute_fourier_features(moved), compute_fourier_features(counts), atol=1e-6
    )


def test_pyramid_follows_the_formula():
    grey = np.random.default_rng(4).integers(0, 256, (8, 12)).astype(np.uint8)
    padded = np.pad(grey.astype(float) * PRECISION, 1, mode="edge")
    kernel = np.array([1, 3, 3, 1]) / 8
    expected = [
        [kernel @ padded[r : r + 4, c : c + 4] @ kernel for c in range(0, 12, 2)]
        for r in range(0, 8, 2)
    ]
    np.testing.assert_array_equal(build_pyramid(grey, 2)[1], np.rint(expected))
