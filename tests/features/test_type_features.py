import numpy as np
import pytest

from leafid.features.extractor import N_TYPE_FEATURES, measure_type_features

GREY = np.full((96, 96, 3), 128, np.uint8)


def test_a_plain_picture_varies_nowhere():
    features = measure_type_features(GREY)
    assert features.shape == (N_TYPE_FEATURES,)
    assert features.dtype == np.float32
    # These are all but the percentiles of the lightness.
    np.testing.assert_allclose(features[3:], 0, atol=1e-4)


def test_roughness_is_that_of_a_thumbnail_of_48_pixels():
    """An edge from black to white is one step of the lightness among 47."""
    image = np.zeros((96, 96, 3), np.uint8)
    image[:, 48:] = 255
    down, across = np.expm1(measure_type_features(image)[-2:]) / 100
    assert down == pytest.approx(0, abs=1e-6)
    assert across == pytest.approx(1 / 47 / 3, rel=1e-3)


def test_the_rim_is_3_of_48_pixels_wide():
    inside, outside = GREY.copy(), GREY.copy()
    inside[6:-6, 6:-6] = 255
    outside[8:-8, 8:-8] = 255
    rims = [measure_type_features(image)[:12] for image in (GREY, inside, outside)]
    np.testing.assert_array_equal(rims[0], rims[1])
    np.testing.assert_array_equal(rims[0], rims[2])
    wider = GREY.copy()
    wider[4:-4, 4:-4] = 255
    assert not np.array_equal(measure_type_features(wider)[:12], rims[0])
