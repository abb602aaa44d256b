import heapq

import numpy as np
import pytest

from leafid.descriptors.local.inner_distance import (
    ANGLE_BINS,
    DISTANCE_BINS,
    compute_inner_distances,
    compute_shape_contexts,
)
from leafid.descriptors.shape.contour import normalise_shape, resample
from leafid.errors import LeafidError


def horseshoe():
    mask = np.zeros((300, 300), bool)
    mask[40:260, 40:260] = True
    mask[40:200, 110:190] = False
    return mask


def find_ways(mask, start):
    """Shortest ways over the pixels of a mask (16 directions), from one pixel to all."""
    moves = [(r, c, float(np.hypot(r, c))) for r in range(-2, 3) for c in range(-2, 3) if np.gcd(r, c) == 1]
    best = {start: 0.0}
    queue = [(0.0, start)]
    while queue:
        length, (row, col) = heapq.heappop(queue)
        if length > best[row, col]:
            continue
        for r, c, step in moves:
            there = (row + r, col + c)
            inside = 0 <= there[0] < mask.shape[0] and 0 <= there[1] < mask.shape[1] and mask[there]
            if inside and length + step < best.get(there, np.inf):
                best[there] = length + step
                heapq.heappush(queue, (length + step, there))
    return best


def test_distances_are_the_lengths_of_ways_inside_the_leaf():
    shape = normalise_shape(horseshoe())
    points = resample(shape.contour, 48)
    distances, _ = compute_inner_distances(shape, 48)
    mask = shape.grey >= 40
    for start in (17,):
        ways = find_ways(mask, tuple(np.rint(points[start]).astype(int).tolist()))
        slow = np.array([ways[tuple(at)] for at in np.rint(points).astype(int).tolist()])
        # 16 directions are up to 2.8 % too long; ways by 48 contour points turn corners a little too wide; half a pixel
        # of rounding at either end.
        np.testing.assert_allclose(distances[start], slow, rtol=0.08, atol=3)


def test_in_a_convex_leaf_every_way_is_straight():
    rows, cols = np.indices((301, 301)) - 150
    shape = normalise_shape((rows / 1.4) ** 2 + cols**2 <= 95**2)
    points = resample(shape.contour, 40)
    distances, previous = compute_inner_distances(shape, 40)
    straight = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    # Neighbours' chords run along the rim, where a way by a third point is longer by next to nothing.
    np.testing.assert_allclose(distances, straight, rtol=0.01)
    far = straight > shape.side / 2
    assert (previous == np.arange(40)[:, None])[far].mean() > 0.95


def test_the_path_around_a_notch_is_longer_than_the_straight_line():
    shape = normalise_shape(horseshoe())
    points = resample(shape.contour, 80)
    scale = shape.side / np.sqrt(np.count_nonzero(horseshoe()))
    low = points.min(axis=0)
    left = np.argmin(np.abs(points - low - np.array([0, 35]) * scale).sum(axis=1))
    right = np.argmin(np.abs(points - low - np.array([0, 185]) * scale).sum(axis=1))
    distances, _ = compute_inner_distances(shape, 80)
    by_the_corners = 2 * np.hypot(160, 35) + 80
    # The way turns at points of the contour, not at its corners: 1.3 % with 80 of them, 0.6 % with 320.
    assert distances[left, right] == pytest.approx(by_the_corners * scale, rel=0.02)


def test_each_histogram_sums_to_one():
    values = compute_shape_contexts(normalise_shape(horseshoe()), 60)
    assert values.dtype == np.float32
    assert values.shape == (60, DISTANCE_BINS * ANGLE_BINS)
    np.testing.assert_allclose((values**2).sum(axis=1), 1, rtol=1e-5)


def test_histograms_are_the_counts_of_each_point():
    shape = normalise_shape(horseshoe())
    count = 30
    points = resample(shape.contour, count)
    distances, previous = compute_inner_distances(shape, count)
    mean = distances[~np.eye(count, dtype=bool)].mean()
    expected = np.zeros((count, DISTANCE_BINS, ANGLE_BINS))
    for own in range(count):
        ahead, behind = points[(own + 1) % count], points[own - 1]
        tangent = np.arctan2(behind[0] - ahead[0], ahead[1] - behind[1])
        for other in range(count):
            if other == own:
                continue
            stop = points[previous[other, own]]
            angle = np.arctan2(points[own][0] - stop[0], stop[1] - points[own][1]) - tangent
            sector = int(np.floor(angle / (2 * np.pi / ANGLE_BINS) + 0.5)) % ANGLE_BINS
            octave = int(np.floor(np.log2(distances[own, other] / mean))) + DISTANCE_BINS - 1
            expected[own, min(max(octave, 0), DISTANCE_BINS - 1), sector] += 1 / (count - 1)
    values = compute_shape_contexts(shape, count)
    np.testing.assert_allclose(values, np.sqrt(expected).reshape(count, -1), atol=1e-6)


def test_a_turned_leaf_has_the_same_histograms_elsewhere():
    mask = horseshoe()
    mask[150:170, 250:290] = True
    first, turned = (
        compute_shape_contexts(normalise_shape(mask)),
        compute_shape_contexts(normalise_shape(np.rot90(mask))),
    )
    # Hellinger affinity of the mean histograms; the start point lies elsewhere by up to half a step.
    a, b = (first**2).mean(axis=0), (turned**2).mean(axis=0)
    assert (np.sqrt(a) * np.sqrt(b)).sum() > 0.98


@pytest.mark.parametrize("mask", [np.ones((1, 1), bool), np.ones((1, 60), bool), np.eye(25, dtype=bool)])
def test_tiny_masks_give_finite_values(mask):
    assert np.isfinite(compute_shape_contexts(normalise_shape(mask))).all()


def test_no_leaf_is_an_error():
    with pytest.raises(LeafidError, match="expected a leaf in the mask"):
        compute_shape_contexts(normalise_shape(np.zeros((20, 20), bool)))
