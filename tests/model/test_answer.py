"""The verdict of an answer, and probabilities as a person is told them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leafid.model.answer import Answer, format_probability, rank_species
from leafid.pictures.picture import AcquisitionType, Picture

ANSWER = Answer(
    Picture(Path("leaf.jpg"), AcquisitionType.SCAN),
    [("Ginkgo biloba", 0.84), ("Acer campestre", 0.1), ("Tilia cordata", 0.06)],
    1.0,
    p_leaf=0.9,
    p_known=0.9,
    common_names={"Ginkgo biloba": ("Ginkgo", "Maidenhair tree")},
)


@pytest.mark.parametrize(
    ("changes", "verdict", "text", "name"),
    [
        ({}, "species", "Ginkgo biloba (Ginkgo), 84%, or Acer campestre, 10%", "Ginkgo biloba"),
        ({"p_leaf": None, "p_known": None}, "species", "Ginkgo biloba (Ginkgo), 84%, or", "Ginkgo biloba"),
        ({"p_leaf": 0.22}, "uncertain", "Uncertain: perhaps Ginkgo biloba (Ginkgo), 84%, or", "Ginkgo biloba"),
        ({"decision": "unknown"}, "unknown", "Unknown: probably none of the 3 species that the model knows;", None),
        ({"decision": "no-leaf", "p_leaf": 0.01}, "no-leaf", "No leaf: the picture probably shows none", None),
        ({"decision": "genus", "backed_off": ("Acer *", 0.7)}, "genus", "Acer, 70%: no single species", "Acer"),
        ({"decision": "unknown", "backed_off": ("*", 1.0)}, "unknown", "Unknown: not even an order is", None),
        ({"problem": "leaf.jpg: empty", "ranking": []}, "unreadable", "This file can't be read", None),
    ],
)
def test_verdicts(changes, verdict, text, name):
    answer = replace(ANSWER, **changes)
    assert (answer.verdict, answer.name) == (verdict, name)
    assert answer.verdict_text.startswith(text)
    record = answer.to_dict()
    assert (record["verdict"], record["name"]) == (verdict, name)
    assert bool(answer.condition) == (verdict in {"uncertain", "unknown", "no-leaf"})


def test_pictures_of_a_plant_share_its_verdict():
    doubtful = replace(ANSWER, p_leaf=0.1)
    whole = replace(ANSWER, parts=(ANSWER, doubtful))
    for answer in whole.expand():
        assert (answer.verdict, answer.verdict_text) == (whole.verdict, whole.verdict_text)


@pytest.mark.parametrize("digits", [0, 1])
@pytest.mark.parametrize("probability", [1.0, 1 - 1e-9, 0.99951, 0.9949, 0.5, 0.0051, 0.00049, 1e-9, 0.0])
def test_no_probability_is_rounded_to_certainty(probability, digits):
    text = format_probability(probability, digits)
    assert float(text.removeprefix("over ").removeprefix("under ").strip("<>%")) not in (0, 100)
    assert len(text.split()) + text.startswith(("<", ">")) == 1 + (round(probability, digits + 2) in (0, 1))


def test_probabilities_have_nine_digits():
    assert rank_species(np.array([1 / 3, 2 / 3]), ["Acer opalus", "Tilia cordata"])[1] == ("Acer opalus", 0.333333333)
