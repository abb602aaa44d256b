"""Length and width of drawn blades of known size, turned by any angle."""

import numpy as np
import pytest

from leafid.descriptors.measures import measure_leaf
from leafid.descriptors.traits import measure_reliable_traits
from leafid.segmentation.result import Segmentation

LENGTH = 700


def bow(along, ratio):
    """Half the width of a lens, which is that of a circle through its ends."""
    radius = (ratio + 1 / ratio) / 2
    return np.sqrt(np.maximum(radius**2 - along**2, 0)) - radius + 1 / ratio


# Half the width, in half lengths, by the place along the axis: -1 at the base, 1 at the
# tip.
FORMS = {
    "ellipse": lambda along, ratio: np.sqrt(np.maximum(1 - along**2, 0)) / ratio,
    "rectangle": lambda along, ratio: np.full_like(along, 1 / ratio),
    "lens": bow,
    "drop": lambda along, ratio: (
        np.sqrt(np.maximum(1 + along, 0)) * (1 - along) / (1.0887 * ratio)
    ),
}


def draw(form, ratio, angle, stalk=0.0, width=0.012):
    """Draw a blade of `LENGTH`, with a stalk of that share of it, as wide as this."""
    half = LENGTH * (1 + 2 * stalk) * 0.75
    rows, cols = np.mgrid[-half:half, -half:half] * 2 / LENGTH
    along = cols * np.cos(angle) + rows * np.sin(angle)
    across = np.abs(rows * np.cos(angle) - cols * np.sin(angle))
    blade = (across <= FORMS[form](along, ratio)) & (np.abs(along) <= 1)
    is_below = (along < -0.98) & (along > -1 - 2 * stalk)
    return Segmentation.from_mask(blade | (is_below & (across < width)))


@pytest.mark.parametrize("stalk", [0.0, 0.25])
@pytest.mark.parametrize("ratio", [1.1, 1.5, 3.0, 12.0])
@pytest.mark.parametrize("form", FORMS)
def test_length_and_width_are_those_of_the_drawn_figure(form, ratio, stalk):
    if stalk and ratio > 3 and form == "lens":
        pytest.skip("the stalk is as wide as the end of the blade")
    angle = 7 * ratio + len(form)
    values = measure_leaf(draw(form, ratio, angle, stalk)).values
    assert values["length"] == pytest.approx(LENGTH, rel=0.02)
    assert values["width"] == pytest.approx(LENGTH / ratio, rel=0.02)


def test_a_fan_is_wider_than_long():
    rows, cols = np.mgrid[-300:300, -300:300]
    distance, bearing = np.hypot(rows, cols), np.arctan2(cols, -rows)
    fan = Segmentation.from_mask((distance < 250) & (np.abs(bearing - 0.4) < 1.2))
    measures = measure_leaf(fan)
    assert measures.values["aspect"] < 0.75
    assert measures.confidence["length"] > 0.5
    traits, _ = measure_reliable_traits(fan)
    assert traits["length_width"] == measures.values["aspect"]


def test_a_bent_blade_is_measured_between_its_ends():
    rows, cols = np.mgrid[-300:300, -300:300]
    distance, bearing = np.hypot(rows + 150, cols), np.arctan2(cols, rows + 150)
    values = measure_leaf(
        Segmentation.from_mask((np.abs(distance - 250) < 25) & (np.abs(bearing) < 0.8))
    ).values
    assert values["length"] == pytest.approx(2 * 275 * np.sin(0.8), rel=0.03)


def test_a_spine_on_the_side_is_no_petiole():
    leaf = draw("rectangle", 2.0, 0.0)
    mask = leaf.mask.copy()
    row, col = np.argwhere(mask).mean(axis=0).astype(int)
    mask[row : row + 260, col - 4 : col + 4] = True
    measures = measure_leaf(Segmentation.from_mask(mask))
    assert Segmentation.from_mask(mask).petiole.any()
    assert measures.values["aspect"] == pytest.approx(2, rel=0.05)
    assert measures.values["petiole_length"] is None


def test_nothing_is_sure_of_the_size_of_a_cut_blade():
    mask = draw("ellipse", 1.5, 0.3).mask
    rows = np.flatnonzero(mask.any(axis=1))
    cut = Segmentation.from_mask(mask[rows.mean().astype(int) :])
    measures = measure_leaf(cut)
    assert max(measures.confidence[name] for name in ("area", "length", "width")) < 0.2
    # Its margin is still seen, but no form.
    assert measure_reliable_traits(cut)[0] == {
        "compound": 0,
        "leaflets": 1,
        "teeth": 0,
        "tooth_depth": 0,
    }


@pytest.mark.parametrize("form", ["ellipse", "rectangle"])
@pytest.mark.parametrize("ratio", [5.0, 9.0])
def test_a_wide_stalk_of_a_slim_blade_is_its_petiole(form, ratio):
    leaf = draw(form, ratio, 0.4, 0.3, width=0.03)
    values = measure_leaf(leaf).values
    assert values["length"] == pytest.approx(LENGTH, rel=0.04)
    assert values["petiole_length"] == pytest.approx(0.3 * LENGTH, rel=0.15)


def test_a_scrap_at_the_end_of_a_stalk_lies_outside_the_length():
    mask = draw("ellipse", 1.2, np.pi / 2, 0.4).mask
    rows, cols = np.nonzero(mask)
    end = cols[rows == rows.min()].mean()
    grid = np.mgrid[: mask.shape[0], : mask.shape[1]]
    for side in (-1, 1):
        centre = np.array([rows.min() + 10, end + side * 20])
        mask |= np.hypot(*(grid - centre[:, None, None])) < 21
    values = measure_leaf(Segmentation.from_mask(mask)).values
    assert values["length"] == pytest.approx(LENGTH, rel=0.03)
    assert values["petiole_length"] == pytest.approx(0.4 * LENGTH, rel=0.15)


@pytest.mark.parametrize("form", ["lens", "drop"])
def test_a_pointed_end_is_no_petiole(form):
    for angle in (0.2, 1.1, 2.4):
        measures = measure_leaf(draw(form, 7.0, angle))
        assert measures.values["petiole_length"] is None
        assert not measures.landmarks.has_base


def test_nothing_is_sure_of_the_width_of_a_bent_blade():
    rows, cols = np.mgrid[-400:400, -400:400]
    distance, bearing = np.hypot(rows + 150, cols), np.arctan2(cols, rows + 150)
    is_blade = np.abs(distance - 300) < 45 * np.sqrt(np.maximum(1 - bearing**2, 0))
    is_stalk = (np.abs(distance - 300) < 6) & (bearing > -1.4) & (bearing < -0.9)
    measures = measure_leaf(Segmentation.from_mask(is_blade | is_stalk))
    assert measures.landmarks.has_base
    assert measures.confidence["width"] < 0.9
