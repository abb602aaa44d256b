import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.descriptors.encoding import VladEncoder
from leafid.descriptors.encoding.visual_words import find_nearest_words
from leafid.descriptors.local import LocalFeatures


@pytest.fixture(scope="module")
def encoder(features):
    return VladEncoder(7, 5, 1.0).fit(features(400))


def compute_literally(rows, words):
    """Evaluate the formulas feature by feature and value by value, in float64."""
    sums = [[0.0] * len(words[0]) for _ in words]
    for row in rows.astype(float):
        nearest = min(range(len(words)), key=lambda k: sum((row[i] - words[k][i]) ** 2 for i in range(len(row))))
        for i in range(len(row)):
            sums[nearest][i] += row[i] - words[nearest][i]
    roots = [np.sign(value) * abs(value) ** 0.5 for own in sums for value in own]
    length = sum(value**2 for value in roots) ** 0.5
    return [value / length for value in roots]


@pytest.mark.parametrize("n", [1, 90])
def test_sums_differences_from_the_nearest_word(encoder, n, features):
    found = features(n, seed=1)
    vector = encoder.transform(found)
    assert vector.dtype == np.float32
    assert vector.shape == (encoder.n_features,) == (7 * 8,)
    expected = compute_literally(encoder.projection_.transform(found), encoder.words_.astype(float))
    # A sum of n differences of about 1, in float32, is off by 1e-6 at most; the root of such a zero is 1e-3.
    np.testing.assert_allclose(vector, expected, atol=1e-3)


def test_by_hand():
    words = np.array([[0, 0], [10, 0]], np.float32)
    rows = np.array([[1, 0], [3, 0], [10, -9]], np.float32)
    encoder = VladEncoder(2, 2).set_state(
        {
            "words": words,
            "mean": np.zeros(2, np.float32),
            "components": np.eye(2, dtype=np.float32),
            "scale": np.float32(1),
            "position_mean": np.zeros(3, np.float32),
            "position_scale": np.ones(3, np.float32),
        }
    )
    found = LocalFeatures(rows, np.zeros((3, 2), np.float32), np.zeros(3, np.float32))
    # Sums (4, 0) and (0, -9); their roots 2, 0, 0, -3 have the length √13.
    np.testing.assert_allclose(encoder.transform(found), np.array([2, 0, 0, -3]) / 13**0.5, rtol=1e-6)


@given(order=st.permutations(range(40)))
def test_the_order_doesnt_matter(encoder, order, features):
    found = features(40, seed=2)
    # The order of a sum moves its last bits; none of these sums is near zero.
    np.testing.assert_allclose(encoder.transform(found.take(np.array(order))), encoder.transform(found), atol=1e-6)


@given(times=st.integers(2, 5))
def test_the_same_features_several_times_are_the_same_vector(encoder, times, features):
    found = features(30, seed=3)
    repeated = found.take(np.tile(np.arange(30), times))
    # As above.
    np.testing.assert_allclose(encoder.transform(repeated), encoder.transform(found), atol=1e-6)


def test_the_norm_is_one(encoder, features):
    assert np.linalg.norm(encoder.transform(features(50, seed=4))) == pytest.approx(1, abs=1e-6)


def test_no_features_give_zeros(encoder, features):
    assert not encoder.transform(features(0)).any()
    assert encoder.transform(features(0)).shape == (encoder.n_features,)


def test_equal_features_pass_without_a_warning_of_a_library(features):
    same = features(1).take(np.zeros(20, int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = VladEncoder(2, 5, 1.0).fit(same)
    assert np.isfinite(encoder.transform(same)).all()


def test_the_first_of_equally_near_words_is_chosen():
    assert find_nearest_words(np.zeros((1, 1), np.float32), np.array([[1], [-1]], np.float32)).tolist() == [0]
