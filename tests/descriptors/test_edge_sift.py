"""Patches on edges against a literal version, and what they don't depend on."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.descriptors.local.edges import extract_edge_sift
from leafid.descriptors.local.gradients import SIFT_LENGTH, Pyramid
from leafid.descriptors.local.grid import Grid
from tests.descriptors.turned_patches import SIDE, draw_leaf, read_literally

ONE_SIZE = Grid(scales=1)


def turn_leaf(size=120, turn=0.0):
    """A leaf turned by an angle in degrees."""
    matrix = cv2.getRotationMatrix2D(((size - 1) / 2, (size - 1) / 2), turn, 1)
    grey, _ = draw_leaf(size, centre=(size / 2, size / 2))
    return cv2.warpAffine(
        grey, matrix, (size, size), flags=cv2.INTER_CUBIC, borderValue=255
    )


def list_gradients_literally(grey):
    """Sobel's gradients, down and right, at half size: (H // 2, W // 2, 2)."""
    rows, cols = grey.shape[0] // 2, grey.shape[1] // 2
    half = np.floor(
        grey[: 2 * rows, : 2 * cols].reshape(rows, 2, cols, 2).mean(axis=(1, 3)) + 0.5
    )
    gradients = np.zeros((rows, cols, 2))
    for row in range(1, rows - 1):
        for col in range(1, cols - 1):
            for offset, weight in ((-1, 1), (0, 2), (1, 1)):
                gradients[row, col] += weight * np.array(
                    [
                        half[row + 1, col + offset] - half[row - 1, col + offset],
                        half[row + offset, col + 1] - half[row + offset, col - 1],
                    ]
                )
    return gradients


def mirror_literally(cells):
    """Mirror left and right: directions to the right, 0, go to the left, 4."""
    mirrored = np.zeros_like(cells)
    for row, col, orientation in np.ndindex(cells.shape):
        mirrored[row, 3 - col, (4 - orientation) % 8] = cells[row, col, orientation]
    return mirrored


def test_equals_the_literal_definition():
    grey, _ = draw_leaf()
    features = extract_edge_sift(Pyramid(grey), grid=Grid(scales=1, max_patches=8))
    assert features.descriptors.shape == (len(features), SIFT_LENGTH)
    assert (
        features.descriptors.dtype
        == features.positions.dtype
        == features.scales.dtype
        == np.float32
    )
    assert 6 <= len(features) <= 8
    gradients = list_gradients_literally(grey)
    for position, descriptor in zip(
        features.positions, features.descriptors, strict=True
    ):
        point = position * 120 - 0.5
        row, col = np.rint((point - 0.5) / 2).astype(int)
        gradient = gradients[row, col]
        # The parabola through the gradients of three neighbours in the steeper
        # direction has its maximum here.
        step = np.array([1, 0] if abs(gradient[0]) > abs(gradient[1]) else [0, 1])
        before, middle, after = (
            np.hypot(*gradients[row + k * step[0], col + k * step[1]])
            for k in (-1, 0, 1)
        )
        shift = (after - before) / (
            2 * max(2 * middle - before - after, abs(after - before)) + 1
        )
        np.testing.assert_allclose(
            point, 2 * (np.array([row, col]) + shift * step) + 0.5, atol=0.01
        )
        across = -gradient / np.hypot(*gradient)
        cells = read_literally(grey, point, across, np.array([-across[1], across[0]]))
        if cells[:, :2].sum() < cells[:, 2:].sum():
            cells = mirror_literally(cells)
        # OpenCV interpolates in steps of a 32nd of a pixel, and grey values are
        # rounded.
        np.testing.assert_allclose(
            descriptor, np.sqrt(cells / (cells.sum() + 0.02)).ravel(), atol=0.05
        )
    np.testing.assert_allclose(features.scales, np.log2(SIDE / 120), rtol=1e-6)


def test_patches_are_on_edges():
    disc = cv2.circle(
        np.full((200, 200), 255, np.uint8), (100, 100), 70, 60, -1, cv2.LINE_AA
    )
    positions = extract_edge_sift(Pyramid(disc), grid=ONE_SIZE).positions * 200 - 0.5
    np.testing.assert_allclose(np.hypot(*(positions - 100).T), 70, atol=1.5)
    # About one for each pixel of the edge at half size.
    assert len(positions) == pytest.approx(2 * np.pi * 70 / 2, rel=0.2)


def test_an_edge_of_two_grey_levels_a_pixel_counts_and_one_of_one_does_not():
    for step, expected in ((2, True), (1, False)):
        ramp = np.uint8(100 + step * np.clip(np.arange(64) - 30, 0, 4))
        assert (
            len(extract_edge_sift(Pyramid(np.tile(ramp, (64, 1))), grid=ONE_SIZE)) > 0
        ) is expected


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 50), st.integers(3, 15))
def test_a_mirrored_or_turned_leaf_has_the_same_patches(seed, teeth):
    grey, _ = draw_leaf(seed=seed, teeth=teeth)
    plain = extract_edge_sift(Pyramid(grey), grid=Grid(scales=3))
    for changed in (grey[:, ::-1], np.rot90(grey), np.rot90(grey, 2)):
        after = extract_edge_sift(
            Pyramid(np.ascontiguousarray(changed)), grid=Grid(scales=3)
        )
        assert abs(len(after) - len(plain)) <= 0.04 * len(plain)
        np.testing.assert_allclose(
            after.descriptors.mean(axis=0), plain.descriptors.mean(axis=0), atol=0.015
        )


@settings(max_examples=10, deadline=None)
@given(st.floats(0, 360))
def test_a_leaf_at_any_angle_has_nearly_the_same_patches(turn):
    plain, turned = (
        extract_edge_sift(
            Pyramid(turn_leaf(240, turn=angle)), grid=ONE_SIZE
        ).descriptors
        for angle in (0, turn)
    )
    np.testing.assert_allclose(turned.mean(axis=0), plain.mean(axis=0), atol=0.04)


def test_sizes_and_numbers_of_patches():
    features = extract_edge_sift(
        Pyramid(turn_leaf(240)), grid=Grid(scales=4, max_patches=200)
    )
    sizes, counts = np.unique(features.scales.round(3), return_counts=True)
    np.testing.assert_allclose(sizes, np.log2(SIDE / 240) + np.arange(4) / 2, atol=0.02)
    assert ((counts > 30) & (counts <= 50)).all()
    assert (
        len(
            extract_edge_sift(
                Pyramid(turn_leaf(240)), grid=Grid(scales=4, max_patches=2)
            )
        )
        == 4
    )


def test_strong_edges_and_the_middle_are_sampled_more_often():
    # Vertical stripes: weak ones in the upper half, strong ones in the lower half.
    stripes = np.tile(np.repeat([0, 1], 12), 20)[None, :]
    grey = np.uint8(
        np.vstack(
            [
                np.repeat(60 + 20 * stripes, 240, axis=0),
                np.repeat(60 + 180 * stripes, 240, axis=0),
            ]
        )
    )
    rows = extract_edge_sift(
        Pyramid(grey), grid=Grid(scales=1, max_patches=400)
    ).positions[:, 0]
    # The gradients are 9 to 1, up to the level at which more counts no more.
    assert 2 < (rows > 0.5).sum() / (rows < 0.5).sum() < 4
    cols = extract_edge_sift(
        Pyramid(grey), grid=Grid(scales=1, max_patches=400, focus=0.1)
    ).positions[:, 1]
    assert 0.07 < cols.std() < 0.13
    assert 0.15 < np.abs(cols - 0.5).max() < 0.2 + 1 / 240


@pytest.mark.parametrize("shape", [(8, 8), (16, 16), (17, 40), (40, 40)])
def test_pictures_without_edges_have_none(shape):
    assert extract_edge_sift(
        Pyramid(np.full(shape, 9, np.uint8))
    ).descriptors.shape == (0, SIFT_LENGTH)
    noise = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    assert np.isfinite(extract_edge_sift(Pyramid(noise)).descriptors).all()
