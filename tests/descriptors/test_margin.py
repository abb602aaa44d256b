import numpy as np
import pytest

from leafid.descriptors.shape.contour import normalise_shape, resample
from leafid.descriptors.shape.margin import (
    LOBES_NAMES,
    SMOOTHINGS,
    TEETH_NAMES,
    _make_gains,
    compute_margin_signals,
    measure_lobes,
    measure_teeth,
)


def wheel(teeth, height, size=600, lobes=0, depth=0.0):
    """Draw a round leaf with sine teeth and lobes."""
    rows, cols = np.indices((size, size)) - (size - 1) / 2
    angle = np.arctan2(rows, cols)
    waves = np.cos(teeth * angle) * height + np.cos(lobes * angle) * depth
    return np.hypot(rows, cols) <= 200 * (1 + waves)


def teeth(mask):
    return dict(
        zip(TEETH_NAMES, measure_teeth(normalise_shape(mask)).tolist(), strict=True)
    )


def lobes(mask):
    return dict(
        zip(LOBES_NAMES, measure_lobes(normalise_shape(mask)).tolist(), strict=True)
    )


def test_the_signal_is_the_distance_outward_from_the_smoothed_outline():
    angle = np.arange(512) * 2 * np.pi / 512
    radius = 100 + 2 * np.cos(20 * angle)
    contour = resample(
        np.stack([-radius * np.sin(angle), radius * np.cos(angle)], axis=1), 512
    )
    signal = compute_margin_signals(contour, 0.025)[0]
    spectrum = np.fft.rfft(contour, axis=0)
    smooth = np.fft.irfft(
        spectrum * _make_gains(512, (0.025,))[0, :, None], n=512, axis=0
    )
    # On a circle the way outward is the way from the centre.
    expected = np.hypot(*contour.T) - np.hypot(*smooth.T)
    np.testing.assert_allclose(signal, expected, atol=0.01)
    assert signal.max() == pytest.approx(
        2, abs=0.1 + (100 - np.hypot(*smooth.T).mean())
    )


@pytest.mark.parametrize("number", [14, 24, 36])
def test_teeth_are_counted_and_measured(number):
    values = teeth(wheel(number, 0.03))
    sigma = 0.025
    assert values[f"teeth_{sigma:g}_log_number"] == pytest.approx(np.log1p(number))
    # 0.03 of the radius; the finest smoothing takes up to a quarter of a narrow tooth's
    # top.
    assert (
        0.022 < np.exp(values[f"teeth_{sigma:g}_log_height"]) * np.sqrt(np.pi) < 0.036
    )
    assert values[f"teeth_{sigma:g}_spacing_spread"] < 0.06
    assert values[f"teeth_{sigma:g}_height_spread"] < 0.15
    inside = [
        name
        for name in TEETH_NAMES
        if name.startswith("spectrum_log_") and name[-1].isdigit()
    ]
    bands = {name: tuple(map(int, name.rsplit("_", 2)[1:])) for name in inside}
    strongest = max(bands, key=lambda name: values[name])
    assert bands[strongest][0] <= number < bands[strongest][1]


def test_higher_teeth_are_higher_and_an_entire_margin_has_none():
    entire, low, high = (teeth(wheel(24, height)) for height in (0.0, 0.01, 0.04))
    for sigma in SMOOTHINGS[3:]:
        name = f"teeth_{sigma:g}_log_depth"
        assert entire[name] < low[name] - 0.5 < high[name] - 1


def test_leaning_teeth_differ_from_upright_teeth():
    rows, cols = np.indices((600, 600)) - 299.5
    angle = np.arctan2(rows, cols)
    saw = (16 * angle / (2 * np.pi)) % 1.0
    leaning = np.hypot(rows, cols) <= 200 * (
        1 + 0.06 * np.where(saw < 0.85, saw / 0.85, (1 - saw) / 0.15)
    )
    upright = np.hypot(rows, cols) <= 200 * (1 + 0.06 * (1 - np.abs(2 * saw - 1)))
    for sigma in (0.012, 0.025):
        name = f"teeth_{sigma:g}_direction"
        assert teeth(leaning)[name] > 3 * teeth(upright)[name]
        # Its mirror image leans as much.
        assert teeth(leaning[:, ::-1])[name] == pytest.approx(
            teeth(leaning)[name], rel=0.1
        )


def test_regular_teeth_have_a_peaked_spectrum():
    regular = teeth(wheel(24, 0.03))
    mixed = teeth(wheel(24, 0.015) & wheel(13, 0.02) & wheel(41, 0.01))
    assert regular["spectrum_peak"] > 0.9 > mixed["spectrum_peak"]
    assert regular["spectrum_flatness"] < mixed["spectrum_flatness"]


@pytest.mark.parametrize("number", [3, 5, 7])
def test_lobes_and_the_depth_of_their_sinuses(number):
    values = lobes(wheel(1, 0.0, lobes=number, depth=0.25))
    for limit in ("0.02", "0.05"):
        assert values[f"sinuses_log_{limit}"] == pytest.approx(np.log1p(number))
    listed = [values[f"sinus_depth_{index + 1}"] for index in range(8)]
    assert listed == sorted(listed, reverse=True)
    assert np.count_nonzero(np.array(listed) > 0.1) == number
    assert max(listed[:number]) - min(listed[:number]) < 0.03


def test_the_sinus_of_a_slotted_disc_is_its_slot():
    rows, cols = np.indices((450, 450)) - 224.5
    mask = np.hypot(rows, cols) <= 200
    mask[(rows > 80) & (np.abs(cols) < 40)] = False
    side = np.sqrt(np.count_nonzero(mask))
    values = lobes(mask)
    chord = np.sqrt(200**2 - 40**2)
    # A pixel of the normalised shape, of 240² pixels.
    assert values["sinus_depth_1"] ** 2 == pytest.approx(
        (chord - 80) / side, abs=1 / 240
    )
    assert values["sinus_mouth_1"] ** 2 == pytest.approx(
        80 / side, rel=0.1
    )  # the rim's corners are rounded
    assert values["sinuses_log_0.05"] == pytest.approx(np.log(2))
    rim = 2 * 200 * (np.pi - np.arcsin(0.2))
    assert values["hull_share"] == pytest.approx(
        rim / (rim + 2 * (chord - 80) + 80), abs=0.03
    )
