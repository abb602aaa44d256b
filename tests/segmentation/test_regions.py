import numpy as np
import pytest

from leafid.segmentation.regions import pick_leaf, select_leaf_regions


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


def test_a_thing_with_straight_sides_is_left_out_beside_a_leaf_but_not_alone():
    coverage = np.zeros((200, 200), np.uint8)
    rows, cols = np.indices(coverage.shape)
    coverage[(rows - 90) ** 2 / 60**2 + (cols - 70) ** 2 / 40**2 < 1] = 255
    leaf = coverage > 0
    coverage[20:180, 150:180] = 255
    selected, things = select_leaf_regions(coverage, coverage)
    np.testing.assert_array_equal(selected.astype(bool), leaf)
    np.testing.assert_array_equal(things.astype(bool), (coverage > 0) & ~leaf)
    coverage[leaf] = 0
    selected, things = select_leaf_regions(coverage, coverage)
    assert selected[coverage > 0].all()
    assert not things.any()


def draw_discs(*discs):
    """Draw discs of (row, col, radius), 100 on 0, in 200 rows and 300 columns."""
    distance = np.zeros((200, 300), np.uint8)
    rows, cols = np.indices(distance.shape)
    for row, col, radius in discs:
        distance[(rows - row) ** 2 + (cols - col) ** 2 <= radius**2] = 100
    return distance


@pytest.mark.parametrize(
    ("discs", "n_leaves", "picked"),
    [
        ([(100, 150, 40)], 1, None),
        ([(100, 60, 40), (100, 220, 30)], 2, 0),  # the largest
        ([(100, 60, 40), (100, 160, 38), (100, 260, 36)], 3, 0),
        ([(60, 60, 40), (60, 160, 30), (160, 60, 25), (160, 180, 25)], 4, 0),
        ([(100, 100, 40), (100, 144, 3)], 1, None),  # a small piece belongs to the leaf
        ([(100, 60, 40), (100, 280, 30)], 1, 0),  # what the border cuts may be anything
        ([(100, 100, 40), (100, 143, 40)], 1, None),  # they touch
    ],
)
def test_separate_leaves_are_counted(discs, n_leaves, picked):
    distance = draw_discs(*discs)
    leaf, count = pick_leaf((distance > 50).view(np.uint8), distance)
    assert count == n_leaves
    np.testing.assert_array_equal(
        leaf > 0, (distance if picked is None else draw_discs(discs[picked])) > 50
    )


def test_leaflets_on_a_faint_rachis_are_one_leaf():
    distance = draw_discs((100, 60, 40), (100, 220, 40))
    leaf = (distance > 50).view(np.uint8)
    assert pick_leaf(leaf, distance)[1] == 2
    distance[100, 50:230] = np.maximum(distance[100, 50:230], 10)
    whole, count = pick_leaf(leaf, distance)
    assert count == 1
    np.testing.assert_array_equal(whole, leaf)
