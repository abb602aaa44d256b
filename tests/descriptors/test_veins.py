import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.descriptors.surface.veins import (
    DIRECTIONS,
    STRENGTHS,
    VEINS_NAMES,
    WIDTHS,
    measure_veins,
)

AXIS = 20  # degrees, of the leaf that `striped` draws
# A share of all pixels: single ones on a bin's edge change sides by float32 rounding.
SOME_PIXELS = 2e-3


def striped(degrees, period=12.0, light=1.0, side=400):
    """A long leaf with stripes at an angle to its axis."""
    mask = np.zeros((side, side), np.uint8)
    cv2.ellipse(
        mask,
        (side // 2, side // 2),
        (int(side * 0.42), int(side * 0.17)),
        AXIS,
        0,
        360,
        1,
        -1,
    )
    rows, cols = np.mgrid[:side, :side]
    angle = np.deg2rad(AXIS + degrees)
    wave = np.cos(2 * np.pi * (rows * np.cos(angle) - cols * np.sin(angle)) / period)
    grey = np.rint((120 + 40 * wave) * light).astype(np.uint8)
    return np.dstack([grey] * 3), mask > 0


def measure(leaf):
    return dict(zip(VEINS_NAMES, measure_veins(*leaf).tolist(), strict=True))


def list_directions(values, sign="light", width=1.8):
    return [
        values[f"{sign}_{width:g}_direction_{round(90 * k / DIRECTIONS)}"]
        for k in range(DIRECTIONS)
    ]


@pytest.mark.parametrize("degrees", [5, 25, 45, 65, 85])
@pytest.mark.parametrize("side", [1, -1])
def test_stripes_fall_into_the_bin_of_their_angle_to_the_axis(degrees, side):
    values = measure(striped(side * degrees))
    # The axis of the drawn ellipse is exact to a fraction of a degree, a bin is ten wide.
    assert list_directions(values)[degrees // 10] > 0.9
    assert values["light_1.8_agreement"] > 0.95


def test_crossing_stripes_agree_less():
    rising, mask = striped(45)
    falling, _ = striped(-45)
    assert (
        measure((cv2.addWeighted(rising, 0.5, falling, 0.5, 0), mask))[
            "light_1.8_agreement"
        ]
        < 0.5
    )


def test_light_and_dark_lines_are_apart():
    image, mask = striped(0)
    line = np.full_like(image, 100)
    line[(image > 155).all(axis=2)] = 160  # thin light lines
    light = measure((line, mask))
    dark = measure((255 - line, mask))
    for width in WIDTHS:
        for kind in (f"strength_{STRENGTHS[-2]:g}", "agreement"):
            assert light[f"light_{width:g}_{kind}"] == pytest.approx(
                dark[f"dark_{width:g}_{kind}"], abs=SOME_PIXELS
            )
    assert light["light_1_strength_0.5"] > 2 * light["dark_1_strength_0.5"]


@pytest.mark.parametrize("turn", [np.rot90, np.flipud, np.fliplr])
def test_quarter_turns_and_mirrors_change_next_to_nothing(turn):
    image, mask = striped(25)
    turned = np.ascontiguousarray(turn(image)), np.ascontiguousarray(turn(mask))
    np.testing.assert_allclose(
        measure_veins(*turned), measure_veins(image, mask), atol=SOME_PIXELS
    )


@given(factor=st.floats(0.5, 1.5))
@settings(max_examples=10, deadline=None)
def test_the_light_hardly_matters(factor):
    # Rounding to grey levels is all that is left of the light.
    np.testing.assert_allclose(
        measure_veins(*striped(25, light=factor)),
        measure_veins(*striped(25)),
        atol=0.05,
    )


def test_the_size_hardly_matters():
    # The larger leaf is drawn anew: its edge and its resizing differ by fractions of a pixel.
    np.testing.assert_allclose(
        measure_veins(*striped(25, 24.0, side=800)),
        measure_veins(*striped(25)),
        atol=0.05,
    )


def test_an_even_leaf_has_no_ridges():
    _, mask = striped(0)
    values = measure_veins(np.full((*mask.shape, 3), 90, np.uint8), mask)
    assert np.isfinite(values).all()
    assert not any(
        value
        for name, value in zip(VEINS_NAMES, values, strict=True)
        if "strength_0.5" in name
    )
