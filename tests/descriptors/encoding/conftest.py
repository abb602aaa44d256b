"""Fixtures of the encoder tests."""

import numpy as np
import pytest

from leafid.descriptors.local import LocalFeatures


@pytest.fixture(scope="session")
def features():
    """Draw local features without any structure."""

    def draw(n, d=8, seed=0):
        random = np.random.default_rng(seed)
        return LocalFeatures(
            random.normal(size=(n, d)).astype(np.float32),
            random.random((n, 2)).astype(np.float32),
            random.random(n).astype(np.float32),
        )

    return draw
