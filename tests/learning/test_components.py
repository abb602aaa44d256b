"""Softmax regression along a few directions, against NumPy and scikit-learn on all rows at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from leafid.learning import components as module
from leafid.learning.components import find_leading_eigenvectors, fit_softmax
from leafid.learning.primal import PrimalFit
from leafid.learning.rows import make_rows
from leafid.learning.settings import ClassifierSettings


def drawn(n, d, seed, n_species=3):
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(n) % n_species)
    centres = 2 * random.normal(size=(n_species, d))
    # Directions of unlike spread, as real vectors have them.
    spread = 0.9 ** np.arange(d)
    vectors = ((centres[labels] + random.normal(size=(n, d))) * spread).astype(np.float32)
    return vectors, labels, random.uniform(0.2, 3, n)


@pytest.fixture
def converged(monkeypatch):
    monkeypatch.setattr(module, "_MAX_ITERATIONS", 5000)
    monkeypatch.setattr(module, "_TOLERANCE", 1e-14)


@given(st.integers(1, 60), st.integers(1, 80), st.integers(1, 90), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_leading_eigenvectors_of_small_matrices_are_exact(rank, size, number, seed):
    rows = np.random.default_rng(seed).normal(size=(rank, size))
    vectors, values = find_leading_eigenvectors((rows.T @ rows).__matmul__, size, number)
    k = len(values)
    assert 1 <= k <= min(number, rank, size)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-5)
    wanted = np.linalg.svd(rows, compute_uv=False)[:k] ** 2
    # Values that are small beside the largest are found to within a small part of that one.
    np.testing.assert_allclose(values, wanted, rtol=1e-2, atol=1e-2 * wanted[0])
    np.testing.assert_allclose((rows.T @ rows) @ vectors, vectors * values, atol=0.05 * wanted[0])


def test_leading_eigenvectors_of_a_large_matrix_hold_nearly_all_that_can_be_held():
    vectors, _, _ = drawn(200, 300, 5)
    matrix = vectors.T @ vectors
    directions, strengths = find_leading_eigenvectors(matrix.__matmul__, 300, 20)
    best = np.linalg.svd(vectors, compute_uv=False)[:20] ** 2
    held = np.einsum("ij,ij->j", directions, matrix @ directions)
    # Float32, of products as large as the largest of them.
    np.testing.assert_allclose(strengths, held, rtol=0, atol=1e-6 * best[0])
    # Found at random and bettered in a few rounds: no more than the best, and next to nothing less.
    assert 0.999 * best.sum() < held.sum() < 1.0001 * best.sum()


@pytest.mark.parametrize("regularisation", [0.05, 3.0])
@pytest.mark.parametrize("numbers", [2**22, 40])
def test_it_is_logistic_regression_however_it_is_batched(monkeypatch, converged, regularisation, numbers):
    monkeypatch.setattr(module, "_BATCH_NUMBERS", numbers)
    rows, labels, weights = drawn(70, 6, 1)
    weights[::7] = 0
    coefficients, intercepts = fit_softmax(rows, (rows**2).sum(axis=0), labels, weights, regularisation)
    wanted = LogisticRegression(C=1 / regularisation, tol=1e-10, max_iter=10_000)
    wanted.fit(rows[weights > 0], labels[weights > 0], sample_weight=weights[weights > 0])
    # Scores are the same but for what is added to all species alike. Both stop near the optimum, in float32 here.
    probabilities = softmax(rows @ coefficients + intercepts, axis=1)
    np.testing.assert_allclose(probabilities, wanted.predict_proba(rows), atol=2e-3)


def test_it_is_iterated_until_nearly_nothing_changes():
    """As it is used, without `converged`: probabilities within a hundredth of the optimum's."""
    rows, labels, weights = drawn(200, 40, 1, n_species=8)
    coefficients, intercepts = fit_softmax(rows, (rows**2).sum(axis=0), labels, weights, 0.05)
    wanted = LogisticRegression(C=20, tol=1e-10, max_iter=10_000).fit(rows, labels, sample_weight=weights)
    probabilities = softmax(rows @ coefficients + intercepts, axis=1)
    assert np.abs(probabilities - wanted.predict_proba(rows)).max() < 0.01


def test_few_directions_leave_out_what_is_weak():
    """What tells the species apart lies along the tenth direction: nine can't see it, ten can."""
    random = np.random.default_rng(0)
    labels = np.arange(80) % 2
    vectors = random.normal(size=(80, 40)) * np.where(np.arange(40) < 9, 20, 0.01)
    vectors[:, 9] += labels - 0.5
    right = []
    for directions in (9, 10):
        settings = ClassifierSettings(softmax_components=directions)
        scores = PrimalFit(make_rows(vectors), np.ones(80), labels, settings).score(np.arange(80))[1]
        right.append(np.mean(scores.argmax(axis=1) == labels))
    assert right[0] < 0.8
    assert right[1] == 1


def test_a_large_matrix_of_nothing_has_one_direction_without_strength():
    vectors, values = find_leading_eigenvectors(np.zeros_like, 400, 10)
    assert vectors.shape == (400, 1)
    assert not values.any()
    assert np.isfinite(vectors).all()


def test_a_large_matrix_of_few_directions():
    """Directions that are not there are not made up."""
    columns = np.linalg.qr(np.random.default_rng(0).normal(size=(400, 3)))[0].astype(np.float32)
    vectors, values = find_leading_eigenvectors(
        lambda right: columns * np.float32([9, 4, 1]) @ (columns.T @ right), 400, 10
    )
    assert vectors.shape == (400, 3)
    # Float32 products over 400 rows.
    np.testing.assert_allclose(values, [9, 4, 1], rtol=3e-6)
    np.testing.assert_allclose(np.abs(vectors.T @ columns), np.eye(3), atol=3e-6)
