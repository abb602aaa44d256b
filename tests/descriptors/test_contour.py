import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.descriptors.shape.contour import (
    CONTOUR_POINTS,
    SIDE,
    compute_contour_area,
    compute_contour_length,
    normalise_shape,
    resample,
)


def disc(radius, centre=(250, 240), size=(500, 480)):
    rows, cols = np.ogrid[: size[0], : size[1]]
    return (rows - centre[0]) ** 2 + (cols - centre[1]) ** 2 <= radius**2


def trace_in_pixels(mask):
    """Contours of a mask's shape in pixels of the mask, from any first point."""
    scale = SIDE / np.sqrt(np.count_nonzero(mask))
    return [contour / scale for contour in normalise_shape(mask).contours]


def test_a_discs_contour_is_a_circle():
    [contour] = trace_in_pixels(disc(150))
    radii = np.hypot(*(contour - contour.mean(axis=0)).T)
    # The set of pixels within 150 of the centre has an edge that is uncertain by half a
    # pixel.
    np.testing.assert_allclose(radii, 150, atol=0.6)
    assert radii.mean() == pytest.approx(150, abs=0.2)
    # A smooth circle's length and area; a chain code would be 5 % too long.
    assert compute_contour_length(contour) == pytest.approx(2 * np.pi * 150, rel=0.004)
    assert compute_contour_area(contour) == pytest.approx(np.pi * 150**2, rel=0.004)


def test_a_contour_is_counter_clockwise_and_evenly_spaced():
    mask = np.zeros((120, 200), bool)
    mask[20:90, 30:170] = True
    [contour] = trace_in_pixels(mask)
    assert contour.shape == (CONTOUR_POINTS, 2)
    assert compute_contour_area(contour) > 0
    along = contour[:, 0] < contour[:, 0].min() + 0.5
    assert np.count_nonzero(along) > CONTOUR_POINTS / 4
    at = np.argmin(
        np.abs(contour - [contour[:, 0].min(), contour[:, 1].mean()]).sum(axis=1)
    )
    assert (
        contour[(at + 1) % CONTOUR_POINTS, 1] < contour[at, 1]
    )  # along the top edge it runs to the left
    steps = np.hypot(*(np.roll(contour, -1, axis=0) - contour).T)
    # Equal arcs; only where an arc rounds a corner is its chord shorter.
    assert np.median(steps) == pytest.approx(420 / CONTOUR_POINTS, rel=0.02)
    assert steps.max() == pytest.approx(np.median(steps), rel=0.02)


@pytest.mark.parametrize("room", [0, 10])
def test_the_contour_lies_between_leaf_and_background(room):
    [contour] = trace_in_pixels(np.pad(np.ones((50, 80), bool), room))
    # One Newton step over a step edge smoothed by one pixel ends up to 0.13 pixels from
    # it, on either side.
    assert np.ptp(contour, axis=0) == pytest.approx([50, 80], abs=0.3)


def test_components_are_traced_the_largest_first_and_dirt_is_dropped():
    mask = disc(60, (100, 100), (300, 300)) | disc(40, (220, 220), (300, 300))
    mask[5, 5] = True
    first, second = trace_in_pixels(mask)
    np.testing.assert_allclose(
        second.mean(axis=0) - first.mean(axis=0), [120, 120], atol=0.5
    )
    assert compute_contour_area(first) == pytest.approx(np.pi * 60**2, rel=0.01)
    assert compute_contour_area(second) == pytest.approx(np.pi * 40**2, rel=0.01)


@settings(max_examples=20, deadline=None)
@given(
    corners=st.lists(
        st.tuples(st.floats(-9, 9), st.floats(-9, 9)),
        min_size=3,
        max_size=8,
        unique=True,
    ),
    count=st.integers(3, 20),
)
def test_resampling_walks_the_polygon(corners, count):
    polygon = np.array(corners)
    length = float(np.hypot(*(polygon - np.roll(polygon, -1, axis=0)).T).sum())
    assert compute_contour_length(polygon) == pytest.approx(length, rel=1e-6)
    expected = []
    for index in range(count):
        left = index * length / count
        for here, there in zip(corners, corners[1:] + corners[:1], strict=True):
            side = float(np.hypot(there[0] - here[0], there[1] - here[1]))
            if left <= side:
                part = left / side if side else 0.0
                expected.append(
                    [
                        here[0] + part * (there[0] - here[0]),
                        here[1] + part * (there[1] - here[1]),
                    ]
                )
                break
            left -= side
        else:
            expected.append(list(corners[0]))
    np.testing.assert_allclose(
        resample(polygon, count), expected, atol=1e-6
    )  # rounding of the summed lengths


@pytest.mark.parametrize("radius", [9, 40, 160, 700])
def test_a_shape_has_one_size_whatever_the_masks(radius):
    size = (2 * radius + 9, 2 * radius + 9)
    shape = normalise_shape(disc(radius, (radius + 4, radius + 4), size))
    # Height and width, of some 270, are whole pixels.
    assert shape.side == pytest.approx(SIDE, rel=0.5 / 270)
    # The stairs of the pixels: 2 % longer for a radius of 9 pixels, 0.2 % for one of
    # 700.
    assert compute_contour_length(shape.contour) / shape.side == pytest.approx(
        2 * np.sqrt(np.pi), rel=0.025
    )
    assert not shape.grey[[0, -1]].any()
    assert not shape.grey[:, [0, -1]].any()
