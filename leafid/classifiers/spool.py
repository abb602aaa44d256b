"""A table of numbers that is too long to hold: written row by row, read back by row."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from leafid.errors import LeafidError

#: A spool up to this size, in bytes, stays in memory.
IN_MEMORY = 2**28
# So that no more than the bound is in memory before the first byte goes to the file.
_WRITTEN_AT_ONCE = 2**24


class Spool:
    """Rows of equal length, in memory while they are few and in a temporary file once they are many.

    The file has no name: it is gone with the process, however that ends. It is read rather than mapped, so that the
    memory of the process is what it holds, and not how much of a file happens to be in the page cache.

    Parameters
    ----------
    dtype : dtype-like, default float16
        What the rows are kept as; float16 is what the feature cache keeps, too.
    folder : path-like, optional
        Where the file goes; by default where temporary files do (``TMPDIR``).
    in_memory : int, default 256 MiB
        Bytes up to which there is no file.

    Examples
    --------
    >>> with Spool(np.float32) as spool:
    ...     spool.append(np.array([[1, 2], [3, 4], [5, 6]]))
    ...     spool[np.array([2, 0])]
    array([[5., 6.],
           [1., 2.]], dtype=float32)
    """

    def __init__(
        self, dtype: type[np.floating] = np.float16, folder: Path | None = None, in_memory: int = IN_MEMORY
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.shape = (0, 0)
        self._folder = folder
        # Read and written at random, by one process: closed by close().
        self._file = tempfile.SpooledTemporaryFile(max(in_memory, 1), dir=str(folder) if folder else None)  # noqa: SIM115

    def append(self, rows: np.ndarray) -> None:
        """Add rows (k, width); all of them are as long as the first.

        Raises
        ------
        LeafidError
            When there is no room for them.
        """
        n_rows, width = self.shape[0], self.shape[1] or rows.shape[1]
        if rows.shape[1] != width:
            raise ValueError(f"expected rows of {width} numbers, found {rows.shape[1]}")
        size = width * self.dtype.itemsize
        step = max(1, _WRITTEN_AT_ONCE // max(size, 1))
        try:
            self._file.seek(n_rows * size)
            for start in range(0, len(rows), step):
                self._file.write(np.ascontiguousarray(rows[start : start + step], self.dtype).tobytes())
        except OSError as error:
            raise LeafidError(
                f"{self._folder or tempfile.gettempdir()}: what is learned from can't be put aside: "
                f"{error.strerror or error}; make room, or name another folder with --cache (with --no-cache: TMPDIR)"
            ) from error
        self.shape = (n_rows + len(rows), width)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        """Read the rows at some indices: (k, width). Neighbours are read in one go."""
        size = self.shape[1] * self.dtype.itemsize
        content = bytearray(len(rows) * size)
        ends = np.flatnonzero(np.diff(rows) != 1) + 1
        for start, stop in zip([0, *ends.tolist()], [*ends.tolist(), len(rows)], strict=True):
            if start == stop:
                continue
            self._file.seek(int(rows[start]) * size)
            # A file may give less than was asked for at once.
            wanted = memoryview(content)[start * size : stop * size]
            while wanted:
                count = self._file.readinto(wanted)
                if not count:
                    raise IndexError(f"row {rows[stop - 1]} is beyond the {len(self)} there are")
                wanted = wanted[count:]
        return np.frombuffer(content, self.dtype).reshape(len(rows), self.shape[1])

    def close(self) -> None:
        """Forget the rows."""
        self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
