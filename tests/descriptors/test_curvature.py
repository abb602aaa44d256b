import numpy as np
import pytest

from leafid.descriptors.shape.contour import normalise_shape
from leafid.descriptors.shape.curvature import (
    SCALES,
    compute_soft_histograms,
    measure_curvature,
    measure_disc_shares,
)


def leaf(size=360):
    rows, cols = np.indices((size, size)) - size / 2
    angle = np.arctan2(rows, cols)
    return np.hypot(rows, 1.3 * cols) <= 120 * (1 + 0.25 * np.cos(5 * angle))


def test_disc_shares_are_those_of_drawn_discs():
    shape = normalise_shape(leaf())
    centres = shape.contour[::256]
    areas, arcs = measure_disc_shares(shape, centres)
    rows, cols = np.indices(shape.grey.shape)
    cover = shape.grey / 255.0
    for centre, area, arc in zip(centres, areas, arcs, strict=True):
        for index, radius in enumerate(np.array(SCALES) * shape.side):
            distance = np.hypot(rows - centre[0], cols - centre[1])
            # A drawn disc with a soft rim of one pixel; what of it lies outside of the
            # array is background.
            disc = np.clip(radius + 0.5 - distance, 0, 1)
            drawn = (disc * cover).sum() / (np.pi * radius**2)
            # A radius of 5 pixels on a pixel grid, and 24 directions a ring: 4 % of a
            # disc.
            assert area[index] == pytest.approx(drawn, abs=0.04)
            around = np.arange(720) * 2 * np.pi / 720
            at_rows = np.rint(centre[0] + radius * np.sin(around)).astype(int)
            at_cols = np.rint(centre[1] + radius * np.cos(around)).astype(int)
            inside = (
                (at_rows >= 0)
                & (at_rows < cover.shape[0])
                & (at_cols >= 0)
                & (at_cols < cover.shape[1])
            )
            on_circle = cover[at_rows[inside], at_cols[inside]].sum() / 720
            assert arc[index] == pytest.approx(on_circle, abs=1 / 24)  # a sample of 24


def test_soft_histograms_equal_the_literal_formula():
    values = np.random.default_rng(5).random((40, 3))
    values[:3, 0] = [0.0, 1.0, 0.5]
    expected = np.zeros((3, 6))
    middles = (np.arange(6) + 0.5) / 6
    for column in range(3):
        for value in np.clip(values[:, column], middles[0], middles[-1]):
            expected[column] += np.maximum(0, 1 - np.abs(value - middles) * 6)
    np.testing.assert_allclose(
        compute_soft_histograms(values, 6), expected / 40, atol=1e-12
    )


def test_every_leaflet_counts():
    disc, square = np.zeros((300, 600), bool), np.zeros((300, 600), bool)
    rows, cols = np.indices((300, 600))
    disc[(rows - 150) ** 2 + (cols - 150) ** 2 <= 90**2] = True
    square[20:280, 400:590] = True
    alone, together = (
        measure_curvature(normalise_shape(square)),
        measure_curvature(normalise_shape(disc | square)),
    )
    assert np.abs(alone - together).max() > 0.2
