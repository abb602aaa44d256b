import errno
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.learning import disk_backed_array as module
from leafid.learning.disk_backed_array import DiskBackedArray


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
    with DiskBackedArray(np.float32, in_memory=in_memory) as array:
        for piece in np.split(table, np.cumsum(pieces)[:-1]):
            array.append(piece)
        assert array.shape == table.shape
        indices = st.lists(st.integers(0, len(table) - 1), max_size=12) if len(table) else st.just([])
        asked = np.array(data.draw(indices), np.int64)
        np.testing.assert_array_equal(array[asked], table[asked])
        array.append(table[:1])  # one may go on writing after one has read
        if len(table):
            np.testing.assert_array_equal(array[np.array([len(table)])], table[:1])


def test_rows_are_kept_in_the_precision_asked_for():
    with DiskBackedArray() as array:
        array.append(np.array([[1 / 3]]))
        assert array[np.array([0])].dtype == np.float16
        assert array[np.array([0])] == np.float16(1 / 3)


def test_rows_of_another_length_and_rows_that_are_not_there():
    with DiskBackedArray(in_memory=1) as array:
        array.append(np.zeros((2, 3)))
        with pytest.raises(ValueError, match="expected rows of 3 numbers, found 4"):
            array.append(np.zeros((1, 4)))
        with pytest.raises(IndexError, match="row 2 is beyond the 2"):
            array[np.array([1, 2])]


@pytest.mark.parametrize("n_rows", [1000, 8000])
def test_memory_stays_at_the_bound(n_rows, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_WRITE_SIZE", 2**14)
    tracemalloc.start()
    with DiskBackedArray(np.float64, tmp_path, in_memory=2**16) as array:
        for _ in range(n_rows // 100):
            array.append(np.ones((100, 64)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert list(tmp_path.iterdir()) == []  # it has no name: nothing is left of a process that is killed
    # The bound of 64 KiB twice (as it moves to the file), and a piece of 50 KiB; the rows are 500 KB and 4 MB.
    assert peak < 250_000


def test_no_room(tmp_path, monkeypatch):
    with DiskBackedArray(folder=tmp_path) as array:

        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(array._file, "write", full)
        with pytest.raises(
            LeafidError, match=r"can't be written to a temporary file: No space left on device; make room"
        ):
            array.append(np.zeros((2, 3)))
        assert array.shape == (0, 0)


def test_a_folder_that_is_gone(tmp_path):
    with DiskBackedArray(folder=tmp_path / "gone", in_memory=1) as array, pytest.raises(LeafidError, match="gone"):
        array.append(np.zeros((2, 3)))
