import numpy as np
import pytest

from leafid.segmentation.regions import select_leaf_regions


@pytest.mark.parametrize(
    ("size", "gap", "is_kept"),
    [
        ((10, 5), 2, True),  # 0.5 % of the leaf's area
        ((10, 1), 2, False),  # 0.1 %: a speck of dust
        ((10, 5), 12, False),  # too far away for a leaflet
    ],
)
def test_small_pieces_are_kept_beside_the_leaf(size, gap, is_kept):
    coverage = np.zeros((200, 200), np.uint8)
    coverage[50:150, 50:150] = 255
    coverage[90 : 90 + size[0], 150 + gap : 150 + gap + size[1]] = 255
    selected, _ = select_leaf_regions(coverage, coverage)
    assert selected[50:150, 50:150].all()
    assert selected[:, 150:].any() == is_kept


def test_a_thing_with_straight_sides_is_told_from_the_leaf():
    coverage = np.zeros((200, 200), np.uint8)
    rows, cols = np.indices(coverage.shape)
    coverage[(rows - 90) ** 2 / 60**2 + (cols - 70) ** 2 / 40**2 < 1] = 255
    leaf = coverage > 0
    coverage[20:180, 150:180] = 255
    selected, things = select_leaf_regions(coverage, coverage)
    np.testing.assert_array_equal(selected.astype(bool), leaf)
    np.testing.assert_array_equal(things.astype(bool), (coverage > 0) & ~leaf)


def test_a_rectangle_alone_is_not_left_out():
    coverage = np.zeros((200, 200), np.uint8)
    coverage[60:140, 50:150] = 255
    selected, things = select_leaf_regions(coverage, coverage)
    assert selected[60:140, 50:150].all()
    assert not things.any()
