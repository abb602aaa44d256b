"""Photos: the main leaf where there is one, and little confidence where there is none.

The guided filter's formula.
"""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.natural import EPSILON, RADIUS, make_guided_filter
from leafid.segmentation.segment import segment


@pytest.mark.parametrize("soil", [(60, 80, 110), (10, 12, 10), (120, 120, 125)])
@pytest.mark.parametrize("turn", [0, 130])
def test_a_leaf_on_rough_ground(drawn_leaf, iou, soil, turn):
    image, mask = drawn_leaf(
        rows=300,
        cols=240,
        sheet=soil,
        leaf=(60, 160, 90),
        turn=turn,
        radius=0.3,
        noise=18,
    )
    leaf = segment(image, AcquisitionType.PHOTO)
    assert leaf.confidence > 0.5
    # At 200 pixels, with an edge between the pixels: what is rounded is less than a
    # pixel of the picture.
    assert iou(leaf.mask, mask) > 0.97


@pytest.mark.parametrize("skin", [(110, 140, 195), (75, 95, 140)])
def test_a_leaf_held_in_a_hand(drawn_leaf, iou, skin):
    image, mask = drawn_leaf(
        rows=300, cols=240, sheet=(45, 80, 50), radius=0.22, noise=6
    )
    hand = np.zeros(mask.shape, np.uint8)
    cv2.ellipse(hand, (120, 160), (90, 120), 0, 0, 360, 1, -1)
    image[(hand > 0) & ~mask] = skin
    assert iou(segment(image, AcquisitionType.PHOTO).mask, mask) > 0.9


def test_noise_is_no_leaf():
    image = np.random.default_rng(1).integers(0, 256, (200, 160, 3), dtype=np.uint8)
    assert segment(image, AcquisitionType.PHOTO).confidence < 0.5


def filter_literally(values, guide):
    """Fit a line in every window.

    Average what the windows around a pixel predict for it.
    """
    slope, offset = np.empty(guide.shape), np.empty(guide.shape)
    wide_guide, wide_values = (
        np.pad(plane.astype(np.float64), RADIUS, mode="edge")
        for plane in (guide, values)
    )
    windows = {
        (row, col): np.s_[row : row + 2 * RADIUS + 1, col : col + 2 * RADIUS + 1]
        for row, col in np.ndindex(guide.shape)
    }
    for place, window in windows.items():
        x, y = wide_guide[window], wide_values[window]
        slope[place] = np.mean((x - x.mean()) * (y - y.mean())) / (x.var() + EPSILON)
        offset[place] = y.mean() - slope[place] * x.mean()
    slope, offset = (
        np.pad(slope, RADIUS, mode="edge"),
        np.pad(offset, RADIUS, mode="edge"),
    )
    filtered = [
        slope[window].mean() * guide[place] + offset[window].mean()
        for place, window in windows.items()
    ]
    return np.reshape(filtered, guide.shape)


@settings(max_examples=20)
@given(st.integers(0, 99), st.integers(1, 9), st.integers(1, 9))
def test_the_guided_filter_equals_its_literal_formula(seed, rows, cols):
    values, guide = np.random.default_rng(seed).random((2, rows, cols), np.float32)
    # Differences of single-precision means of squares, divided by variance + epsilon.
    expected = filter_literally(values, guide)
    np.testing.assert_allclose(
        make_guided_filter(guide)(values), expected, atol=2e-6 / EPSILON**0.5
    )
