import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.features.augmentation import jitter_picture
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation import segment

SCAN, SHEET, PHOTO = AcquisitionType
IMAGES = st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3)).flatmap(lambda shape: arrays(np.uint8, shape))


@given(IMAGES, st.integers(1, 5), st.sampled_from(AcquisitionType))
@settings(deadline=None, max_examples=50)
def test_a_jittered_picture_has_the_same_size_and_is_always_the_same(image, number, type_):
    before = image.copy()
    found = jitter_picture(image, number, type_)
    assert found.shape == image.shape
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(jitter_picture(image.copy(), number, type_), found)
    np.testing.assert_array_equal(image, before)


def test_numbers_and_pictures_are_jittered_differently(leaf_on_white):
    found = [jitter_picture(leaf_on_white, number, SCAN) for number in (1, 2, 3, 4)]
    found.append(jitter_picture(255 - leaf_on_white, 1, SCAN))
    assert len({image.tobytes() for image in found}) == 5


@pytest.mark.parametrize("number", [1, 3, 5, 7])
def test_a_tilted_leaf_is_narrower_but_at_least_half_as_wide(leaf_on_white, number):
    """Narrowed to 0.6 at the least, and made larger or smaller by perspective by 0.16 · 2 at the most."""
    area = segment(leaf_on_white, SCAN).mask.sum()
    tilted = segment(jitter_picture(leaf_on_white, number, SCAN), SCAN).mask.sum()
    assert 0.6 * 0.6 * area < tilted < 1.4 * area


@pytest.mark.parametrize("number", [1, 3, 5])
def test_the_sheet_continues_beside_a_tilted_sheet(leaf_on_white, number):
    found = jitter_picture(leaf_on_white, number, SCAN)
    edge = np.concatenate([found[0], found[-1], found[:, 0], found[:, -1]])
    assert (edge == 250).all()


@pytest.mark.parametrize("number", [2, 4, 6])
def test_in_other_light_a_leaf_keeps_its_place(leaf_on_white, number):
    found = jitter_picture(leaf_on_white, number, SCAN)
    assert (found != leaf_on_white).any()
    mask, lit = segment(leaf_on_white, SCAN).mask, segment(found, SCAN).mask
    # Read at less than half its size and enlarged again, an edge may move by a pixel.
    assert (mask & lit).sum() / (mask | lit).sum() > 0.95


def test_light_is_never_wrapped_round():
    """White that is lit by more than it can show stays the lightest."""
    white = np.full((60, 80, 3), 255, np.uint8)
    # Brightness is 0.85 at the least, and falls by 0.08 to a side in each direction.
    assert all(
        jitter_picture(white, number, SCAN).min() >= int(255 * 0.85 * (1 - 2 * 0.08)) - 1 for number in (2, 4, 6, 8)
    )


ODD, EVEN = range(1, 40, 2), range(2, 41, 2)


def test_leaves_are_narrowed_by_a_fifth_on_average(leaf_on_white):
    """Widths are uniform from 0.6 to 1: with less the classifiers would not learn to ignore how a leaf lies."""
    area = (leaf_on_white < 200).any(axis=2).sum()
    ratios = [(jitter_picture(leaf_on_white, number, SCAN) < 200).any(axis=2).sum() / area for number in ODD]
    assert 0.7 < np.mean(ratios) < 0.9
    assert min(ratios) < 0.7


def test_perspective_makes_the_near_end_larger():
    """By up to 0.16 each: of a square in the middle, one half is larger than the other."""
    image = np.full((300, 300, 3), 255, np.uint8)
    image[75:225, 75:225] = 0
    ratios = []
    for number in ODD:
        dark = (jitter_picture(image, number, SCAN) < 128).any(axis=2)
        upper, lower = dark[:150].sum(), dark[150:].sum()
        ratios.append(max(upper, lower) / min(upper, lower))
    assert max(ratios) > 1.1
    assert np.mean(ratios) > 1.03


def test_light_differs_between_pictures_and_falls_to_a_side():
    grey = np.full((100, 100, 3), 128, np.uint8)
    lit = [jitter_picture(grey, number, SCAN).astype(float) for number in EVEN]
    assert np.std([image.mean() for image in lit]) > 5
    assert max(abs(image[:, :20].mean() - image[:, -20:].mean()) / image.mean() for image in lit) > 0.08
    assert max(abs(image[:20].mean() - image[-20:].mean()) / image.mean() for image in lit) > 0.08


def test_pictures_in_other_light_are_less_sharp():
    stripes = np.zeros((120, 120, 3), np.uint8)
    stripes[:, ::4] = stripes[:, 1::4] = 200
    contrast = [np.ptp(jitter_picture(stripes, number, SCAN)[20:-20, 20:-20].astype(int)) / 200 for number in EVEN]
    assert np.median(contrast) < 0.9


def test_the_size_is_reduced_to_half_at_most():
    """An edge from one pixel to the next keeps a third to a half of its slope."""
    rows, cols = np.mgrid[:160, :160]
    edge = np.repeat(((cols > 60 + rows / 4) * 200).astype(np.uint8)[..., None], 3, axis=2)
    slopes = []
    for number in range(2, 42, 2):
        lit = jitter_picture(edge, number, SCAN)[20:-20, :, 0].astype(float)
        slopes.append(np.median(np.diff(lit, axis=1).max(axis=1) / np.ptp(lit, axis=1)))
    assert 0.25 < min(slopes) < 0.4
    assert max(slopes) > 0.5
