import errno
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.learning.classifiers import rows as module
from leafid.learning.classifiers.linear import apply_feature_map
from leafid.learning.classifiers.rows import make_array, make_rows
from leafid.learning.classifiers.weighted_rows import WeightedRows


def draw(n, d, seed=0):
    random = np.random.default_rng(seed)
    return (
        np.abs(random.normal(size=(n, d))).astype(np.float16),
        random.integers(3, size=n),
        random.uniform(0, 2, n),
    )


@given(
    st.integers(1, 40),
    st.integers(1, 12),
    st.sampled_from(["none", "chi2"]),
    st.booleans(),
    st.sampled_from([1, 40, 2**24]),
)
def test_rows_are_mapped_and_standardised(n, d, map_, standardise, batch):
    vectors, _, _ = draw(n, d)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BATCH_NUMBERS", batch)
        rows = make_rows(vectors, map_, standardise=standardise)
        kernel = rows.kernel
    expected = apply_feature_map(vectors.astype(np.float32), map_).astype(np.float64)
    expected -= expected.mean(axis=0)
    if standardise:
        spread = expected.std(axis=0)
        varies = spread > 1e-6
        expected = (
            np.where(varies, expected / np.where(varies, spread, 1), 0)
            / max(varies.sum(), 1) ** 0.5
        )
    np.testing.assert_allclose(rows.read(slice(None)), expected, atol=1e-4)
    np.testing.assert_allclose(kernel, expected @ expected.T, atol=1e-3)


def test_further_vectors_become_rows_like_those_of_training():
    vectors, domains, weights = draw(30, 5)
    rows = WeightedRows(
        make_rows(vectors, "chi2", standardise=True, domains=domains), weights
    )
    prepared = rows.transform.transform(vectors, domains)
    for domain in range(3):
        trained = (domains == domain) & (weights > 0)
        np.testing.assert_allclose(prepared[trained].mean(axis=0), 0, atol=1e-4)
    # A domain that training did not see is centred on all rows.
    of_unseen_domain = rows.transform.transform(vectors, np.full(30, 9))
    np.testing.assert_allclose(of_unseen_domain[weights > 0].mean(axis=0), 0, atol=1e-4)


def test_large_arrays_are_in_a_file_without_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES_IN_MEMORY", 100)
    small, large = (make_array(n_rows, 4, np.float32, tmp_path) for n_rows in (5, 50))
    assert not isinstance(small, np.memmap)
    assert isinstance(large, np.memmap)
    assert list(tmp_path.iterdir()) == []
    large[:] = 1
    assert large.sum() == 200


@pytest.mark.parametrize("problem", ["full", "gone"])
def test_no_room(problem, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if problem == "full":
        monkeypatch.setattr(os, "posix_fallocate", fail)
    monkeypatch.setattr(module, "MAX_BYTES_IN_MEMORY", 1)
    with pytest.raises(
        LeafidError,
        match=(
            r"can't be written to a temporary file: No s.*; make room, or name another"
        ),
    ):
        make_array(
            5, 4, np.float32, tmp_path / problem if problem == "gone" else tmp_path
        )
