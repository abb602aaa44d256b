import tracemalloc

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestCentroid

from leafid.learning.linear import LinearScorer, apply_feature_map, compute_sample_weights, fit_linear, sum_scorers
from leafid.learning.training_matrix import TrainingMatrix

KINDS = ["ridge", "linear-svm", "lda", "logistic", "nearest-mean"]


def data(n, d, n_species=3, seed=0):
    random = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_species), random.integers(n_species, size=n - n_species)])
    centres = random.normal(size=(n_species, d))
    return np.abs(centres[labels] + random.normal(size=(n, d))).astype(np.float32), labels


def make_scorer(matrix, coefficients, intercepts):
    return matrix.make_scorer(matrix.rotate_back(coefficients), intercepts)


def fit(kind, rows, labels, regularisation, balance):
    """Train with every row as a plant of its own."""
    weights = compute_sample_weights(labels, [str(n) for n in range(len(labels))], balance, 0.0)
    return fit_linear(kind, rows, labels, regularisation, weights)


@pytest.mark.parametrize("map_", ["none", "chi2"])
@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize(("n", "d"), [(30, 8), (20, 90)])
@pytest.mark.parametrize("typed", [False, True])
def test_the_scorer_repeats_the_scores_of_training_rows(map_, standardise, n, d, typed):
    vectors, labels = data(n, d)
    domains = np.arange(n) % 2 if typed else None
    rows = TrainingMatrix(vectors, map_, standardise=standardise, domains=domains)
    coefficients, intercepts = fit("ridge", rows.rows_in_memory, labels, 0.1, 0.5)
    direct = rows.rows_in_memory @ coefficients + intercepts
    own = slice(None) if domains is None else domains == 1
    scorer = rows.adapt_to_domain(make_scorer(rows, coefficients, intercepts), 1)
    # Float32 sums over up to 270 mapped columns.
    np.testing.assert_allclose(scorer.scores(vectors)[own], direct[own], atol=2e-4)


def test_mapping_needs_little_more_memory_than_a_pass():
    vectors = np.random.default_rng(0).uniform(size=(4_000, 300)).astype(np.float16)
    tracemalloc.start()
    TrainingMatrix(vectors, "chi2", standardise=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The mapped rows, as many in the buffer of a pass, and temporary arrays of a piece: all rows' would be as large as
    # five more.
    assert peak < 4 * 4_000 * 900 * 4


@pytest.mark.parametrize("kind", ["ridge", "linear-svm", "logistic"])
def test_a_fit_in_the_span_equals_one_in_the_full_space(kind):
    vectors, labels = data(20, 90)
    new = data(15, 90, seed=7)[0]
    rows = TrainingMatrix(vectors, "none", standardise=False)
    assert rows.rows_in_memory.shape[1] <= 20
    spanned = make_scorer(rows, *fit(kind, rows.rows_in_memory, labels, 1.0, 0.5)).scores(new)
    centre = vectors.mean(axis=0)
    coefficients, intercepts = fit(kind, vectors - centre, labels, 1.0, 0.5)
    full = (new - centre) @ coefficients + intercepts
    # Solvers stop at a tolerance; liblinear's is 1e-4 of its own measure.
    np.testing.assert_allclose(spanned, full, atol=0.02 if kind != "ridge" else 1e-3)


def test_the_span_keeps_lengths_and_angles():
    vectors = data(20, 90)[0]
    centred = vectors - vectors.mean(axis=0)
    rows = TrainingMatrix(vectors, "none", standardise=False).rows_in_memory
    np.testing.assert_allclose(rows @ rows.T, centred @ centred.T, atol=1e-3)  # products are about 100


def test_types_are_centred_apart():
    vectors, _ = data(30, 6)
    domains = np.repeat([0, 2], 15)
    vectors[15:] += 100
    rows = TrainingMatrix(vectors, "none", standardise=False, domains=domains).rows_in_memory
    # Float32 of up to 100.
    np.testing.assert_allclose(rows[:15].mean(axis=0), 0, atol=2e-5)
    np.testing.assert_allclose(rows[15:].mean(axis=0), 0, atol=2e-5)


def test_standardised_columns_have_one_length_together():
    vectors = data(40, 6)[0] * np.array([1, 10, 100, 1e-3, 5, 0], np.float32)
    rows = TrainingMatrix(vectors, "none", standardise=True).rows_in_memory
    np.testing.assert_allclose(rows[:, :5].std(axis=0), 5**-0.5, rtol=1e-6)  # float32
    assert not rows[:, 5].any()


def test_vectors_are_left_as_they_were():
    vectors, _ = data(30, 6)
    before = vectors.copy()
    for domains in (None, np.arange(30) % 2):
        TrainingMatrix(vectors, "none", standardise=True, domains=domains)
        np.testing.assert_array_equal(vectors, before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_species", [2, 3])
def test_every_classifier_learns(kind, n_species):
    vectors, labels = data(90, 12, n_species)
    vectors[np.arange(90), labels] += 10
    coefficients, intercepts = fit(kind, vectors, labels, 0.1, 0.5)
    assert coefficients.shape == (12, n_species)
    assert intercepts.shape == (n_species,)
    assert coefficients.dtype == intercepts.dtype == np.float32
    assert (np.argmax(vectors @ coefficients + intercepts, axis=1) == labels).mean() > 0.97


@pytest.mark.parametrize("kind", KINDS)
def test_one_species_needs_no_classifier(kind):
    coefficients, intercepts = fit(kind, data(5, 4)[0], np.zeros(5, int), 0.1, 0.5)
    assert coefficients.shape == (4, 1)
    assert not coefficients.any()
    assert not intercepts.any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_species", [2, 3, 8])
def test_species_with_a_single_picture(kind, n_species):
    vectors, _ = data(n_species, 12, n_species)
    rows = TrainingMatrix(vectors, "none", standardise=True)
    scores = make_scorer(rows, *fit(kind, rows.rows_in_memory, np.arange(n_species), 0.1, 0.5)).scores(vectors)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) == np.arange(n_species)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("standardise", [False, True])
def test_equal_rows(kind, standardise):
    rows = TrainingMatrix(np.ones((4, 9), np.float32), "none", standardise=standardise)
    scores = make_scorer(rows, *fit(kind, rows.rows_in_memory, np.array([0, 1, 0, 1]), 0.1, 0.5)).scores(
        np.ones((1, 9))
    )
    assert np.isfinite(scores).all()


def test_ridge_against_scikit_learn_with_the_same_weights():
    vectors, labels = data(60, 5)
    weights = 1 / np.bincount(labels)[labels]
    wanted = Ridge(0.3).fit(vectors, 2 * np.eye(3)[labels] - 1, sample_weight=weights / weights.mean())
    coefficients, intercepts = fit("ridge", vectors, labels, 0.3, 1.0)
    # Float32 of up to 2.
    np.testing.assert_allclose(coefficients, wanted.coef_.T, atol=1e-6)
    np.testing.assert_allclose(intercepts, wanted.intercept_, atol=1e-6)


@pytest.mark.parametrize("n_species", [2, 5])
def test_nearest_mean_against_scikit_learn(n_species):
    vectors, labels = data(60, 5, n_species)
    new, _ = data(200, 5, n_species, seed=1)
    coefficients, intercepts = fit("nearest-mean", vectors, labels, 0.1, 1.0)
    wanted = NearestCentroid().fit(vectors, labels).predict(new)
    np.testing.assert_array_equal(np.argmax(new @ coefficients + intercepts, axis=1), wanted)


def test_balance_moves_the_priors_of_lda():
    vectors, labels = data(60, 5, 2)
    labels[:45] = 0
    labels[45:] = 1
    for balance, priors in ((0.0, [0.75, 0.25]), (1.0, [0.5, 0.5])):
        _, intercepts = fit("lda", vectors, labels, 0.2, balance)
        wanted = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2, priors=priors).fit(vectors, labels)
        assert intercepts[1] == pytest.approx(wanted.intercept_[0], abs=1e-6)  # float32


def test_the_chi2_map_takes_what_is_below_zero_for_zero():
    vectors = np.array([[-1.0, 0.5]], np.float32)
    np.testing.assert_array_equal(apply_feature_map(vectors, "chi2"), apply_feature_map(np.maximum(vectors, 0), "chi2"))
    assert apply_feature_map(vectors, "none") is vectors


def test_half_precision_coefficients_score():
    scorer = LinearScorer("none", np.eye(2, dtype=np.float16), np.zeros(2, np.float32))
    assert scorer.scores(np.ones((3, 2), np.float32)).dtype == np.float32


def test_weights_of_pictures_by_hand():
    """Species 0 has plants a (2 pictures) and b (1), species 1 has plant c (1)."""
    labels, plants = np.array([0, 0, 0, 1]), ["a", "a", "b", "c"]
    for species_balance, plant_balance, wanted in (
        (0.0, 0.0, [1, 1, 1, 1]),
        (1.0, 0.0, [1 / 3, 1 / 3, 1 / 3, 1]),
        (0.0, 1.0, [1 / 2, 1 / 2, 1, 1]),
        (1.0, 1.0, [1 / 6, 1 / 6, 1 / 3, 1]),
        (0.5, 0.5, [1 / 6**0.5, 1 / 6**0.5, 1 / 3**0.5, 1]),
        (2.0, 0.5, [1 / 9 / 2**0.5, 1 / 9 / 2**0.5, 1 / 9, 1]),
    ):
        weights = compute_sample_weights(labels, plants, species_balance, plant_balance)
        np.testing.assert_allclose(weights, np.array(wanted) / np.mean(wanted))


def test_summed_classifiers_score_what_their_scores_sum_to():
    random = np.random.default_rng(0)
    parts = [
        LinearScorer("chi2", random.normal(size=(12, 3)).astype(np.float32), random.normal(size=3).astype(np.float32))
        for _ in range(3)
    ]
    vectors, weights = random.uniform(size=(5, 4)).astype(np.float32), [2.0, 0.0, 0.5]
    wanted = sum(weight * part.scores(vectors) for part, weight in zip(parts, weights, strict=True))
    # float32 sums of some twelve numbers around 1.
    np.testing.assert_allclose(sum_scorers(parts, weights).scores(vectors), wanted, atol=1e-5)
    np.testing.assert_array_equal(sum_scorers(parts[:1], [1.0]).coefficients, parts[0].coefficients)
