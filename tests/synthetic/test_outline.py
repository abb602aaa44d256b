import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import find_peaks

from leafid.synthetic.leaf import grow_leaf
from leafid.synthetic.outline import compute_blade_outline, compute_half_width, compute_lobe_axes
from leafid.synthetic.species import SPECIES, Arrangement, Lobing, Outline, vary

BY_NAME = {species.name: species for species in SPECIES}


def compute_area(points):
    x, y = points.T
    return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2


def close_contour(halves):
    right, left = halves
    return np.vstack([right, left[-2::-1]])


def test_an_ellipse_has_the_area_of_an_ellipse():
    # base = tip = 0.5 is the ellipse x = width * sqrt(t (1 - t)): compute_area pi/4 * width * length.
    halves = compute_blade_outline(Outline(width=0.4, base=0.5, tip=0.5, wave=0.0), np.random.default_rng(0))
    # 160 points on a side: the area of the polygon is less than 1 part in 1000 too small.
    assert compute_area(close_contour(halves)) == pytest.approx(np.pi / 4 * 0.4, rel=1e-3)


@given(width=st.floats(0.1, 1.2), base=st.floats(0.3, 2.0), tip=st.floats(0.3, 2.0), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_half_width_is_largest_where_the_formula_says(width, base, tip, seed):
    height = np.random.default_rng(seed).uniform(0, 1, 200)
    peak = base / (base + tip)
    assert compute_half_width(Outline(width, base, tip), np.array([peak]))[0] == pytest.approx(width / 2)
    assert compute_half_width(Outline(width, base, tip), height).max() <= width / 2 * (1 + 1e-12)


@pytest.mark.parametrize("species", SPECIES, ids=lambda species: species.name)
def test_halves_meet_at_stalk_and_tip_and_keep_to_their_side(species):
    for seed in range(5):
        right, left = compute_blade_outline(species.outline, np.random.default_rng(seed))
        assert right[0].tolist() == left[0].tolist() == [0.0, 0.0]
        assert right[-1].tolist() == left[-1].tolist()
        assert 0.6 < right[-1, 1] < 1.25
        assert (right[:, 0] >= 0).all()
        assert (left[:, 0] <= 0).all()
        assert np.isfinite(right).all()
        assert np.isfinite(left).all()
        assert compute_area(close_contour((right, left))) > 0.02


@pytest.mark.parametrize("lobes", [3, 5, 7])
def test_palmate_blade_has_the_given_number_of_lobes(lobes):
    shape = Outline(0.25, 0.95, 0.9, lobing=Lobing.PALMATE, lobes=lobes, lobe_spread=45, lobe_falloff=0.05, wave=0.0)
    contour = close_contour(compute_blade_outline(shape, np.random.default_rng(1)))
    radius = np.hypot(*contour.T)
    peaks, _ = find_peaks(radius, prominence=0.05)
    assert len(peaks) == lobes


def test_lobes_get_shorter_from_the_middle_outwards():
    angles, lengths = compute_lobe_axes(BY_NAME["Acer platanoides"].outline)
    assert len(angles) == 3
    assert angles[0] == 0
    assert lengths[0] == 1
    assert (np.diff(angles) > 0).all()
    assert (np.diff(lengths) < 0).all()


@pytest.mark.parametrize("teeth", [8, 15, 30])
def test_blade_has_the_given_number_of_teeth(teeth):
    shape = Outline(0.4, 0.6, 0.8, teeth=teeth, tooth_depth=0.02, tooth_start=0.1, wave=0.0)
    right, _ = compute_blade_outline(shape, np.random.default_rng(3))
    inside = (right[:, 1] > 0.0) & (right[:, 1] < 1.0)
    out = right[inside, 0] - compute_half_width(shape, right[inside, 1])
    peaks, _ = find_peaks(out, prominence=0.002)
    # The last teeth fade out towards the tip.
    assert teeth - 4 <= len(peaks) <= teeth


def test_heart_shaped_base_hangs_below_the_stalk():
    heart = Outline(1.0, 0.45, 0.6, cordate=0.15, wave=0.0)
    right, _ = compute_blade_outline(heart, np.random.default_rng(0))
    assert -0.15 < right[:, 1].min() < -0.08


def test_ginkgo_has_a_notch_in_the_middle():
    right, left = compute_blade_outline(BY_NAME["Ginkgo biloba"].outline, np.random.default_rng(0))
    assert right[-1, 1] < right[:, 1].max() - 0.1
    assert left[-1, 1] < left[:, 1].max() - 0.1


@pytest.mark.parametrize("species", SPECIES, ids=lambda species: species.name)
def test_a_variation_by_nothing_equals_the_species(species):
    assert vary(species, np.random.default_rng(0), amount=0.0) == species


def test_leaves_of_a_plant_are_more_alike_than_plants():
    rng = np.random.default_rng(5)
    plants = [vary(SPECIES[1], rng) for _ in range(40)]
    leaves = np.log([[vary(plant, rng, 0.6).outline.width for _ in range(10)] for plant in plants])
    assert leaves.std(axis=1).mean() < leaves.mean(axis=1).std()


def test_compound_leaves_have_their_leaflets():
    robinia, aesculus = BY_NAME["Robinia pseudoacacia"], BY_NAME["Aesculus hippocastanum"]
    assert len(grow_leaf(robinia, np.random.default_rng(0)).blades) == 2 * robinia.leaflets + 1
    assert len(grow_leaf(aesculus, np.random.default_rng(0)).blades) == aesculus.leaflets == 7
    assert len(grow_leaf(SPECIES[0], np.random.default_rng(0)).blades) == 1


def test_petiole_hangs_below_the_blade():
    for species in SPECIES:
        leaf = grow_leaf(species, np.random.default_rng(1))
        assert leaf.stalks[-1].points[:, 1].min() < -0.8 * species.petiole_length


def test_catalogue_has_28_species_with_scientific_names():
    assert len(SPECIES) == 28
    assert len(BY_NAME) == 28
    assert "Platanus x hispanica" in [species.name for species in SPECIES[:12]]
    assert {species.arrangement for species in SPECIES[:12]} == set(Arrangement)
    for species in SPECIES:
        assert species.family.endswith("aceae")
        assert species.order.endswith("ales")
        assert species.genus[0].isupper()
        assert species.epithet.islower()
