"""Sheets that don't fill the picture, and leaves that hardly differ from them."""

import cv2
import numpy as np
import pytest

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.segment import segment
from leafid.segmentation.sheets import sheet as module
from leafid.segmentation.sheets.sheet import segment_sheet
from leafid.segmentation.sheets.uniform import segment_uniform

SCAN_LIKE = AcquisitionType.SCAN_LIKE
FRAMES = {
    "black": (0, 0, 0),
    "dark": (20, 20, 20),
    "wood": (60, 90, 130),
    "grey": (110, 110, 110),
}
# Half a pixel along the rim of leaves of 50 pixels' radius and more costs up to 0.04.
TOLERANCE = 0.95


def add_frame(image, mask, widths, colour):
    """Lay a frame of (top, bottom, left, right) pixels around a picture."""
    around = cv2.copyMakeBorder(image, *widths, cv2.BORDER_CONSTANT, value=colour)
    return around, np.pad(mask, (widths[:2], widths[2:]))


@pytest.mark.parametrize("colour", FRAMES)
@pytest.mark.parametrize(
    ("size", "width"),
    [((200, 160), 12), ((200, 160), 40), ((640, 480), 30), ((640, 480), 120)],
)
def test_the_leaf_is_found_inside_a_frame(drawn_leaf, iou, size, width, colour):
    image, mask = add_frame(*drawn_leaf(*size), (width,) * 4, FRAMES[colour])
    # Without the search inside the frame, the sheet is taken for the leaf, or nothing
    # is found.
    assert iou(segment_uniform(image).mask, mask) < 0.7
    leaf = segment(image, SCAN_LIKE)
    assert iou(leaf.mask, mask) > TOLERANCE
    assert leaf.confidence > 0.7
    if leaf.coverage is not None:
        np.testing.assert_array_equal(leaf.coverage > 127, leaf.mask)


@pytest.mark.parametrize("colour", ["black", "wood"])
@pytest.mark.parametrize(
    "widths",
    [
        (6,) * 4,
        (14,) * 4,
        (90, 90, 0, 0),
        (0, 0, 90, 90),
        (80, 60, 10, 30),
        (0, 0, 0, 60),
    ],
)
def test_thin_rims_bars_and_frames_of_uneven_width(drawn_leaf, iou, widths, colour):
    image, mask = add_frame(*drawn_leaf(480, 400), widths, FRAMES[colour])
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


def test_a_frame_within_a_frame(drawn_leaf, iou):
    image, mask = add_frame(
        *add_frame(*drawn_leaf(480, 400), (30,) * 4, (60, 90, 130)),
        (40,) * 4,
        (0, 0, 0),
    )
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


@pytest.mark.parametrize("turn", [0, 8, 90])
@pytest.mark.parametrize("length", [150, 600])
def test_a_narrow_leaf_cut_out_along_its_box(iou, turn, length):
    image, mask = np.full((900, 900, 3), 245, np.uint8), np.zeros((900, 900), np.uint8)
    for canvas, colour in ((image, (40, 110, 60)), (mask, 1)):
        cv2.ellipse(
            canvas,
            (450, 450),
            (length // 2, length // 9),
            turn,
            0,
            360,
            colour,
            -1,
            cv2.LINE_8,
        )
    rows, cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = slice(rows[0], rows[-1] + 1), slice(cols[0], cols[-1] + 1)
    assert (
        iou(segment(image[box], SCAN_LIKE).mask, mask[box] > 0) > 0.9
    )  # of 16 pixels' radius, when small


@pytest.mark.parametrize("size", [(200, 160), (640, 480)])
@pytest.mark.parametrize(
    ("sheet", "leaf"), [(120, 80), (10, 60), (0, 50), (70, 110), (240, 90)]
)
def test_grey_leaves_on_grey_sheets(drawn_leaf, iou, size, sheet, leaf):
    image, mask = drawn_leaf(*size, sheet=(sheet,) * 3, leaf=(leaf,) * 3, noise=0.0)
    leaf = segment(image, SCAN_LIKE)
    assert iou(leaf.mask, mask) > TOLERANCE
    assert leaf.confidence > 0.6


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (15, 15), (40, 30), (600, 400)])
def test_without_a_leaf_nothing_is_found(size):
    blank = np.full((*size, 3), 240, np.uint8)
    for image in (
        blank,
        add_frame(blank, np.zeros(size, bool), (30,) * 4, (20, 20, 20))[0],
    ):
        assert segment(image, SCAN_LIKE).mask.shape == image.shape[:2]
    assert not segment(blank, SCAN_LIKE).mask.any()


def draw_faint_leaf(contrast):
    image = np.full((300, 240, 3), (235, 238, 240), np.uint8)
    colour = (235 - contrast, 238 - contrast / 3, 240 - contrast)
    cv2.ellipse(image, (120, 150), (60, 100), 0, 0, 360, colour, -1)
    return np.clip(
        image + np.random.default_rng(0).normal(0, 2, image.shape), 0, 255
    ).astype(np.uint8)


@pytest.mark.parametrize(("contrast", "is_clear"), [(14, False), (24, True)])
def test_a_faint_leaf_is_searched_for_in_other_ways(contrast, is_clear, monkeypatch):
    """Confidences of 0.27 and 0.48: a coloured leaf counts as found from 0.35 on."""
    calls = []
    monkeypatch.setattr(
        module, "_segment_otherwise", lambda image: calls.append(1) or []
    )
    segment_sheet(draw_faint_leaf(contrast))
    assert bool(calls) != is_clear


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_leaf_before_clouds(drawn_leaf, iou, seed):
    image, mask = drawn_leaf(480, 640, radius=0.2)
    noise = cv2.GaussianBlur(
        np.random.default_rng(seed).normal(size=mask.shape), (0, 0), 60
    )
    clouds = np.clip(noise / noise.std() + 0.3, 0, 1)[..., None]
    sky = np.array([235, 190, 140]) * (1 - clouds) + 245 * clouds
    image = np.where(mask[..., None], image, sky).astype(np.uint8)
    assert segment_uniform(image).confidence < segment(image, SCAN_LIKE).confidence
    assert iou(segment(image, SCAN_LIKE).mask, mask) > 0.75


@pytest.mark.parametrize("turn", [60, 130, 300])
def test_a_leaf_half_in_the_shade_of_a_wall(drawn_leaf, iou, turn):
    image, mask = drawn_leaf(480, 400, radius=0.4)
    row, col = np.mgrid[-240:240, -200:200]
    is_shaded = row * np.sin(np.radians(turn)) + col * np.cos(np.radians(turn)) < 0
    image[is_shaded] = (image[is_shaded] * 0.3).astype(np.uint8)
    leaf = segment(image, SCAN_LIKE)
    assert iou(leaf.mask, mask) > TOLERANCE
    assert leaf.confidence > 0.9
    assert leaf.outline_confidence > 0.9


@pytest.mark.parametrize("seed", [0, 1])
def test_a_compound_leaf_on_gravel_is_whole(iou, seed):
    """A photo would show one of its leaflets."""
    leaf = np.zeros((600, 480), np.uint8)
    for row in (160, 300, 430):
        for side in (-1, 1):
            place = 240 + side * 100, row
            cv2.ellipse(leaf, place, (85, 38), side * -15, 0, 360, 1, cv2.FILLED)
    cv2.ellipse(leaf, (240, 80), (34, 60), 0, 0, 360, 1, cv2.FILLED)
    cv2.line(leaf, (240, 80), (240, 570), 1, 6)
    noise = np.random.default_rng(seed).normal(size=leaf.shape)
    grains = sum(size * cv2.GaussianBlur(noise, (0, 0), size) for size in (1.5, 4, 10))
    gravel = np.array([120, 150, 185]) * (1 + 0.25 * grains[..., None])
    green = np.array([45, 85, 45]) + 6 * noise[..., None]
    picture = np.where(leaf[..., None], green, gravel).clip(0, 255).astype(np.uint8)
    picture = cv2.GaussianBlur(picture, (0, 0), 0.8)
    assert iou(segment(picture, SCAN_LIKE).mask, leaf.view(bool)) > 0.9


def test_what_is_light_may_be_a_triangle():
    """A quadrilateral around it has no fourth corner."""
    image = np.full((200, 200, 3), 30, np.uint8)
    cv2.fillConvexPoly(
        image, np.array([[10, 10], [190, 10], [10, 190]]), (240, 240, 240)
    )
    assert segment(image, SCAN_LIKE).mask.shape == (200, 200)


@pytest.mark.parametrize("length", [60, 100, 140])
def test_gloss_hides_a_part_of_the_papers_edge(drawn_leaf, iou, length):
    image, mask = add_frame(*drawn_leaf(480, 400), (60,) * 4, FRAMES["wood"])
    image[200 : 200 + length, :60] = image[90, 90]
    assert iou(segment_uniform(image).mask, mask) < 0.7
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


def test_a_small_sheet_on_a_table(drawn_leaf, iou):
    image, mask = add_frame(*drawn_leaf(240, 180), (200, 160, 380, 240), FRAMES["wood"])
    assert mask.mean() < 0.03
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


@pytest.mark.parametrize("size", [(200, 160), (480, 400), (960, 800)])
@pytest.mark.parametrize("turn", [0, 4])
@pytest.mark.parametrize(
    ("paper", "ink"), [(240, (90, 80, 60)), (60, (220, 220, 220)), (238, (90, 80, 200))]
)
def test_a_leaf_on_ruled_paper(drawn_leaf, iou, size, turn, paper, ink):
    image, mask = drawn_leaf(*size, sheet=(paper,) * 3, stalk=True)
    rows, cols = size
    rise = round(cols * np.tan(np.radians(turn)))
    for row in range(-rise, rows, max(14, rows // 16)):
        cv2.line(image, (0, row), (cols, row + rise), ink, max(1, rows // 240))
    image[mask] = drawn_leaf(*size, stalk=True)[0][mask]
    leaf = segment(image, SCAN_LIKE, petiole=False)
    assert iou(leaf.mask, mask) > TOLERANCE
    assert not leaf.mask[:, [0, -1]].any()


@pytest.mark.parametrize("seed", range(3))
def test_an_uneven_leaf_of_the_hue_of_its_cloth(drawn_leaf, iou, seed):
    cloth = (70, 150, 90)
    image, mask = drawn_leaf(640, 480, sheet=cloth, stalk=True)
    random = np.random.default_rng(seed)
    light = cv2.GaussianBlur(random.normal(0, 1, mask.shape), (0, 0), 20)
    light = np.clip(0.4 + 0.2 * light / light.std(), 0.15, 0.8)
    image[mask] = (light[..., None] * cloth).astype(np.uint8)[mask]
    # By hue, the lighter parts are taken for the shadow of others.
    assert iou(segment(image, SCAN_LIKE, petiole=False).mask, mask) > TOLERANCE


@pytest.mark.parametrize("seed", range(2))
def test_a_leaf_on_dark_cloth_that_is_hardly_coloured(drawn_leaf, iou, seed):
    mask = drawn_leaf(640, 480)[1]
    random = np.random.default_rng(seed)
    row, col = np.indices(mask.shape)
    weave = np.sin(2 * np.pi * row / 5) + np.sin(2 * np.pi * col / 5)
    near = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 8)
    cloth = np.array((48, 88, 48)) * ((1 + 0.05 * weave) * (1 - 0.3 * near))[..., None]
    light = cv2.GaussianBlur(random.normal(size=mask.shape), (0, 0), 12)
    light = 1 + 0.15 * light / light.std()
    leaf = np.array((36, 64, 50)) * light[..., None]
    image = np.where(mask[..., None], leaf, cloth) + random.normal(0, 2, cloth.shape)
    image = image.clip(0, 255).astype(np.uint8)
    answer = segment(image, SCAN_LIKE, petiole=False).mask
    assert iou(answer, mask) > 0.97


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gain", [0.08, 0.15])
def test_an_underexposed_leaf(drawn_leaf, iou, gain, seed):
    image, mask = drawn_leaf(640, 480, leaf=(30, 60, 45), stalk=True)
    noise = np.random.default_rng(seed).normal(0, 40 * gain, image.shape)
    dark = np.clip(gain * image + noise, 0, 255).astype(np.uint8)
    leaf = segment(dark, SCAN_LIKE, petiole=False)
    assert iou(leaf.mask, mask) > TOLERANCE
    assert leaf.confidence > 0.7


@pytest.mark.parametrize("size", [75, 80, 85])
def test_a_lamp_is_reflected_beside_a_corner_of_the_paper(drawn_leaf, iou, size):
    image, mask = add_frame(*drawn_leaf(480, 400), (60,) * 4, FRAMES["wood"])
    paper = image[60:540, 60:460].copy()
    row, col = np.ogrid[:600, :520]
    spot = np.exp(-((np.hypot(row - 540, col - 60) / size) ** 4))[..., None]
    image = (image + spot * (250.0 - image)).astype(np.uint8)
    image[60:540, 60:460] = paper
    # The paper and the reflection stand out as clearly as a leaf.
    assert segment_uniform(image).confidence > 0.85
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


@pytest.mark.parametrize(
    ("width", "size", "offset"), [(60, 60, 20), (90, 80, -20), (90, 100, 20)]
)
def test_a_window_is_reflected_beside_a_corner_of_the_paper(
    drawn_leaf, iou, width, size, offset
):
    """The reflection has a straight side, too."""
    image, mask = add_frame(*drawn_leaf(480, 400), (width,) * 4, FRAMES["wood"])
    paper = image[width:-width, width:-width].copy()
    left, bottom = width + offset, 480 + width
    image[bottom - size + 1 : bottom + size, max(left - size + 1, 0) : left + size] = (
        250
    )
    image[width:-width, width:-width] = paper
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


@pytest.mark.parametrize(
    ("table", "tilt", "darkest", "radius"),
    [
        ((150, 160, 170), 0.15, 0.86, 0.25),
        ((150, 160, 170), 0.15, 0.98, 0.25),
        # A part of the paper stands out as clearly as a leaf.
        ((170, 200, 230), -0.15, 0.74, 0.35),
    ],
)
def test_paper_on_a_table_that_is_nearly_as_light(
    drawn_leaf, iou, table, tilt, darkest, radius
):
    image, mask = drawn_leaf(640, 480, sheet=(252, 252, 252), radius=radius)
    image, mask = add_frame(image, mask, (40, 60, 50, 40), table)
    cols = image.shape[1]
    is_table = np.ones(mask.shape, bool)
    is_table[40:-60, 50:-40] = False
    light = np.where(is_table, np.linspace(1 + tilt, 1 - tilt, cols), 1)
    light *= np.linspace(1.1, darkest, cols)
    image = np.clip(image * light[..., None], 0, 255).astype(np.uint8)
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


@pytest.mark.parametrize("leaf", [(25, 45, 30), (30, 55, 40)])
@pytest.mark.parametrize("darkness", [0.7, 0.8])
def test_the_hard_shadow_of_a_dark_leaf(drawn_leaf, iou, leaf, darkness):
    image, mask = drawn_leaf(640, 480, leaf=leaf, noise=1.0)
    shadow = np.roll(mask, (20, 25), (0, 1)) & ~mask
    image[shadow] = (image[shadow] * (1 - darkness)).astype(np.uint8)
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


@pytest.mark.parametrize("width", [8, 10, 14])
@pytest.mark.parametrize("cream", [(200, 232, 240), (170, 222, 232)])
def test_a_narrow_cream_margin_is_leaf(drawn_leaf, iou, width, cream):
    image, mask = drawn_leaf(800, 600, sheet=(245, 245, 245), noise=1.5)
    inner = cv2.erode(mask.view(np.uint8), np.ones((2 * width + 1,) * 2, np.uint8))
    margin = mask & (inner == 0)
    image[margin] = cream
    soft = cv2.GaussianBlur(image, (0, 0), 0.8)
    assert iou(segment(soft, SCAN_LIKE).mask, mask) > TOLERANCE
