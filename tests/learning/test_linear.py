import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestCentroid

from leafid.learning.feature_maps import apply_chi2_map, apply_feature_map
from leafid.learning.linear import LinearScorer, fit_linear, sum_scorers, weigh_pictures
from leafid.learning.rows import make_rows

KINDS = ["ridge", "linear-svm", "lda", "logistic", "nearest-mean"]


def data(n, d, n_species=3, seed=0):
    random = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_species), random.integers(n_species, size=n - n_species)])
    centres = random.normal(size=(n_species, d))
    return np.abs(centres[labels] + random.normal(size=(n, d))).astype(np.float32), labels


def fit(kind, rows, labels, regularisation, balance):
    """Train with every row as a plant of its own."""
    weights = weigh_pictures(labels, [str(n) for n in range(len(labels))], balance, 0.0)
    return fit_linear(kind, rows, labels, regularisation, weights / weights.mean())


@pytest.mark.parametrize("kind", ["ridge", "linear-svm", "logistic"])
def test_a_fit_in_the_span_equals_one_in_the_full_space(kind):
    vectors, labels = data(20, 90)
    new = data(15, 90, seed=7)[0]
    every = make_rows(vectors)
    rows, combinations = every.compressed
    assert rows.shape[1] <= 20
    centre = vectors.mean(axis=0)
    spanned, offsets = fit(kind, rows.read(slice(None)), labels, 1.0, 0.5)
    spanned = (new - centre) @ every.rotate_back(spanned, combinations) + offsets
    coefficients, intercepts = fit(kind, vectors - centre, labels, 1.0, 0.5)
    full = (new - centre) @ coefficients + intercepts
    # Solvers stop at a tolerance; liblinear's is 1e-4 of its own measure.
    np.testing.assert_allclose(spanned, full, atol=0.02 if kind != "ridge" else 1e-3)


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
    rows = make_rows(vectors, standardise=True).read(slice(None))
    coefficients, intercepts = fit(kind, rows, np.arange(n_species), 0.1, 0.5)
    scores = rows @ coefficients + intercepts
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) == np.arange(n_species)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("standardise", [False, True])
def test_equal_rows(kind, standardise):
    rows = make_rows(np.ones((4, 9), np.float32), standardise=standardise).compressed[0].read(slice(None))
    coefficients, intercepts = fit(kind, rows, np.array([0, 1, 0, 1]), 0.1, 0.5)
    scores = rows @ coefficients + intercepts
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


def test_the_chi2_map_is_that_of_scikit_learn_to_the_bit():
    features = np.random.default_rng(6).random((50, 70)) * (np.random.default_rng(7).random((50, 70)) > 0.3)
    expected = AdditiveChi2Sampler(sample_steps=2, sample_interval=0.5).fit_transform(features)
    np.testing.assert_array_equal(apply_chi2_map(features), expected.astype(np.float32))


def test_the_chi2_map_takes_what_is_below_zero_for_zero():
    vectors = np.array([[-1.0, 0.5]], np.float32)
    np.testing.assert_array_equal(apply_feature_map(vectors, "chi2"), apply_feature_map(np.maximum(vectors, 0), "chi2"))
    assert apply_feature_map(vectors, "none") is vectors


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
        np.testing.assert_allclose(weigh_pictures(labels, plants, species_balance, plant_balance), wanted)


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
