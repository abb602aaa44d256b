"""Encoders against literal formulas and scikit-learn, and what holds for each kind."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from leafid.descriptors.encoding import ENCODERS, BagOfWordsEncoder, FisherEncoder
from leafid.descriptors.local.grid import LocalFeatures
from leafid.errors import LeafidError


def draw_features(n, d=8, seed=0):
    """Draw local features in four clusters."""
    random = np.random.default_rng(seed)
    centres = 3 * np.random.default_rng(99).normal(size=(4, d))
    rows = centres[random.integers(4, size=n)] + random.normal(size=(n, d))
    return LocalFeatures(
        rows.astype(np.float32),
        random.random((n, 2)).astype(np.float32),
        random.random(n).astype(np.float32) - 3,
    )


@pytest.fixture(scope="module", params=ENCODERS)
def kind(request):
    return request.param


def test_a_restored_encoder_encodes_alike_to_the_bit(kind):
    features = draw_features(1000, 128)
    learned = ENCODERS[kind](2, 62, 1.0).fit(features)
    stored = {
        name: array.copy(order="C") for name, array in learned.get_state().items()
    }
    restored = ENCODERS[kind](2, 62, 1.0).set_state(stored)
    assert learned.project(features).tobytes() == restored.project(features).tobytes()
    assert (
        learned.transform(features).tobytes() == restored.transform(features).tobytes()
    )


def test_fitting_twice_gives_the_same_bytes(kind):
    first, second = (
        ENCODERS[kind](3, 5, 1.0, seed=4).fit(draw_features(300)).get_state()
        for _ in range(2)
    )
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.mark.parametrize(("modes", "n"), [(4, 3), (1, 1), (1, 0)])
def test_too_few_draw_features(kind, modes, n):
    with pytest.raises(
        LeafidError,
        match=f"expected at least {max(modes, 2)} local features.*found {n}; use more",
    ):
        ENCODERS[kind](modes, 5).fit(draw_features(n))


def test_neither_order_nor_number_matters(kind):
    encoder = ENCODERS[kind](4, 5, 0.5).fit(draw_features(500))
    features = draw_features(50, seed=3)
    twice = features.take(np.tile(np.random.default_rng(0).permutation(50), 2))
    # Sums in another order that nearly cancel, and then a square root.
    np.testing.assert_allclose(
        encoder.transform(twice), encoder.transform(features), atol=2e-3
    )
    nothing = encoder.transform(draw_features(0))
    assert nothing.shape == (encoder.n_features,)
    assert not nothing.any()


def test_equal_features_pass_without_a_warning_of_a_library(kind):
    same = draw_features(1).take(np.zeros(20, int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = ENCODERS[kind](2, 5, 1.0).fit(same)
    assert np.isfinite(encoder.transform(same)).all()


def test_equals_principal_components_but_for_sign_and_scale():
    features = draw_features(300)
    rows = BagOfWordsEncoder(2, 4).fit(features).project(features)
    pca = PCA(4).fit(features.descriptors)
    expected = pca.transform(features.descriptors) / np.sqrt(pca.explained_variance_[0])
    assert rows.dtype == np.float32
    signs = np.sign((rows * expected).sum(axis=0))
    np.testing.assert_allclose(
        rows, expected * signs, atol=1e-4
    )  # float32 against float64
    assert rows[:, 0].std(ddof=1) == pytest.approx(1, abs=1e-4)


def test_the_sign_of_an_axis_is_fixed():
    axes = BagOfWordsEncoder(2, 6).fit(draw_features(300)).components_
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(6)] > 0).all()


def test_the_position_is_appended_as_standard_scores_times_the_weight():
    features = draw_features(300)
    rows = BagOfWordsEncoder(2, 4, 0.5).fit(features).project(features)
    assert rows.shape == (300, 7)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[:, 4:].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(rows[:, 4:].std(axis=0), 0.5, rtol=3e-6)  # float32


@pytest.fixture(scope="module")
def fisher():
    return FisherEncoder(4, 5, 0.5).fit(draw_features(500))


def compute_literally(rows, weights, means, variances):
    """Sánchez et al., equations 17 and 18, one by one, without the normalisations."""
    n, d = rows.shape
    d_mu, d_sigma = np.zeros((len(weights), d)), np.zeros((len(weights), d))
    for row in rows:
        densities = [
            w * np.prod(np.exp(-((row - m) ** 2) / (2 * v)) / np.sqrt(2 * np.pi * v))
            for w, m, v in zip(weights, means, variances, strict=True)
        ]
        for k, density in enumerate(densities):
            posterior = density / sum(densities)
            deviation = (row - means[k]) / np.sqrt(variances[k])
            d_mu[k] += posterior * deviation / (n * np.sqrt(weights[k]))
            d_sigma[k] += posterior * (deviation**2 - 1) / (n * np.sqrt(2 * weights[k]))
    return np.concatenate([d_mu.ravel(), d_sigma.ravel()])


def normalise(vector):
    vector = np.sign(vector) * np.sqrt(np.abs(vector))
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("n", [1, 2, 60])
def test_fisher_vectors_equal_the_literal_formula(fisher, n):
    features = draw_features(n, seed=n)
    rows = fisher.project(features).astype(np.float64)
    expected = normalise(
        compute_literally(
            rows,
            *(
                a.astype(float)
                for a in (fisher.weights_, fisher.means_, fisher.variances_)
            ),
        )
    )
    vector = fisher.transform(features)
    assert vector.dtype == np.float32
    # Sums in float32 that nearly cancel, then a square root: 1e-6 becomes 1e-3.
    np.testing.assert_allclose(vector, expected, atol=2e-3)


def test_mixtures_are_as_likely_as_those_of_scikit_learn():
    """Each finds a local maximum of the likelihood: the best of several count."""
    likelihoods = []
    for seed in range(3):
        encoder = FisherEncoder(4, 5, 0.5, seed=seed).fit(draw_features(1000))
        rows, new_rows = (
            encoder.project(draw_features(1000, seed=features_seed))
            for features_seed in (0, 1)
        )
        wanted = GaussianMixture(4, covariance_type="diag", random_state=seed).fit(rows)
        mixture = GaussianMixture(4, covariance_type="diag")
        mixture.weights_, mixture.means_, mixture.covariances_ = (
            encoder.weights_,
            encoder.means_,
            encoder.variances_,
        )
        mixture.precisions_cholesky_ = 1 / np.sqrt(encoder.variances_)
        likelihoods.append((mixture.score(new_rows), wanted.score(new_rows)))
        assert encoder.weights_.sum() == pytest.approx(1, abs=1e-5)
    best, wanted_best = np.max(likelihoods, axis=0)
    assert best > wanted_best - 0.02


def test_a_feature_far_from_every_mode_stays_finite(fisher):
    far = LocalFeatures(
        np.full((3, 8), 1e4, np.float32),
        np.zeros((3, 2), np.float32),
        np.zeros(3, np.float32),
    )
    assert np.isfinite(fisher.transform(far)).all()


@pytest.mark.parametrize("n", [1, 90])
def test_counts_nearest_words(n):
    encoder = BagOfWordsEncoder(7, 5, 1.0).fit(draw_features(400))
    features = draw_features(n, seed=1)
    counts = np.zeros(7)
    for row in encoder.project(features).astype(float):
        counts[min(range(7), key=lambda k: ((row - encoder.words_[k]) ** 2).sum())] += 1
    histogram = encoder.transform(features)
    assert histogram.dtype == np.float32
    np.testing.assert_allclose(histogram, counts / n, rtol=1e-6)
    assert histogram.sum() == pytest.approx(1)
