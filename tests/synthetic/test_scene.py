import cv2
import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType, Content
from leafid.synthetic.canvas import blend_layer, draw_camera, draw_noise
from leafid.synthetic.leaf import grow_leaf
from leafid.synthetic.painter import choose_appearance, make_matrix, paint_leaf
from leafid.synthetic.scene import draw_picture
from leafid.synthetic.species import SPECIES, vary

each_species = pytest.mark.parametrize("species", SPECIES, ids=lambda species: species.name)
each_type = pytest.mark.parametrize("kind", AcquisitionType)


def draw_leaf(species, rng, size, angle=0.0, paper=(255, 255, 255)):
    """Draw one leaf that fills a plain square, without noise; return the picture and the mask."""
    leaf_species = vary(species, rng, 0.6)
    leaf = grow_leaf(leaf_species, rng)
    low, high = leaf.compute_extent(make_matrix(1.0, angle))
    scale = (size - 8) / (high - low).max()
    position = size / 2 - scale * (low + high) / 2
    appearance = choose_appearance(leaf_species, light=-2.0, hardness=0.2, autumn=0.0)
    layer = paint_leaf(leaf, make_matrix(scale, angle), position, appearance, (size, size), rng)
    canvas, mask = np.full((size, size, 3), paper, np.float32), np.zeros((size, size), bool)
    blend_layer(canvas, mask, layer)
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
        assert mask.mean() > 0.04
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
        assert drawn.mask.any()
        if kind is not AcquisitionType.PHOTO:
            assert not touches_edge(drawn.mask)
            assert drawn.content is Content.LEAF


@each_type
def test_same_seed_same_picture_other_seed_other_picture(kind):
    first, again, other = (draw_picture(SPECIES[2], kind, np.random.default_rng(seed), size=96) for seed in (4, 4, 5))
    assert first.image.tobytes() == again.image.tobytes()
    assert first.mask.tobytes() == again.mask.tobytes()
    assert first.image.tobytes() != other.image.tobytes()


def test_size_changes_the_resolution_and_not_the_leaf():
    small, large = (draw_leaf(SPECIES[0], np.random.default_rng(7), size=size)[1] for size in (158, 308))
    shrunk = cv2.resize(large[4:-4, 4:-4].astype(np.float32), (150, 150), interpolation=cv2.INTER_AREA) > 0.5
    small = small[4:-4, 4:-4]
    assert (shrunk & small).sum() / (shrunk | small).sum() > 0.93


def test_turning_a_leaf_keeps_its_area():
    upright, across = (
        draw_leaf(SPECIES[9], np.random.default_rng(3), size=400, angle=angle)[1] for angle in (0, np.pi / 2)
    )
    # The longest side of both is the same.
    assert across.sum() == pytest.approx(upright.sum(), rel=0.02)


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
        camera = draw_camera(np.random.default_rng(author))
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
def test_noise_has_the_given_shape(rows, cols, grain):
    field = draw_noise(rows, cols, grain, np.random.default_rng(0), octaves=3)
    assert field.shape == (rows, cols)
    assert field.dtype == np.float32
    assert np.isfinite(field).all()


def test_larger_grain_is_smoother():
    fine, coarse = (draw_noise(64, 64, grain, np.random.default_rng(0)) for grain in (2.0, 32.0))
    assert np.abs(np.diff(coarse)).mean() < 0.3 * np.abs(np.diff(fine)).mean()
