"""Which patches of a picture are selected: limits, focus and regions."""

import numpy as np

from leafid.descriptors.local.gradients import Pyramid
from leafid.descriptors.local.grid import Grid
from leafid.descriptors.local.sift import extract_dense_sift


def picture(rows, cols):
    """Noise: no two patches are alike."""
    return np.random.default_rng(0).integers(0, 256, (rows, cols), dtype=np.uint8)


def test_a_limit_spreads_windows_over_all_scales():
    grey = picture(64, 64)
    everything, some = (
        extract_dense_sift(Pyramid(grey)),
        extract_dense_sift(Pyramid(grey), grid=Grid(max_patches=100)),
    )
    assert len(some) == 100
    assert {*some.scales.tolist()} == {*everything.scales.tolist()}
    rows = {row.tobytes() for row in everything.descriptors}
    assert all(row.tobytes() in rows for row in some.descriptors)


def test_a_focus_takes_windows_as_often_as_its_gaussian_says():
    grey = picture(400, 300)
    features = extract_dense_sift(
        Pyramid(grey), grid=Grid(scales=1, focus=0.2, max_patches=1000)
    )
    everything = extract_dense_sift(Pyramid(grey), grid=Grid(scales=1))
    assert len(features) == 1000
    assert len({tuple(position) for position in features.positions.tolist()}) == 1000
    weights = np.exp(-((everything.positions - 0.5) ** 2).sum(axis=1) / (2 * 0.2**2))
    for axis in (0, 1):
        edges = np.linspace(0, 1, 6)
        expected = np.histogram(
            everything.positions[:, axis], edges, weights=weights / weights.sum()
        )[0]
        # Marks in equal distances: along a column of the picture they fall a little
        # unevenly.
        np.testing.assert_allclose(
            np.histogram(features.positions[:, axis], edges)[0] / 1000,
            expected,
            atol=0.02,
        )


def test_a_focus_takes_no_window_twice():
    grey = picture(64, 64)
    for max_patches in (0, 50, 5000):
        features = extract_dense_sift(
            Pyramid(grey), grid=Grid(scales=1, focus=0.1, max_patches=max_patches)
        )
        positions = {tuple(position) for position in features.positions.tolist()}
        assert 0 < len(positions) == len(features) <= (max_patches or 169)
    # In the middle, where the Gaussian is flat, a wide focus leaves nothing out.
    assert len(
        extract_dense_sift(Pyramid(grey), grid=Grid(scales=1, focus=100))
    ) == len(extract_dense_sift(Pyramid(grey), grid=Grid(scales=1)))


def test_patches_outside_of_the_region_are_left_out():
    grey = picture(48, 48)
    region = np.zeros((48, 48), bool)
    region[:16, :16] = True
    everywhere, inside = (
        extract_dense_sift(Pyramid(grey), grid=Grid(scales=1)),
        extract_dense_sift(Pyramid(grey), region, grid=Grid(scales=1)),
    )
    # A patch of 16 × 16 pixels whose corner is (4a, 4b) shares (16 - 4a)(16 - 4b) with
    # the region: a tenth is 25.6.
    shared = [
        (16 - 4 * a) * (16 - 4 * b)
        for a in range(9)
        for b in range(9)
        if a < 4 and b < 4
    ]
    assert len(inside) == sum(area >= 25.6 for area in shared)
    kept = {tuple(position) for position in inside.positions.tolist()}
    chosen = [tuple(position) in kept for position in everywhere.positions.tolist()]
    np.testing.assert_array_equal(everywhere.descriptors[chosen], inside.descriptors)
    assert len(extract_dense_sift(Pyramid(grey), np.zeros((48, 48), bool))) == 0
