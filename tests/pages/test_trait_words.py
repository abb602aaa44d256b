import pytest

from leafid.pages.trait_words import describe_traits

CHESTNUT = {
    "leaflets": 1,
    "length_width": 3.4,
    "widest": 0.49,
    "parallel": 0.04,
    "lobes": 0,
    "teeth": 38,
    "tooth_depth": 1.9,
    "apex_angle": 39,
    "apex_bulge": -0.11,
    "apex_extension": 0,
    "base_angle": 50,
    "base_bulge": 0.19,
    "base_extension": 0,
    "petiole": 0.11,
}


def describe(**changes):
    values = {name: value for name, value in {**CHESTNUT, **changes}.items() if value is not None}
    return describe_traits(values)


def test_a_toothed_leaf():
    assert [*describe_traits(CHESTNUT).values()] == [
        "simple leaf",
        "elliptic, 3.4 times as long as wide",
        "margin toothed, about 38 teeth, 1.9% of the width high",
        "apex acute, acuminate, 39°",
        "base acute, convex, 50°",
        "petiole 0.1 of the blade",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base_extension": 0.12}, "base cordate, its sinus 12% of the length deep"),
        ({"base_extension": 0.3}, "base lobate, its sinus 30% of the length deep"),
        ({"base_angle": 120, "base_bulge": 0.3}, "base rounded, 120°"),
        ({"base_angle": 80, "base_bulge": 0.1}, "base acute, straight, 80°"),
        ({"base_angle": 91, "base_bulge": 0.1}, "base straight, 91°"),
        ({"base_bulge": 0.0}, "base acute, concave, 50°"),
        ({"base_bulge": None}, "base acute, 50°"),
    ],
)
def test_bases(changes, words):
    assert describe(**changes)["base_angle"] == words


@pytest.mark.parametrize(
    ("changes", "form"),
    [
        ({"widest": 0.35, "length_width": 1.5}, "ovate"),
        ({"widest": 0.65}, "obovate"),
        ({"widest": 0.42, "length_width": 1.5}, ""),
        ({"widest": 0.4}, "lanceolate"),
        ({"parallel": 0.4}, "oblong"),
        ({"length_width": 12}, "linear"),
        ({"length_width": 1, "widest": 0.3, "base_extension": 0.15, "apex_angle": 80}, "heart-shaped"),
        ({"length_width": 0.8, "widest": 0.3, "base_extension": 0.15, "apex_angle": 120}, "kidney-shaped"),
        ({"length_width": 1.1, "apex_angle": 110, "base_angle": 110}, "orbicular"),
        ({"length_width": 0.7, "apex_angle": 130, "base_angle": 95, "base_bulge": 0.01}, "fan-shaped"),
        ({"lobes": 5, "lobe_depth": 0.3}, ""),
    ],
)
def test_forms(changes, form):
    told = describe(**changes)["length_width"]
    assert told.rpartition(", ")[0] == form


def test_an_unsure_number_is_left_out():
    assert describe(teeth=None)["teeth"] == "margin finely toothed, teeth 1.9% of the width high"
    assert describe(teeth=None, tooth_depth=4)["teeth"] == "margin coarsely toothed, teeth 4.0% of the width high"
    assert describe(compound=1, leaflets=None)["leaflets"] == "compound leaf"


def test_an_entire_margin_and_a_compound_leaf():
    assert describe(teeth=0, tooth_depth=0)["teeth"] == "margin entire"
    assert describe(leaflets=11)["leaflets"] == "compound leaf of about 11 leaflets"
    assert describe(apex_extension=0.1)["apex_angle"] == "apex emarginate"
