import numpy as np
import pytest
from sklearn.decomposition import PCA

from leafid.descriptors.encoding import BagOfWordsEncoder
from leafid.descriptors.local import LocalFeatures


def features(n=300, d=10, seed=0):
    random = np.random.default_rng(seed)
    rows = (random.normal(size=(n, d)) * np.linspace(3, 0.5, d)) @ random.normal(size=(d, d)) + 5
    return LocalFeatures(
        rows.astype(np.float32), random.random((n, 2)).astype(np.float32), random.random(n).astype(np.float32) - 3
    )


def test_equals_principal_components_but_for_sign_and_scale():
    found = features()
    rows = BagOfWordsEncoder(2, 4).fit(found).project(found)
    pca = PCA(4).fit(found.descriptors)
    expected = pca.transform(found.descriptors) / np.sqrt(pca.explained_variance_[0])
    assert rows.dtype == np.float32
    signs = np.sign((rows * expected).sum(axis=0))
    np.testing.assert_allclose(rows, expected * signs, atol=1e-4)  # float32 against float64
    assert rows[:, 0].std(ddof=1) == pytest.approx(1, abs=1e-4)


def test_the_sign_of_an_axis_is_fixed():
    axes = BagOfWordsEncoder(2, 6).fit(features()).components_
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(6)] > 0).all()


def test_axes_read_from_a_file_give_the_same_rows_to_the_bit():
    found = features(2000, 128)
    learned = BagOfWordsEncoder(2, 62, 1.0).fit(found)
    stored = {name: array.copy(order="C") for name, array in learned.get_state().items()}
    assert learned.project(found).tobytes() == BagOfWordsEncoder(2, 62, 1.0).set_state(stored).project(found).tobytes()


def test_the_position_is_appended_as_standard_scores_times_the_weight():
    found = features()
    rows = BagOfWordsEncoder(2, 4, 0.5).fit(found).project(found)
    assert rows.shape == (300, 7)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[:, 4:].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(rows[:, 4:].std(axis=0), 0.5, rtol=3e-6)  # float32


def test_equal_positions_and_equal_descriptors_stay_finite():
    same = LocalFeatures(np.ones((5, 8), np.float32), np.full((5, 2), 0.5, np.float32), np.zeros(5, np.float32))
    assert np.isfinite(BagOfWordsEncoder(1, 3, 1.0).fit(same).project(same)).all()
