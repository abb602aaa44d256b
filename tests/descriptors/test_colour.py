import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.descriptors.surface.colour import COLOUR_NAMES, measure_colour

FULL = np.ones((40, 50), bool)


def speckled(seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal((50, 120, 70), 12, (40, 50, 3)), 20, 160)


def measure(image, mask=FULL):
    values = measure_colour(np.rint(image).astype(np.uint8), mask)
    return dict(zip(COLOUR_NAMES, values.tolist(), strict=True))


def even(blue, green, red):
    return np.full((40, 50, 3), (blue, green, red))


def test_moments_of_known_colours():
    white = measure(even(255, 255, 255))
    # Float32 of up to 100.
    assert white["l_mean"] == pytest.approx(100, abs=1e-4)
    assert white["a_mean"] == pytest.approx(0, abs=1e-4)
    assert white["brightness_mean"] == pytest.approx(3**0.5, abs=1e-5)
    assert white["clipped"] == 1
    assert not any(value for name, value in white.items() if name.startswith("hue"))
    red = measure(even(0, 0, 255))
    # CIE L*a*b* of sRGB red under D65.
    assert (red["l_mean"], red["a_mean"], red["b_mean"]) == pytest.approx(
        (53.24, 80.09, 67.20), abs=0.5
    )
    assert red["red_green_mean"] == pytest.approx(2**-0.5, abs=1e-5)


@pytest.mark.parametrize(
    ("colour", "hue"),
    [((0, 0, 200), 0), ((0, 200, 0), 120), ((200, 0, 0), 240), ((0, 200, 200), 60)],
)
def test_hue_of_pure_colours(colour, hue):
    assert measure(even(*colour))[f"hue_{hue}"] == pytest.approx(1)


def test_deviation_and_skewness_follow_the_formula():
    image = np.rint(speckled())
    values = image[..., 2] - image[..., 1]
    values = values.ravel() / 255 / 2**0.5
    got = measure(image)
    assert got["red_green_deviation"] == pytest.approx(values.std())
    expected = ((values - values.mean()) ** 3).mean() / values.std() ** 3
    # A mean of cubes in float32 that nearly cancel.
    assert got["red_green_skewness"] == pytest.approx(expected, abs=3e-6)


@given(st.tuples(st.floats(0.7, 1.5), st.floats(0.7, 1.5), st.floats(0.7, 1.5)))
@settings(max_examples=15, deadline=None)
def test_log_ratios_ignore_the_lights_colour(cast):
    plain, tinted = measure(speckled()), measure(speckled() * cast)
    # Rounding to grey levels moves some pixels across a bin's edge.
    for name in plain:
        if name.startswith("log"):
            assert tinted[name] == pytest.approx(plain[name], abs=0.08)


def test_only_the_leaf_is_measured():
    image, mask = speckled(), FULL.copy()
    mask[:, 25:] = False
    on_white = image.copy()
    on_white[:, 25:] = 255
    assert measure(image, mask) == measure(on_white, mask)


@pytest.mark.parametrize("level", [0, 255])
def test_constant_pictures_give_finite_numbers(level):
    values = measure_colour(np.full((40, 50, 3), level, np.uint8), FULL)
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert len(values) == len(COLOUR_NAMES) == len(set(COLOUR_NAMES))
