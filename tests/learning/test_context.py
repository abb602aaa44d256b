import math
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.learning.context import (
    Bandwidths,
    Context,
    apply_prior,
    collect_sightings,
    compute_density_ratios,
    encode_context,
)
from leafid.learning.context_fitting import choose_candidate, fit_context_prior
from leafid.learning.held_out import HeldOutAnswers
from leafid.pictures.geography import compute_great_circle_km
from leafid.pictures.picture import Picture, Place, Taxon

NAMES = ("Acer campestre", "Olea europaea", "Salix alba")
#: Repeated here: a formula that shares the constant would not notice a change of it.
BACKGROUND = 0.01
WIDTHS = Bandwidths(50.0, 30.0, 300.0)


def picture(name, species=None, plant=None, day=None, place=None, **other):
    taxon = Taxon(species) if species else None
    return Picture(Path(f"{name}.jpg"), taxon=taxon, plant=plant, date=day, place=place, **other)


# The second plant was pictured on two days; the others lack one thing each.
TRAINING = [
    picture(1, NAMES[0], "a", "2010-05-03", Place(None, 43.61, 3.88, 30.0)),
    picture(2, NAMES[0], "b", "2009-07-14", Place(None, 44.25, 4.11, 250.0)),
    picture(3, NAMES[0], "b", "2009-10-02", Place(None, 44.25, 4.11, 250.0)),
    picture(4, NAMES[1], "c", "2011-06", Place(None, 43.10, 3.05)),
    picture(5, NAMES[1], "d", None, Place(None, 43.75, 4.40, 700.0)),
    picture(6, NAMES[1], "e", "2010-06-21", None),
    picture(7, "Quercus ilex", "f", "2010-06-21", Place(None, 43.6, 3.9, 30.0)),
]
ASKED = [
    picture("p", day="2012-06-01", place=Place(None, 43.70, 3.95, 60.0)),
    picture("q", day="2012-12-30", place=Place(None, 43.70, 3.95)),
    picture("r", place=Place(None, 44.0, 4.2, 100.0)),
    picture("s", day="2012-06-15"),
    picture("t", day="2012"),
]


def literal_ratio(asked, species, shrinkage=1.0):
    """The formula picture by picture; WIDTHS, and the training plants above."""

    def day_angle(one):
        if one.date is None or len(one.date) < 7:
            return None
        parts = [int(part) for part in one.date.split("-")]
        day = date(parts[0], parts[1], parts[2] if len(parts) > 2 else 15)
        return 2 * math.pi * (day - date(parts[0], 1, 1)).days / 365.25

    def spot(one):
        return None if one.place is None else (one.place.latitude, one.place.longitude)

    def altitude(one):
        return None if one.place is None else one.place.altitude

    def near_place(x, y):
        return math.exp(-0.5 * (compute_great_circle_km(np.array([x]), np.array([y]))[0, 0] / 50) ** 2)

    def near_day(x, y):
        return math.exp((365.25 / (2 * math.pi * 30)) ** 2 * (math.cos(x - y) - 1))

    def near_altitude(x, y):
        return math.exp(-0.5 * ((x - y) / 300) ** 2)

    rows = [one for one in TRAINING if one.species in NAMES]
    weight = {one.name: 1 / sum(other.plant == one.plant for other in rows) for one in rows}
    kernel = {one.name: 1.0 for one in rows}
    for get, near in ((spot, near_place), (day_angle, near_day), (altitude, near_altitude)):
        if get(asked) is not None:
            found = {one.name: near(get(asked), get(one)) for one in rows if get(one) is not None}
            mean = sum(weight[name] * value for name, value in found.items()) / sum(weight[name] for name in found)
            for one in rows:
                kernel[one.name] *= found.get(one.name, mean)
    plants = sum(weight[one.name] for one in rows if one.species == species)
    near = sum(weight[one.name] * kernel[one.name] for one in rows if one.species == species)
    pooled = BACKGROUND + sum(weight[one.name] * kernel[one.name] for one in rows) / sum(weight.values())
    return (plants * BACKGROUND + near + shrinkage * pooled) / ((plants + shrinkage) * pooled)


def ratios(asked, training=TRAINING, widths=WIDTHS):
    known = collect_sightings(training, NAMES)
    allowed = np.ones((len(asked), len(known.weights)), bool)
    return compute_density_ratios(encode_context(asked), known, allowed, widths, 1.0, len(NAMES))


def context(weight=0.5, widths=WIDTHS, training=TRAINING):
    return Context(collect_sightings(training, NAMES), widths, 1.0, weight, len(NAMES))


def test_density_is_its_formula():
    expected = [[literal_ratio(one, name) for name in NAMES] for one in ASKED[:4]]
    # Coordinates are kept to two decimals; those above have no more.
    np.testing.assert_allclose(ratios(ASKED[:4]), expected, rtol=1e-12)
    assert np.ptp(ratios(ASKED[:1])) > 0.1


def test_what_is_known_of_a_picture():
    rows = encode_context([*ASKED, picture("u", day="2010-13-40"), picture("v", day="2010-01-01T12:00")])
    assert rows[0, :3].tolist() == [43.70, 3.95, 60.0]
    assert rows[0, 3] == pytest.approx(2 * math.pi * 152 / 365.25)  # 2012 was a leap year
    assert np.isnan(rows[1, 2])
    assert not np.isnan(rows[1, 3])
    assert np.isnan(rows[3, :3]).all()
    assert np.isnan(rows[4]).all()
    assert np.isnan(rows[5]).all()
    assert rows[6, 3] == 0


def test_new_year_is_no_border():
    training = [picture(1, NAMES[0], "a", "2010-01-01"), picture(2, NAMES[1], "b", "2010-07-01")]
    first, second, _ = ratios([picture("p", day="2011-12-31")], training, Bandwidths(days=30.0))[0]
    assert first > 1 > second


def test_a_plant_counts_once_however_many_pictures():
    more = [replace(one, file=Path(f"again{number}_{one.name}")) for number in range(3) for one in TRAINING]
    np.testing.assert_array_equal(ratios(ASKED, [*more, *TRAINING]), ratios(ASKED))
    np.testing.assert_array_equal(ratios(ASKED, TRAINING[::-1]), ratios(ASKED))


def test_authors_names_years_and_localities_have_no_say():
    other = [
        replace(
            one,
            file=Path(f"elsewhere/{9999 - number}.jpg"),
            author=f"author {number % 2}",
            organization="a club",
            plant=f"plant {one.plant}",
            date=one.date and one.date.replace("2009", "2007").replace("2010", "2006").replace("2011", "2013"),
            place=one.place and replace(one.place, locality=f"garden {number}"),
        )
        for number, one in enumerate(TRAINING)
    ]
    np.testing.assert_array_equal(ratios(ASKED, other), ratios(ASKED))
    known = [replace(one, author="author 1", plant="a", file=Path("1.jpg")) for one in ASKED]
    np.testing.assert_array_equal(ratios(known), ratios(ASKED))


def test_what_is_not_known_has_no_say():
    nothing = [
        ASKED[4],
        picture("u"),
        picture("v", place=Place("somewhere")),
        picture("w", place=Place(None, 0.0, 0.0)),
    ]
    assert (ratios(nothing) == 1).all()
    posterior = np.array([[0.1, 0.2, 0.7]] * 4)
    assert (context().apply(posterior, nothing) == posterior).all()
    # What is known but not looked at has none either.
    assert (ratios(ASKED[3:4], widths=Bandwidths(place_km=50.0)) == 1).all()
    assert (ratios(ASKED, [picture(1, NAMES[0], "a"), picture(2, NAMES[1], "b")]) == 1).all()
    assert (ratios(ASKED, []) == 1).all()


def test_far_from_everything_nothing_is_said():
    far = [picture("p", place=Place(None, -33.9, 151.2))]
    np.testing.assert_allclose(ratios(far, widths=Bandwidths(place_km=50.0)), 1)


def test_a_species_without_a_plant_is_left_alone():
    np.testing.assert_allclose(ratios(ASKED)[:, 2], 1)


probabilities = st.lists(st.floats(1e-6, 1), min_size=3, max_size=3)


@given(probabilities, probabilities, st.floats(0, 3))
def test_combined_rows_sum_to_one(posterior, prior, weight):
    posterior, prior = np.array([posterior]) / sum(posterior), np.array([prior]) / sum(prior)
    found = apply_prior(posterior, prior, weight)
    literal = posterior * prior**weight
    np.testing.assert_allclose(found, literal / literal.sum(), rtol=1e-9)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert (apply_prior(posterior, prior, 0.0) == posterior).all()


def test_priors_sum_to_one():
    np.testing.assert_allclose(context().compute_priors(ASKED).sum(axis=1), 1)
    assert (context().compute_priors(ASKED) > 0).all()
    assert context().compute_priors([]).shape == (0, 3)


def test_a_species_that_looks_exclude_stays_excluded():
    found = apply_prior(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.9, 0.1], [0.9, 0.1]]), 1.0)
    assert found.tolist() == [[0, 1], [0, 0]]


def simulated(seed, rule, n_plants=60, n_places=12):
    """Two pictures of each plant of six species at towns in two regions; looks tell a little of the species."""
    random = np.random.default_rng(seed)
    names = tuple(f"Genus s{number}" for number in range(6))
    towns = [(44.0 + 0.5 * (k // 2) + (3 if k % 2 else 0), 0.3 * k) for k in range(n_places)]
    pictures, rows = [], []
    for plant in range(n_plants):
        species, number = plant % 6, random.integers(n_places)
        if rule == "region":
            number = 2 * (number // 2) + species % 2
        elif rule == "garden":
            # Every town grows two species of its own, which say nothing of any other town.
            number = random.choice([k for k in range(n_places) if species in (k % 6, (k * 5 + 1) % 6)])
        for side in range(2):
            latitude, longitude = np.array(towns[number]) + random.normal(0, 0.005, 2)
            day = f"2010-{random.integers(4, 11):02d}-{random.integers(1, 29):02d}"
            place = Place(None, latitude, longitude)
            pictures.append(picture(f"{plant}_{side}", names[species], str(plant), day, place))
            score = random.normal(0, 1, 6)
            score[species] += 1.5
            rows.append(np.exp(score) / np.exp(score).sum())
    return HeldOutAnswers(pictures, np.array(rows), names, np.ones(len(pictures), bool)), pictures


def test_weight_where_regions_differ():
    held_out, pictures = simulated(0, "region")
    learned = fit_context_prior(held_out, pictures)
    assert learned.weight > 0
    assert learned.bandwidths.place_km is not None
    # Another town of the north: the north's species gain.
    prior = learned.compute_priors([picture("new", place=Place(None, 47.8, 1.0))])[0]
    assert min(prior[1::2]) > max(prior[::2])


@pytest.mark.parametrize(("rule", "seed"), [("random", 0), ("random", 1), ("garden", 0), ("garden", 1)])
def test_no_weight_where_it_does_not_help_elsewhere(rule, seed):
    held_out, pictures = simulated(seed, rule)
    learned = fit_context_prior(held_out, pictures)
    assert learned.weight == 0
    assert (learned.apply(held_out.probabilities, pictures) == held_out.probabilities).all()
    assert str(learned) == "weight 0 (it does not help at other places)"


def test_no_weight_where_there_is_nothing_to_learn_from():
    held_out, pictures = simulated(0, "region")
    bare = [replace(one, place=None, date=None) for one in pictures]
    assert fit_context_prior(replace(held_out, pictures=bare), bare).weight == 0
    # Dates alone can't be shown to hold at other places.
    dated = [replace(one, place=None) for one in pictures]
    assert fit_context_prior(replace(held_out, pictures=dated), dated).weight == 0
    unseen = replace(held_out, is_known=np.zeros(len(pictures), bool))
    assert fit_context_prior(unseen, pictures).weight == 0


def test_it_does_not_say_that_it_tried_where_it_could_not():
    towns = [Place(None, 43.6, 3.9), Place(None, 43.61, 3.9), Place(None, 45.0, 3.0), Place(None, 48.0, 1.0)]
    for places, expected in [
        ([None] * 4, "training knew no places"),
        (towns[:2], "training knew too few places"),
        # Those whose place isn't known count as one.
        ([*towns[:2], None], "training knew too few places"),
        ([*towns[:3], None], "it does not help at other places"),
        (towns, "it does not help at other places"),
    ]:
        pictures = [picture(i, NAMES[i % 2], f"p{i}", "2010-05-03", place) for i, place in enumerate(places)]
        known = collect_sightings(pictures, NAMES)
        assert str(Context(known, Bandwidths(), 1.0, 0.0, len(NAMES))) == f"weight 0 ({expected})"


def test_choice_needs_a_gain_by_plant_and_elsewhere():
    places = np.repeat(np.arange(6), 2)
    good, bad = np.full(12, 0.2), np.full(12, -0.1)
    assert choose_candidate(np.array([bad, good]), np.array([bad, good]), places) == 1
    assert choose_candidate(np.array([good]), np.array([bad]), places) is None
    assert choose_candidate(np.array([bad]), np.array([good]), places) is None
    # All of it comes from one place: no more than chance.
    once = np.where(places == 0, 2.0, 0.0)
    assert choose_candidate(np.array([good]), np.array([once]), places) is None


def test_each_candidate_is_asked_of_places_that_did_not_choose_it():
    # Each candidate is good at one place only: the best of them looks well, and is of no use at the next place.
    places = np.arange(8)
    by_place = np.full((8, 8), -0.1) + np.eye(8)
    assert choose_candidate(np.full((8, 8), 1.0), by_place, places) is None


def test_it_says_what_it_looks_at():
    assert str(context()) == "weight 0.5, 50 km, 30 days, 300 m of altitude"
    assert str(Bandwidths()) == "nothing"
