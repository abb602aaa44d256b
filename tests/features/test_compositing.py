import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.features import compositing as module
from leafid.features.compositing import composite_photo
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import segment

SCAN = AcquisitionType.SCAN
BRANCHES, LEAVES = (1, 3, 5, 7), (2, 4, 6, 8)


def make_segmentation(mask):
    return Segmentation(mask, mask, 1.0)


@given(
    st.tuples(st.integers(1, 40), st.integers(1, 40)).flatmap(
        lambda size: st.tuples(arrays(np.uint8, (*size, 3)), arrays(bool, size))
    ),
    st.integers(1, 4),
    st.sampled_from([32, 100, 133]),
)
@settings(deadline=None, max_examples=25)
def test_a_composited_photo_is_four_to_three_and_always_the_same(picture, number, side):
    image, mask = picture
    before = image.copy()
    photo = composite_photo(image, make_segmentation(mask), number, side)
    assert photo.dtype == np.uint8
    assert (
        sorted(photo.shape) == [3, round(side * 0.75), side]
        if mask.any()
        else photo is image
    )
    np.testing.assert_array_equal(
        composite_photo(image.copy(), make_segmentation(mask), number, side), photo
    )
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("number", BRANCHES + LEAVES)
def test_nothing_of_the_sheet_is_left(monkeypatch, number):
    """A blue leaf on red: no pixel is red in any light, not even at the edge."""
    # A long exposure would enlarge rounding errors.
    monkeypatch.setattr(module, "_expose", lambda photo, random: photo)
    image = np.zeros((200, 300, 3), np.uint8)
    image[..., 2] = 255
    mask = np.zeros(image.shape[:2], bool)
    mask[40:160, 60:240] = True
    image[mask] = (255, 0, 0)
    # The ground behind is of the leaf's colour, or grey but for 0.85 to 1.15 times as
    # much of each colour and clouds of 0.9 to 1.1 likewise: no more than 1.15 · 1.1 /
    # (0.85 · 0.9) times as red as blue, which is 1.7.
    blue, _, red = np.moveaxis(
        composite_photo(image, make_segmentation(mask), number, 400).astype(float),
        -1,
        0,
    )
    assert (red <= 1.7 * blue + 3).all()


@pytest.mark.parametrize("number", LEAVES)
def test_a_nearly_single_leaf_is_found_again(leaf_on_white, number):
    """It lies on top near the middle, 0.6 to 1.14 times as long as the shorter side."""
    photo = composite_photo(leaf_on_white, segment(leaf_on_white, SCAN), number, 400)
    rows, cols = photo.shape[:2]
    middle = photo[rows // 4 : -rows // 4, cols // 4 : -cols // 4].astype(int)
    green = (middle[..., 1] > middle[..., 0] + 20) & (
        middle[..., 1] > middle[..., 2] + 20
    )
    # A leaf that is 0.4 times as wide as long, narrowed to 0.6 at most, fills this much
    # of the middle at the least.
    assert green.mean() > 0.1


@pytest.mark.parametrize("brightness", [0.2, 0.5, 1.0])
def test_photos_of_dark_and_of_light_leaves_are_equally_bright(
    leaf_on_white, brightness
):
    leaf = segment(leaf_on_white, SCAN)
    dimmed = cv2.convertScaleAbs(leaf_on_white, alpha=brightness)
    lightest = [
        np.percentile(
            cv2.cvtColor(
                composite_photo(dimmed, leaf, number, 400), cv2.COLOR_BGR2GRAY
            ),
            97,
        )
        for number in BRANCHES + LEAVES
    ]
    # Light parts get a level of 150 to 255; the percentile is of a sixteenth of the
    # pixels.
    assert min(lightest) > 140
    assert 170 < np.mean(lightest) < 240


def test_most_backgrounds_have_the_colour_of_the_leaf(leaf_on_white, monkeypatch):
    """Without other leaves, the corners show the background."""
    for table in ("branch", "leaf", "background"):
        monkeypatch.setitem(module.RANGES[table], "number", (0, 1))
    image = np.where(
        leaf_on_white.min(axis=2, keepdims=True) > 200, 255, np.array([20, 160, 60])
    ).astype(np.uint8)
    leaf = segment(image, SCAN)
    corners = [
        composite_photo(image, leaf, number, 100)[:8, :8].mean(axis=(0, 1))
        for number in range(1, 41)
    ]
    is_green = [green > 1.5 * max(blue, red) for blue, green, red in corners]
    assert 0.4 < np.mean(is_green) < 0.8
