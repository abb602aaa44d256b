"""Weighted ridge regression on centred rows, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from leafid.errors import LeafidError
from leafid.learning import ridge as module
from leafid.learning.ridge import WeightedRows
from leafid.learning.rows import make_rows

EVERY = np.arange


def draw(n, d, seed):
    random = np.random.default_rng(seed)
    weights = random.uniform(0.2, 3, n) * (random.random(n) < 0.8)
    weights[0] = 1
    return random.normal(size=(n, d)) + random.normal(size=d), random.integers(3, size=n), weights, random


@given(
    st.integers(4, 40),
    st.integers(1, 60),
    st.sampled_from([0.03, 0.1, 2.0]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(deadline=None)
def test_it_is_scikit_learns_ridge_of_rows_less_the_mean_of_their_domain(n, d, penalty, standardise, seed):
    vectors, domains, weights, random = draw(n, d, seed)
    targets = random.choice([-1.0, 1.0], (n, 2))
    rows = make_rows(vectors, standardise=standardise, domains=domains)
    own = np.flatnonzero(weights)
    expected = rows.values.astype(np.float64)
    for domain in set(domains[own]):
        expected[domains == domain] -= expected[own][domains[own] == domain].mean(axis=0)
    for domain in set(domains) - set(domains[own]):
        expected[domains == domain] -= rows.values[own].mean(axis=0)
    offset = np.average(targets[own], axis=0, weights=weights[own])
    literal = Ridge(penalty, solver="cholesky", fit_intercept=False)
    literal.fit(expected[own], targets[own] - offset, sample_weight=weights[own])
    wanted = literal.predict(expected) + offset
    found = WeightedRows(rows, weights)
    assert found.is_dual == (n <= 2 * d)
    coefficients, intercepts = found.fit_ridge(targets[own], penalty)
    # Rows are float32, and so is the dual form; its products are up to 100, and the weakest penalty is 0.03.
    tolerance = 5e-3 if found.is_dual else 1e-4
    np.testing.assert_allclose(found.multiply(coefficients, EVERY(n)) + intercepts, wanted, atol=tolerance)
    scorer = found.preparation.make_scorer(coefficients, intercepts, int(domains[0]))
    np.testing.assert_allclose(scorer.scores(vectors[:1].astype(np.float32)), wanted[:1], atol=tolerance)


@pytest.mark.parametrize("d", [6, 60])
def test_components_are_those_of_the_weighted_covariance(d):
    vectors, domains, weights, _ = draw(50, d, 1)
    rows = WeightedRows(make_rows(vectors, domains=domains), weights)
    weighted = rows.read_centred(rows.indices) * np.sqrt(rows.weights)[:, None]
    components, strengths = rows.find_components(4)
    np.testing.assert_allclose(strengths, np.linalg.svd(weighted, compute_uv=False)[:4] ** 2, rtol=1e-4)
    np.testing.assert_allclose(components.T @ components, np.eye(4), atol=1e-4)
    np.testing.assert_allclose(((weighted @ components) ** 2).sum(axis=0), strengths, rtol=1e-4)


def test_sums_of_other_weights_are_changed_where_few_differ(monkeypatch):
    vectors, domains, weights, _ = draw(90, 5, 0)
    rows = make_rows(vectors, domains=domains)
    reference = WeightedRows(rows, weights)
    fewer = np.where(EVERY(90) < 20, 0, weights)
    expected = WeightedRows(rows, fewer).gram
    np.testing.assert_allclose(WeightedRows(rows, fewer, reference).gram, expected, atol=1e-9)
    np.testing.assert_allclose(WeightedRows(rows, 2 * fewer, reference).gram, 2 * expected, atol=1e-9)


def test_batches_hardly_count(monkeypatch):
    vectors, domains, weights, _ = draw(50, 20, 0)
    found = []
    for kernel_rows in (2**13, 1):
        for batch in (30, 2**24):
            monkeypatch.setattr(module, "_MAX_KERNEL_ROWS", kernel_rows)
            monkeypatch.setattr("leafid.learning.rows._BATCH_NUMBERS", batch)
            rows = WeightedRows(make_rows(vectors, domains=domains), weights)
            coefficients, _ = rows.fit_ridge(np.where(rows.indices[:, None] % 2, 1.0, -1.0), 0.1)
            found.append(coefficients)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-4)


@pytest.mark.parametrize("d", [4, 40])
def test_a_penalty_that_is_too_weak(d):
    vectors = 1e6 * np.repeat(np.random.default_rng(0).normal(size=(30, 1)), d, axis=1)
    rows = WeightedRows(make_rows(vectors), np.ones(30))
    with pytest.raises(LeafidError, match=r"regularisation of 1e-300 is too weak for 30 pictures"):
        rows.fit_ridge(np.where(EVERY(30)[:, None] % 2, 1.0, -1.0), 1e-300)
