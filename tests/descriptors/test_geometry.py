import numpy as np
import pytest

from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.shape.geometry import (
    GEOMETRY_NAMES,
    RING_LIMIT,
    RINGS,
    WIDTHS,
    measure_geometry,
)


def measure(mask):
    return dict(
        zip(
            GEOMETRY_NAMES,
            measure_geometry(normalise_shape(mask)).tolist(),
            strict=True,
        )
    )


def ellipse(long, short, turn=0.0, size=500):
    rows, cols = np.indices((size, size)) - (size - 1) / 2
    along = rows * np.cos(turn) + cols * np.sin(turn)
    across = cols * np.cos(turn) - rows * np.sin(turn)
    return (along / long) ** 2 + (across / short) ** 2 <= 1


# Edges of a pixel mask are uncertain by about half of a pixel; √area of the normalised
# shape is 240, and the shortest of the lengths a fifth of it: 1 % of a length.
CLOSE = 0.015


def test_a_disc_has_the_values_of_a_circle():
    values = measure(ellipse(180, 180))
    expected = {
        "log_aspect_box": 0,
        "log_aspect_axes": 0,
        "solidity": 1,
        "convexity": 1,
        "circularity": 1,
        "log_perimeter": np.log(2 * np.sqrt(np.pi)),
        "extent": np.pi / 4,
        "rectangularity_hull": np.pi / 4,
        "roundness": 1,
        "log_enclosing_diameter": np.log(2 / np.sqrt(np.pi)),
        "log_thickness": np.log(1 / np.sqrt(np.pi)),
        "sphericity": 1,
        "log_parts": 0,
        "largest_part": 1,
        "hull_centre_gap": 0,
        "mirror_error_lengthwise": 0,
        "mirror_error_crosswise": 0,
        "tail_skewness": 0,
    }
    for name, value in expected.items():
        assert values[f"{name}"] == pytest.approx(value, abs=CLOSE), name


@pytest.mark.parametrize("turn", [0.0, 0.5, 1.2, np.pi / 2])
def test_an_ellipse_has_the_values_of_its_axes(turn):
    values = measure(ellipse(200, 80, turn))
    assert values["log_aspect_box"] == pytest.approx(np.log(2.5), abs=CLOSE)
    assert values["log_aspect_axes"] == pytest.approx(np.log(2.5), abs=CLOSE)
    assert values["eccentricity"] == pytest.approx(np.sqrt(1 - 0.16), abs=CLOSE)
    assert values["extent"] == pytest.approx(np.pi / 4, abs=CLOSE)
    assert values["roundness"] == pytest.approx(0.4, abs=CLOSE)
    assert values["log_length"] == pytest.approx(
        np.log(400 / np.sqrt(np.pi * 200 * 80)), abs=CLOSE
    )
    assert values["log_width"] == pytest.approx(
        np.log(160 / np.sqrt(np.pi * 200 * 80)), abs=CLOSE
    )
    assert values["mirror_error_lengthwise"] == pytest.approx(0, abs=CLOSE)


def test_widths_are_row_sums_of_an_upright_leaf():
    rows, cols = np.indices((400, 300))
    # As many rows for every width: 16 × 23.
    half = np.where((rows >= 16) & (rows < 384), 15 + 70 * ((rows - 16) / 368) ** 2, 0)
    mask = np.abs(cols - 149.5) < half
    values = measure(mask)
    expected = [
        np.count_nonzero(
            mask[16 + 368 * index // WIDTHS : 16 + 368 * (index + 1) // WIDTHS]
        )
        / (368 / WIDTHS)
        for index in range(WIDTHS)
    ]
    expected = np.array(expected) / np.sqrt(np.count_nonzero(mask))
    sums = expected + expected[::-1]
    # The tail (longer end) is the narrow one, at the top: the axis points there.
    differences = expected[::-1] - expected
    for index in range(WIDTHS // 2):
        difference = abs(values[f"width_difference_{index + 1}"])
        # Sums of pixels on either side, so that edges matter less than for a single
        # length.
        assert values[f"width_sum_{index + 1}"] == pytest.approx(
            sums[index], abs=CLOSE / 3
        )
        assert difference == pytest.approx(abs(differences[index]), abs=CLOSE / 3)


def test_rings_hold_the_shares_of_the_area():
    mask = ellipse(200, 80)
    values = measure_geometry(normalise_shape(mask))[-RINGS:]
    rows, cols = np.nonzero(mask)
    distance = np.hypot(rows - rows.mean(), cols - cols.mean()) / np.sqrt(len(rows))
    expected = [
        np.count_nonzero(
            (distance >= ring * RING_LIMIT / RINGS)
            & (distance < (ring + 1) * RING_LIMIT / RINGS)
        )
        for ring in range(RINGS)
    ]
    # Sums of pixels on either side; the fast ones are those of the picture at a quarter
    # of its size.
    np.testing.assert_allclose(
        values, np.sqrt(np.array(expected) / len(rows)), atol=CLOSE / 3
    )


def test_parts_and_holes_are_seen():
    mask = np.zeros((300, 300), bool)
    mask[20:120, 20:120] = True
    mask[150:200, 150:250] = True
    values = measure(mask)
    assert values["log_parts"] == pytest.approx(np.log(2))
    assert values["largest_part"] == pytest.approx(2 / 3, abs=CLOSE)
    assert values["holes_root"] == pytest.approx(
        0, abs=0.1
    )  # √ of a rim's uncertainty of 1 %
    mask[40:90, 40:90] = False
    assert measure(mask)["holes_root"] == pytest.approx(np.sqrt(2500 / 15000), abs=0.03)
