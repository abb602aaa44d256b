import cv2
import numpy as np
import pytest

from leafid.descriptors.registry import FAMILIES, get_column_names, measure_families
from leafid.errors import UsageError
from leafid.segmentation.result import Segmentation


@pytest.fixture(scope="module")
def leaf():
    mask = np.zeros((260, 200), np.uint8)
    cv2.ellipse(mask, (100, 120), (60, 100), 0, 0, 360, 1, -1)
    blade = mask > 0
    mask[215:250, 98:103] = 1
    image = np.full((*mask.shape, 3), 245, np.uint8)
    noise = np.random.default_rng(0).normal(0, 12, image.shape)
    image[mask > 0] = np.clip(noise + np.array([50, 120, 70]), 0, 255).astype(np.uint8)[
        mask > 0
    ]
    return image, Segmentation(mask > 0, blade, 1.0)


@pytest.fixture(scope="module")
def measured(leaf):
    return measure_families(*leaf)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_measures_as_many_finite_numbers_as_it_names(name, measured):
    values, names = measured[name], FAMILIES[name].value_names
    assert values.dtype == np.float32
    assert values.shape == (len(names),)
    assert np.isfinite(values).all()
    assert len(set(names)) == len(names)


def test_the_petiole_is_not_measured(leaf, measured):
    image, segmentation = leaf
    bare = Segmentation(segmentation.blade, segmentation.blade, 1.0)
    for name, values in measure_families(image, bare).items():
        np.testing.assert_array_equal(values, measured[name])


def test_columns_are_unique_and_as_many_as_values(measured):
    names = get_column_names()
    assert len(names) == len(set(names)) == sum(map(len, measured.values()))
    assert "geometry.log_aspect_box" in names
    assert get_column_names(["hu"]) == [f"hu.log_{k}" for k in range(1, 8)]


def test_unknown_and_repeated_families_are_named():
    with pytest.raises(UsageError, match="'geometri'; there are"):
        get_column_names(["geometri"])
    with pytest.raises(
        UsageError, match="expected each descriptor family once, found hu, geometry, hu"
    ):
        get_column_names(["hu", "geometry", "hu"])
