import numpy as np
from sklearn.kernel_approximation import AdditiveChi2Sampler

from leafid.learning.classifiers.linear import (
    apply_chi2_map,
    apply_feature_map,
    rotate_rows,
    weigh_pictures,
)


def test_the_chi2_map_is_that_of_scikit_learn_to_the_bit():
    features = np.random.default_rng(6).random((50, 70)) * (
        np.random.default_rng(7).random((50, 70)) > 0.3
    )
    expected = AdditiveChi2Sampler(sample_steps=2, sample_interval=0.5).fit_transform(
        features
    )
    np.testing.assert_array_equal(apply_chi2_map(features), expected.astype(np.float32))
    # What is below zero is taken for zero.
    vectors = np.array([[-1.0, 0.5]], np.float32)
    np.testing.assert_array_equal(
        apply_feature_map(vectors, "chi2"),
        apply_feature_map(np.maximum(vectors, 0), "chi2"),
    )
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
        np.testing.assert_allclose(
            weigh_pictures(labels, plants, species_balance, plant_balance), wanted
        )


def test_wide_rows_keep_lengths_and_angles_in_fewer_columns():
    random = np.random.default_rng(0)
    rows = random.normal(size=(20, 90))
    # Equal rows span no more.
    rows = np.vstack([rows, rows[:3]])
    rotated, axes = rotate_rows(rows)
    assert rotated.shape == (23, 23)
    np.testing.assert_allclose(rotated @ rotated.T, rows @ rows.T, atol=1e-9)
    coefficients = random.normal(size=(23, 2))
    np.testing.assert_allclose(
        rows @ (axes @ coefficients), rotated @ coefficients, atol=1e-9
    )
    narrow = rows[:, :5]
    rotated, axes = rotate_rows(narrow)
    np.testing.assert_array_equal(rotated @ axes.T, narrow)
