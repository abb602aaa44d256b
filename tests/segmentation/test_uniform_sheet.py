"""Leaves on a plain sheet: drawn leaves with known masks, and edge cases."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.background import fit_sheet_surface
from leafid.segmentation.segment import segment
from leafid.segmentation.sheets.contrast import measure_sheet_distance

SCAN = AcquisitionType.SCAN
SCAN_LIKE = AcquisitionType.SCAN_LIKE

# A leaf of 60 pixels' radius has a rim of about 700 pixels in 11,000: half a pixel all
# along it costs 0.03.
TOLERANCE = 0.96

SHEETS = {
    "white": (250, 250, 250),
    "cream": (200, 225, 240),
    "grey": (140, 140, 140),
    "pink": (180, 90, 240),
    "orange": (60, 110, 220),
    "blue": (220, 180, 150),
}
LEAVES = {
    "green": (40, 110, 60),
    "dark": (25, 45, 35),
    "brown": (40, 70, 120),
    "yellow": (40, 190, 220),
}


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_any_tint_of_sheet_and_leaf(drawn_leaf, iou, sheet, leaf):
    image, mask = drawn_leaf(sheet=SHEETS[sheet], leaf=LEAVES[leaf])
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


@settings(max_examples=25, deadline=None)
@given(
    turn=st.floats(0, 360),
    mirror=st.booleans(),
    radius=st.floats(0.15, 0.3),
    row=st.floats(0.45, 0.55),
    col=st.floats(0.45, 0.55),
    shade=st.floats(0, 0.4),
    rows=st.integers(160, 420),
    seed=st.integers(0, 9),
)
def test_shift_turn_mirror_scale_and_shade(
    drawn_leaf, iou, turn, mirror, radius, row, col, shade, rows, seed
):
    image, mask = drawn_leaf(
        rows=rows,
        cols=180,
        centre=(row, col),
        radius=radius,
        turn=turn,
        mirror=mirror,
        shade=shade,
        seed=seed,
    )
    leaf = segment(image, SCAN_LIKE)
    # The smallest leaf has a radius of 24 pixels: half a pixel along its rim costs
    # 0.06.
    assert iou(leaf.mask, mask) > 0.92
    assert leaf.confidence > 0.5


@pytest.mark.parametrize("value", [255, 250, 128, 0])
@pytest.mark.parametrize("kind", [SCAN, SCAN_LIKE, AcquisitionType.PHOTO])
def test_an_empty_sheet_has_no_leaf(value, kind):
    noise = np.random.default_rng(0).integers(-2, 3, (120, 90, 3))
    image = np.clip(value + noise, 0, 255).astype(np.uint8)
    leaf = segment(image, kind)
    if kind is not AcquisitionType.PHOTO:
        assert not (leaf.mask | leaf.blade).any()
        assert leaf.confidence == 0
    # A photo always has a middle, but the confidence must be low.
    assert leaf.confidence < 0.5


def test_a_leaf_cut_by_the_edge(drawn_leaf, iou):
    image, mask = drawn_leaf(centre=(0.5, 0.05), radius=0.3)
    leaf = segment(image, SCAN)
    assert iou(leaf.mask, mask) > TOLERANCE
    whole = segment(drawn_leaf(centre=(0.5, 0.5), radius=0.3)[0], SCAN)
    assert leaf.confidence < whole.confidence


def test_dark_rims_and_corners_are_not_leaf(drawn_leaf, iou):
    image, mask = drawn_leaf(rows=300, cols=240)
    image[:, :5] = 20
    image[-4:] = (60, 20, 20)
    cv2.fillPoly(image, [np.array([[239, 0], [239, 40], [200, 0]])], (30, 40, 30))
    assert iou(segment(image, SCAN_LIKE).mask, mask) > TOLERANCE


def test_a_soft_shadow_is_not_leaf(drawn_leaf, iou):
    image, mask = drawn_leaf(rows=300, cols=240)
    shifted = np.roll(mask, (10, 12), (0, 1)).astype(np.float32)
    shadow = cv2.GaussianBlur(shifted, (0, 0), 6) * ~mask
    shaded = (image * (1 - 0.3 * shadow[..., None])).astype(np.uint8)
    assert iou(segment(shaded, SCAN_LIKE).mask, mask) > 0.93


def test_leaflets_and_a_pale_rachis_stay_one_leaf():
    image = np.full((400, 300, 3), 245, np.uint8)
    true = np.zeros((400, 300), np.uint8)
    cv2.line(true, (150, 40), (150, 380), 2, 3)
    for row in range(60, 320, 50):
        cv2.line(true, (100, row), (200, row), 2, 2)
        for side in (-1, 1):
            cv2.ellipse(true, (150 + side * 60, row), (45, 15), 0, 0, 360, 1, -1)
    image[true == 1] = (40, 100, 50)
    image[true == 2] = (140, 190, 170)
    leaf = segment(image, SCAN)
    assert leaf.mask[true == 1].mean() > 0.97
    assert leaf.mask[true == 2].mean() > 0.9
    # The leaflets stay in the blade; what hangs below the lowest of them is petiole.
    assert leaf.blade[true == 1].mean() > 0.97
    assert not leaf.blade[365:].any()


def test_dust_goes_and_pin_holes_are_filled(drawn_leaf, iou):
    image, mask = drawn_leaf(rows=300, cols=240)
    image[20:22, 20:22] = 30
    image[280:282, 200:203] = 30
    image[150:152, 120:122] = 240
    found_mask = segment(image, SCAN).mask
    assert not found_mask[:30, :30].any()
    assert not found_mask[270:].any()
    assert found_mask[150:152, 120:122].all()
    assert iou(found_mask, mask) > TOLERANCE


def test_sheet_surface_follows_the_light(drawn_leaf):
    image, mask = drawn_leaf(shade=0.4, noise=0.0)
    surface, spread = fit_sheet_surface(image)
    assert spread < 3
    fitted = cv2.resize(surface, image.shape[1::-1])
    true = cv2.cvtColor(
        drawn_leaf(shade=0.4, noise=0.0, centre=(9, 9))[0], cv2.COLOR_BGR2LAB
    )
    # Under the leaf, too, where the sheet is not to be seen; L of 0..255 differs by 90
    # over the picture.
    assert np.abs(fitted - true)[mask].max() < 6


def test_sheet_distance_agrees_with_its_formula():
    lab = np.random.default_rng(3).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    sheet = np.array([200, 120, 140])
    distance = measure_sheet_distance(
        lab, np.broadcast_to(sheet, lab.shape).astype(np.uint8)
    )
    lightness, a, b = np.moveaxis(np.abs(lab.astype(float) - sheet), -1, 0)
    true = 0.15 * lightness + 0.25 * np.maximum(lightness - 90, 0) + np.hypot(a, b)
    # The octagonal norm is at most 8 % off the root; three roundings are at most 1.5.
    assert np.all(
        np.abs(distance - np.minimum(true, 255)) <= 0.08 * np.hypot(a, b) + 1.5
    )


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((20, 20), np.uint8),
        np.zeros((20, 20, 3), np.float32),
        np.zeros((20, 20, 4), np.uint8),
        np.zeros((0, 20, 3), np.uint8),
    ],
)
def test_invalid_images_are_refused(image):
    with pytest.raises(ValueError, match="expected an image"):
        segment(image, SCAN)


@pytest.mark.parametrize("size", [(1, 1), (1, 50), (50, 1), (3, 3)])
@pytest.mark.parametrize("kind", list(AcquisitionType))
def test_the_smallest_pictures_are_segmented(size, kind):
    image = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    leaf = segment(image, kind)
    assert leaf.mask.shape == leaf.blade.shape == size
    assert leaf.blade.any() == leaf.mask.any()


def test_real_leaves_on_coloured_card(real_data, iou):
    overlaps = {}
    for file in sorted((real_data / "uci-leaf" / "RGB").glob("*.JPG")):
        true = (
            cv2.imread(
                str(real_data / "uci-leaf" / "masks" / f"{file.stem}.png"),
                cv2.IMREAD_GRAYSCALE,
            )
            > 127
        )
        # Those masks exclude the petiole.
        overlaps[file.stem] = iou(segment(cv2.imread(str(file)), SCAN_LIKE).blade, true)
    assert len(overlaps) == 60
    assert np.mean(list(overlaps.values())) >= 0.975
    assert min(overlaps.values()) >= 0.90


def test_the_coverage_of_a_small_picture_locates_the_edge_between_pixels(
    drawn_leaf, iou
):
    large, mask = drawn_leaf(rows=800, cols=640, turn=20)
    leaf = segment(cv2.resize(large, (160, 200), interpolation=cv2.INTER_AREA), SCAN)
    assert leaf.coverage is not None
    assert np.array_equal(leaf.coverage > 127, leaf.mask)
    enlarged = cv2.resize(leaf.coverage, (640, 800)) > 127
    by_pixels = (
        cv2.resize(
            leaf.mask.view(np.uint8), (640, 800), interpolation=cv2.INTER_NEAREST
        )
        > 0
    )
    assert 1 - iou(enlarged, mask) < 0.7 * (1 - iou(by_pixels, mask))
    assert segment(large, SCAN).coverage is None


@pytest.mark.parametrize("cols", [46, 61])
@pytest.mark.parametrize("light", [235, 250])
def test_a_small_picture_that_a_narrow_leaf_fills(iou, cols, light):
    # Eight times as large: the true mask is known to a part of a pixel.
    image = np.full((1600, 8 * cols, 3), light, np.uint8)
    leaf = np.zeros(image.shape[:2], np.uint8)
    cv2.ellipse(leaf, (4 * cols, 800), (round(3.6 * cols), 780), 0, 0, 360, 255, -1)
    image[leaf > 0] = (25, 35, 30)
    segmentation = segment(
        cv2.resize(image, (cols, 200), interpolation=cv2.INTER_AREA), SCAN
    )
    assert segmentation.confidence > 0.8
    # The rim is a tenth of so narrow a leaf.
    assert (
        iou(
            segmentation.mask,
            cv2.resize(leaf, (cols, 200), interpolation=cv2.INTER_AREA) > 127,
        )
        > 0.95
    )


def test_the_shadow_of_a_pale_leaf_on_coloured_card(drawn_leaf, iou):
    image, mask = drawn_leaf(
        rows=480, cols=400, sheet=(180, 90, 240), leaf=(110, 130, 150)
    )
    shadow = cv2.GaussianBlur(
        np.roll(mask, (8, 8), (0, 1)).astype(np.float32), (0, 0), 5
    )
    image = np.where(
        mask[..., None], image, image * (1 - 0.6 * shadow[..., None])
    ).astype(np.uint8)
    # 0.96 by the local maximum alone.
    assert (
        iou(segment(cv2.GaussianBlur(image, (0, 0), 1.5), SCAN_LIKE).mask, mask) > 0.97
    )


@pytest.mark.parametrize(
    ("colour", "is_leaf"), [((85, 115, 135), True), ((95, 100, 103), False)]
)
def test_dry_tips_beside_vivid_colours_are_leaf_and_shadows_are_not(
    iou, colour, is_leaf
):
    image = np.full((600, 450, 3), (195, 205, 210), np.uint8)
    red, whole = np.zeros((600, 450), np.uint8), np.zeros((600, 450), np.uint8)
    cv2.ellipse(whole, (225, 300), (60, 200), 0, 0, 360, 1, -1)
    red[180:] = whole[180:]
    image[whole > 0], image[red > 0] = colour, (45, 45, 150)
    image = np.clip(
        image + np.random.default_rng(0).normal(0, 2, image.shape), 0, 255
    ).astype(np.uint8)
    found_mask = segment(image, SCAN_LIKE).mask
    assert iou(found_mask, (whole if is_leaf else red).astype(bool)) > TOLERANCE


def draw_soft_disc(sheet, colours):
    """Draw a disc of radius 300 whose edge is blurred over a few pixels.

    Returns the picture, and the distance of each pixel from the sheet.
    """
    disc = np.zeros((1024, 1024), np.float32)
    cv2.circle(disc, (512, 512), 300, 1, -1)
    covered = cv2.GaussianBlur(disc, (0, 0), 3)[..., None]
    image = np.round(sheet + covered * (colours - np.array(sheet, float)))
    image = image.astype(np.uint8)
    lab = cv2.cvtColor(image, cv2.COLOR_BGR2LAB)
    flat = cv2.cvtColor(np.full_like(image, sheet), cv2.COLOR_BGR2LAB)
    return image, measure_sheet_distance(lab, flat)


def measure_inset(mask, true, radius=300):
    """Measure how much farther in than `true` the edge of a disc's mask lies."""
    columns = np.flatnonzero(true.any(axis=0))
    # The part of the rim in the columns of `true`, which begin or end with the disc.
    depth = len(columns) / radius
    rim = 2 * radius * np.arccos(1 - depth)
    return (np.count_nonzero(true) - np.count_nonzero(mask)) / rim


def test_where_the_edge_of_a_soft_leaf_lies():
    sheet = (240, 240, 240)
    is_pale = np.arange(1024)[None, :, None] < 420
    colours = np.where(is_pale, (100, 150, 110), (0, 90, 0))
    image, distance = draw_soft_disc(sheet, colours)
    mask = segment(image, SCAN).mask
    # At two thirds of the step in a pale part; in a vivid one that would be above 1.2
    # times the threshold of the whole picture.
    small = cv2.resize(distance, (256, 256), interpolation=cv2.INTER_AREA)
    otsu, _ = cv2.threshold(small.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    pale_part = np.s_[:, 212:380]
    vivid_part = np.s_[:, 460:812]
    for part, cut in (
        (pale_part, 0.66 * distance[512, 300]),
        (vivid_part, 1.2 * otsu),
    ):
        expected = distance[part] > cut
        assert abs(measure_inset(mask[part], expected)) < 0.08


@pytest.mark.parametrize("sheet", ["pink", "orange"])
def test_where_the_edge_of_a_soft_leaf_on_coloured_card_lies(sheet):
    colour = SHEETS[sheet]
    image, distance = draw_soft_disc(colour, LEAVES["green"])
    card = cv2.cvtColor(np.full((1, 1, 3), colour, np.uint8), cv2.COLOR_BGR2LAB)
    grey = card.copy()
    grey[..., 1:] = 128
    chroma = measure_sheet_distance(card, grey).item()
    # Where 0.72 of the card's chroma is lost.
    expected = distance > 0.72 * chroma
    assert abs(measure_inset(segment(image, SCAN_LIKE).mask, expected)) < 0.08
