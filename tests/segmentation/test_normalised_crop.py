"""The crop is upright, to scale and on white, whatever way the leaf lay."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.crop import crop_leaf, estimate_upright_angle
from leafid.segmentation.pixels import take_quantiles
from leafid.segmentation.result import (
    Segmentation,
    downsample2,
    find_bounding_box,
    shrink,
)
from leafid.segmentation.segment import segment

SCAN = AcquisitionType.SCAN


@pytest.fixture(scope="module")
def upright(drawn_leaf):
    image, _ = drawn_leaf(rows=400, cols=400, radius=0.22, stalk=True)
    return crop_leaf(image, segment(image, SCAN), 128)[1]


@settings(max_examples=12, deadline=None)
@given(turn=st.floats(0, 360), radius=st.floats(0.18, 0.24), row=st.floats(0.46, 0.54))
def test_the_petiole_points_down_and_shift_turn_and_scale_do_not_show(
    drawn_leaf, iou, upright, turn, radius, row
):
    image, _ = drawn_leaf(
        rows=400, cols=400, turn=turn, radius=radius, centre=(row, 0.5), stalk=True
    )
    leaf = segment(image, SCAN)
    assert leaf.petiole.any()
    _, mask = crop_leaf(image, leaf, 128)
    # The petiole's foot is found to a pixel or two of about forty: 3 degrees of turn.
    assert iou(mask, upright) > 0.85
    assert np.count_nonzero(mask[110:]) < 0.3 * np.count_nonzero(mask[10:28])
    # The drawing turns clockwise, so the crop turns it back; 3 degrees is a pixel at
    # the petiole's foot.
    assert abs((estimate_upright_angle(leaf) - turn + 180) % 360 - 180) < 4


def test_without_a_petiole_the_long_tail_is_the_tip():
    mask = np.zeros((100, 100), bool)
    for row in range(20, 80):
        half = (row - 20) // 3
        mask[row, 50 - half : 51 + half] = True
    assert abs(estimate_upright_angle(Segmentation(mask, mask, 1.0))) < 1
    upside_down = np.ascontiguousarray(mask[::-1])
    turned = estimate_upright_angle(Segmentation(upside_down, upside_down, 1.0))
    assert abs(abs(turned) - 180) < 1


def test_background_size_and_margin(drawn_leaf):
    image, _ = drawn_leaf(sheet=(180, 90, 240))
    leaf = segment(image, SCAN)
    crop, mask = crop_leaf(image, leaf, 100)
    assert crop.shape == (100, 100, 3)
    assert mask.shape == (100, 100)
    assert np.all(crop[~mask] == 255)
    row0, row1, col0, col1 = find_bounding_box(mask)
    assert max(row1 - row0, col1 - col0) == pytest.approx(
        90, abs=2
    )  # two rims of a pixel
    assert (row0 + row1) / 2 == pytest.approx(50, abs=1.5)
    assert (col0 + col1) / 2 == pytest.approx(50, abs=1.5)


@given(st.integers(2, 30), st.integers(2, 30))
def test_downsample2_agrees_with_its_definition(rows, cols):
    image = np.random.default_rng(rows * 31 + cols).integers(
        0, 256, (rows, cols), dtype=np.uint8
    )
    even = image[: rows // 2 * 2, : cols // 2 * 2].astype(float)
    blocks = even.reshape(rows // 2, 2, cols // 2, 2)
    # OpenCV rounds halves either way.
    assert np.abs(downsample2(image) - blocks.mean(axis=(1, 3))).max() <= 0.51


@given(st.integers(1, 60), st.floats(0, 1))
def test_take_quantiles_agrees_with_its_definition(number, share):
    values = np.random.default_rng(number).random((3, number))
    expected = np.quantile(values, [share, 0.5], axis=1, method="nearest")
    assert np.array_equal(take_quantiles(values, [share, 0.5]), expected.T)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(8, 64))
def test_shrink_keeps_to_the_size(rows, cols, size):
    shape = shrink(np.zeros((rows, cols, 3), np.uint8), size).shape
    assert max(shape[:2]) == min(size, max(rows, cols))


def test_a_small_leaf_is_enlarged_with_a_smooth_edge(drawn_leaf, iou):
    large, _ = drawn_leaf(rows=800, cols=640, turn=20, stalk=True)
    small = shrink(large, 200)
    _, expected = crop_leaf(large, segment(large, SCAN), 256)
    leaf = segment(small, SCAN)
    _, smooth = crop_leaf(small, leaf, 256)
    _, jagged = crop_leaf(small, replace(leaf, coverage=None), 256)
    assert iou(smooth, expected) > iou(jagged, expected)
