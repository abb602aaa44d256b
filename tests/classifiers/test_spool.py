import errno
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.classifiers import spool as module
from leafid.classifiers.spool import Spool
from leafid.errors import LeafidError


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=6),
    st.integers(1, 4),
    st.sampled_from([1, 100, 2**20]),
    st.data(),
)
@settings(deadline=None, max_examples=50)
def test_reads_what_was_written_in_any_order(pieces, width, in_memory, data):
    random = np.random.default_rng(0)
    table = random.normal(size=(sum(pieces), width)).astype(np.float32)
    with Spool(np.float32, in_memory=in_memory) as spool:
        for piece in np.split(table, np.cumsum(pieces)[:-1]):
            spool.append(piece)
        assert spool.shape == table.shape
        indices = st.lists(st.integers(0, len(table) - 1), max_size=12) if len(table) else st.just([])
        asked = np.array(data.draw(indices), np.int64)
        np.testing.assert_array_equal(spool[asked], table[asked])
        spool.append(table[:1])  # one may go on writing after one has read
        if len(table):
            np.testing.assert_array_equal(spool[np.array([len(table)])], table[:1])


def test_rows_are_kept_in_the_precision_asked_for():
    with Spool() as spool:
        spool.append(np.array([[1 / 3]]))
        assert spool[np.array([0])].dtype == np.float16
        assert spool[np.array([0])] == np.float16(1 / 3)


def test_rows_of_another_length_and_rows_that_are_not_there():
    with Spool(in_memory=1) as spool:
        spool.append(np.zeros((2, 3)))
        with pytest.raises(ValueError, match="expected rows of 3 numbers, found 4"):
            spool.append(np.zeros((1, 4)))
        with pytest.raises(IndexError, match="row 2 is beyond the 2"):
            spool[np.array([1, 2])]


@pytest.mark.parametrize("n_rows", [1000, 8000])
def test_memory_stays_at_the_bound(n_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_WRITTEN_AT_ONCE", 2**14)
    tracemalloc.start()
    with Spool(np.float64, tmp_path, in_memory=2**16) as spool:
        for _ in range(n_rows // 100):
            spool.append(np.ones((100, 64)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert list(tmp_path.iterdir()) == []  # it has no name: nothing is left of a process that is killed
    # The bound of 64 KiB twice (as it moves to the file), and a piece of 50 KiB; the rows are 500 KB and 4 MB.
    assert peak < 250_000


def test_no_room(tmp_path, monkeypatch):
    with Spool(folder=tmp_path) as spool:

        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(spool._file, "write", full)
        with pytest.raises(LeafidError, match=r"can't be put aside: No space left on device; make room"):
            spool.append(np.zeros((2, 3)))
        assert spool.shape == (0, 0)


def test_a_folder_that_is_gone(tmp_path):
    with Spool(folder=tmp_path / "gone", in_memory=1) as spool, pytest.raises(LeafidError, match="gone"):
        spool.append(np.zeros((2, 3)))
