"""Traits of drawn leaves, whose geometry is known; the oracle measures the drawn polygons themselves."""

import itertools
from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.descriptors.landmarks import find_landmarks
from leafid.descriptors.shape.peaks import find_closed_peaks
from leafid.descriptors.traits import TRAIT_NAMES, measure_traits
from leafid.pictures.picture import AcquisitionType
from leafid.segmentation import Segmentation, segment
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.result import find_bounding_box
from leafid.synthetic.leaf import grow_leaf
from leafid.synthetic.painter import choose_appearance, make_matrix, paint_leaf
from leafid.synthetic.species import SPECIES

BY_NAME = {species.name: species for species in SPECIES}
SIDE = 700
UNLOBED = [
    "Betula pendula",
    "Castanea sativa",
    "Celtis australis",
    "Fagus sylvatica",
    "Laurus nobilis",
    "Magnolia grandiflora",
    "Populus tremula",
    "Quercus ilex",
    "Salix alba",
]


@cache
def draw(name, seed=0, angle=0.3):
    """Draw a leaf on white; return picture and segmentation; and tip, petiole and outline as (col, row)."""
    species, rng = BY_NAME[name], np.random.default_rng(seed)
    leaf = grow_leaf(species, rng)
    low, high = leaf.compute_extent(make_matrix(1.0, angle))
    scale = 0.88 * SIDE / float((high - low).max())
    matrix, position = make_matrix(scale, angle), 0.06 * SIDE - scale * low
    shape = tuple(round(float(length)) for length in (scale * (high - low) + 0.12 * SIDE)[::-1])
    layer = paint_leaf(leaf, matrix, position, choose_appearance(species, -1.6, 0.1, 0.0), shape, rng)
    image = np.full((*shape, 3), 250, np.float32)
    rows, cols = layer.alpha.shape
    window = image[layer.row : layer.row + rows, layer.col : layer.col + cols]
    window += layer.alpha[..., None] * (layer.colour - window)
    picture = np.clip(image, 0, 255).astype(np.uint8)
    found = segment(picture, AcquisitionType.SCAN)

    def place(points):
        return np.asarray(points) @ matrix.T + position

    petiole = place(leaf.stalks[-1].points)
    return picture, found, place(leaf.blades[-1].right[-1:])[0], petiole, place(leaf.blades[0].contour)


def measure_drawn(tip, base, outline):
    """Measure a polygon in the frame of its midrib: the slow, literal version for unlobed blades."""
    length = np.hypot(*(tip - base))
    along = (tip - base) / length
    across = np.array([-along[1], along[0]])
    framed = np.stack([(outline - base) @ along, (outline - base) @ across], axis=1) / length
    closed = np.vstack([framed, framed[:1]])

    def reach(level, side):
        """The outermost crossing of a line across the midrib."""
        crossings = [0.0]
        for (u0, v0), (u1, v1) in itertools.pairwise(closed):
            if (u0 - level) * (u1 - level) <= 0 and u0 != u1:
                crossings.append(side * (v0 + (v1 - v0) * (level - u0) / (u1 - u0)))
        return max(crossings)

    width = {level: reach(level, 1) + reach(level, -1) for level in np.linspace(0.05, 0.95, 91)}
    wide = [level for level, own in width.items() if own >= 0.95 * max(width.values())]
    return {
        "length_width": float(np.ptp(framed[:, 0]) / np.ptp(framed[:, 1])),
        "widest": float(np.mean(wide)),
        "apex_angle": float(np.degrees(sum(np.arctan(reach(0.75, side) / 0.25) for side in (1, -1)))),
        "base_angle": float(np.degrees(sum(np.arctan(reach(0.25, side) / 0.25) for side in (1, -1)))),
    }


@pytest.mark.parametrize("name", UNLOBED)
@pytest.mark.parametrize("seed", [0, 1])
def test_proportions_and_angles_are_those_of_the_drawn_outline(name, seed):
    picture, found, tip, petiole, outline = draw(name, seed)
    traits, landmarks = measure_traits(picture, found)
    base, length = petiole[0], np.hypot(*(tip - petiole[0]))
    assert np.hypot(*(landmarks.tip[::-1] - tip)) < 0.08 * length
    assert np.hypot(*(landmarks.base[::-1] - base)) < 0.05 * length
    expected = measure_drawn(tip, base, outline)
    assert traits["length_width"].value == pytest.approx(expected["length_width"], rel=0.06)
    assert traits["widest"].value == pytest.approx(expected["widest"], abs=0.05)
    assert traits["apex_angle"].value == pytest.approx(expected["apex_angle"], abs=8)
    # The petiole widens into the blade: the base is found a little inside it.
    assert traits["base_angle"].value == pytest.approx(expected["base_angle"], abs=12)
    drawn_length = np.hypot(*np.diff(petiole, axis=0).T).sum() / length
    assert traits["petiole"].value == pytest.approx(drawn_length, rel=0.1, abs=0.05)
    assert all(own.confidence > 0.5 for own in traits.values())


@pytest.mark.parametrize(
    "name",
    ["Betula pendula", "Castanea sativa", "Celtis australis", "Ilex aquifolium", "Populus tremula", "Salix alba"],
)
def test_teeth_are_counted(name):
    outline = BY_NAME[name].outline
    for seed in range(3):
        traits, _ = measure_traits(*draw(name, seed)[:2])
        # Up to two are lost beside the tip and two beside the base, where they are drawn flat.
        assert 2 * outline.teeth - 4 <= traits["teeth"].value <= 2 * outline.teeth + 2
        assert traits["tooth_depth"].value > 0.5


@pytest.mark.parametrize("name", ["Cercis siliquastrum", "Laurus nobilis", "Magnolia grandiflora", "Olea europaea"])
def test_an_entire_margin_has_no_teeth(name):
    for seed in range(3):
        traits, _ = measure_traits(*draw(name, seed)[:2])
        assert "teeth" not in traits or traits["teeth"].value == 0


def test_teeth_of_one_pixel_are_not_told_from_its_grain():
    mask = np.zeros((300, 120), np.uint8)
    cv2.ellipse(mask, (60, 150), (20, 130), 0, 0, 360, 1, cv2.FILLED)
    mask[::6] = cv2.dilate(mask, np.ones((1, 3), np.uint8))[::6]
    assert "teeth" not in measure_traits(grey(mask), make_leaf(mask > 0))[0]


@pytest.mark.parametrize(
    ("name", "number"), [("Fraxinus excelsior", 11), ("Robinia pseudoacacia", 15), ("Sorbus aucuparia", 13)]
)
def test_leaflets_are_counted(name, number):
    counted = []
    for seed in range(5):
        traits, _ = measure_traits(*draw(name, seed)[:2])
        assert traits.keys() <= {"leaflets", "petiole"}
        counted.append(traits["leaflets"].value)
    # Leaflets that overlap may count as one, and a large one beside small ones as two.
    assert np.abs(np.array(counted) - number).max() <= 3
    assert np.mean(counted) == pytest.approx(number, abs=1.5)


@pytest.mark.parametrize(
    ("name", "number", "sign"),
    [("Acer platanoides", 5, -1), ("Acer monspessulanum", 3, -1), ("Quercus rubra", 7, 1)],
)
def test_lobes_are_counted(name, number, sign):
    for seed in range(3):
        traits, _ = measure_traits(*draw(name, seed)[:2])
        assert (traits["leaflets"].value, traits["lobes"].value) == (1, number)
        assert np.sign(traits["lobe_depth"].value) == sign
        assert "widest" not in traits


@pytest.mark.parametrize("name", [*UNLOBED, "Tilia cordata", "Cercis siliquastrum"])
def test_a_cordate_base_reaches_below_its_middle(name):
    traits, _ = measure_traits(*draw(name)[:2])
    assert (traits["base_extension"].value > 0.05) == (BY_NAME[name].outline.cordate > 0)


@pytest.mark.parametrize("name", ["Castanea sativa", "Fagus sylvatica", "Ilex aquifolium", "Quercus ilex"])
def test_pairs_of_secondary_veins_are_counted(name):
    pairs = BY_NAME[name].venation.pairs
    found = [measure_traits(*draw(name, seed)[:2])[0].get("vein_pairs") for seed in range(4)]
    counted = [own.value for own in found if own]
    assert len(counted) >= 3
    assert np.array(counted) == pytest.approx(pairs, rel=0.15)


@pytest.mark.parametrize("name", ["Laurus nobilis", "Cercis siliquastrum"])
def test_veins_that_are_not_there_are_not_counted(name):
    picture, found, *_ = draw(name)
    rng = np.random.default_rng(0)
    noise = np.clip(rng.normal(100, 12, picture.shape), 0, 255).astype(np.uint8)
    even = np.where(found.mask[..., None], np.uint8(100), picture)
    for other in (noise, even):
        assert "vein_pairs" not in measure_traits(other, found)[0]


@pytest.mark.parametrize("turn", [lambda a: np.rot90(a), lambda a: np.rot90(a, 2), lambda a: a[:, ::-1]])
def test_turned_and_mirrored_leaves_have_the_same_traits(turn):
    picture, found, *_ = draw("Castanea sativa")
    before, _ = measure_traits(picture, found)
    turned = np.ascontiguousarray(turn(picture))
    after, _ = measure_traits(turned, make_leaf(np.ascontiguousarray(turn(found.mask))))
    assert before.keys() == after.keys()
    for name, (value, _) in before.items():
        assert after[name].value == pytest.approx(value, rel=0.06, abs=0.02), name


def test_without_a_petiole_tip_and_base_are_not_told_apart(leaf_on_white):
    found = segment(leaf_on_white, AcquisitionType.SCAN)
    traits, landmarks = measure_traits(leaf_on_white, found)
    assert landmarks is None
    assert traits["length_width"].value == pytest.approx(2.5, rel=0.05)
    assert traits.keys() <= {"leaflets", "length_width", "teeth", "tooth_depth"}


def grey(mask):
    return np.full((*mask.shape, 3), 128, np.uint8)


def make_leaf(mask):
    return Segmentation(mask, remove_petiole(mask), 1.0, find_bounding_box(mask))


def _cross():
    mask = np.zeros((60, 60), bool)
    mask[30], mask[:, 30] = True, True
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
    ],
)
def test_any_mask_gives_finite_traits(mask):
    found = make_leaf(mask)
    traits, _ = measure_traits(grey(mask), found)
    assert set(traits) <= set(TRAIT_NAMES)
    assert all(np.isfinite(own.value) and 0 <= own.confidence <= 1 for own in traits.values())
    landmarks = find_landmarks(found)
    if landmarks is not None:
        assert np.isfinite(landmarks.framed).all()


def test_the_upright_picture_has_the_tip_above_the_base():
    _, found, *_ = draw("Castanea sativa", angle=2.0)
    upright = find_landmarks(found).turn_upright(found.blade.astype(np.uint8) * 255)
    rows = np.flatnonzero(upright[:, 256] > 127)
    assert rows.min() == pytest.approx(128, abs=6)
    assert rows.max() == pytest.approx(384, abs=6)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 2.0))
def test_peaks_are_those_of_their_prominence(seed, floor):
    """The peaks of a closed signal are the local maxima whose prominence, around the whole signal, is the floor."""
    from scipy.signal import find_peaks

    signal = np.random.default_rng(seed).normal(size=200).cumsum()
    signal = (signal - np.linspace(0, signal[-1], 200)).astype(np.float32)
    peaks, heights = find_closed_peaks(signal, floor)
    lowest = int(np.argmin(signal))
    opened = np.append(np.roll(signal, -lowest), signal[lowest]).astype(np.float64)
    expected, _ = find_peaks(opened, prominence=floor)
    assert np.array_equal(np.sort(peaks), np.sort((expected + lowest) % 200))
    assert (heights >= floor * (1 - 1e-6)).all()
