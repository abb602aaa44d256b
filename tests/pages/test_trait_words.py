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
        ({"widest": 0.39}, "ovate"),
        ({"widest": 0.41}, "elliptic"),
        ({"widest": 0.61}, "obovate"),
        ({"parallel": 0.34}, "oblong"),
        ({"length_width": 10}, "linear"),
    ],
)
def test_forms_go_by_the_greatest_width(changes, words):
    assert describe(**changes)["length_width"].startswith(f"{words}, ")


def test_lobed_leaves_have_no_form_of_their_own():
    words = describe(lobes=5, lobe_depth=-0.4, widest=None, parallel=None, length_width=0.8)
    assert words["length_width"] == "1.2 times as wide as long"
    assert words["lobes"] == "palmately lobed, about 5 lobes"
    assert describe(lobes=7, lobe_depth=0.4)["lobes"] == "pinnately lobed, about 7 lobes"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base_extension": 0.12}, "base cordate, its sinus 12% of the length deep"),
        ({"base_extension": 0.3}, "base lobate, its sinus 30% of the length deep"),
        ({"base_angle": 120, "base_bulge": 0.3}, "base rounded, 120°"),
        ({"base_angle": 80, "base_bulge": 0.1}, "base acute, straight, 80°"),
        ({"base_bulge": 0.0}, "base acute, concave, 50°"),
    ],
)
def test_bases(changes, words):
    assert describe(**changes)["base_angle"] == words


def test_an_entire_margin_and_a_compound_leaf():
    assert describe(teeth=0, tooth_depth=0)["teeth"] == "margin entire"
    assert describe(leaflets=11)["leaflets"] == "compound leaf of about 11 leaflets"
    assert describe(apex_extension=0.1)["apex_angle"] == "apex emarginate"


@pytest.mark.parametrize("name", ["leaflets", "length_width", "teeth", "apex_angle", "base_angle", "petiole"])
def test_a_trait_that_was_not_measured_is_left_out(name):
    words = describe(**{name: None})
    assert name not in words
    assert words
