import cv2
import numpy as np
import pytest

from leafid.collection.picture import AcquisitionType, Content
from leafid.synthetic.anatomy import grow
from leafid.synthetic.camera import random_camera
from leafid.synthetic.catalogue import SPECIES
from leafid.synthetic.noise import slope, smooth_field
from leafid.synthetic.painter import lay, look_of, paint
from leafid.synthetic.scene import draw_picture, fitted
from leafid.synthetic.species import vary

each_species = pytest.mark.parametrize("species", SPECIES, ids=lambda species: species.name)
each_type = pytest.mark.parametrize("kind", AcquisitionType)


def draw_leaf(species, rng, size, angle=0.0, paper=(255, 255, 255)):
    """One leaf on a plain ground, without noise, as large as it needs; and its mask."""
    one = vary(species, rng, 0.6)
    leaf = grow(one, rng)
    matrix, rows, cols = fitted(leaf, angle, size, rng, (0.04, 0.04))
    layer = paint(leaf, matrix, look_of(one, rng, -2.0, 0.2, 0.0), (rows, cols), rng)
    canvas, mask = np.full((rows, cols, 3), paper, np.float32), np.zeros((rows, cols), bool)
    lay(canvas, mask, layer)
    return np.clip(canvas + 0.5, 0, 255).astype(np.uint8), mask


def touches_edge(mask):
    return bool(mask[0].any() or mask[-1].any() or mask[:, 0].any() or mask[:, -1].any())


@each_species
def test_every_species_draws_from_twenty_seeds(species):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        image, mask = draw_leaf(vary(species, rng), rng, size=64)
        assert image.dtype == np.uint8
        assert image.shape == (*mask.shape, 3)
        assert max(mask.shape) == 64
        assert mask.mean() > 0.08
        assert not touches_edge(mask)
        # The leaf is one piece; at 64 pixels the thinnest stalks may be broken here and there.
        assert cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)[0] - 1 <= 3


@each_species
def test_mask_is_where_the_paper_is_hidden(species):
    paper = (255, 0, 255)
    image, mask = draw_leaf(species, np.random.default_rng(2), size=160, paper=paper)
    hidden = (image != paper).any(axis=2)
    # The contour's pixels are half paper, half leaf: they belong to either.
    assert not (mask & ~hidden).any()
    near = cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    # The end of a spine covers less than half of every pixel that it crosses: it is seen, but not in the mask.
    assert (hidden & ~near).sum() < 0.002 * mask.sum()


@each_species
@each_type
def test_pictures_of_every_type(species, kind):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        drawn = draw_picture(vary(species, rng), kind, rng, size=72, autumn=float(seed))
        assert drawn.image.shape == (*drawn.mask.shape, 3)
        assert max(drawn.mask.shape) == 72
        assert drawn.type is kind
        assert drawn.mask.any()
        if kind is not AcquisitionType.PHOTO:
            assert not touches_edge(drawn.mask)
            assert drawn.content is Content.LEAF


@each_type
def test_same_seed_same_picture_other_seed_other_picture(kind):
    one, again, other = (draw_picture(SPECIES[2], kind, np.random.default_rng(seed), size=96) for seed in (4, 4, 5))
    assert one.image.tobytes() == again.image.tobytes()
    assert one.mask.tobytes() == again.mask.tobytes()
    assert one.image.tobytes() != other.image.tobytes()


def test_size_changes_the_resolution_and_not_the_leaf():
    small, large = (draw_leaf(SPECIES[0], np.random.default_rng(7), size=size)[1] for size in (150, 300))
    # Frames are rounded to whole pixels: one part in 75.
    assert small.shape[1] / small.shape[0] == pytest.approx(large.shape[1] / large.shape[0], rel=0.015)
    shrunk = cv2.resize(large.astype(np.float32), small.shape[::-1], interpolation=cv2.INTER_AREA) > 0.5
    assert (shrunk & small).sum() / (shrunk | small).sum() > 0.93


def test_turning_a_leaf_keeps_its_area():
    upright, across = (
        draw_leaf(SPECIES[9], np.random.default_rng(3), size=400, angle=angle)[1] for angle in (0, np.pi / 2)
    )
    # Both are fitted to 400 pixels by the same longest side of the leaf.
    assert across.sum() == pytest.approx(upright.sum(), rel=0.02)
    assert across.shape[1] == 400
    assert upright.shape[0] == 400


def test_scans_are_nearly_white_and_leaves_darker():
    for seed in range(8):
        drawn = draw_picture(SPECIES[seed], AcquisitionType.SCAN, np.random.default_rng(seed), size=128)
        paper = cv2.erode((~drawn.mask).astype(np.uint8), np.ones((9, 9), np.uint8)).astype(bool)
        assert np.median(drawn.image[paper]) > 235
        assert drawn.image[drawn.mask].mean() < 170


def test_content_says_what_is_there():
    contents = {
        draw_picture(SPECIES[1], AcquisitionType.PHOTO, np.random.default_rng(seed), size=64).content
        for seed in range(12)
    }
    assert contents == {Content.LEAF, Content.FOLIAGE}
    dead = draw_picture(SPECIES[1], AcquisitionType.SCAN_LIKE, np.random.default_rng(0), size=64, autumn=2.0)
    assert dead.content is Content.DEAD_LEAF


def test_autumn_turns_leaves_from_green_to_red():
    summer, autumn = (
        draw_picture(SPECIES[0], AcquisitionType.SCAN, np.random.default_rng(9), size=96, autumn=autumn)
        for autumn in (0.0, 1.0)
    )

    def redness(drawn):
        _, green, red = drawn.image[drawn.mask].astype(float).mean(axis=0)
        return red - green

    assert redness(summer) < 0 < redness(autumn)


def test_author_gives_pictures_a_common_light():
    pictures = {}
    for author in (0, 1):
        camera = random_camera(np.random.default_rng(author))
        pictures[author] = np.array(
            [
                np.median(
                    draw_picture(
                        SPECIES[3], AcquisitionType.SCAN_LIKE, np.random.default_rng(seed), 64, camera
                    ).image.reshape(-1, 3),
                    axis=0,
                )
                for seed in range(6)
            ]
        )
    between = np.abs(pictures[0].mean(axis=0) - pictures[1].mean(axis=0)).max()
    assert between > pictures[0].std(axis=0).max()


@pytest.mark.parametrize("size", [0, -5, 31])
def test_too_small_a_picture_is_refused(size):
    with pytest.raises(ValueError, match="at least 32"):
        draw_picture(SPECIES[0], AcquisitionType.SCAN, np.random.default_rng(0), size=size)


@pytest.mark.parametrize(("rows", "cols", "grain"), [(1, 1, 3.0), (5, 40, 1.0), (33, 17, 100.0)])
def test_smooth_field_has_the_shape_asked_for(rows, cols, grain):
    field = smooth_field(rows, cols, grain, np.random.default_rng(0), octaves=3)
    assert field.shape == (rows, cols)
    assert field.dtype == np.float32
    assert np.isfinite(field).all()


def test_larger_grain_is_smoother():
    fine, coarse = (smooth_field(64, 64, grain, np.random.default_rng(0)) for grain in (2.0, 32.0))
    assert np.abs(np.diff(coarse)).mean() < 0.3 * np.abs(np.diff(fine)).mean()


def test_slope_rises_along_its_direction():
    np.testing.assert_allclose(slope(3, 3, 0.0), [[-1, 0, 1]] * 3, atol=1e-7)
    np.testing.assert_allclose(slope(3, 3, np.pi / 2), [[-1] * 3, [0] * 3, [1] * 3], atol=1e-6)
