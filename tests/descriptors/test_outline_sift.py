"""Patches along the outline against a literal version, and their invariances."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.descriptors.local.gradients import SIFT_LENGTH, Pyramid
from leafid.descriptors.local.grid import Grid
from leafid.descriptors.local.outline import extract_outline_sift
from tests.descriptors.turned_patches import SIDE, draw_leaf, read_literally


def describe_literally(grey, point, direction):
    """Describe a patch with columns up the picture and rows inwards: 128 values."""
    along = -direction if direction[0] > 0 else direction
    cells = read_literally(grey, point, np.array([-direction[1], direction[0]]), along)
    return np.sqrt(cells / (cells.sum() + 0.02)).ravel()


def test_equals_the_literal_definition():
    grey, region = draw_leaf()
    features = extract_outline_sift(
        Pyramid(grey), region, Grid(scales=1, max_patches=6)
    )
    assert features.descriptors.shape == (6, SIFT_LENGTH)
    assert features.descriptors.dtype == np.float32
    contour = cv2.findContours(
        region.view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )[0][0][:, 0, ::-1]
    for number in range(6):
        index = number * len(contour) // 6
        # A third of the side, on either side of the point.
        chord = (contour[(index + 5) % len(contour)] - contour[index - 5]).astype(float)
        expected = describe_literally(grey, contour[index], chord / np.hypot(*chord))
        # OpenCV interpolates in steps of a 32nd of a pixel, and grey values are
        # rounded.
        np.testing.assert_allclose(features.descriptors[number], expected, atol=0.05)
        row, col = (contour[index] + 0.5) / 120
        np.testing.assert_allclose(
            features.positions[number], [row, 0.5 + abs(col - 0.5)], rtol=1e-5
        )
    np.testing.assert_allclose(features.scales, np.log2(SIDE / 120), rtol=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 50), st.integers(3, 15))
def test_a_mirrored_leaf_has_the_same_patches(seed, teeth):
    grey, region = draw_leaf(seed=seed, teeth=teeth)
    flipped = [np.ascontiguousarray(plane[:, ::-1]) for plane in (grey, region)]
    plain, mirrored = (
        extract_outline_sift(Pyramid(picture), mask, Grid(scales=3))
        for picture, mask in ((grey, region), flipped)
    )
    assert len(plain) == len(mirrored)
    # Points start elsewhere on the outline: means over all of them agree, not the
    # patches one by one.
    np.testing.assert_allclose(
        plain.descriptors.mean(axis=0), mirrored.descriptors.mean(axis=0), atol=0.03
    )
    np.testing.assert_allclose(
        plain.positions.mean(axis=0), mirrored.positions.mean(axis=0), atol=0.02
    )


def test_sizes_and_numbers_of_patches():
    grey, region = draw_leaf(240, centre=(120, 120))
    features = extract_outline_sift(
        Pyramid(grey), region, Grid(scales=5, max_patches=100)
    )
    sizes, counts = np.unique(features.scales.round(3), return_counts=True)
    np.testing.assert_allclose(sizes, np.log2(SIDE / 240) + np.arange(5) / 2, atol=0.02)
    assert (counts == 20).all()
    # Without a limit there is a patch every quarter of a side.
    contour = cv2.findContours(
        region.view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )[0][0]
    everything = extract_outline_sift(Pyramid(grey), region, Grid(scales=1))
    assert len(everything) == len(contour) // 4


def test_all_leaflets_have_patches_and_specks_have_none():
    grey, region = draw_leaf()
    grey, both = np.vstack([grey, grey]), np.vstack([region, region])
    both[2, 2] = True
    rows = extract_outline_sift(
        Pyramid(grey), both, Grid(scales=1, max_patches=60)
    ).positions[:, 0]
    assert (rows < 0.5).sum() == 30
    assert rows.min() > 0.05


@pytest.mark.parametrize(
    ("grey", "region"),
    [
        (np.full((50, 50), 9, np.uint8), None),
        (np.full((50, 50), 9, np.uint8), np.zeros((50, 50), bool)),
        (np.full((8, 8), 9, np.uint8), np.ones((8, 8), bool)),
    ],
)
def test_nothing_without_an_outline_or_room_for_a_patch(grey, region):
    assert extract_outline_sift(Pyramid(grey), region).descriptors.shape == (
        0,
        SIFT_LENGTH,
    )


def test_an_outline_of_very_many_points():
    """OpenCV refuses pictures of more than 32,766 rows, which long outlines make."""
    region = np.zeros((900, 900), bool)
    region[10:890, 10:890] = True
    region[12:888:4, 12:] = False
    features = extract_outline_sift(
        Pyramid(np.where(region, 60, 255).astype(np.uint8)), region, Grid(scales=1)
    )
    assert len(features) > 2**16
