"""A growing two-dimensional array that spills to a temporary file when it is large."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from leafid.errors import LeafidError

#: Size in bytes up to which an array stays in memory.
MAX_BYTES_IN_MEMORY = 2**26
# Bytes per write: a single large write would be copied into memory before the first byte reaches the file.
_WRITE_SIZE = 2**24


class DiskBackedArray:
    """Rows of equal length, in memory up to `in_memory` bytes, in a temporary file otherwise.

    The file has no name, so that it disappears with the process. It is read, not mapped: the resident memory of the
    process then doesn't depend on the page cache. By default it is in the folder of temporary files (``TMPDIR``), and
    its type is that of features in the cache.

    Examples
    --------
    >>> with DiskBackedArray(np.float32) as array:
    ...     array.append(np.array([[1, 2], [3, 4], [5, 6]]))
    ...     array[np.array([2, 0])]
    array([[5., 6.],
           [1., 2.]], dtype=float32)
    """

    def __init__(
        self, dtype: type[np.floating] = np.float16, folder: Path | None = None, in_memory: int = MAX_BYTES_IN_MEMORY
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.shape = (0, 0)
        self._folder = folder
        # It stays open until `close`.
        self._file = tempfile.SpooledTemporaryFile(max(in_memory, 1), dir=str(folder) if folder else None)  # noqa: SIM115

    def append(self, rows: np.ndarray) -> None:
        """Append rows (k, n_columns); a `LeafidError` is raised when the disk is full or the folder is missing."""
        n_rows, n_columns = self.shape[0], self.shape[1] or rows.shape[1]
        if rows.shape[1] != n_columns:
            raise ValueError(f"expected rows of {n_columns} numbers, found {rows.shape[1]}")
        row_size = n_columns * self.dtype.itemsize
        step = max(1, _WRITE_SIZE // max(row_size, 1))
        try:
            self._file.seek(n_rows * row_size)
            for start in range(0, len(rows), step):
                self._file.write(np.ascontiguousarray(rows[start : start + step], self.dtype).tobytes())
        except OSError as error:
            raise LeafidError(
                f"{self._folder or tempfile.gettempdir()}: the training vectors can't be written to a temporary file: "
                f"{error.strerror or error}; make room, or name another folder with --cache (with --no-cache: TMPDIR)"
            ) from error
        self.shape = (n_rows + len(rows), n_columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, indices: np.ndarray) -> np.ndarray:
        """Read the rows at some indices; consecutive ones in a single read."""
        row_size = self.shape[1] * self.dtype.itemsize
        content = bytearray(len(indices) * row_size)
        bounds = [0, *(np.flatnonzero(np.diff(indices) != 1) + 1).tolist(), len(indices)]
        for start, stop in pairwise(bounds):
            self._file.seek(int(indices[start]) * row_size if start < stop else 0)
            target = memoryview(content)[start * row_size : stop * row_size]
            while target:  # a read may return fewer bytes than requested
                count = self._file.readinto(target)
                if not count:
                    raise IndexError(f"row {indices[stop - 1]} is beyond the {len(self)} there are")
                target = target[count:]
        return np.frombuffer(content, self.dtype).reshape(len(indices), self.shape[1])

    def close(self) -> None:
        """Delete the rows."""
        self._file.close()

    def __enter__(self) -> DiskBackedArray:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
