"""What holds for each kind of encoder."""

import numpy as np
import pytest

from leafid.encoding import FisherEncoder, VladEncoder, WordsEncoder, make_encoder
from leafid.errors import LeafidError

KINDS = {"fisher": FisherEncoder, "vlad": VladEncoder, "words": WordsEncoder}


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize(("modes", "position"), [(7, 1.0), (4, 0.5)])
def test_restored_encodes_alike_and_shapes_are_told(kind, modes, position, features):
    encoder = KINDS[kind](modes, 5, position).fit(features(500))
    state = encoder.state()
    assert {name: array.shape for name, array in state.items()} == encoder.shapes(8)
    again = make_encoder(kind, modes, 5, position, 0).restore(state)
    np.testing.assert_array_equal(again.transform(features(30)), encoder.transform(features(30)))


def test_learning_the_same_twice_gives_the_same_bytes(kind, features):
    first, second = (KINDS[kind](3, 5, 1.0, seed=4).fit(features(300)).state() for _ in range(2))
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.mark.parametrize(("modes", "n"), [(4, 3), (1, 1), (1, 0)])
def test_too_few_features(kind, modes, n, features):
    with pytest.raises(LeafidError, match=f"expected at least {max(modes, 2)} local features.*found {n}; use more"):
        KINDS[kind](modes, 5).fit(features(n))
