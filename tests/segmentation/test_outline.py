"""The confidence of an outline: high where the mask is the leaf, low elsewhere."""

import cv2
import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.leaves import segment_leaves
from leafid.segmentation.outlines import estimate_outline_confidence
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import segment


def shift(mask, rows, cols):
    moved = cv2.warpAffine(
        mask.view(np.uint8),
        np.array([[1, 0, cols], [0, 1, rows]], float),
        mask.shape[::-1],
    )
    return moved.view(bool)


def widen(mask, pixels):
    kernel = np.ones((2 * abs(pixels) + 1,) * 2, np.uint8)
    change = cv2.dilate if pixels > 0 else cv2.erode
    return change(mask.view(np.uint8), kernel).view(bool)


def cast_shadow(image, mask, light=0.5):
    """Darken the sheet beside the leaf; return also the mask with the shadow."""
    shadow = shift(mask, 9, 9) & ~mask
    dark = image.copy()
    dark[shadow] = (dark[shadow] * light).astype(np.uint8)
    return dark, mask | shadow


@pytest.mark.parametrize(
    "drawing",
    [
        {},
        {"turn": 40, "stalk": True},
        {"shade": 0.3, "noise": 4},
        {"sheet": (60, 50, 45), "leaf": (70, 180, 150)},
        {"rows": 900, "cols": 1200, "radius": 0.15},
    ],
)
def test_a_leaf_on_a_plain_sheet_is_sure(drawn_leaf, drawing):
    image, mask = drawn_leaf(**drawing)
    assert estimate_outline_confidence(image, mask) > 0.9


def test_a_shadow_in_the_mask(drawn_leaf):
    image, mask = drawn_leaf()
    dark, with_shadow = cast_shadow(image, mask)
    assert estimate_outline_confidence(dark, with_shadow) < 0.8
    # The shadow does no harm where it is left out.
    assert estimate_outline_confidence(dark, mask) > 0.8


def test_a_pale_margin_that_is_missed(drawn_leaf):
    image, mask = drawn_leaf()
    green = widen(mask, -6)
    image[mask & ~green] = (190, 226, 236)
    assert estimate_outline_confidence(image, green) < 0.7


def test_an_outline_that_follows_no_edge(drawn_leaf):
    image, mask = drawn_leaf()
    for wrong in (widen(mask, 8), widen(mask, -8), shift(mask, 15, -15)):
        assert estimate_outline_confidence(image, wrong) < 0.5


def test_a_grey_picture_is_judged_by_lightness(drawn_leaf):
    image, mask = drawn_leaf(stalk=True)
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    for tint in ((1, 1, 1), (0.7, 0.87, 1)):
        toned = (grey[..., None] * np.array(tint)).astype(np.uint8)
        assert estimate_outline_confidence(toned, mask) > 0.9
        for wrong in (widen(mask, 8), widen(mask, -8), shift(mask, 15, -15)):
            assert estimate_outline_confidence(toned, wrong) < 0.5


def test_what_surrounds_a_leaf_stays_where_leaves_are_split():
    """A margin or shadow beside one of two near leaves lowers its confidence."""
    image = np.random.default_rng(0).integers(235, 250, (400, 300, 3), np.uint8)
    for row in (110, 290):
        cv2.ellipse(image, (150, row), (48, 86), 0, 0, 360, (40, 110, 60), -1)
    leaves = segment_leaves(image, AcquisitionType.SCAN)
    assert len(leaves) == 2
    for leaf in leaves:
        window = np.s_[:150]
        if leaf.mask[290, 150]:
            window = np.s_[250:]
        assert np.array_equal(leaf.picture[window], image[window])


def test_more_of_a_fault_is_less_sure(drawn_leaf):
    image, mask = drawn_leaf()
    sure = [estimate_outline_confidence(image, widen(mask, n)) for n in (0, 3, 8)]
    assert sure == sorted(sure, reverse=True)


@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (40, 3)])
def test_what_has_no_outline_is_not_sure(shape):
    image = np.full((*shape, 3), 200, np.uint8)
    nothing = np.zeros(shape, bool)
    dot = nothing.copy()
    dot[0, 0] = True
    for mask in (nothing, dot, ~nothing):
        assert estimate_outline_confidence(image, mask) == 0


def test_the_confidence_of_a_segmentation(drawn_leaf):
    image, _ = drawn_leaf()
    leaf = segment(image, AcquisitionType.SCAN)
    assert leaf.outline_confidence == estimate_outline_confidence(image, leaf.mask)
    assert f"{leaf.outline_confidence:.2f}" in repr(leaf)
    # Nothing is known of masks of one's own, and the outlines of photos are not
    # calibrated.
    assert Segmentation.from_mask(leaf.mask).outline_confidence == 1
    photo = segment(image, AcquisitionType.PHOTO)
    assert photo.outline_confidence == photo.confidence
    blank = segment(np.full((90, 90, 3), 250, np.uint8), AcquisitionType.SCAN)
    assert blank.outline_confidence == 0
