import itertools

import numpy as np
import pytest

from leafid.features.augmentation import Augmentation, AugmentedPicture
from leafid.features.non_leaves import ALL_KINDS, draw_non_leaf
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment


@pytest.fixture(scope="module")
def mask(leaf_on_white):
    return segment(leaf_on_white, AcquisitionType.SCAN).mask


NUMBERS = [number for numbers in ALL_KINDS.values() for number in numbers]


@pytest.mark.parametrize("number", NUMBERS)
def test_every_kind_is_a_picture_that_depends_on_the_picture_alone(
    number, leaf_on_white, mask
):
    drawn = draw_non_leaf(leaf_on_white, mask, number)
    assert drawn.dtype == np.uint8
    assert drawn.ndim == 3
    assert min(drawn.shape[:2]) >= 100
    np.testing.assert_array_equal(drawn, draw_non_leaf(leaf_on_white, mask, number))
    changed = leaf_on_white.copy()
    changed[0, 0] = 0
    assert not np.array_equal(drawn, draw_non_leaf(changed, mask, number))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("is_leaf", [False, True])
def test_a_mask_may_be_empty_or_full(number, is_leaf, leaf_on_white):
    full = np.full(leaf_on_white.shape[:2], is_leaf)
    assert draw_non_leaf(leaf_on_white, full, number).size


def test_the_leaf_lends_its_place(leaf_on_white):
    views = AugmentedPicture(leaf_on_white, AcquisitionType.SCAN, 800).make_views(
        Augmentation("no-leaf", 2)
    )
    leaf = segment(leaf_on_white, AcquisitionType.SCAN)
    np.testing.assert_array_equal(
        views.image, draw_non_leaf(leaf_on_white, leaf.mask, 2)
    )


def test_drawn_pictures_are_as_large_as_composited_photos_at_most(leaf_on_white):
    mask = np.zeros(leaf_on_white.shape[:2], bool)
    sides = [
        max(draw_non_leaf(np.roll(leaf_on_white, shift, 1), mask, number).shape)
        for number, shift in itertools.product(NUMBERS, range(8))
    ]
    assert 300 <= min(sides) < 400
    assert 600 < max(sides) <= 640
