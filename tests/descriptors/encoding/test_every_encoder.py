"""What holds for each kind of encoder."""

import warnings

import numpy as np
import pytest

from leafid.descriptors.encoding import ENCODERS
from leafid.errors import LeafidError


@pytest.fixture(scope="module", params=ENCODERS)
def kind(request):
    return request.param


@pytest.mark.parametrize(("modes", "position"), [(7, 1.0), (4, 0.5)])
def test_a_restored_encoder_encodes_alike_and_shapes_are_known(kind, modes, position, features):
    encoder = ENCODERS[kind](modes, 5, position).fit(features(500))
    state = encoder.get_state()
    assert {name: array.shape for name, array in state.items()} == encoder.get_state_shapes(8)
    restored = ENCODERS[kind](modes, 5, position).set_state(state)
    np.testing.assert_array_equal(restored.transform(features(30)), encoder.transform(features(30)))


def test_fitting_twice_gives_the_same_bytes(kind, features):
    first, second = (ENCODERS[kind](3, 5, 1.0, seed=4).fit(features(300)).get_state() for _ in range(2))
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.mark.parametrize(("modes", "n"), [(4, 3), (1, 1), (1, 0)])
def test_too_few_features(kind, modes, n, features):
    with pytest.raises(LeafidError, match=f"expected at least {max(modes, 2)} local features.*found {n}; use more"):
        ENCODERS[kind](modes, 5).fit(features(n))


def test_neither_order_nor_number_matters(kind, features):
    encoder = ENCODERS[kind](4, 5, 0.5).fit(features(500))
    found = features(50, seed=3)
    twice = found.take(np.tile(np.random.default_rng(0).permutation(50), 2))
    # Sums in another order that nearly cancel, and then a square root.
    np.testing.assert_allclose(encoder.transform(twice), encoder.transform(found), atol=2e-3)
    nothing = encoder.transform(features(0))
    assert nothing.shape == (encoder.n_features,)
    assert not nothing.any()


def test_equal_features_pass_without_a_warning_of_a_library(kind, features):
    same = features(1).take(np.zeros(20, int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = ENCODERS[kind](2, 5, 1.0).fit(same)
    assert np.isfinite(encoder.transform(same)).all()
