import numpy as np
import pytest

from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.shape.leaflets import LEAFLETS_NAMES, QUANTILES, RADII, _measure_spectrum, measure_leaflets


def measure(mask):
    return dict(zip(LEAFLETS_NAMES, measure_leaflets(normalise_shape(mask)).tolist(), strict=True))


def open_slowly(mask, radius):
    """Union of the discs (of pixels) that fit into the mask."""
    rows, cols = np.indices(mask.shape)
    opened = np.zeros_like(mask)
    for row in range(mask.shape[0]):
        for col in range(mask.shape[1]):
            disc = (rows - row) ** 2 + (cols - col) ** 2 <= radius**2
            if mask[disc].all():
                opened |= disc
    return opened


def test_removed_and_added_are_openings_and_closings_by_discs():
    random = np.random.default_rng(2)
    rows, cols = np.indices((44, 44))
    mask = np.zeros((44, 44), bool)
    for _ in range(5):
        row, col = random.integers(14, 30, 2)
        mask |= ((rows - row) / random.uniform(3, 9)) ** 2 + ((cols - col) / random.uniform(3, 9)) ** 2 <= 1
    area = np.count_nonzero(mask)
    radii = (1.2, 2.5, 4.2)
    for radius, (removed, added, *_) in zip(radii, _measure_spectrum(mask, 1.0, radii), strict=True):
        opened, closed = open_slowly(mask, radius), ~open_slowly(~mask, radius)
        # OpenCV's distance is the true one up to 2 %, which decides about a few pixels at the rim.
        assert removed * area == pytest.approx(area - np.count_nonzero(opened), abs=0.06 * area)
        assert added * area == pytest.approx(np.count_nonzero(closed) - area, abs=0.06 * area)


def test_leaflets_on_a_stalk_come_apart():
    rows, cols = np.indices((300, 500))
    mask = (np.abs(rows - 150) < 4) & (cols > 40) & (cols < 460)
    for centre in (100, 250, 400):
        mask |= (rows - 150) ** 2 + (cols - centre) ** 2 <= 50**2
    values = measure(mask)
    assert values["parts_log_0.055"] == pytest.approx(np.log1p(3))
    # Ten of the 72² pixels of the reduced mask, at the rims; evenness falls with the square of it.
    assert values["largest_share_0.055"] == pytest.approx(1 / 3, abs=0.002)
    assert values["evenness_0.055"] == pytest.approx(1, abs=5e-5)


def test_a_disc_stays_whole_up_to_its_radius():
    rows, cols = np.indices((401, 401)) - 200
    values = measure(rows**2 + cols**2 <= 180**2)
    for radius in RADII:
        assert values[f"removed_root_{radius:g}"] < 0.2
        assert values[f"added_root_{radius:g}"] < 0.2
        assert values[f"parts_log_{radius:g}"] == pytest.approx(np.log(2))
        assert values[f"largest_share_{radius:g}"] == 1
    # Of a disc's pixels the share 1 − (1 − d/R)² is nearer to the rim than d.
    for quantile in QUANTILES:
        depth = (1 - np.sqrt(1 - quantile)) / np.sqrt(np.pi)
        assert values[f"depth_quantile{quantile:g}"] == pytest.approx(depth, abs=0.015)  # a pixel in 72
