"""Ridge regressions that learn further rows, against ridge regressions of all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from leafid.learning.classifiers import row_statistics, weighted_rows
from leafid.learning.classifiers.row_statistics import update_ridge
from leafid.learning.classifiers.rows import make_rows
from leafid.learning.classifiers.weighted_rows import WeightedRows


def summarise(rows, weights, n_components):
    weighted = WeightedRows(make_rows(rows), weights)
    with pytest.MonkeyPatch.context() as patch:
        for module in (row_statistics, weighted_rows):
            patch.setattr(module, "N_COMPONENTS", n_components)
        return weighted.transform, weighted.summarise()


def literal(rows, targets, weights, penalty):
    return Ridge(alpha=penalty, solver="cholesky").fit(
        rows, targets, sample_weight=weights
    )


def extend(rows, weights, labels, n_old, n_components, penalty=0.3):
    """Learn the first rows, then the others by an update.

    Give scores of all rows by that, and by one ridge.
    """
    targets = np.where(labels[:, None] == np.arange(labels.max() + 1), 1.0, -1.0)
    transform, statistics = summarise(rows[:n_old], weights[:n_old], n_components)
    prepared = transform.transform(rows, np.zeros(len(rows), int)).astype(np.float64)
    old = literal(prepared[:n_old], targets[:n_old], weights[:n_old], penalty)
    scores = prepared @ old.coef_.T + old.intercept_
    change, shift = update_ridge(
        statistics,
        prepared[n_old:],
        weights[n_old:],
        (targets - scores)[n_old:],
        penalty,
    )
    return scores + prepared @ change + shift, literal(
        prepared, targets, weights, penalty
    ).predict(prepared)


@given(st.integers(2, 9), st.integers(1, 30), st.integers(0, 99), st.booleans())
def test_with_all_components_the_update_is_the_ridge_of_all_rows(
    n_columns, n_new, seed, species_are_new
):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(25 + n_new, n_columns)) + random.normal(size=n_columns)
    labels = np.append(random.integers(3, size=25), 3 + random.integers(2, size=n_new))
    labels = labels if species_are_new else labels % 3
    weights = random.uniform(0.2, 3, len(rows))
    scores, wanted = extend(rows, weights, labels, 25, 9)
    np.testing.assert_allclose(scores, wanted, atol=2e-4)


@pytest.mark.filterwarnings("error")
def test_rows_of_weight_0_teach_nothing():
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 6))
    weights = np.where(np.arange(40) % 5, 1.0, 0.0)
    labels = random.integers(3, size=40)
    scores, wanted = extend(rows, weights, labels, 25, 6)
    np.testing.assert_allclose(scores, wanted, atol=2e-4)


def test_components_of_what_varies_together_suffice():
    # Columns that vary together in six directions, and each a little by itself.
    random = np.random.default_rng(0)
    rows = 3 * random.normal(size=(2020, 6)) @ random.normal(
        size=(6, 40)
    ) + random.normal(size=(2020, 40))
    labels = np.append(random.integers(4, size=2000), np.full(20, 4))
    errors = []
    for n_components in (1, 6):
        scores, wanted = extend(rows, np.ones(2020), labels, 2000, n_components)
        errors.append(np.abs(scores - wanted).mean())
    assert errors[1] < 0.3 * errors[0]


@given(st.integers(1, 40), st.integers(0, 99))
def test_updated_statistics_are_those_of_all_rows(n_new, seed):
    random = np.random.default_rng(seed)
    rows, weights = (
        random.normal(size=(20 + n_new, 5)) * 3,
        random.uniform(0.2, 3, 20 + n_new),
    )
    transform, old = summarise(rows[:20], weights[:20], 5)
    prepared = transform.transform(rows, np.zeros(len(rows), int))
    new = old.update(prepared[20:], weights[20:])
    mean = np.average(prepared, axis=0, weights=weights)
    products = ((prepared - mean) * weights[:, None]).T @ (prepared - mean)
    np.testing.assert_allclose(new.mean, mean, atol=1e-5)
    np.testing.assert_allclose(
        new.components @ new.components.T + np.diag(new.remainder), products, atol=1e-3
    )
    assert new.weight == pytest.approx(weights.sum())


def test_the_diagonal_is_kept_whatever_the_components_leave():
    random = np.random.default_rng(1)
    rows, weights = random.normal(size=(30, 12)), random.uniform(0.2, 3, 30)
    transform, statistics = summarise(rows, weights, 3)
    prepared = transform.transform(rows, np.zeros(30, int))
    wanted = weights @ (prepared - np.average(prepared, axis=0, weights=weights)) ** 2
    assert statistics.components.shape == (12, 3)
    np.testing.assert_allclose(
        (statistics.components**2).sum(axis=1) + statistics.remainder, wanted, rtol=1e-4
    )


def test_a_heavy_mean_does_not_make_the_update_blow_up():
    # Weights unlike those that rows are centred with: the mean is far from 0, in a
    # direction without a component.
    random = np.random.default_rng(2)
    rows = random.normal(size=(60, 30)) + np.outer(
        np.arange(60) < 5, random.normal(size=30) * 4
    )
    weights = np.where(np.arange(60) < 5, 30.0, 1.0)
    scores, _ = extend(
        np.vstack([rows, rows[:4]]),
        np.append(weights, np.ones(4)),
        np.arange(64) % 4,
        60,
        2,
    )
    assert np.abs(scores).max() < 5


def test_24_components_are_kept():
    rows = np.random.default_rng(0).normal(size=(90, 60))
    assert WeightedRows(make_rows(rows), np.ones(90)).summarise().components.shape == (
        60,
        24,
    )
