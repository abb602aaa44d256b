"""Sizes and traits of drawn leaves, whose geometry is known."""

import cv2
import numpy as np
import pytest

from leafid.descriptors.measures import (
    LeafMeasures,
    list_measures,
    measure_leaf,
)
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.leaves import find_holes, segment_leaves
from leafid.segmentation.result import Segmentation
from tests.drawing.leaves import Form, draw_leaf

BEECH = Form(0.66, 0.6, 0.72, petiole=0.2)
COUNTS = ("leaflets", "lobes", "teeth")


def measure_leaves(image, acquisition_type):
    """Measure every leaf of a picture of a sheet, the largest first."""
    leaves = segment_leaves(image, acquisition_type)
    return [measure_leaf(leaf, find_holes(image, leaf)) for leaf in leaves]


def measure_mask(mask):
    return measure_leaf(Segmentation(mask, mask, 1.0))


def draw_ellipse(rows=200, cols=120):
    """Draw an upright ellipse with axes of that many pixels."""
    row, col = np.mgrid[:300, :260]
    return ((row - 150) / (rows / 2)) ** 2 + ((col - 130) / (cols / 2)) ** 2 <= 1


def measure_drawn(form, angle=0.3):
    drawn = draw_leaf(form, 0, angle)
    [measures] = measure_leaves(drawn.picture, AcquisitionType.SCAN)
    return drawn, measures


def test_an_ellipse():
    values = measure_mask(draw_ellipse()).values
    perimeter = np.pi * (
        3 * 160 - np.sqrt((300 + 60) * (100 + 180))
    )  # Ramanujan's, for half axes of 100 and 60
    assert values["area"] == pytest.approx(np.pi * 100 * 60, rel=0.01)
    # A count of steps from pixel to pixel is longer than a smooth line.
    assert perimeter < values["perimeter"] < 1.08 * perimeter
    assert (values["length"], values["width"]) == (
        pytest.approx(200, abs=2),
        pytest.approx(120, abs=2),
    )
    assert values["aspect"] == pytest.approx(200 / 120, rel=0.02)
    assert values["solidity"] == pytest.approx(1, abs=0.02)
    assert (
        values["petiole_length"] is values["symmetry"] is values["apex_angle"] is None
    )


def test_a_leaf_that_is_cut_off():
    mask = draw_ellipse()
    assert measure_mask(mask).values["cut"] == 0
    assert measure_mask(mask[150:]).values["cut"] == np.count_nonzero(mask[150]) > 100


def test_holes_do_not_count():
    mask = draw_ellipse()
    holes = np.zeros_like(mask)
    holes[140:150, 120:140] = True
    whole, eaten = measure_mask(mask).values, measure_mask(mask & ~holes).values
    assert (eaten["area"], eaten["hole_area"]) == (whole["area"] - 200, 200)
    for name in ("perimeter", "circularity", "solidity", "length"):
        assert eaten[name] == whole[name]
    seen = measure_leaf(Segmentation(mask, mask, 1.0), holes).values
    assert (seen["area"], seen["hole_area"]) == (eaten["area"], eaten["hole_area"])


def test_a_hole_shows_the_sheet():
    picture = draw_leaf(BEECH, 0, 0).picture
    row, col = (
        np.argwhere(measure_drawn(BEECH, 0)[0].picture[..., 2] < 120)
        .mean(axis=0)
        .astype(int)
    )
    picture[row - 8 : row + 8, col - 8 : col + 8] = 250
    [measures] = measure_leaves(picture, AcquisitionType.SCAN)
    assert measures.values["hole_area"] == pytest.approx(256, rel=0.2)


def test_a_leaf_half_in_the_shade_has_no_holes():
    picture = draw_leaf(BEECH, 0, 0.3).picture
    shade = picture[len(picture) // 2 :]
    shade[:] = 0.3 * shade
    [measures] = measure_leaves(picture, AcquisitionType.SCAN_LIKE)
    assert measures.values["hole_area"] < 0.001 * measures.values["area"]


def test_a_drawn_leaf():
    drawn, measures = measure_drawn(BEECH)
    values, landmarks = measures.values, measures.landmarks
    length = np.hypot(*(drawn.tip - drawn.petiole[0]))
    assert values["length"] == pytest.approx(length, rel=0.03)
    assert values["area"] == pytest.approx(
        cv2.contourArea(drawn.outline.astype(np.float32)), rel=0.03
    )
    assert values["petiole_length"] == pytest.approx(
        np.hypot(*(drawn.petiole[-1] - drawn.petiole[0])), rel=0.1
    )
    assert np.hypot(*(landmarks.tip[::-1] - drawn.tip)) < 0.03 * length
    assert values["symmetry"] > 0.95
    assert [values[name] for name in COUNTS] == [1, 0, 0]


@pytest.mark.parametrize(("scale", "n_turns"), [(1.0, 1), (2.0, 2), (0.6, 0)])
def test_a_turned_or_larger_leaf(scale, n_turns):
    drawn, measures = measure_drawn(BEECH)
    method = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    resized = cv2.resize(drawn.picture, None, fx=scale, fy=scale, interpolation=method)
    turned = np.ascontiguousarray(np.rot90(resized, n_turns))
    [of_turned] = measure_leaves(turned, AcquisitionType.SCAN)
    before, after, powers = (
        measures.values,
        of_turned.values,
        {"length": 1, "length²": 2},
    )
    for name, row in list_measures().items():
        if name in ("hole_area", "tooth_height"):
            continue
        factor = scale ** powers.get(row["unit"], 0)
        assert after[name] == pytest.approx(
            factor * before[name], rel=0.1 if name == "petiole_length" else 0.05
        ), name


def test_units_and_order_of_a_record():
    _, measures = measure_drawn(BEECH)
    pixels, millimetres = measures.to_record(), measures.to_record(0.5)
    names = [*list_measures()]
    assert [*pixels] == [
        *("unit", "mm_per_pixel", *names, *(f"{name}_confidence" for name in names)),
        *("base_column", "base_row", "tip_column", "tip_row"),
    ]
    assert (pixels["unit"], millimetres["unit"], millimetres["mm_per_pixel"]) == (
        "px",
        "mm",
        0.5,
    )
    assert millimetres["area"] == pytest.approx(pixels["area"] / 4)
    assert millimetres["length"] == pytest.approx(pixels["length"] / 2)
    for name in ("aspect", "apex_angle", "teeth", "tip_row"):
        assert millimetres[name] == pixels[name]


def test_what_is_a_guess_has_a_low_confidence():
    disc = measure_mask(draw_ellipse(130, 122)).confidence
    assert disc["width"] < 0.1 < disc["length"] < disc["area"] == 1
    assert disc["symmetry"] == disc["petiole_length"] == 0


def test_each_measure_depends_on_what_it_is_made_of():
    drawn, sharp = measure_drawn(BEECH)
    assert sharp.confidence["area"] > 0.9
    blurred_picture = cv2.GaussianBlur(drawn.picture, (0, 0), 7)
    [blurred] = measure_leaves(blurred_picture, AcquisitionType.SCAN)
    assert blurred.confidence["perimeter"] < 0.9 * blurred.confidence["area"]
    mask = draw_ellipse()
    part = measure_mask(mask[:-200]).confidence
    assert part["area"] < 0.5 < part["hole_area"] == part["cut"] == 1
    doubted = sharp.doubt(0.1)
    assert doubted.confidence["area"] == pytest.approx(0.1 * sharp.confidence["area"])
    assert doubted.values == sharp.values


def test_nothing_is_measured_without_a_leaf():
    assert (
        measure_leaves(np.full((200, 200, 3), 250, np.uint8), AcquisitionType.SCAN)
        == []
    )
    assert isinstance(measure_mask(np.ones((1, 1), bool)), LeafMeasures)
