"""Every family and local descriptor measures masks that are no leaf.

They have any number of contour points, parts and holes.
"""

import cv2
import numpy as np
import pytest

from leafid.descriptors.local.grid import Grid
from leafid.descriptors.registry import FAMILIES, LOCAL_DESCRIPTORS, measure_families
from leafid.descriptors.shape.contour import MAX_POINTS, normalise_shape
from leafid.descriptors.shape.curvature import measure_disc_shares
from leafid.descriptors.tracing import trace_leaf
from leafid.features.extractor import PictureViews
from leafid.segmentation.result import Segmentation

# OpenCV maps at most this number of rows in one call.
MAX_ROWS = 32_767


def draw_page():
    """A page of small print: thousands of letters."""
    page = np.zeros((1100, 800), np.uint8)
    for row in range(14, 1100, 12):
        cv2.putText(
            page,
            "Acer campestre Quercus ilex " * 6,
            (2, row),
            cv2.FONT_HERSHEY_PLAIN,
            0.6,
            1,
        )
    return page > 0


def draw_maze():
    """One connected corridor, a pixel wide, that fills the picture."""
    maze = np.zeros((801, 801), bool)
    maze[1::4, 1:-1] = True
    maze[1::8, -2] = maze[5::8, 1] = True
    for row in range(1, 797, 4):
        maze[row : row + 5, -2 if row % 8 == 1 else 1] = True
    return maze


def draw_dots():
    """22,500 dots of equal size."""
    dots = np.zeros((600, 600), bool)
    dots[1::4, 1::4] = dots[2::4, 1::4] = True
    return dots


MASKS = {
    "page of text": draw_page,
    "maze": draw_maze,
    "checkerboard": lambda: np.indices((600, 600)).sum(axis=0) % 2 == 0,
    "coarse checkerboard": lambda: np.indices((900, 900)).sum(axis=0) // 9 % 2 == 0,
    "dots": draw_dots,
    "pixel": lambda: np.ones((1, 1), bool),
    "pixel at a border": lambda: np.pad(np.ones((1, 1), bool), ((350, 350), (499, 0))),
    "line": lambda: np.ones((1, 40), bool),
    "hair": lambda: np.ones((1, 30_000), bool),
    "diagonal": lambda: np.eye(30, dtype=bool),
    "corner": lambda: np.array([[0, 1, 1], [1, 0, 0]], bool),
    "full": lambda: np.ones((8, 8), bool),
    "stripes": lambda: np.indices((40, 40)).sum(axis=0) % 13 == 0,
    "noise": lambda: np.random.default_rng(0).random((400, 400)) < 0.3,
}


@pytest.fixture(scope="module", params=MASKS)
def leaf(request):
    mask = MASKS[request.param]()
    image = np.where(mask[..., None], (60, 120, 80), (240, 240, 240)).astype(np.uint8)
    return image, Segmentation(mask, mask, 1.0)


def test_every_family_and_local_descriptor_measures_it(leaf):
    for name, values in measure_families(*leaf).items():
        assert values.shape == (len(FAMILIES[name].value_names),)
        assert np.isfinite(values).all(), name
    views = PictureViews(*leaf)
    for name, descriptor in LOCAL_DESCRIPTORS.items():
        features = descriptor.compute(
            *views.get_pyramid("upright", 200, descriptor.reads), Grid()
        )
        assert np.isfinite(features.descriptors).all(), name
        assert features.descriptors.shape[1] == descriptor.length


@pytest.mark.parametrize("name", ["page of text", "dots"])
def test_the_number_of_contour_points_is_bounded(name):
    shape = normalise_shape(MASKS[name]())
    # Every component keeps eight points.
    assert (
        MAX_POINTS / 2 < len(shape.all_points) <= MAX_POINTS + 8 * len(shape.contours)
    )


def test_more_contour_points_than_one_call_maps():
    """Batches of centres give what each centre gives alone."""
    shape = normalise_shape(np.pad(np.ones((40, 30), bool), 5))
    centres = np.tile(shape.contour, (1 + MAX_ROWS // len(shape.contour), 1))
    assert len(centres) > MAX_ROWS
    areas, arcs = measure_disc_shares(shape, centres)
    first_areas, first_arcs = measure_disc_shares(shape, shape.contour)
    np.testing.assert_array_equal(areas[-len(shape.contour) :], first_areas)
    np.testing.assert_array_equal(arcs[-len(shape.contour) :], first_arcs)


def test_parts_are_joined_up_to_the_border_of_their_box():
    """The line between two tips ends as low as the lower one, and is slanted."""
    mask = np.zeros((800, 800), np.uint8)
    for corners in (
        [[100, 100], [300, 100], [323, 600]],
        [[362, 613], [512, 360], [562, 318]],
    ):
        cv2.fillPoly(mask, [np.array(corners, np.int32)], 1)
    outline = trace_leaf(mask.astype(bool))
    assert (outline >= 97).all()
    assert (outline <= (616, 565)).all()
