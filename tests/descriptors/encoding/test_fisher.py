import numpy as np
import pytest
from skimage.feature import fisher_vector
from sklearn.mixture import GaussianMixture

from leafid.descriptors.encoding import FisherEncoder
from leafid.descriptors.local import LocalFeatures


def features(n, d=8, seed=0):
    random = np.random.default_rng(seed)
    centres = 3 * np.random.default_rng(99).normal(size=(4, d))
    rows = centres[random.integers(4, size=n)] + random.normal(size=(n, d))
    return LocalFeatures(
        rows.astype(np.float32), random.random((n, 2)).astype(np.float32), random.random(n).astype(np.float32)
    )


@pytest.fixture(scope="module")
def encoder():
    return FisherEncoder(4, 5, 0.5).fit(features(500))


def compute_literally(rows, weights, means, variances):
    """Sánchez et al., equations 17 and 18, feature by feature and mode by mode, without the normalisations."""
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
def test_equals_the_literal_formula(encoder, n):
    found = features(n, seed=n)
    rows = encoder.project(found).astype(np.float64)
    expected = normalise(
        compute_literally(rows, *(a.astype(float) for a in (encoder.weights_, encoder.means_, encoder.variances_)))
    )
    vector = encoder.transform(found)
    assert vector.dtype == np.float32
    # Sums in float32 that nearly cancel, then a square root: 1e-6 becomes 1e-3.
    np.testing.assert_allclose(vector, expected, atol=2e-3)


def test_mixtures_are_as_likely_as_those_of_scikit_learn():
    """Each finds a local maximum of the likelihood: the best of several count."""
    likelihoods = []
    for seed in range(5):
        encoder = FisherEncoder(4, 5, 0.5, seed=seed).fit(features(1000))
        rows, new_rows = (encoder.project(features(1000, seed=own)) for own in (0, 1))
        wanted = GaussianMixture(4, covariance_type="diag", random_state=seed).fit(rows)
        found = GaussianMixture(4, covariance_type="diag")
        found.weights_, found.means_, found.covariances_ = encoder.weights_, encoder.means_, encoder.variances_
        found.precisions_cholesky_ = 1 / np.sqrt(encoder.variances_)
        likelihoods.append((found.score(new_rows), wanted.score(new_rows)))
        assert encoder.weights_.sum() == pytest.approx(1, abs=1e-5)
    found_best, wanted_best = np.max(likelihoods, axis=0)
    assert found_best > wanted_best - 0.02


def test_equals_scikit_image_up_to_its_conventions(encoder):
    """Its derivatives by the weights come first and are not ours; those by the deviations have the other sign."""
    found = features(80, seed=5)
    rows = encoder.project(found).astype(np.float64)
    mixture = GaussianMixture(4, covariance_type="diag")
    mixture.weights_, mixture.means_, mixture.covariances_ = (
        array.astype(np.float64) for array in (encoder.weights_, encoder.means_, encoder.variances_)
    )
    mixture.precisions_cholesky_ = 1 / np.sqrt(mixture.covariances_)
    theirs = fisher_vector(rows, mixture, improved=False)[4:]
    theirs[theirs.size // 2 :] *= -1
    # Ours sums in float32, and a square root follows.
    np.testing.assert_allclose(encoder.transform(found), normalise(theirs), atol=2e-3)


def test_a_feature_far_from_every_mode_stays_finite(encoder):
    far = LocalFeatures(np.full((3, 8), 1e4, np.float32), np.zeros((3, 2), np.float32), np.zeros(3, np.float32))
    assert np.isfinite(encoder.transform(far)).all()


def test_the_gradient_vanishes_on_the_training_features():
    """The gradient vanishes at the maximum of the likelihood: before normalisation all is about 0."""
    found = features(2000)
    encoder = FisherEncoder(4, 5).fit(found)
    rows = encoder.project(found).astype(np.float64)
    raw = compute_literally(rows, encoder.weights_, encoder.means_, encoder.variances_)
    assert np.abs(raw).max() < 0.05
