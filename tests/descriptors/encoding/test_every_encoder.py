"""What holds for each kind of encoder."""

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
