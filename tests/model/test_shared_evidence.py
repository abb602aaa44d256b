import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.model.sessions import share_evidence

posteriors = arrays(float, st.tuples(st.integers(1, 6), st.just(4)), elements=st.floats(1e-6, 1)).map(
    lambda table: table / table.sum(axis=1, keepdims=True)
)


def share_slowly(table, weights):
    found = [list(row) for row in table]
    for _ in range(10):
        before = [list(row) for row in found]
        for i, row in enumerate(table):
            for s, probability in enumerate(row):
                others = sum(w * q[s] for j, (w, q) in enumerate(zip(weights, before, strict=True)) if j != i)
                found[i][s] = probability * (1.0 + others)
            total = sum(found[i])
            found[i] = [value / total for value in found[i]]
    return np.array(found)


@given(posteriors, st.data())
def test_against_the_formula(table, data):
    weights = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(table), max_size=len(table))))
    assert share_evidence(table, weights) == pytest.approx(share_slowly(table, weights), abs=1e-9)


@given(posteriors, st.randoms())
def test_the_order_does_not_matter(table, random):
    order = random.sample(range(len(table)), len(table))
    weights = np.linspace(0, 1, len(table))
    assert share_evidence(table[order], weights[order]) == pytest.approx(share_evidence(table, weights)[order])


@given(posteriors)
def test_pictures_without_support_stay_the_same(table):
    assert (share_evidence(table[:1], np.ones(1)) == table[:1]).all()
    assert (share_evidence(table, np.zeros(len(table))) == table).all()
    only_first = np.eye(len(table))[0]
    assert (share_evidence(table, only_first)[0] == table[0]).all()


@given(posteriors)
def test_equal_pictures_become_surer_of_their_species(table):
    found = share_evidence(np.repeat(table[:1], 3, axis=0), np.ones(3))
    assert (found == found[0]).all()
    assert found[0].max() >= table[0].max() * (1 - 1e-12)
    assert (np.argsort(found[0], kind="stable") == np.argsort(table[0], kind="stable")).all() or np.ptp(table[0]) < 1e-9


def test_a_doubtful_picture_follows_the_others():
    table = np.array([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.3, 0.35, 0.35]])
    assert share_evidence(table, np.ones(3))[2].argmax() == 0


def test_concentration_and_rounds():
    """A concentration or number of rounds other than the documented ones changes these values."""
    table = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.34, 0.33, 0.33]])
    assert share_evidence(table, np.ones(4))[3] == pytest.approx([0.33795, 0.35907, 0.30298], abs=5e-6)
