"""The verdict of an answer, and probabilities as a person is told them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.model.answer import Answer, format_probability
from leafid.model.judgement import rank_species
from leafid.pictures.picture import AcquisitionType, Picture, Taxon

ANSWER = Answer(
    Picture(Path("leaf.jpg"), AcquisitionType.SCAN),
    [("Ginkgo biloba", 0.84), ("Acer campestre", 0.1), ("Tilia cordata", 0.06)],
    1.0,
    p_leaf=0.9,
    p_known=0.9,
    common_names={"Ginkgo biloba": ("Ginkgo", "Maidenhair tree")},
    taxa={
        "Ginkgo biloba": Taxon("Ginkgo biloba", "Ginkgo", "Ginkgoaceae"),
        "Acer campestre": Taxon("Acer campestre", "Acer", "Sapindaceae"),
        "Acer opalus": Taxon("Acer opalus", "Acer", "Sapindaceae"),
        "Aesculus hippocastanum": Taxon(
            "Aesculus hippocastanum", "Aesculus", "Sapindaceae"
        ),
        "Tilia cordata": Taxon("Tilia cordata", "Tilia", "Malvaceae"),
    },
)
#: Of a model that has not learned to tell leaves of known species.
UNJUDGED = {"p_leaf": None, "p_known": None}
MAPLES = [("Acer campestre", 0.5), ("Acer opalus", 0.48), ("Tilia cordata", 0.02)]


@pytest.mark.parametrize(
    ("changes", "verdict", "text", "name"),
    [
        (
            {},
            "species",
            "Probably Ginkgo biloba (Ginkgo), 68%, or Acer campestre, 8%",
            "Ginkgo biloba",
        ),
        (
            UNJUDGED,
            "species",
            "Probably Ginkgo biloba (Ginkgo), 84%, or Acer campestre, 10%",
            "Ginkgo biloba",
        ),
        (
            {"ranking": [("Ginkgo biloba", 1.0)], "p_leaf": 0.99},
            "species",
            "Probably Ginkgo biloba (Ginkgo), 89%",
            "Ginkgo biloba",
        ),
        (
            {"p_leaf": 0.7},
            "species",
            "Perhaps Ginkgo biloba (Ginkgo), 53%, or Acer",
            "Ginkgo biloba",
        ),
        (
            {"p_leaf": 0.22},
            "uncertain",
            "Unsure, but most like Ginkgo biloba (Ginkgo), 17%",
            "Ginkgo biloba",
        ),
        (
            {"calibration": (2.0, 2.0)},
            "species",
            "Probably Ginkgo biloba (Ginkgo), 97%",
            "Ginkgo biloba",
        ),
        (
            {"calibration": (2.0, 3.0)},
            "species",
            "Sure: Ginkgo biloba (Ginkgo), 99%",
            "Ginkgo biloba",
        ),
        (
            {"calibration": (0.5, -2.0)},
            "uncertain",
            "Unsure, but most like Ginkgo biloba (Ginkgo), 16%",
            "Ginkgo biloba",
        ),
        (
            {"ranking": MAPLES, "p_leaf": 0.99, "p_known": 0.99},
            "uncertain",
            "Perhaps Acer campestre, 49%, or Acer opalus, 47%; surely the genus Acer, "
            "96%",
            "Acer campestre",
        ),
        (
            {
                "ranking": [MAPLES[0], ("Aesculus hippocastanum", 0.48)],
                "p_leaf": 0.99,
                "p_known": 0.99,
            },
            "uncertain",
            "Perhaps Acer campestre, 49%, or Aesculus hippocastanum, 47%; surely the "
            "family Sapindaceae, 96%",
            "Acer campestre",
        ),
        (
            {
                "ranking": [MAPLES[0], ("Tilia cordata", 0.48)],
                "p_leaf": 0.99,
                "p_known": 0.99,
            },
            "uncertain",
            "Perhaps Acer campestre, 49%, or Tilia cordata, 47%; surely one of the "
            "two, 96%",
            "Acer campestre",
        ),
        (
            {"p_leaf": 0.22, "reasons": ("it is blurred: hold the camera still",)},
            "uncertain",
            "Unsure, but most like Ginkgo biloba (Ginkgo), 17%; it is blurred: hold "
            "the camera still",
            "Ginkgo biloba",
        ),
        (
            {"decision": "unclear"},
            "unclear",
            "Unclear: this picture can't be judged; the most similar species is Ginkgo",
            None,
        ),
        (
            {
                "decision": "unclear",
                "reasons": (
                    "it is blurred: hold the camera still",
                    "it is dark: use a lamp",
                ),
            },
            "unclear",
            "Unclear: this picture can't be judged; the most similar species is Ginkgo "
            "biloba (Ginkgo); it is blurred: hold the camera still; it is dark: use a "
            "lamp",
            None,
        ),
        (
            {"decision": "unknown"},
            "unknown",
            "Unknown: probably none of the 3 species that the model knows;",
            None,
        ),
        (
            {"decision": "unknown", "reasons": ("it is dark: use a lamp",)},
            "unknown",
            "Unknown: probably none of the 3 species that the model knows; the most "
            "similar species is Ginkgo biloba (Ginkgo); it is dark: use a lamp",
            None,
        ),
        (
            {
                "decision": "no-leaf",
                "p_leaf": 0.01,
                "reasons": ("it is dark: use a lamp",),
            },
            "no-leaf",
            "No leaf: leafid sees none in this picture; it is dark: use a lamp",
            None,
        ),
        (
            {"ranking": MAPLES, "decision": "genus", "backed_off": ("Acer *", 0.98)},
            "genus",
            "Probably Acer, 79%; no single species is probable enough, the most "
            "probable is Acer campestre, 40%",
            "Acer",
        ),
        (
            {"decision": "unknown", "backed_off": ("*", 1.0)},
            "unknown",
            "Unknown: not even an order is",
            None,
        ),
        (
            {"problem": "leaf.jpg: empty", "ranking": []},
            "unreadable",
            "This file can't be read",
            None,
        ),
    ],
)
def test_verdicts(changes, verdict, text, name):
    answer = replace(ANSWER, **changes)
    assert (answer.verdict, answer.name) == (verdict, name)
    assert answer.verdict_text.startswith(text)
    assert answer.verdict_text.count(f" {name} (") < 2
    record = answer.to_dict()
    assert (record["verdict"], record["name"]) == (verdict, name)
    assert (record["answer_probability"], record["reasons"]) == (
        answer.answer_probability,
        list(answer.reasons),
    )
    assert (answer.answer_probability is None) == (verdict == "unreadable")


@given(st.floats(0.2, 5), st.floats(-5, 5), st.floats(0, 1), st.floats(0, 1))
def test_species_keep_their_order_and_the_second_gets_no_more_than_the_first_leaves(
    slope, offset, leaf, known
):
    answer = replace(ANSWER, calibration=(slope, offset), p_leaf=leaf, p_known=known)
    first, second, third = [
        answer.calibrate(probability) for _, probability in answer.ranking
    ]
    assert first >= second >= third
    assert first + second <= 1 + 1e-9


def test_the_head_says_nothing_of_what_supposes_a_known_leaf():
    doubtful = replace(
        ANSWER,
        ranking=[("Ginkgo biloba", 0.999), ("Acer campestre", 0.001)],
        p_leaf=0.5,
    )
    assert "99%" not in doubtful.verdict_text
    assert doubtful.details == (
        "Leaf 50%, of a known species 90%; if both are true, Ginkgo biloba over 99%, "
        "Acer campestre under 1%"
    )
    assert replace(ANSWER, **UNJUDGED).details == ""


@pytest.mark.parametrize(
    ("decision", "note"),
    [
        ("species", "4 leaves; the largest is answered"),
        ("unknown", "4 leaves; the largest is answered"),
        ("unclear", ""),
        ("no-leaf", ""),
    ],
)
def test_no_leaf_is_called_answered_where_none_is_judged(decision, note):
    assert replace(ANSWER, decision=decision, n_leaves=4).note == note


def test_pictures_of_a_plant_share_its_verdict():
    doubtful = replace(ANSWER, p_leaf=0.1)
    whole = replace(ANSWER, parts=(ANSWER, doubtful))
    for answer in whole.expand():
        assert (answer.verdict, answer.verdict_text) == (
            whole.verdict,
            whole.verdict_text,
        )
        assert answer.answer_probability == whole.answer_probability
        assert answer.calibrate(0.1) == whole.calibrate(0.1)


@pytest.mark.parametrize("digits", [0, 1])
@pytest.mark.parametrize(
    "probability", [1.0, 1 - 1e-9, 0.99951, 0.9949, 0.5, 0.0051, 0.00049, 1e-9, 0.0]
)
def test_no_probability_is_rounded_to_certainty(probability, digits):
    text = format_probability(probability, digits)
    assert float(
        text.removeprefix("over ").removeprefix("under ").strip("<>%")
    ) not in (0, 100)
    assert len(text.split()) + text.startswith(("<", ">")) == 1 + (
        round(probability, digits + 2) in (0, 1)
    )


def test_probabilities_have_nine_digits():
    assert rank_species(np.array([1 / 3, 2 / 3]), ["Acer opalus", "Tilia cordata"])[
        1
    ] == ("Acer opalus", 0.333333333)
