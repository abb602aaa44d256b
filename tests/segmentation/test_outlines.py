"""Polygons around the pixels of masks, as the OGC's simple features are."""

import os
from pathlib import Path

import cv2
import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.segmentation.outlines import sketch_outlines, trace_polygons

MASKS = arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9)))
REAL_DATA = os.environ.get("LEAFID_REAL_DATA")


def to_shape(mask):
    return shapely.MultiPolygon(
        [(outline, holes) for outline, *holes in trace_polygons(mask)]
    )


def join_pixels(mask):
    """Join squares, the slow, literal version."""
    squares = [
        shapely.box(col, row, col + 1, row + 1) for row, col in np.argwhere(mask)
    ]
    return shapely.union_all(squares)


@given(MASKS)
def test_polygons_are_valid_and_exact(mask):
    shape = to_shape(mask)
    assert shape.is_valid
    assert shape.area == mask.sum()
    assert shape.equals(join_pixels(mask)) or not mask.any()
    assert all(part.exterior.is_ccw for part in shape.geoms)
    assert not any(hole.is_ccw for part in shape.geoms for hole in part.interiors)


@pytest.mark.parametrize(
    ("rows", "n_holes"),
    [
        # Two pixels that meet at a corner are two polygons.
        (["#.", ".#"], [0, 0]),
        # Where other pixels connect them, the corner closes a hole.
        ([".##", "#.#", "###"], [1]),
        (["####", "#.##", "##.#", "####"], [2]),
        # An island in a hole is a polygon.
        (["#####", "#...#", "#.#.#", "#...#", "#####"], [1, 0]),
    ],
)
def test_pixels_that_meet_at_corners(rows, n_holes):
    mask = np.array([[pixel == "#" for pixel in row] for row in rows])
    assert [len(polygon) - 1 for polygon in trace_polygons(mask)] == n_holes
    assert to_shape(mask).is_valid


def test_corners_are_those_of_pixels():
    mask = np.zeros((10, 12), bool)
    mask[2:5, 3:9] = True
    [[outline]] = trace_polygons(mask)
    assert sorted(outline) == [[3, 2], [3, 5], [9, 2], [9, 5]]
    assert trace_polygons(mask[:0]) == trace_polygons(mask[:2]) == []


@pytest.mark.skipif(not REAL_DATA, reason="LEAFID_REAL_DATA is not set")
def test_real_masks():
    files = sorted(Path(REAL_DATA, "uci-leaf", "masks").iterdir())
    assert len(files) == 60
    for file in files:
        mask = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) > 0
        shape = to_shape(mask)
        assert shape.is_valid, file.name
        assert shape.area == mask.sum(), file.name


def test_lines_to_draw_are_short_and_near():
    mask = np.zeros((400, 400), np.uint8)
    cv2.ellipse(mask, (200, 200), (150, 90), 30, 0, 360, 1, cv2.FILLED)
    cv2.circle(mask, (200, 200), 20, 0, cv2.FILLED)
    mask[5:8, 5:8] = 1
    [line] = sketch_outlines(mask.view(bool))
    assert len(line) < 120
    [[outline, _]] = trace_polygons(mask[10:].view(bool))
    distance = shapely.hausdorff_distance(
        shapely.LinearRing(line),
        shapely.LinearRing([(col, row + 10) for col, row in outline]),
    )
    assert distance <= 1.5
