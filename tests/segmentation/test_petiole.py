"""The petiole is found and taken away, and nothing else."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.segmentation.petiole import remove_petiole


def draw_disc_with_stalk(
    turn: float = 0.0, scale: float = 1.0, width: int = 8, length: int = 80
) -> tuple[np.ndarray, ...]:
    """Draw a disc, and a stalk that hangs from it; returns the whole and the disc."""
    side = round(400 * scale)
    disc, stalk = np.zeros((side, side), np.uint8), np.zeros((side, side), np.uint8)
    middle = side / 2
    cv2.circle(disc, (round(middle), round(middle)), round(90 * scale), 1, -1)
    cosine, sine = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    corners = (
        np.array(
            [
                [-width / 2, 80],
                [width / 2, 80],
                [width / 2, 90 + length],
                [-width / 2, 90 + length],
            ]
        )
        * scale
    )
    turned = corners @ np.array([[cosine, sine], [-sine, cosine]]) + middle
    cv2.fillPoly(stalk, [np.round(turned * 16).astype(np.int32)], 1, shift=4)
    return (disc | stalk).astype(bool), disc.astype(bool)


@settings(max_examples=20, deadline=None)
@given(
    turn=st.floats(0, 360),
    scale=st.floats(0.6, 3),
    width=st.integers(5, 8),
    length=st.integers(40, 100),
)
def test_the_stalk_is_removed_and_the_disc_kept(turn, scale, width, length):
    whole, disc = draw_disc_with_stalk(turn, scale, width, length)
    blade = remove_petiole(whole)
    assert np.array_equal(blade & whole, blade)
    # Stalks are up to 7 % of √area wide, a drawn rim of a pixel included. What is left
    # of them is the fillet at the foot, which the opening's disc can't reach.
    assert np.count_nonzero(blade & ~disc) < 0.015 * np.count_nonzero(disc)
    assert np.count_nonzero(blade & disc) > 0.99 * np.count_nonzero(disc)


def test_a_pointed_tip_is_not_a_stalk():
    mask = np.zeros((500, 300), np.uint8)
    cv2.ellipse(mask, (150, 320), (90, 110), 0, 0, 360, 1, -1)
    cv2.fillPoly(mask, [np.array([[110, 225], [190, 225], [150, 60]])], 1)
    without = remove_petiole(mask.astype(bool))
    assert np.array_equal(without, mask.astype(bool))
    cv2.rectangle(mask, (146, 420), (154, 490), 1, -1)
    blade = remove_petiole(mask.astype(bool))
    assert blade[60:225].sum() == mask[60:225].sum()
    assert not blade[450:].any()


def test_a_needle_is_all_blade():
    mask = np.zeros((400, 60), bool)
    mask[20:380, 26:34] = True
    assert np.array_equal(remove_petiole(mask), mask)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (16, 16), (60, 80)])
@pytest.mark.parametrize("density", [0.0, 0.02, 0.5, 1.0])
def test_the_blade_is_empty_only_where_the_mask_is(shape, density):
    mask = np.random.default_rng(5).random(shape) < density
    blade = remove_petiole(mask)
    assert blade.shape == mask.shape
    assert blade.any() == mask.any()
    assert not (blade & ~mask).any()


def test_a_short_petiole_is_removed_and_a_stub_is_not():
    whole, _ = draw_disc_with_stalk(width=12, length=17)
    np.testing.assert_array_equal(remove_petiole(whole), whole)
    whole, disc = draw_disc_with_stalk(width=8, length=24)
    assert (
        np.count_nonzero(remove_petiole(whole) & ~disc)
        < np.count_nonzero(whole & ~disc) / 2
    )


def test_a_stalk_between_lobes_is_removed():
    blade = np.zeros((400, 300), np.uint8)
    cv2.circle(blade, (150, 100), 90, 1, -1)
    for col in (110, 190):
        cv2.line(blade, (col, 120), (col, 270), 1, 50)
    whole = blade.copy()
    cv2.rectangle(whole, (146, 180), (154, 340), 1, -1)
    without_petiole = remove_petiole(whole.astype(bool))
    assert np.count_nonzero(without_petiole & (blade == 0)) < 0.1 * np.count_nonzero(
        whole - blade
    )
    assert np.count_nonzero(without_petiole & (blade > 0)) > 0.99 * np.count_nonzero(
        blade
    )
