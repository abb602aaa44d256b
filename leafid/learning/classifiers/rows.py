"""The training rows of an expert: its vectors, mapped and scaled when they are read."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.linalg.blas import ssyrk
from sklearn.preprocessing import StandardScaler

from leafid.errors import LeafidError
from leafid.learning.classifiers.linear import apply_feature_map

#: Size in bytes up to which an array stays in memory.
MAX_BYTES_IN_MEMORY = 2**26
# How many numbers are read at once. They take 16 MiB, and several times as much when
# they are mapped.
_BATCH_NUMBERS = 2**22
# The mean of at least this number of rows is near the mean of all.
_N_SAMPLED = 256
# Standard deviation below which a column counts as constant.
_MIN_SPREAD = 1e-6


def make_array(
    n_rows: int, n_columns: int, dtype: type[np.floating], folder: Path | None = None
) -> np.ndarray:
    """Make an array (n_rows, n_columns) of zeros; a large one is mapped to a file.

    The file has no name, so that it disappears with the array. By default it is in the
    folder of temporary files (``TMPDIR``). A `LeafidError` is raised when the disk is
    full or the folder is missing.
    """
    size = n_rows * n_columns * np.dtype(dtype).itemsize
    if size <= MAX_BYTES_IN_MEMORY:
        return np.zeros((n_rows, n_columns), dtype)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            # The space is taken now: a disk that is full when a page is written would
            # kill the process.
            os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, dtype, "r+", shape=(n_rows, n_columns))
    except OSError as error:
        raise LeafidError(
            f"{folder or tempfile.gettempdir()}: the training vectors can't be written "
            f"to a temporary file: {error.strerror or error}; make room, or name "
            "another folder with --cache (with --no-cache: TMPDIR)"
        ) from error


def release_memory(array: np.ndarray) -> None:
    """Release the memory of an array that is mapped to a file.

    Rows that are read again come from the file.
    """
    if isinstance(array, np.memmap) and hasattr(mmap, "MADV_DONTNEED"):
        array._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]  # NumPy shows its map in no other way


def iterate_batches(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield the bounds of batches of rows."""
    size = max(1, _BATCH_NUMBERS // max(n_columns, 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Training vectors as classifiers see them; only parts are in memory at once.

    A row is its mapped vector less the mean, times the scale. Every classifier centres
    its rows, so that nothing learned depends on the mean, which only makes products
    more precise.
    """

    #: float (n, d).
    vectors: np.ndarray
    #: int (n,): domains (acquisition type and augmentation), each of which is centred
    #: on its mean.
    domains: np.ndarray
    #: The feature map of the vectors.
    map: str
    #: Mean of the mapped vectors, float32 (n_columns,).
    mean: np.ndarray
    #: Factors of the columns, float32 (n_columns,), 0 for constant ones; None where
    #: columns are not standardised.
    scale: np.ndarray | None
    #: The folder that temporary files are written to.
    folder: Path | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.vectors), len(self.mean)

    def read(
        self, rows: np.ndarray | slice, columns: slice = slice(None)
    ) -> np.ndarray:
        """Read rows, float32 (k, n_columns), or some columns of them.

        `columns` selects columns of the vectors; a feature map makes several columns of
        a row from each.
        """
        mapped_columns = (
            np.arange(len(self.mean))
            .reshape(-1, self.vectors.shape[1])[:, columns]
            .ravel()
        )
        values = apply_feature_map(
            self.vectors[rows, columns].astype(np.float32), self.map
        )
        values -= self.mean[mapped_columns]
        if self.scale is not None:
            values *= self.scale[mapped_columns]
        return values

    @cached_property
    def kernel(self) -> np.ndarray:
        """The inner products of all rows, float32 (n, n)."""
        n_rows, d = self.vectors.shape
        kernel = make_array(n_rows, n_rows, np.float32, self.folder)
        # By columns, so that each vector is prepared once.
        for part in iterate_batches(d, n_rows * len(self.mean) // d):
            # This adds to the upper triangle, which in Fortran's order is the lower one
            # of the transpose.
            ssyrk(
                1.0,
                self.read(slice(None), part).T,
                1.0,
                kernel.T,
                trans=1,
                lower=1,
                overwrite_c=1,
            )
        release_memory(self.vectors)
        kernel += np.triu(kernel, 1).T
        return kernel

    def combine(self, coefficients: np.ndarray) -> np.ndarray:
        """Sum rows with coefficients (n, k): float64 (n_columns, k)."""
        total = np.zeros((len(self.mean), coefficients.shape[1]))
        factors = coefficients.astype(np.float32)
        for part in iterate_batches(*self.shape):
            total += self.read(part).T @ factors[part]
        release_memory(self.vectors)
        return total


def make_rows(
    vectors: np.ndarray,
    map: str = "none",
    standardise: bool = False,
    domains: np.ndarray | None = None,
    folder: Path | None = None,
) -> TrainingRows:
    """Make the training rows of vectors (n, d).

    With `standardise`, every column is divided by its standard deviation, for measures
    in different units, and by the root of the number of columns. By default all rows
    are of one domain.
    """
    # Where columns are not scaled, an approximate mean is enough.
    sample = vectors if standardise else vectors[:: max(1, len(vectors) // _N_SAMPLED)]
    statistics = StandardScaler()
    for part in iterate_batches(*sample.shape):
        statistics.partial_fit(apply_feature_map(sample[part].astype(np.float32), map))
    release_memory(vectors)
    scale = None
    if standardise:
        spread = np.sqrt(statistics.var_)
        # A constant column is set to 0: dividing by its spread would amplify rounding
        # errors.
        varies = spread > _MIN_SPREAD
        factors = np.where(varies, 1 / np.maximum(spread, _MIN_SPREAD), 0)
        scale = (factors / max(int(varies.sum()), 1) ** 0.5).astype(np.float32)
    if domains is None:
        domains = np.zeros(len(vectors), np.int64)
    return TrainingRows(
        vectors=vectors,
        domains=domains,
        map=map,
        mean=statistics.mean_.astype(np.float32),
        scale=scale,
        folder=folder,
    )
