import cv2
import numpy as np
import pytest

from leafid.descriptors.registry import measure_families
from leafid.segmentation.result import Segmentation


def leaf(rows=300, cols=240, period=9.0, teeth=0.0):
    """A leaf with stripes and optional teeth, on a sheet."""
    image = np.full((rows, cols, 3), 240, np.uint8)
    angles = np.linspace(0, 2 * np.pi, 721)[:-1]
    wave = 1 + teeth * np.sign(np.sin(24 * angles))
    points = np.stack(
        [
            cols / 2 + 0.35 * cols * wave * np.cos(angles),
            rows / 2 + 0.4 * rows * wave * np.sin(angles),
        ],
        1,
    )
    mask = np.zeros((rows, cols), np.uint8)
    cv2.fillPoly(mask, [np.rint(points).astype(np.int32)], 1)
    r, c = np.mgrid[:rows, :cols]
    stripes = (110 + 30 * np.sin(2 * np.pi * (r + 0.5 * c) / period)).astype(np.uint8)
    image[mask > 0] = (stripes[..., None] * np.array([0.4, 1.0, 0.6])).astype(np.uint8)[
        mask > 0
    ]
    return image, mask > 0


def measure(image, mask):
    return measure_families(
        image, Segmentation(mask, mask, 1.0), ["interior", "outline"]
    )


def test_the_inside_shows_in_the_interior_and_not_in_the_outline():
    narrow, wide = measure(*leaf(period=9)), measure(*leaf(period=30))
    assert np.abs(narrow["interior"] - wide["interior"]).max() > 0.2
    np.testing.assert_array_equal(narrow["outline"], wide["outline"])


def test_the_background_does_not_matter():
    image, mask = leaf()
    on_white, on_black = (
        measure(image, mask),
        measure(np.where(mask[..., None], image, 20).astype(np.uint8), mask),
    )
    np.testing.assert_array_equal(on_white["outline"], on_black["outline"])


def test_quarter_turns_of_a_leaf_change_little():
    upright = measure(*leaf())
    # Resizing rounds differently and the margin may have one pixel more on the other
    # side.
    for name, turned in measure(
        *(np.ascontiguousarray(np.rot90(part)) for part in leaf())
    ).items():
        assert np.abs(upright[name] - turned).mean() < 0.01


@pytest.mark.parametrize("factor", [2, 3])
def test_a_larger_picture_changes_little(factor):
    # The original is larger than the size of the interior: repeated pixels of a smaller
    # one would show as steps.
    parts = leaf(600, 480, period=18)
    original = measure(*parts)
    enlarged = measure(
        *(part.repeat(factor, axis=0).repeat(factor, axis=1) for part in parts)
    )
    # Repeated pixels are resized to nearly, not exactly, the same: leaves with other
    # stripes, and with teeth, differ by several times as much in the parts that these
    # change.
    striped, toothed = (
        measure(*leaf(600, 480, period=60)),
        measure(*leaf(600, 480, period=18, teeth=0.06)),
    )
    for name, unlike in (
        ("interior", striped),
        ("outline", toothed),
    ):
        difference = np.abs(original[name] - enlarged[name]).mean()
        assert difference < 0.3 * np.abs(original[name] - unlike[name]).mean()
