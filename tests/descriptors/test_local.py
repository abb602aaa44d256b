import cv2
import numpy as np
import pytest

from leafid.descriptors.local.gradients import CELL, SIFT_LENGTH, Pyramid
from leafid.descriptors.local.grid import N_SYMMETRIES, Grid, concatenate_features
from leafid.descriptors.local.sift import (
    CHROMA_LENGTH,
    extract_chroma_sift,
    extract_dense_sift,
    extract_detected_sift,
)
from tests.descriptors.turned_patches import decompose_literally

SIDE = 4 * CELL


def draw_picture(rows, cols, seed=0):
    """Blobs at several sizes: structure in every cell, all grey values."""
    random = np.random.default_rng(seed)
    rough = cv2.resize(
        random.random((5, 7)), (cols, rows), interpolation=cv2.INTER_CUBIC
    )
    fine = cv2.GaussianBlur(random.random((rows, cols)), (0, 0), 1.5)
    values = rough + 2 * fine
    return np.uint8(255 * (values - values.min()) / np.ptp(values))


def draw_chroma(rows, cols, seed=0):
    """Two planes of blobs."""
    return np.dstack([draw_picture(rows, cols, 2 * seed + plane) for plane in range(2)])


def compute_patches_literally(grey):
    """Compute every patch of one scale, pixel by pixel.

    Each is (row, col) of its corner in cells, and 16 × 8 sums.
    """
    gradients = decompose_literally(grey)
    n_rows, n_cols = grey.shape[0] // CELL, grey.shape[1] // CELL
    cells = (
        gradients[: n_rows * CELL, : n_cols * CELL]
        .reshape(n_rows, CELL, n_cols, CELL, 8)
        .mean(axis=(1, 3))
    )
    patches = []
    for row in range(n_rows - 3):
        for col in range(n_cols - 3):
            patches.append(
                (row, col, cells[row : row + 4, col : col + 4].reshape(16, 8))
            )
    return patches


def take_root_shares(sums):
    return np.sqrt(sums / (sums.sum() + 0.02)).ravel()


@pytest.mark.parametrize(("rows", "cols"), [(16, 16), (24, 31), (27, 20)])
def test_dense_sift_equals_the_literal_definition(rows, cols):
    grey = draw_picture(rows, cols)
    features = extract_dense_sift(Pyramid(grey), grid=Grid(scales=1))
    expected = compute_patches_literally(grey)
    assert features.descriptors.shape == (len(expected), 128)
    # Means are rounded twice to 1/128 grey level: a part of 1e-5 of the full range, of
    # which the root is taken.
    np.testing.assert_allclose(
        features.descriptors,
        [take_root_shares(sums) for _, _, sums in expected],
        atol=0.02,
    )
    assert features.descriptors.dtype == np.float32
    positions = [
        ((row + 2) * CELL / rows, (col + 2) * CELL / cols) for row, col, _ in expected
    ]
    np.testing.assert_allclose(features.positions, positions, rtol=1e-6)
    np.testing.assert_allclose(
        features.scales, np.log2(SIDE / max(rows, cols)), rtol=1e-6
    )


def test_further_scales_are_those_of_reduced_pictures():
    grey = draw_picture(64, 48)
    features = extract_dense_sift(Pyramid(grey), grid=Grid(scales=9))
    # Reduced by √2 and 2, and no further: 64 × 48 at a half of the root of a half is 23
    # × 17, and at a quarter 16 × 12, smaller than a patch.
    between = cv2.resize(grey, (34, 45), interpolation=cv2.INTER_LINEAR)
    half = cv2.resize(grey, (24, 32), interpolation=cv2.INTER_AREA)
    quarter = cv2.resize(between[:44], (17, 22), interpolation=cv2.INTER_AREA)
    expected = concatenate_features(
        [
            extract_dense_sift(Pyramid(level), grid=Grid(scales=1))
            for level in (grey, between, half, quarter)
        ]
    )
    np.testing.assert_array_equal(features.descriptors, expected.descriptors)
    # The half row that is left out at an odd size moves positions by a part of a pixel.
    np.testing.assert_allclose(features.positions, expected.positions, atol=1e-6)
    np.testing.assert_allclose(features.scales, expected.scales, rtol=1e-6)


@pytest.mark.parametrize(
    ("extract", "draw"),
    [(extract_dense_sift, draw_picture), (extract_chroma_sift, draw_chroma)],
)
@pytest.mark.parametrize("symmetry", range(8))
def test_every_eighth_window_is_read_as_in_the_turned_and_mirrored_picture(
    symmetry, extract, draw
):
    # Whole cells fill the picture at this size: the turned one has its patches at the
    # same positions.
    image = draw(64, 64)
    turned = np.rot90(image, symmetry // 2)
    turned = np.ascontiguousarray(turned[:, ::-1] if symmetry % 2 else turned)
    there = extract(Pyramid(turned), grid=Grid(scales=1))
    positions = [tuple(position) for position in np.round(there.positions, 4)]
    features = extract(Pyramid(image), grid=Grid(scales=1, symmetry="turns"))
    subset = features.take(np.arange(symmetry, len(features), N_SYMMETRIES))
    assert len(subset) >= 3
    for values, position, scale in zip(
        subset.descriptors, np.round(subset.positions, 4), subset.scales, strict=True
    ):
        matches = [
            i
            for i, place in enumerate(positions)
            if place == tuple(position) and there.scales[i] == scale
        ]
        assert len(matches) == 1
        np.testing.assert_allclose(values, there.descriptors[matches[0]], atol=1e-6)


def test_chroma_sift_is_sift_of_both_channels_normalised_together():
    chroma = draw_chroma(24, 31)
    features = extract_chroma_sift(Pyramid(chroma), grid=Grid(scales=1))
    assert features.descriptors.shape == (3 * 4, CHROMA_LENGTH)
    channels = [compute_patches_literally(chroma[:, :, plane]) for plane in (0, 1)]
    expected = [
        take_root_shares(np.concatenate([a, b], axis=1))
        for (_, _, a), (_, _, b) in zip(*channels, strict=True)
    ]
    # As for grey: the root of a part of 1e-5 of the full range.
    np.testing.assert_allclose(features.descriptors, expected, atol=0.02)
    grey = extract_dense_sift(Pyramid(draw_picture(24, 31)), grid=Grid(scales=1))
    np.testing.assert_array_equal(features.positions, grey.positions)


def test_chroma_sift_drops_patches_of_one_hue():
    assert (
        len(extract_chroma_sift(Pyramid(np.full((32, 32, 2), (40, 200), np.uint8))))
        == 0
    )
    # A step of n levels of b along the middle is seen by the pixels on both sides of
    # it, in eight of the 16 cells: their mean gradients, a quarter of n / 255 each, sum
    # to 2n / 255, and are to reach 0.02.
    for levels, remains in ((1, False), (2, False), (3, True), (200, True)):
        chroma = np.full((16, 16, 2), 20, np.uint8)
        chroma[:, 8:, 1] += np.uint8(levels)
        sums = sum(
            patches.sum()
            for _, _, patches in compute_patches_literally(chroma[:, :, 1])
        )
        assert (sums >= 0.02) == remains
        assert len(extract_chroma_sift(Pyramid(chroma), grid=Grid(scales=1))) == remains


@pytest.mark.parametrize("shape", [(15, 100), (100, 15), (1, 1)])
def test_a_picture_smaller_than_a_patch_has_no_features(shape):
    assert extract_dense_sift(Pyramid(np.zeros(shape, np.uint8))).descriptors.shape == (
        0,
        SIFT_LENGTH,
    )
    assert extract_chroma_sift(
        Pyramid(np.zeros((*shape, 2), np.uint8))
    ).descriptors.shape == (0, 256)


def test_detected_points():
    grey = draw_picture(120, 160)
    features = extract_detected_sift(Pyramid(grey))
    assert len(features) > 20
    assert features.descriptors.shape[1] == SIFT_LENGTH
    assert ((features.positions >= 0) & (features.positions <= 1)).all()
    np.testing.assert_allclose(
        np.linalg.norm(features.descriptors, axis=1), 1, atol=1e-3
    )
    left = np.zeros((120, 160), bool)
    left[:, :80] = True
    assert (extract_detected_sift(Pyramid(grey), left).positions[:, 1] <= 0.5).all()
    assert len(extract_detected_sift(Pyramid(np.full((60, 60), 7, np.uint8)))) == 0
