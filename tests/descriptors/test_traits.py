"""Traits of drawn leaves, whose geometry is known.

The oracle measures the drawn polygons themselves.
"""

import itertools
from functools import cache

import cv2
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks as find_peaks_of_scipy

from leafid.descriptors.profile import is_fan
from leafid.descriptors.teeth import find_peaks
from leafid.descriptors.tracing import trace_leaf
from leafid.descriptors.traits import (
    TRAIT_NAMES,
    drop_misfits,
    measure_reliable_traits,
)
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.result import Segmentation
from leafid.segmentation.segment import segment
from tests.drawing.leaves import OVERSAMPLING, Form, draw_leaf

UNLOBED = {
    "birch": Form(0.84, 0.38, 1.1, teeth=13, tooth_depth=0.034, petiole=0.42),
    "chestnut": Form(0.31, 0.6, 0.9, teeth=18, tooth_depth=0.03, petiole=0.12),
    "beech": Form(0.66, 0.6, 0.72, petiole=0.2),
    "laurel": Form(0.36, 0.85, 0.9, petiole=0.1),
    "poplar": Form(1.02, 0.5, 0.52, teeth=9, tooth_depth=0.018, petiole=0.9),
    "willow": Form(0.2, 0.65, 1.05, teeth=24, tooth_depth=0.01, petiole=0.1),
}
FORMS = UNLOBED | {
    "lime": Form(
        0.98, 0.42, 0.72, cordate=0.16, teeth=20, tooth_depth=0.02, petiole=0.55
    ),
    "redbud": Form(1.12, 0.42, 0.5, cordate=0.17, petiole=0.5),
    "maple": Form(1.0, 1.0, 1.0, palmate_lobes=5, petiole=0.9),
    "three-lobed maple": Form(1.0, 1.0, 1.0, palmate_lobes=3, petiole=0.7),
    "oak": Form(0.74, 0.8, 0.75, pinnate_lobes=4, petiole=0.2),
    "ash": Form(0.34, 0.8, 1.0, leaflets=5, petiole=0.28),
    "rowan": Form(0.31, 0.5, 0.62, leaflets=6, petiole=0.2),
    "black locust": Form(0.48, 0.52, 0.48, leaflets=7, petiole=0.15),
}


@cache
def draw(name, seed=0, angle=0.3):
    """Draw a leaf and segment it."""
    drawn = draw_leaf(FORMS[name], seed, angle)
    return drawn, segment(drawn.picture, AcquisitionType.SCAN)


def measure_form(name, seed=0):
    _, segmentation = draw(name, seed)
    return measure_reliable_traits(segmentation)[0]


def measure_drawn(tip, base, outline):
    """Measure an unlobed polygon in the frame of its midrib, slowly and literally."""
    length = np.hypot(*(tip - base))
    along = (tip - base) / length
    across = np.array([-along[1], along[0]])
    framed = (
        np.stack([(outline - base) @ along, (outline - base) @ across], axis=1) / length
    )
    closed = np.vstack([framed, framed[:1]]).tolist()

    def reach(level, side):
        """The outermost crossing of a line across the midrib."""
        crossings = [0.0]
        for (u0, v0), (u1, v1) in itertools.pairwise(closed):
            if (u0 - level) * (u1 - level) <= 0 and u0 != u1:
                crossings.append(side * (v0 + (v1 - v0) * (level - u0) / (u1 - u0)))
        return max(crossings)

    width = {
        level: reach(level, 1) + reach(level, -1)
        for level in np.linspace(0.05, 0.95, 91)
    }
    wide = [
        level for level, value in width.items() if value >= 0.95 * max(width.values())
    ]
    return {
        "length_width": float(np.ptp(framed[:, 0]) / np.ptp(framed[:, 1])),
        "widest": float(np.mean(wide)),
        "apex_angle": float(
            np.degrees(sum(np.arctan(reach(0.75, side) / 0.25) for side in (1, -1)))
        ),
        "base_angle": float(
            np.degrees(sum(np.arctan(reach(0.25, side) / 0.25) for side in (1, -1)))
        ),
    }


@pytest.mark.parametrize("name", UNLOBED)
@pytest.mark.parametrize("seed", [0, 1])
def test_proportions_and_angles_are_those_of_the_drawn_outline(name, seed):
    drawn, segmentation = draw(name, seed)
    traits, landmarks = measure_reliable_traits(segmentation)
    tip, petiole, outline = drawn.tip, drawn.petiole, drawn.outline
    base, length = petiole[0], np.hypot(*(tip - petiole[0]))
    assert np.hypot(*(landmarks.tip[::-1] - tip)) < 0.08 * length
    assert np.hypot(*(landmarks.base[::-1] - base)) < 0.05 * length
    expected = measure_drawn(tip, base, outline)
    assert traits["length_width"] == pytest.approx(expected["length_width"], rel=0.06)
    assert traits["widest"] == pytest.approx(expected["widest"], abs=0.05)
    assert traits["apex_angle"] == pytest.approx(expected["apex_angle"], abs=8)
    # The petiole widens into the blade: the base is found a little inside it.
    assert traits["base_angle"] == pytest.approx(expected["base_angle"], abs=12)
    drawn_length = np.hypot(*np.diff(petiole, axis=0).T).sum() / length
    assert traits["petiole"] == pytest.approx(drawn_length, rel=0.1, abs=0.05)


@pytest.mark.parametrize("name", ["birch", "chestnut", "poplar", "willow", "lime"])
def test_teeth_are_counted(name):
    for seed in range(2):
        traits = measure_form(name, seed)
        # Up to two are lost beside the tip and two beside the base, where they are
        # drawn flat.
        assert 2 * FORMS[name].teeth - 4 <= traits["teeth"] <= 2 * FORMS[name].teeth + 2
        assert traits["tooth_depth"] > 0.5


@pytest.mark.parametrize("name", ["birch", "chestnut", "willow"])
@pytest.mark.parametrize("end", [0, -1])
def test_teeth_of_a_cut_blade_are_seen(name, end):
    drawn, _ = draw(name)
    places = np.rint(np.stack([drawn.tip, drawn.petiole[0]])).astype(int)
    cut = int(0.75 * places[end, 1] + 0.25 * places[1 + end, 1])
    picture = drawn.picture[slice(cut, None) if end == 0 else slice(cut)]
    traits, _ = measure_reliable_traits(segment(picture.copy(), AcquisitionType.SCAN))
    assert traits["tooth_depth"] > 0
    assert not {"length_width", "widest", "lobes", "petiole"} & traits.keys()


@pytest.mark.parametrize("name", ["beech", "laurel", "redbud"])
def test_an_entire_margin_has_no_teeth(name):
    for seed in range(2):
        traits = measure_form(name, seed)
        assert "teeth" not in traits or traits["teeth"] == 0


@pytest.mark.parametrize(
    ("name", "share", "blur"),
    [("poplar", 1, 8), ("willow", 1, 6.5), ("willow", 1, 10), ("maple", 0.1, 0)],
)
def test_where_teeth_cannot_be_seen_they_are_not_denied(name, share, blur):
    drawn, _ = draw(name)
    picture = cv2.resize(
        drawn.picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA
    )
    if blur:
        picture = cv2.GaussianBlur(picture, (0, 0), blur)
    leaf = segment(picture, AcquisitionType.SCAN)
    traits, _ = measure_reliable_traits(leaf)
    assert traits["leaflets"] == 1
    assert "teeth" not in traits


def measure_waves(number, depth, exponent):
    """Measure a drawn ellipse whose margin rises as a power of a wave."""
    angles = np.linspace(0, 2 * np.pi, 6000, endpoint=False)
    wave = np.abs(np.sin(number * angles / 2)) ** exponent
    radius = 1 + 2 * depth * (wave - 0.5)
    cols, rows = (
        500 + 300 * radius * np.cos(angles),
        200 + 150 * radius * np.sin(angles),
    )
    outline = np.rint(OVERSAMPLING * np.stack([cols, rows], axis=1)).astype(np.int32)
    picture = np.full((400 * OVERSAMPLING, 850 * OVERSAMPLING, 3), 250, np.uint8)
    cv2.fillPoly(picture, [outline], (45, 100, 60))
    size = (850, 400)
    picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    cv2.line(picture, (40, 200), (220, 200), (45, 100, 60), 10)
    return measure_reliable_traits(segment(picture, AcquisitionType.SCAN))[0]


@pytest.mark.parametrize(("number", "depth"), [(20, 0.03), (26, 0.02), (34, 0.015)])
def test_waves_of_a_margin_are_not_called_teeth(number, depth):
    wavy = measure_waves(number, depth, exponent=2)
    assert wavy["leaflets"] == 1
    assert not {"teeth", "tooth_depth"} & wavy.keys()
    # Crenate teeth meet in corners.
    assert measure_waves(number, depth, exponent=1)["tooth_depth"] > 1


@pytest.mark.parametrize(("number", "depth"), [(4, 0.07), (7, 0.035)])
@pytest.mark.parametrize("ratio", [1.3, 2.5, 5])
def test_few_or_wide_teeth_make_no_entire_margin(ratio, number, depth):
    along = np.linspace(0, 1, 4000)
    phase = (number * (along - 0.08) / 0.84) % 1
    rise = np.where(abs(along - 0.5) < 0.42, 1 - abs(2 * phase - 1), 0)
    for teeth in (rise, np.maximum(0, 6 * rise - 5)):
        half = (np.sqrt(along * (1 - along)) + depth * teeth) * 600 / ratio
        sides = [100 + 600 * along, 400 + half], [100 + 600 * along, 400 - half]
        outline = np.hstack([sides[0], np.flip(sides[1], axis=1)]).T
        mask = np.zeros((800, 760), np.uint8)
        cv2.fillPoly(mask, [np.rint(outline).astype(np.int32)], 1)
        cv2.line(mask, (20, 400), (110, 400), 1, 9)
        traits, _ = measure_reliable_traits(make_leaf(mask > 0))
        assert traits["leaflets"] == 1
        assert traits.get("tooth_depth") != 0


def test_teeth_of_one_pixel_are_not_told_from_its_grain():
    mask = np.zeros((300, 120), np.uint8)
    cv2.ellipse(mask, (60, 150), (20, 130), 0, 0, 360, 1, cv2.FILLED)
    mask[::6] = cv2.dilate(mask, np.ones((1, 3), np.uint8))[::6]
    assert "teeth" not in measure_reliable_traits(make_leaf(mask > 0))[0]


@pytest.mark.parametrize("name", ["ash", "rowan", "black locust"])
def test_leaflets_are_counted(name):
    number = 2 * FORMS[name].leaflets + 1
    for seed in range(2):
        drawn, segmentation = draw(name, seed)
        traits, landmarks = measure_reliable_traits(segmentation)
        assert traits["compound"] == 1
        assert traits.keys() <= {"compound", "leaflets", "petiole"}
        # Where leaflets overlap, their number is left out.
        assert abs(traits.get("leaflets", number) - number) <= 2
        assert np.hypot(*(landmarks.tip[::-1] - drawn.tip)) < 0.05 * landmarks.length


@pytest.mark.parametrize(
    ("name", "number", "sign"),
    [("maple", 5, -1), ("three-lobed maple", 3, -1), ("oak", 7, 1)],
)
def test_lobes_are_counted(name, number, sign):
    for seed in range(2):
        traits = measure_form(name, seed)
        assert (traits["leaflets"], traits["lobes"]) == (1, number)
        assert np.sign(traits["lobe_depth"]) == sign
        assert "widest" not in traits
        # That of the middle lobe, not of the blade.
        assert name == "oak" or traits["apex_angle"] < 100


@pytest.mark.parametrize("name", [*UNLOBED, "lime", "redbud"])
def test_a_cordate_base_reaches_below_its_middle(name):
    assert (measure_form(name)["base_extension"] > 0.05) == (FORMS[name].cordate > 0)


@pytest.mark.parametrize("cols", [(150, 350), (170, 350)])
def test_the_base_is_where_its_sinus_ends_even_if_a_lobe_touches_the_petiole(cols):
    mask = np.zeros((740, 500), np.uint8)
    cv2.ellipse(mask, (250, 250), (190, 200), 0, 0, 360, 1, cv2.FILLED)
    cv2.line(mask, (250, 440), (250, 730), 1, 12)
    for col in cols:
        cv2.circle(mask, (col, 470), 80, 1, cv2.FILLED)
    traits, landmarks = measure_reliable_traits(make_leaf(mask > 0))
    assert landmarks.base == pytest.approx([450, 250], abs=40)
    assert traits["base_extension"] == pytest.approx(100 / 400, abs=0.03)


def test_a_narrow_blade_begins_where_its_petiole_ends():
    rows, cols = np.mgrid[:900, :100]
    along = np.clip((700 - rows) / 650, 0, 1)
    half = 4 + 24 * np.sin(0.96 * np.pi * along)
    mask = (np.abs(cols - 50) <= half) & (rows > 50) & (rows < 840)
    landmarks = measure_reliable_traits(make_leaf(mask))[1]
    assert landmarks.has_base
    assert landmarks.base == pytest.approx([700, 50], abs=40)


def test_a_petiole_may_widen_up_to_its_blade():
    mask = np.zeros((700, 500), np.uint8)
    cv2.ellipse(mask, (250, 230), (200, 200), 0, 0, 360, 1, cv2.FILLED)
    corners = np.array([[239, 420], [261, 420], [252, 660], [248, 660]])
    cv2.fillConvexPoly(mask, corners, 1)
    leaf = Segmentation(mask > 0, mask > 0, 1.0)
    _, landmarks = measure_reliable_traits(leaf)
    assert landmarks.base == pytest.approx([430, 250], abs=15)
    assert landmarks.petiole == pytest.approx(230, abs=20)


def test_a_petiole_reaches_beyond_a_gap_in_a_small_picture():
    mask = np.zeros((80, 110), np.uint8)
    cv2.ellipse(mask, (80, 40), (24, 17), 0, 0, 360, 1, cv2.FILLED)
    cv2.line(mask, (40, 40), (60, 40), 1, 2)
    mask[:, 50:53] = 0
    _, landmarks = measure_reliable_traits(make_leaf(mask > 0))
    assert landmarks.petiole == pytest.approx(16, abs=2)


def test_a_petiole_bears_its_blade_and_not_a_gall():
    mask = np.zeros((760, 500), np.uint8)
    cv2.ellipse(mask, (250, 230), (150, 200), 0, 0, 360, 1, cv2.FILLED)
    cv2.line(mask, (250, 420), (250, 700), 1, 12)
    blade = mask.copy()
    blade[600:660] = 0
    cv2.circle(mask, (250, 700), 24, 1, cv2.FILLED)
    cv2.circle(blade, (250, 700), 24, 1, cv2.FILLED)
    # The segmentation took a piece of the petiole for all of it.
    leaf = Segmentation(mask > 0, blade > 0, 1.0)
    _, landmarks = measure_reliable_traits(leaf)
    assert landmarks.base == pytest.approx([430, 250], abs=15)
    assert landmarks.tip == pytest.approx([30, 250], abs=15)


def test_leaflets_that_hang_a_little_hide_no_petiole():
    mask = np.zeros((800, 500), np.uint8)
    cv2.line(mask, (250, 200), (250, 760), 1, 10)
    cv2.ellipse(mask, (250, 120), (50, 100), 0, 0, 360, 1, cv2.FILLED)
    for row in (240, 380, 520):
        for sign in (-1, 1):
            centre = 250 + sign * 115, row + 25
            cv2.ellipse(mask, centre, (105, 38), sign * 14, 0, 360, 1, cv2.FILLED)
    traits, landmarks = measure_reliable_traits(make_leaf(mask > 0))
    assert traits["compound"] == 1
    assert landmarks.base == pytest.approx([520, 250], abs=25)
    assert traits["petiole"] == pytest.approx(240 / 500, abs=0.06)


def test_of_ends_that_are_alike_both_are_measured():
    rows, cols = np.mgrid[-300:300, -150:150]
    lens = np.hypot(rows, np.abs(cols) + 250) < 350
    traits, landmarks = measure_reliable_traits(make_leaf(lens))
    assert not landmarks.has_base
    assert traits["base_angle"] == traits["apex_angle"] == pytest.approx(68, abs=8)


@pytest.mark.parametrize(
    "turn", [lambda a: np.rot90(a), lambda a: np.rot90(a, 2), lambda a: a[:, ::-1]]
)
def test_turned_and_mirrored_leaves_have_the_same_traits(turn):
    _, segmentation = draw("chestnut")
    before, _ = measure_reliable_traits(segmentation)
    after, _ = measure_reliable_traits(
        make_leaf(np.ascontiguousarray(turn(segmentation.mask)))
    )
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert after[name] == pytest.approx(value, rel=0.06, abs=0.02), name


def test_without_a_petiole_only_what_both_ends_share_is_told(leaf_on_white):
    segmentation = segment(leaf_on_white, AcquisitionType.SCAN)
    traits, landmarks = measure_reliable_traits(segmentation)
    assert not landmarks.has_base
    assert traits["length_width"] == pytest.approx(2.5, rel=0.05)
    assert traits["widest"] == pytest.approx(0.5, abs=0.06)
    assert not any(name.startswith(("apex", "base", "petiole")) for name in traits)


def test_a_bite_a_shadow_or_a_fold_makes_no_teeth():
    _, segmentation = draw("beech")
    mask = segmentation.mask.copy()
    rows, cols = np.nonzero(mask)
    for row in range(rows.min() + 60, rows.min() + 120, 12):
        cv2.circle(
            mask.view(np.uint8), (int(cols[rows == row].max()), row), 4, 0, cv2.FILLED
        )
    assert measure_reliable_traits(make_leaf(mask))[0].get("teeth", 0) == 0


@pytest.mark.parametrize("places", [(0.2, 0.42, 0.72), (0.15, 0.3, 0.45)])
@pytest.mark.parametrize("radius", [45, 65])
def test_bites_make_no_lobes(places, radius):
    _, segmentation = draw("beech")
    mask = segmentation.mask.copy()
    contour = trace_leaf(segmentation.mask)
    for place in places:
        row, col = contour[int(place * len(contour))].astype(int).tolist()
        cv2.circle(mask.view(np.uint8), (col, row), radius, 0, cv2.FILLED)
    traits, _ = measure_reliable_traits(make_leaf(mask))
    assert traits["leaflets"] == 1
    assert traits.get("lobes", 0) == 0


@pytest.mark.parametrize("radius", [40, 60])
def test_a_bite_out_of_the_tip_makes_no_notch(radius):
    mask = np.zeros((300, 900), np.uint8)
    cv2.ellipse(mask, (500, 150), (300, 140), 0, 0, 360, 1, cv2.FILLED)
    cv2.line(mask, (50, 150), (210, 150), 1, 10)
    cv2.circle(mask, (800, 150), radius, 0, cv2.FILLED)
    traits, _ = measure_reliable_traits(make_leaf(mask > 0))
    assert "base_angle" in traits
    assert "apex_angle" not in traits


@pytest.mark.parametrize(
    ("size", "angles"), [((200, 260), (210, 330)), ((200, 190), (170, 370))]
)
def test_a_fan_has_no_lobes(size, angles):
    mask = np.zeros((500, 500), np.uint8)
    cv2.ellipse(mask, (250, 330), size, 0, *angles, 1, cv2.FILLED)
    # A slit in the middle.
    cv2.line(mask, (250, 330 - size[1]), (250, 370 - size[1]), 0, 5)
    cv2.line(mask, (250, 330), (250, 480), 1, 7)
    traits, _ = measure_reliable_traits(make_leaf(mask > 0))
    assert is_fan(traits)
    assert "lobes" not in traits


def test_lobes_that_one_sinus_divides_are_not_numbered(real_data):
    # A maple with more lobes, which are shallow.
    image = read_image(real_data / "imageclef2011/Train/2238.jpg")
    traits, _ = measure_reliable_traits(segment(image, AcquisitionType.SCAN_LIKE))
    assert traits["leaflets"] == 1
    assert "lobes" not in traits


def test_lobes_that_may_be_leaflets_are_neither(real_data):
    image = read_image(real_data / "imageclef2011/Train/2451.jpg")
    traits, _ = measure_reliable_traits(segment(image, AcquisitionType.SCAN_LIKE))
    assert not traits.keys() - {"petiole"}


def test_traits_of_a_blade_that_does_not_fit_its_species_are_dropped():
    traits = {"compound": 0.0, "leaflets": 1.0, "lobes": 5.0, "petiole": 0.5}
    assert drop_misfits(traits, is_compound=1.0) == {"petiole": 0.5}
    assert drop_misfits(traits, is_compound=0.0) == traits
    assert drop_misfits(traits, is_compound=None) == traits
    del traits["compound"]
    assert drop_misfits(traits, is_compound=1.0) == traits


def make_leaf(mask):
    return Segmentation(mask, remove_petiole(mask), 1.0)


def _cross():
    mask = np.zeros((60, 60), bool)
    mask[30], mask[:, 30] = True, True
    return mask


def _anchor():
    """A stalk between two scraps, at the lowest row of the leaf."""
    mask = np.zeros((700, 700), bool)
    mask[:350, 175:525] = True
    mask[:, 348:352] = True
    mask[-1, 340:344] = mask[-1, 356:360] = True
    return mask


@pytest.mark.parametrize(
    "mask",
    [
        np.ones((1, 1), bool),
        np.ones((40, 40), bool),
        np.eye(50, dtype=bool),
        np.arange(900).reshape(30, 30) % 7 == 0,
        np.pad(np.ones((200, 1), bool), 3),
        _cross(),
        _anchor(),
    ],
)
def test_any_mask_gives_finite_traits(mask):
    segmentation = make_leaf(mask)
    traits, landmarks = measure_reliable_traits(segmentation)
    assert set(traits) <= set(TRAIT_NAMES)
    assert np.isfinite(list(traits.values())).all()
    assert np.isfinite(landmarks.framed).all()


@pytest.mark.parametrize("seed", range(6))
def test_peaks_are_those_of_scipy(seed):
    random = np.random.default_rng(seed)
    values = gaussian_filter1d(
        random.normal(size=512), random.uniform(0.5, 12), mode="wrap"
    )
    values = np.roll(values, -int(values.argmin()))
    prominence = random.uniform(0, 3) * values.std()
    np.testing.assert_array_equal(
        find_peaks(values, prominence),
        find_peaks_of_scipy(values, prominence=prominence)[0],
    )
