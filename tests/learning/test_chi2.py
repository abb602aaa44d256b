import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_approximation import AdditiveChi2Sampler

from leafid.learning.linear import apply_chi2_map


def test_the_map_is_that_of_scikit_learn_to_the_bit():
    features = np.random.default_rng(6).random((50, 70)) * (np.random.default_rng(7).random((50, 70)) > 0.3)
    expected = AdditiveChi2Sampler(sample_steps=2, sample_interval=0.5).fit_transform(features)
    np.testing.assert_array_equal(apply_chi2_map(features), expected.astype(np.float32))


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_the_map_approximates_the_kernel(pairs):
    x, y = np.array(pairs).T
    exact = (2 * x * y / (x + y)).sum()
    # With two samples at distance ½ the kernel of equal values is 0.899 instead of 1: the largest error by far.
    assert abs(float(apply_chi2_map(x) @ apply_chi2_map(y)) - exact) <= 0.11 * np.sqrt(x * y).sum()
