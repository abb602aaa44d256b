import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.features.augmentation import jitter_picture
from leafid.features.extractor import cover_whole
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation import segment

SCAN, SHEET, PHOTO = AcquisitionType
IMAGES = st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(3)).flatmap(lambda shape: arrays(np.uint8, shape))


def jitter(image, number, type_):
    return jitter_picture(image, cover_whole(image, confidence=1.0), number, type_)[0]


@given(IMAGES, st.integers(1, 5), st.sampled_from(AcquisitionType))
@settings(deadline=None, max_examples=50)
def test_a_jittered_picture_has_the_same_size_and_is_always_the_same(image, number, type_):
    before = image.copy()
    found = jitter(image, number, type_)
    assert found.shape == image.shape
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(jitter(image.copy(), number, type_), found)
    np.testing.assert_array_equal(image, before)


def test_numbers_and_pictures_are_jittered_differently(leaf_on_white):
    found = [jitter(leaf_on_white, number, SCAN) for number in (1, 2, 3, 4)]
    found.append(jitter(255 - leaf_on_white, 1, SCAN))
    assert len({image.tobytes() for image in found}) == 5


@pytest.mark.parametrize("number", [1, 3, 5, 7])
def test_a_tilted_leaf_is_narrower_but_at_least_half_as_wide(leaf_on_white, number):
    """Narrowed to 0.6 at the least, and made larger or smaller by perspective by 0.16 · 2 at the most."""
    area = segment(leaf_on_white, SCAN).mask.sum()
    tilted = segment(jitter(leaf_on_white, number, SCAN), SCAN).mask.sum()
    assert 0.6 * 0.6 * area < tilted < 1.4 * area


@pytest.mark.parametrize("shape", [(480, 640), (150, 200)])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_leaf_moves_with_the_picture(leaf_on_white, number, shape):
    """Small pictures have a coverage, from which the mask follows."""
    image = cv2.resize(leaf_on_white, shape[::-1], interpolation=cv2.INTER_AREA)
    leaf = segment(image, SCAN)
    jittered, found = jitter_picture(image, leaf, number, SCAN)
    expected = segment(jittered, SCAN)
    assert found.confidence == leaf.confidence
    for own, other in ((found.mask, expected.mask), (found.blade, expected.blade)):
        assert (own & other).sum() / (own | other).sum() > 0.95
    assert (found.coverage is None) == (leaf.coverage is None)


@pytest.mark.parametrize("number", [1, 3, 5])
def test_the_sheet_continues_beside_a_tilted_sheet(leaf_on_white, number):
    """Only the light differs there: of 250 levels, gamma, brightness and both slopes leave at least 170."""
    found = jitter(leaf_on_white, number, SCAN)
    edge = np.concatenate([found[0], found[-1], found[:, 0], found[:, -1]])
    assert (edge > 170).all()


NUMBERS = range(1, 40)


def test_perspective_makes_the_near_end_larger():
    """By up to 0.16 each: of a square in the middle, one half is larger than the other."""
    image = np.full((300, 300, 3), 255, np.uint8)
    image[75:225, 75:225] = 0
    ratios = []
    for number in NUMBERS:
        dark = (jitter(image, number, SCAN) < 128).any(axis=2)
        upper, lower = dark[:150].sum(), dark[150:].sum()
        ratios.append(max(upper, lower) / min(upper, lower))
    assert max(ratios) > 1.1
    assert np.mean(ratios) > 1.03


def test_light_differs_between_pictures_and_falls_to_a_side():
    grey = np.full((100, 100, 3), 128, np.uint8)
    lit = [jitter(grey, number, SCAN).astype(float) for number in NUMBERS]
    assert np.std([image.mean() for image in lit]) > 5
    assert max(abs(image[:, :20].mean() - image[:, -20:].mean()) / image.mean() for image in lit) > 0.08
    assert max(abs(image[:20].mean() - image[-20:].mean()) / image.mean() for image in lit) > 0.08


def test_pictures_in_other_light_are_less_sharp():
    stripes = np.zeros((120, 120, 3), np.uint8)
    stripes[:, ::4] = stripes[:, 1::4] = 200
    contrast = [np.ptp(jitter(stripes, number, SCAN)[20:-20, 20:-20].astype(int)) / 200 for number in NUMBERS]
    assert np.median(contrast) < 0.9


def test_some_jittered_pictures_are_less_sharp():
    """Reduced to half their size, of noise less is left than tilting leaves: at most a sixth."""
    noise = np.random.default_rng(0).integers(100, 156, (64, 64, 3)).astype(np.uint8)
    roughness = [np.abs(np.diff(jitter(noise, number, PHOTO).astype(float), axis=1)).mean() for number in range(12)]
    assert min(roughness) < np.abs(np.diff(noise.astype(float), axis=1)).mean() / 6
