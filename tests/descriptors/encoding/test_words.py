import numpy as np
import pytest

from leafid.descriptors.encoding import BagOfWordsEncoder
from leafid.descriptors.local import LocalFeatures


@pytest.fixture(scope="module")
def encoder(features):
    return BagOfWordsEncoder(7, 5, 1.0).fit(features(400))


@pytest.mark.parametrize("n", [1, 90])
def test_counts_nearest_words(encoder, n, features):
    found = features(n, seed=1)
    counts = np.zeros(7)
    for row in encoder.project(found).astype(float):
        counts[min(range(7), key=lambda k: ((row - encoder.words_[k]) ** 2).sum())] += 1
    histogram = encoder.transform(found)
    assert histogram.dtype == np.float32
    np.testing.assert_allclose(histogram, counts / n, rtol=1e-6)
    assert histogram.sum() == pytest.approx(1)


def test_separate_clusters_become_words():
    random = np.random.default_rng(0)
    clusters = np.array([[0, 0], [10, 0], [0, 10]], np.float32)
    labels = random.integers(3, size=300)
    rows = clusters[labels] + random.normal(scale=0.1, size=(300, 2)).astype(np.float32)
    found = LocalFeatures(rows.astype(np.float32), np.zeros((300, 2), np.float32), np.zeros(300, np.float32))
    encoder = BagOfWordsEncoder(3, 2).fit(found)
    np.testing.assert_allclose(np.sort(encoder.transform(found)), np.sort(np.bincount(labels) / 300), rtol=1e-6)
