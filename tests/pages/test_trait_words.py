import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.pages import trait_words as words
from leafid.pages.trait_statements import Statement, state_traits

TEMPLATE = Path(words.__file__).parent / "templates" / "terms.html"
DRAWINGS = re.findall(r'^  \("([^"]+)"', TEMPLATE.read_text(encoding="utf-8"), re.M)
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


def change(**changes):
    return {
        name: value
        for name, value in {**CHESTNUT, **changes}.items()
        if value is not None
    }


def describe(**changes):
    return words.describe(state_traits(change(**changes)), "botanical")


def say_plainly(values):
    return words.describe(state_traits(values), "plain")


def test_a_toothed_leaf():
    assert state_traits(CHESTNUT)[3:6] == [
        Statement("margin", "toothed", "coarse"),
        Statement("teeth", number=38),
        Statement("apex", "acute", "acuminate", 39),
    ]
    assert [*describe().values()] == [
        "simple leaf",
        "elliptic",
        "3.4 times as long as wide",
        "margin coarsely toothed",
        "38 or more teeth",
        "apex acute, acuminate, 39°",
        "base acute, convex, 50°",
        "petiole 0.11 of the blade",
    ]


def test_a_statement_is_as_sure_as_the_least_sure_measure_it_rests_on():
    confidence = dict.fromkeys(CHESTNUT, 0.987) | {"widest": 0.7, "tooth_depth": 0.6}
    sure = {row.trait: row.sure for row in state_traits(CHESTNUT, confidence)}
    assert (sure["form"], sure["margin"], sure["apex"]) == (0.7, 0.6, 0.99)
    assert {row.sure for row in state_traits(CHESTNUT)} == {None}
    round_leaf = change(length_width=0.7, apex_angle=130, base_angle=95, base_bulge=0)
    assert state_traits(round_leaf, {"length_width": 0.5})[1][1:] == (
        "fan-shaped",
        "",
        None,
        0.5,
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"base_extension": 0.12}, "base cordate, its sinus 12% of the length deep"),
        (
            {"base_extension": 0.3},
            "base deeply cordate, its sinus 30% of the length deep",
        ),
        ({"base_angle": 120, "base_bulge": 0.3}, "base rounded, 120°"),
        ({"base_angle": 80, "base_bulge": 0.1}, "base acute, straight, 80°"),
        ({"base_angle": 91, "base_bulge": 0.1}, "base straight, 91°"),
        ({"base_bulge": 0.0}, "base acute, concave, 50°"),
        ({"base_bulge": None}, "base acute, 50°"),
    ],
)
def test_bases(changes, said):
    assert describe(**changes)["base"] == said


@pytest.mark.parametrize(
    ("changes", "form"),
    [
        ({"widest": 0.35, "length_width": 1.5}, "ovate"),
        ({"widest": 0.65}, "obovate"),
        ({"widest": 0.42, "length_width": 1.5}, ""),
        ({"widest": 0.4}, "lanceolate"),
        ({"parallel": 0.4}, "oblong"),
        ({"length_width": 12}, "linear"),
        (
            {
                "length_width": 1,
                "widest": 0.3,
                "base_extension": 0.15,
                "apex_angle": 80,
            },
            "heart-shaped",
        ),
        (
            {
                "length_width": 0.8,
                "widest": 0.3,
                "base_extension": 0.15,
                "apex_angle": 120,
            },
            "kidney-shaped",
        ),
        ({"length_width": 1.1, "apex_angle": 110, "base_angle": 110}, "orbicular"),
        (
            {
                "length_width": 0.7,
                "apex_angle": 130,
                "base_angle": 95,
                "base_bulge": 0.01,
            },
            "fan-shaped",
        ),
        ({"lobes": 5, "lobe_depth": 0.3}, ""),
    ],
)
def test_forms(changes, form):
    assert describe(**changes).get("form", "") == form


def test_an_unsure_number_is_left_out():
    assert "teeth" not in describe(teeth=None)
    assert describe(teeth=None)["margin"] == "margin coarsely toothed"
    assert describe(teeth=None, tooth_depth=1)["margin"] == "margin finely toothed"
    assert describe(teeth=20, tooth_depth=1.4)["margin"] == "margin toothed"
    lobed = describe(teeth=20, tooth_depth=5, lobes=5)
    assert (lobed["margin"], "teeth" in lobed) == ("margin toothed", False)
    assert "leaflets" not in describe(compound=1, leaflets=None)


def test_an_entire_margin_and_a_compound_leaf():
    assert describe(teeth=0, tooth_depth=0)["margin"] == "margin entire"
    assert describe(leaflets=11)["compound"] == "compound leaf"
    assert describe(leaflets=11)["leaflets"] == "11 or more leaflets"
    assert describe(apex_extension=0.1)["apex"] == "apex emarginate"


def test_plain_words():
    assert [*say_plainly(CHESTNUT).values()] == [
        "a single blade",
        "broadest in the middle",
        "about 3 times as long as wide",
        "edge with large teeth",
        "many teeth",
        "drawn out into a thin tip",
        "narrow at the base",
        "stalk about a tenth as long as the blade",
    ]


@pytest.mark.parametrize(
    ("changes", "name", "said"),
    [
        ({"leaflets": 7}, "leaflets", "7 or more leaflets"),
        ({"compound": 1}, "compound", "several leaflets on one stalk"),
        ({"length_width": 1.02}, "length_width", "as long as wide"),
        ({"length_width": 0.9}, "length_width", "a little wider than long"),
        (
            {"length_width": 1.2},
            "length_width",
            "about one and a quarter times as long as wide",
        ),
        ({"length_width": 2.1}, "length_width", "about twice as long as wide"),
        (
            {"length_width": 0.4},
            "length_width",
            "about two and a half times as wide as long",
        ),
        ({"length_width": 2.8}, "length_width", "about 3 times as long as wide"),
        ({"widest": 0.65}, "form", "broadest near the tip"),
        (
            {"widest": 0.3, "length_width": 1.6},
            "form",
            "egg-shaped, broadest near the stalk",
        ),
        (
            {"lobes": 5, "lobe_depth": -0.3, "base_extension": 0.1},
            "lobes",
            "about 5 lobes, spread like the fingers of a hand",
        ),
        ({"lobes": 5, "lobe_depth": -0.3}, "lobes", "lobes"),
        ({"lobes": 5, "lobe_depth": 0.3, "base_extension": 0.1}, "lobes", "lobes"),
        (
            {"lobes": 9, "lobe_depth": 0.3},
            "lobes",
            "lobes along both sides, as an oak leaf has them",
        ),
        ({"teeth": 0, "tooth_depth": 0}, "margin", "edge smooth, without teeth"),
        ({"teeth": 9, "tooth_depth": 3}, "teeth", "a few teeth"),
        ({"teeth": 12, "tooth_depth": 1.3}, "margin", "edge with teeth"),
        (
            {"apex_bulge": 0, "apex_angle": 90},
            "apex",
            "about a right angle at the tip",
        ),
        ({"base_extension": 0.12}, "base", "heart-shaped at the base"),
        ({"petiole": 0.19}, "petiole", "stalk about a fifth as long as the blade"),
        ({"petiole": 0.55}, "petiole", "stalk about half as long as the blade"),
        ({"petiole": 0.97}, "petiole", "stalk about as long as the blade"),
        ({"petiole": 1.3}, "petiole", "stalk longer than the blade"),
        ({"petiole": 0.06}, "petiole", "stalk very short"),
    ],
)
def test_plain_words_of_a_trait(changes, name, said):
    assert say_plainly(change(**changes))[name] == said


@given(
    st.fixed_dictionaries(
        {name: st.floats(-1, 1) for name in ("lobe_depth", "apex_bulge", "base_bulge")}
        | {
            name: st.floats(0, 1)
            for name in ("widest", "parallel", "apex_extension", "base_extension")
        }
        | {name: st.integers(0, 60) for name in ("leaflets", "lobes", "teeth")}
        | {name: st.floats(0, 180) for name in ("apex_angle", "base_angle")}
        | {
            "length_width": st.floats(0.1, 20),
            "tooth_depth": st.floats(0, 20),
            "petiole": st.floats(0, 10),
        }
    )
)
def test_each_statement_has_words_and_drawings_for_both_kinds_of_people(values):
    statements = state_traits(values)
    names = [statement.trait for statement in statements]
    assert len(names) == len({*names})
    assert statements == sorted(statements, key=words.get_place)
    exact = words.describe(statements, "botanical")
    plain = words.describe(statements, "plain")
    assert [*exact] == [*plain] == names
    assert all(
        re.fullmatch(r"[a-z0-9][a-z0-9., -]*[a-z]", text) for text in plain.values()
    )
    assert words.list_drawings(statements) <= set(DRAWINGS)


def test_marks_have_words_and_drawings():
    for marks in words.read_marks().values():
        statements = [*filter(None, marks.values())]
        assert all(words.describe(statements, "plain").values())
        assert words.list_drawings(statements) <= set(DRAWINGS)
