from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leafid.model.held_out import HeldOutAnswers
from leafid.model.plant_fusion import (
    DEFAULT_EXPONENT,
    fit_plant_exponent,
    fuse_pictures,
)
from leafid.pictures.picture import AcquisitionType, Picture, Taxon

SPECIES = tuple(f"Acer species{letter}" for letter in "abcd")
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
    """Pictures of plants, each a noisy view of its species; with `copies`, the pictures of a plant are the same."""
    random = np.random.default_rng(seed)
    pictures, rows = [], []
    for plant in range(n_plants):
        species = random.integers(4)
        noise = random.normal(size=(1 if copies else n_pictures, 4)).repeat(
            n_pictures if copies else 1, axis=0
        )
        # The posterior of a species that raises one of four unit normal variables by 2.
        logarithms = 2 * (noise + 2 * np.eye(4)[species])
        rows.append(np.exp(logarithms) / np.exp(logarithms).sum(axis=1, keepdims=True))
        pictures += [
            Picture(
                Path(f"{plant}-{i}.jpg"),
                AcquisitionType.SCAN,
                taxon=Taxon(SPECIES[species]),
                plant=str(plant),
            )
            for i in range(n_pictures)
        ]
    return HeldOutAnswers(
        pictures, np.concatenate(rows), SPECIES, np.ones(len(pictures), bool)
    )


def test_the_exponent_is_learned():
    assert fit_plant_exponent(make_answers(400, 6, copies=False, seed=1)) <= 0.1
    assert fit_plant_exponent(make_answers(400, 6, copies=True, seed=1)) >= 0.9
    assert (
        fit_plant_exponent(make_answers(20, 1, copies=False, seed=1))
        == DEFAULT_EXPONENT
    )
    unknown = make_answers(3, 2, copies=False, seed=1)
    assert (
        fit_plant_exponent(
            HeldOutAnswers(*list(vars(unknown).values())[:3], np.zeros(6, bool))
        )
        == DEFAULT_EXPONENT
    )
