from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.learning.sessions import pool_evidence
from leafid.model.answer import Answer
from leafid.model.groups import find_session, pool_answers
from leafid.model.held_out import HeldOutAnswers
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.studies.cross_validation import FoldAnswers, pool_evidence_of_folds

SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO
GARDEN = (43.5, 3.9)


def picture(name, author="Ann", date="2010-07-06", coordinates=GARDEN, **fields):
    return Picture(
        Path(f"{name}.jpg"), author=author, date=date, coordinates=coordinates, **fields
    )


def answer(name, ranking, **fields):
    meta = {
        key: fields.pop(key)
        for key in ("author", "date", "coordinates")
        if key in fields
    }
    return Answer(
        picture(name, **meta),
        list(ranking.items()),
        fields.pop("confidence", 1.0),
        **fields,
    )


posteriors = arrays(
    float, st.tuples(st.integers(1, 6), st.just(4)), elements=st.floats(1e-6, 1)
).map(lambda table: table / table.sum(axis=1, keepdims=True))


def pool_slowly(table, weights):
    posterior = [list(row) for row in table]
    for _ in range(10):
        before = [list(row) for row in posterior]
        for i, row in enumerate(table):
            for s, probability in enumerate(row):
                support = sum(
                    w * q[s]
                    for j, (w, q) in enumerate(zip(weights, before, strict=True))
                    if j != i
                )
                posterior[i][s] = probability * (1.0 + support)
            total = sum(posterior[i])
            posterior[i] = [value / total for value in posterior[i]]
    return np.array(posterior)


@given(posteriors, st.data())
def test_against_the_formula(table, data):
    weights = np.array(
        data.draw(st.lists(st.floats(0, 1), min_size=len(table), max_size=len(table)))
    )
    assert pool_evidence(table, weights) == pytest.approx(
        pool_slowly(table, weights), abs=1e-9
    )


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({}, True),
        ({"date": "2010-07-06T10:11:12"}, True),
        ({"author": "Bob"}, False),
        ({"date": "2010-07-07"}, False),
        ({"date": None}, False),
        ({"coordinates": None}, False),
        ({"coordinates": (43.5, 3.8)}, False),
    ],
)
def test_what_makes_a_session(changes, is_same):
    assert (
        find_session(picture("a")) == find_session(picture("b", **changes))
    ) is is_same


def test_answers_of_a_session_support_one_another():
    sure, doubtful = (
        {"Acer opalus": 0.9, "Acer rubrum": 0.1},
        {"Acer rubrum": 0.52, "Acer opalus": 0.48},
    )
    answers = [
        answer("a", sure),
        answer("c", doubtful, p_leaf=0.9, p_known=0.8, decision="unknown"),
        answer("d", {}, problem="damaged"),
    ]
    pooled = pool_answers(answers)
    assert pooled[2] is answers[2]
    assert pool_answers(answers[1:]) == answers[1:]
    assert pooled[1].ranking[0][0] == "Acer opalus"
    assert (pooled[1].p_leaf, pooled[1].p_known, pooled[1].verdict) == (
        0.9,
        0.8,
        "unknown",
    )
    # The weight is 0.9 times 0.8.
    expected = pool_evidence(
        np.array([[0.9, 0.1], [0.48, 0.52]]), np.array([1.0, 0.72])
    )
    assert [
        dict(pooled[index].ranking)["Acer opalus"] for index in (0, 1)
    ] == pytest.approx(expected[:, 0], abs=1e-8)


def make_fold(type_, fold, seed, rows, species=("Acer opalus", "Acer rubrum")):
    pictures = [
        picture(f"{type_} {fold} {row}", type=type_) for row in range(len(rows))
    ]
    held_out = HeldOutAnswers(
        pictures, np.array(rows), species, np.ones(len(rows), bool)
    )
    return FoldAnswers(type_, seed, fold, held_out)


def test_sessions_span_folds_and_types_but_not_seeds():
    folds = [
        make_fold(SCAN, 0, 0, [[0.9, 0.1]]),
        make_fold(PHOTO, 1, 0, [[0.5, 0.5], [0.7, 0.3]]),
        make_fold(SCAN, 1, 0, [[1.0]], ("Acer rubrum",)),
        make_fold(SCAN, 0, 1, [[0.2, 0.8]]),
    ]
    pooled = pool_evidence_of_folds(folds)
    expected = pool_evidence(
        np.array([[0.9, 0.1], [0.5, 0.5], [0.7, 0.3], [0.0, 1.0]]), np.ones(4)
    )
    assert pooled[0].held_out.probabilities == pytest.approx(expected[:1])
    assert pooled[1].held_out.probabilities == pytest.approx(expected[1:3])
    assert pooled[2].held_out.probabilities == pytest.approx(np.ones((1, 1)))
    assert pooled[3].held_out.probabilities == pytest.approx(np.array([[0.2, 0.8]]))
    assert [fold.held_out.pictures for fold in pooled] == [
        fold.held_out.pictures for fold in folds
    ]


def test_a_picture_that_can_not_be_judged_supports_no_other():
    sure, doubtful = (
        {"Acer opalus": 0.9, "Acer rubrum": 0.1},
        {"Acer rubrum": 0.52, "Acer opalus": 0.48},
    )
    answers = [answer("a", sure, decision="unclear"), answer("b", doubtful)]
    pooled = pool_answers(answers)
    assert pooled[1].ranking == answers[1].ranking
    assert (pooled[0].verdict, pooled[0].name) == ("unclear", None)
