"""The condition of a picture: each value reacts to its alteration, and to no turn."""

import cv2
import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.condition import measure_condition
from leafid.segmentation.segment import segment


def measure(image):
    return measure_condition(image, segment(image, AcquisitionType.SCAN))


@pytest.fixture(scope="module")
def leaf(drawn_leaf):
    return drawn_leaf(rows=480, cols=400, noise=0, stalk=True)[0]


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_picture_is_in_the_same_condition(leaf, turns):
    turned = measure(np.ascontiguousarray(np.rot90(leaf, turns)))
    np.testing.assert_allclose(turned, measure(leaf), rtol=0.02, atol=0.01)


def test_a_dark_picture_is_less_light(leaf):
    assert measure((0.3 * leaf).astype(np.uint8)).lightness == pytest.approx(
        0.3 * measure(leaf).lightness, abs=0.01
    )


def test_a_reduced_picture_has_a_smaller_leaf(leaf):
    small = measure(
        cv2.resize(leaf, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    )
    assert small.side == pytest.approx(measure(leaf).side / 2, rel=0.03)


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (5, 800), (40, 60)])
@pytest.mark.parametrize("value", [0, 128, 255])
def test_a_plain_picture_has_a_condition(shape, value):
    condition = measure(np.full((*shape, 3), value, np.uint8))
    assert condition.confidence == 0
    assert np.isfinite(condition).all()
