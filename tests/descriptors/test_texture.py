import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.descriptors.lbp import Scale, ring_scales
from leafid.descriptors.texture import (
    LeafTexture,
    border_texture,
    border_texture_names,
    interior_texture,
    interior_texture_names,
    lbp_hf,
    lbp_hf_names,
    outline_texture,
    outline_texture_names,
)
from leafid.errors import LeafidError

SCALES = ring_scales(3)


def grey_and_region(rows=64, cols=48, seed=0):
    rng = np.random.default_rng(seed)
    # From 30 to 200, so that a little more light clips nothing.
    grey = cv2.GaussianBlur(rng.integers(30, 201, (rows, cols)).astype(np.uint8), (0, 0), 1)
    region = np.zeros(grey.shape, np.uint8)
    cv2.ellipse(region, (cols // 2, rows // 2), (cols // 3, rows // 3), 20, 0, 360, 1, -1)
    return grey, region > 0


def leaf(rows=300, cols=240, period=9.0, teeth=0.0):
    """A leaf with stripes and, if wanted, teeth, on a sheet."""
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


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_quarter_turns_change_nothing(turns):
    grey, region = grey_and_region()
    turned = lbp_hf(np.ascontiguousarray(np.rot90(grey, turns)), np.rot90(region, turns), SCALES)
    # The codes are exactly the turned ones; the transform sums them in another order.
    np.testing.assert_allclose(turned, lbp_hf(grey, region, SCALES), atol=1e-6)


def test_the_mirror_changes_nothing():
    grey, region = grey_and_region()
    mirrored = lbp_hf(np.ascontiguousarray(grey[:, ::-1]), region[:, ::-1], SCALES)
    np.testing.assert_allclose(mirrored, lbp_hf(grey, region, SCALES), atol=1e-6)


@given(light=st.integers(-30, 55))
@settings(max_examples=20, deadline=None)
def test_more_or_less_light_changes_nothing(light):
    grey, region = grey_and_region()
    np.testing.assert_array_equal(
        lbp_hf((grey.astype(int) + light).astype(np.uint8), region, SCALES), lbp_hf(grey, region, SCALES)
    )


def test_another_texture_changes_much():
    _, region = grey_and_region()
    fine, coarse = (
        np.tile((100 + 50 * np.sin(2 * np.pi * np.arange(48) / period)).astype(np.uint8), (64, 1)) for period in (4, 16)
    )
    assert np.abs(lbp_hf(fine, region, SCALES) - lbp_hf(coarse, region, SCALES)).max() > 0.3


def test_outside_of_the_region_and_out_of_reach_is_ignored():
    grey, region = grey_and_region()
    far = cv2.dilate(region.astype(np.uint8), np.ones((11, 11), np.uint8)) == 0
    other = np.where(far, 0, grey).astype(np.uint8)
    scales = [Scale(0, 1, 1), Scale(0, 4, 3)]
    np.testing.assert_array_equal(lbp_hf(other, region, scales), lbp_hf(grey, region, scales))


def test_a_constant_picture_has_ones_only():
    _, region = grey_and_region()
    values = dict(zip(lbp_hf_names(SCALES), lbp_hf(np.full(region.shape, 9, np.uint8), region, SCALES), strict=True))
    assert all(value == name.endswith("_all") for name, value in values.items())


def test_any_size_is_taken():
    grey, region = grey_and_region(37, 51)
    assert np.isfinite(lbp_hf(grey, region)).all()


@pytest.mark.parametrize("scales", [None, SCALES, (Scale(1, 3, 2),)])
def test_as_many_names_as_values(scales):
    grey, region = grey_and_region()
    names = lbp_hf_names(scales)
    assert len(names) == len(set(names)) == len(lbp_hf(grey, region, scales))


@pytest.mark.parametrize(
    ("grey", "region", "message"),
    [
        (np.zeros((9, 9), np.uint8), np.zeros((9, 9), bool), "found an empty one"),
        (np.zeros((9, 9), np.uint8), np.ones((9, 8), bool), r"bool \(9, 9\), found bool \(9, 8\)"),
        (np.zeros((9, 9), np.uint8), np.ones((9, 9), np.uint8), "found uint8"),
        (np.zeros((9, 9, 3), np.uint8), np.ones((9, 9), bool), r"uint8 \(H, W\), found uint8 \(9, 9, 3\)"),
        (np.zeros((9, 9)), np.ones((9, 9), bool), "found float64"),
    ],
)
def test_wrong_arrays_are_named(grey, region, message):
    with pytest.raises(LeafidError, match=message):
        lbp_hf(grey, region)


def parts(texture):
    return texture.interior, texture.border, texture.outline


def test_a_leaf_has_three_textures():
    texture = LeafTexture(*leaf())
    families = (
        (interior_texture, interior_texture_names),
        (border_texture, border_texture_names),
        (outline_texture, outline_texture_names),
    )
    for part, names in families:
        values = part(texture)
        assert values.dtype == np.float32
        assert values.shape == (len(names()),)
        assert values.min() >= 0
        assert values.max() <= 1 + 1e-6
        assert values.any()


def test_the_inside_shows_in_the_interior_and_not_in_the_outline():
    one, other = LeafTexture(*leaf(period=9)), LeafTexture(*leaf(period=30))
    assert np.abs(one.interior - other.interior).max() > 0.2
    np.testing.assert_array_equal(one.outline, other.outline)


def test_teeth_show_in_the_outline():
    smooth, toothed = LeafTexture(*leaf()), LeafTexture(*leaf(teeth=0.06))
    assert np.abs(smooth.outline - toothed.outline).max() > 0.1


def test_the_ground_does_not_matter():
    image, mask = leaf()
    other = np.where(mask[..., None], image, 20).astype(np.uint8)
    # Only resized pixels that straddle the edge hold some of the ground.
    one, two = LeafTexture(image, mask), LeafTexture(other, mask)
    np.testing.assert_array_equal(one.outline, two.outline)
    # (By how much a leaf with teeth differs, see below: 0.017.)
    assert np.abs(one.border - two.border).mean() < 0.005


def test_quarter_turns_of_a_leaf_change_little():
    image, mask = leaf()
    one = LeafTexture(image, mask)
    two = LeafTexture(np.ascontiguousarray(np.rot90(image)), np.ascontiguousarray(np.rot90(mask)))
    # Resizing rounds differently and the margin may have one pixel more on the other side.
    for a, b in zip(parts(one), parts(two), strict=True):
        assert np.abs(a - b).mean() < 0.01


@pytest.mark.parametrize("factor", [2, 3])
def test_a_larger_picture_changes_little(factor):
    image, mask = leaf()
    large = image.repeat(factor, axis=0).repeat(factor, axis=1), mask.repeat(factor, axis=0).repeat(factor, axis=1)
    one, same = LeafTexture(image, mask), LeafTexture(*large)
    # Repeated pixels are resized to nearly, not exactly, the same: leaves with other stripes, and with teeth, differ by
    # several times as much in the parts that these change.
    striped, toothed = LeafTexture(*leaf(period=30)), LeafTexture(*leaf(teeth=0.06))
    for part, unlike in (("interior", striped), ("border", toothed), ("outline", toothed)):
        difference = np.abs(getattr(one, part) - getattr(same, part)).mean()
        assert difference < 0.3 * np.abs(getattr(one, part) - getattr(unlike, part)).mean()


def test_where_the_leaf_lies_does_not_matter():
    image, mask = leaf()
    moved = np.roll(image, (13, -9), (0, 1)), np.roll(mask, (13, -9), (0, 1))
    for a, b in zip(parts(LeafTexture(image, mask)), parts(LeafTexture(*moved)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("box", [(slice(5, 6), slice(5, 6)), (slice(0, 40), slice(7, 8)), (slice(0, 40), slice(0, 40))])
def test_tiny_thin_and_full_masks_are_taken(box):
    mask = np.zeros((40, 40), bool)
    mask[box] = True
    image = np.random.default_rng(0).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    assert all(np.isfinite(part).all() for part in parts(LeafTexture(image, mask)))


def test_a_mask_without_a_leaf_is_named():
    with pytest.raises(LeafidError, match="found an empty one"):
        LeafTexture(np.zeros((9, 9, 3), np.uint8), np.zeros((9, 9), bool))
    with pytest.raises(LeafidError, match=r"uint8 \(H, W, 3\), found uint8 \(9, 9\)"):
        LeafTexture(np.zeros((9, 9), np.uint8), np.ones((9, 9), bool))
