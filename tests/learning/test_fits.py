"""Classifiers of weighted rows that are centred by domain, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from leafid.learning.classifiers import rows as module
from leafid.learning.classifiers.fits import score_rows, solve_dual, solve_primal
from leafid.learning.classifiers.rows import make_rows
from leafid.learning.classifiers.weighted_rows import WeightedRows

SOLVERS = [solve_dual, solve_primal]


def draw(n, d, seed):
    random = np.random.default_rng(seed)
    weights = random.uniform(0.2, 3, n) * (random.random(n) < 0.8)
    weights[0] = 1
    domains, labels = random.integers(3, size=n), random.integers(3, size=n)
    return (
        random.normal(size=(n, d)) + 0.5 * random.normal(size=(3, d))[domains],
        domains,
        weights,
        labels,
    )


def centre(vectors, domains, weights):
    """Centre rows on the means of their domains, or of all if there is none.

    Rows of weight 0 don't count.
    """
    centred = vectors.astype(np.float64)
    for domain in set(domains):
        trained = (weights > 0) & (domains == domain)
        centred[domains == domain] -= vectors[
            trained if trained.any() else weights > 0
        ].mean(axis=0)
    return centred


@pytest.mark.parametrize("solve", SOLVERS)
@given(
    st.integers(4, 40),
    st.integers(1, 60),
    st.sampled_from([0.03, 0.1, 2.0]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(deadline=None)
def test_it_is_scikit_learns_ridge_of_rows_less_the_mean_of_their_domain(
    solve, n, d, penalty, standardise, seed
):
    vectors, domains, weights, labels = draw(n, d, seed)
    rows = make_rows(vectors, standardise=standardise, domains=domains)
    trained = np.flatnonzero(weights)
    expected = centre(rows.read(slice(None)), domains, weights)
    targets = np.where(labels[:, None] == np.arange(labels.max() + 1), 1.0, -1.0)
    offset = np.average(targets[trained], axis=0, weights=weights[trained])
    literal = Ridge(penalty, solver="cholesky", fit_intercept=False)
    literal.fit(
        expected[trained], targets[trained] - offset, sample_weight=weights[trained]
    )
    wanted = literal.predict(expected).reshape(n, -1) + offset
    weighted = WeightedRows(rows, weights)
    ridge = solve(weighted, targets[trained] - offset, penalty), offset
    # Rows are float32, and so is the dual form; its products are up to 100, and the
    # weakest penalty is 0.03.
    scores = score_rows(ridge, weighted, np.arange(n))
    np.testing.assert_allclose(scores, wanted, atol=0.02)
    scorer = weighted.transform.make_scorer(*ridge, int(domains[0]))
    np.testing.assert_allclose(
        scorer.scores(vectors[:1].astype(np.float32)), wanted[:1], atol=0.02
    )


@pytest.mark.parametrize("d", [6, 60])
def test_components_are_those_of_the_weighted_covariance(d):
    vectors, domains, weights, _ = draw(50, d, 1)
    rows = make_rows(vectors, domains=domains)
    weighted = (
        centre(rows.read(slice(None)), domains, weights) * np.sqrt(weights)[:, None]
    )
    weighted_rows = WeightedRows(rows, weights)
    components, strengths = weighted_rows.find_components(4)
    np.testing.assert_allclose(
        strengths, np.linalg.svd(weighted, compute_uv=False)[:4] ** 2, rtol=1e-4
    )
    np.testing.assert_allclose(components.T @ components, np.eye(4), atol=1e-4)
    np.testing.assert_allclose(
        ((weighted @ components) ** 2).sum(axis=0), strengths, rtol=1e-4
    )
    statistics = weighted_rows.summarise()
    centred = weighted / np.sqrt(np.maximum(weights, 1e-9))[:, None]
    np.testing.assert_allclose(
        statistics.mean, np.average(centred, axis=0, weights=weights), atol=1e-3
    )


@pytest.mark.parametrize("d", [30, 90])
def test_components_are_no_more_than_there_are(d):
    """Rows that vary in three directions have three components, equal rows a 0."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(60, 3)) @ random.normal(size=(3, d))
    components, strengths = WeightedRows(
        make_rows(vectors), np.ones(60)
    ).find_components(10)
    assert components.shape == (d, 3)
    assert (strengths > 1).all()
    components, strengths = WeightedRows(
        make_rows(np.ones((60, d))), np.ones(60)
    ).find_components(10)
    assert components.shape == (d, 1)
    assert not strengths.any()
    assert np.isfinite(components).all()


@pytest.mark.parametrize("solve", SOLVERS)
def test_batches_hardly_count(solve, monkeypatch):
    vectors, domains, weights, labels = draw(50, 20, 0)
    fitted = []
    for numbers in (2**22, 40):
        monkeypatch.setattr(module, "_BATCH_NUMBERS", numbers)
        weighted = WeightedRows(make_rows(vectors, domains=domains), weights)
        targets = np.eye(3)[labels[weighted.indices]]
        fitted.append(solve(weighted, targets, 0.1))
    np.testing.assert_allclose(fitted[1], fitted[0], atol=1e-3)
