import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.learning.plant_fusion import (
    DEFAULT_EXPONENT,
    fit_plant_exponent,
    fuse_pictures,
)

posteriors = arrays(
    float, st.tuples(st.integers(1, 6), st.just(4)), elements=st.floats(1e-6, 1)
).map(lambda table: table / table.sum(axis=1, keepdims=True))


def fuse_slowly(table, types, exponents, leaf):
    product = [1.0] * table.shape[1]
    for row, kind, exponent, p_leaf in zip(table, types, exponents, leaf, strict=True):
        count = max(
            1.0,
            sum(o / max(leaf) for o, k in zip(leaf, types, strict=True) if k == kind),
        )
        weight = p_leaf / max(leaf) / count**exponent
        product = [
            value * probability**weight
            for value, probability in zip(product, row, strict=True)
        ]
    return np.array(product) / sum(product)


@given(posteriors, st.data())
def test_against_the_formula(table, data):
    n = len(table)
    types = data.draw(
        st.lists(st.sampled_from(["scan", "photo"]), min_size=n, max_size=n)
    )
    exponents = data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    leaf = data.draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n))
    assert fuse_pictures(table, types, exponents, leaf) == pytest.approx(
        fuse_slowly(table, types, exponents, leaf)
    )


def make_answers(n_plants, n_pictures, copies, seed):
    """Pictures of plants, each a noisy view of its species.

    With `copies`, the pictures of a plant are the same.
    """
    random = np.random.default_rng(seed)
    rows, labels, plants = [], [], []
    for plant in range(n_plants):
        species = random.integers(4)
        noise = random.normal(size=(1 if copies else n_pictures, 4)).repeat(
            n_pictures if copies else 1, axis=0
        )
        # The posterior of a species that raises one of four unit normal variables by 2.
        logarithms = 2 * (noise + 2 * np.eye(4)[species])
        rows.append(np.exp(logarithms) / np.exp(logarithms).sum(axis=1, keepdims=True))
        labels += [species] * n_pictures
        plants += [str(plant)] * n_pictures
    return np.concatenate(rows), np.array(labels), plants


def test_the_exponent_is_learned():
    assert fit_plant_exponent(*make_answers(400, 6, copies=False, seed=1)) <= 0.1
    assert fit_plant_exponent(*make_answers(400, 6, copies=True, seed=1)) >= 0.9
    lone = make_answers(20, 1, copies=False, seed=1)
    assert fit_plant_exponent(*lone) == DEFAULT_EXPONENT
    assert fit_plant_exponent(np.empty((0, 4)), np.array([]), []) == DEFAULT_EXPONENT
