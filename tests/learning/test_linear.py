import numpy as np
import pytest
from sklearn.kernel_approximation import AdditiveChi2Sampler

from leafid.learning.estimators import fit_estimator, make_estimator, to_linear
from leafid.learning.linear import apply_chi2_map, apply_feature_map, weigh_pictures
from leafid.learning.rows import make_rows

LINEAR = {
    "sklearn.linear_model.RidgeClassifier": {"alpha": 0.1},
    "sklearn.svm.LinearSVC": {"C": 10.0, "max_iter": 2000},
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": {"solver": "lsqr", "shrinkage": 0.1},
    "sklearn.linear_model.LogisticRegression": {"C": 10.0, "max_iter": 200},
}


def data(n, d, n_species=3, seed=0):
    random = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_species), random.integers(n_species, size=n - n_species)])
    centres = random.normal(size=(n_species, d))
    return np.abs(centres[labels] + random.normal(size=(n, d))).astype(np.float32), labels


def fit(name, rows, labels):
    return to_linear(fit_estimator(make_estimator(name, LINEAR[name]), rows, labels, np.ones(len(labels))))


@pytest.mark.parametrize("name", ["sklearn.linear_model.RidgeClassifier", "sklearn.linear_model.LogisticRegression"])
def test_a_fit_in_the_span_equals_one_in_the_full_space(name):
    vectors, labels = data(20, 90)
    new = data(15, 90, seed=7)[0]
    training_rows = make_rows(vectors)
    rows, combinations = training_rows.compressed
    assert rows.shape[1] <= 20
    centre = vectors.mean(axis=0)
    spanned, offsets = fit(name, rows.read(slice(None)), labels)
    spanned = (new - centre) @ training_rows.rotate_back(spanned, combinations) + offsets
    coefficients, intercepts = fit(name, vectors - centre, labels)
    full = (new - centre) @ coefficients + intercepts
    # Solvers stop at a tolerance.
    np.testing.assert_allclose(spanned, full, atol=0.02)


@pytest.mark.parametrize("name", ["sklearn.linear_model.RidgeClassifier", "sklearn.svm.LinearSVC"])
@pytest.mark.parametrize("n_species", [2, 3, 8])
def test_species_with_a_single_picture(name, n_species):
    vectors, _ = data(n_species, 12, n_species)
    rows = make_rows(vectors, standardise=True).read(slice(None))
    coefficients, intercepts = fit(name, rows, np.arange(n_species))
    scores = rows @ coefficients + intercepts
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) == np.arange(n_species)).all()


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("standardise", [False, True])
def test_equal_rows(name, standardise):
    rows = make_rows(np.ones((4, 9), np.float32), standardise=standardise).compressed[0].read(slice(None))
    coefficients, intercepts = fit(name, rows, np.array([0, 1, 0, 1]))
    assert np.isfinite(rows @ coefficients + intercepts).all()


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
