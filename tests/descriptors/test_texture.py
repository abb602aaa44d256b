import cv2
import numpy as np
import pytest

from leafid.descriptors.surface.texture import (
    EDGE,
    INTERIOR,
    TexturedLeaf,
    measure_border,
    measure_interior,
    measure_outline,
)


def leaf(rows=300, cols=240, period=9.0, teeth=0.0):
    """A leaf with stripes and optional teeth, on a sheet."""
    image = np.full((rows, cols, 3), 240, np.uint8)
    angles = np.linspace(0, 2 * np.pi, 721)[:-1]
    wave = 1 + teeth * np.sign(np.sin(24 * angles))
    points = np.stack(
        [cols / 2 + 0.35 * cols * wave * np.cos(angles), rows / 2 + 0.4 * rows * wave * np.sin(angles)], 1
    )
    mask = np.zeros((rows, cols), np.uint8)
    cv2.fillPoly(mask, [np.rint(points).astype(np.int32)], 1)
    r, c = np.mgrid[:rows, :cols]
    stripes = (110 + 30 * np.sin(2 * np.pi * (r + 0.5 * c) / period)).astype(np.uint8)
    image[mask > 0] = (stripes[..., None] * np.array([0.4, 1.0, 0.6])).astype(np.uint8)[mask > 0]
    return image, mask > 0


class LeafTexture:
    """Both of what textures are measured on."""

    def __init__(self, image, mask):
        grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        self.inside, self.edge = TexturedLeaf(grey, mask, *INTERIOR), TexturedLeaf(grey, mask, *EDGE)


def measure_part(measure, texture):
    return measure(texture.inside if measure is measure_interior else texture.edge)


def list_parts(texture):
    return [measure_part(measure, texture) for measure in (measure_interior, measure_border, measure_outline)]


def test_the_inside_shows_in_the_interior_and_not_in_the_outline():
    narrow, wide = LeafTexture(*leaf(period=9)), LeafTexture(*leaf(period=30))
    assert np.abs(measure_interior(narrow.inside) - measure_interior(wide.inside)).max() > 0.2
    np.testing.assert_array_equal(measure_outline(narrow.edge), measure_outline(wide.edge))


def test_teeth_show_in_the_outline():
    smooth, toothed = LeafTexture(*leaf()), LeafTexture(*leaf(teeth=0.06))
    assert np.abs(measure_outline(smooth.edge) - measure_outline(toothed.edge)).max() > 0.1


def test_the_background_does_not_matter():
    image, mask = leaf()
    darkened = np.where(mask[..., None], image, 20).astype(np.uint8)
    # Only resized pixels that straddle the edge hold some background.
    on_white, on_black = LeafTexture(image, mask), LeafTexture(darkened, mask)
    np.testing.assert_array_equal(measure_outline(on_white.edge), measure_outline(on_black.edge))
    # (By how much a leaf with teeth differs, see below: 0.017.)
    assert np.abs(measure_border(on_white.edge) - measure_border(on_black.edge)).mean() < 0.005


def test_quarter_turns_of_a_leaf_change_little():
    image, mask = leaf()
    upright = LeafTexture(image, mask)
    turned = LeafTexture(np.ascontiguousarray(np.rot90(image)), np.ascontiguousarray(np.rot90(mask)))
    # Resizing rounds differently and the margin may have one pixel more on the other side.
    for a, b in zip(list_parts(upright), list_parts(turned), strict=True):
        assert np.abs(a - b).mean() < 0.01


@pytest.mark.parametrize("factor", [2, 3])
def test_a_larger_picture_changes_little(factor):
    # The original is larger than the size of the interior: repeated pixels of a smaller one would show as steps.
    image, mask = leaf(600, 480, period=18)
    large = image.repeat(factor, axis=0).repeat(factor, axis=1), mask.repeat(factor, axis=0).repeat(factor, axis=1)
    original, enlarged = LeafTexture(image, mask), LeafTexture(*large)
    # Repeated pixels are resized to nearly, not exactly, the same: leaves with other stripes, and with teeth, differ by
    # several times as much in the parts that these change.
    striped = LeafTexture(*leaf(600, 480, period=60))
    toothed = LeafTexture(*leaf(600, 480, period=18, teeth=0.06))
    for measure, unlike in ((measure_interior, striped), (measure_border, toothed), (measure_outline, toothed)):
        difference = np.abs(measure_part(measure, original) - measure_part(measure, enlarged)).mean()
        assert difference < 0.3 * np.abs(measure_part(measure, original) - measure_part(measure, unlike)).mean()
