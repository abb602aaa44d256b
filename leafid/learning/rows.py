"""The training rows of an expert: its vectors, mapped and standardised, in memory or in a file that is mapped to it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from leafid.errors import LeafidError
from leafid.learning.feature_maps import apply_feature_map
from leafid.learning.linear import LinearScorer

#: Size in bytes up to which an array stays in memory.
MAX_BYTES_IN_MEMORY = 2**26
# Numbers in a batch of rows: 64 MiB.
_BATCH_NUMBERS = 2**24
# Standard deviation below which a column counts as constant.
_MIN_SPREAD = 1e-6
# Ratio of an eigenvalue to the largest one below which it is a rounding error.
_MIN_EIGENVALUE_RATIO = 1e-6


def make_array(n_rows: int, n_columns: int, dtype: type[np.floating], folder: Path | None = None) -> np.ndarray:
    """Make an array (n_rows, n_columns) of zeros; a large one is mapped to a temporary file.

    The file has no name, so that it disappears with the array. By default it is in the folder of temporary files
    (``TMPDIR``). A `LeafidError` is raised when the disk is full or the folder is missing.
    """
    size = n_rows * n_columns * np.dtype(dtype).itemsize
    if size <= MAX_BYTES_IN_MEMORY:
        return np.zeros((n_rows, n_columns), dtype)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            # The space is taken now: a disk that is full when a page is written would kill the process.
            os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, dtype, "r+", shape=(n_rows, n_columns))
    except OSError as error:
        raise LeafidError(
            f"{folder or tempfile.gettempdir()}: the training vectors can't be written to a temporary file: "
            f"{error.strerror or error}; make room, or name another folder with --cache (with --no-cache: TMPDIR)"
        ) from error


def iterate_batches(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield the bounds of batches of rows."""
    size = max(1, _BATCH_NUMBERS // max(n_columns, 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Training vectors as classifiers see them before they are centred."""

    #: float32 (n, n_columns): mapped vectors less `mean`, times `scale`.
    values: np.ndarray
    #: int (n,): domains (acquisition type and augmentation), each of which is centred on a mean of its own.
    domains: np.ndarray
    #: The feature map of the vectors.
    map: str
    #: Of the mapped vectors, float32 (n_columns,); what is learned doesn't depend on it, but products are more precise.
    mean: np.ndarray
    #: Factors of the columns, float32 (n_columns,), 0 for constant ones; None where columns are not standardised.
    scale: np.ndarray | None
    #: Of temporary files.
    folder: Path | None = None

    @property
    def is_wide(self) -> bool:
        """Whether there are more columns than rows."""
        return self.values.shape[1] > self.values.shape[0]

    @cached_property
    def kernel(self) -> np.ndarray:
        """The inner products of all rows, float32 (n, n)."""
        n_rows, n_columns = self.values.shape
        kernel = make_array(n_rows, n_rows, np.float32, self.folder)
        for part in iterate_batches(n_rows, n_columns):
            for other in iterate_batches(part.stop, n_columns):
                kernel[part, other] = self.values[part] @ self.values[other].T
                kernel[other, part] = kernel[part, other].T
        return kernel

    def multiply(self, indices: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Multiply rows by coefficients (n_columns, k): float32 (len(indices), k)."""
        products = np.empty((len(indices), coefficients.shape[1]), np.float32)
        for part in iterate_batches(len(indices), len(coefficients)):
            products[part] = self.values[indices[part]] @ coefficients.astype(np.float32)
        return products

    def combine(self, indices: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Sum rows with coefficients (len(indices), k): float64 (n_columns, k)."""
        n_rows, n_columns = self.values.shape
        total = np.zeros((n_columns, coefficients.shape[1]))
        # To multiply the other rows by 0 takes less time than to copy those that count.
        factors = np.zeros((n_rows, coefficients.shape[1]), np.float32)
        factors[indices] = coefficients
        for part in iterate_batches(n_rows, n_columns):
            total += self.values[part].T @ factors[part]
        return total

    def compress(self) -> tuple[TrainingRows, np.ndarray | None]:
        """Rotate rows with more columns than rows into the space that they span.

        That keeps lengths and angles in at most as many columns as there are rows, so that every linear classifier
        learns the same in a fraction of the time. Also gives the coefficients that combine rows to the axes of that
        space, float64 (n, k), for `rotate_back`; None where the rows stay as they are.
        """
        if not self.is_wide:
            return self, None
        strengths, vectors = np.linalg.eigh(self.kernel.astype(np.float64))
        # Equal rows span nothing; one empty column is kept to fit something to.
        kept = max(1, int((strengths > _MIN_EIGENVALUE_RATIO * strengths[-1]).sum()))
        vectors, roots = vectors[:, -kept:], np.sqrt(np.maximum(strengths[-kept:], 1e-30))
        values = (vectors * roots).astype(np.float32)
        return TrainingRows(values, self.domains, "none", np.zeros(kept, np.float32), None), vectors / roots

    def rotate_back(self, coefficients: np.ndarray, combinations: np.ndarray | None) -> np.ndarray:
        """Turn coefficients of compressed rows, (k, m), into those of rows, (n_columns, m)."""
        if combinations is None:
            return coefficients
        return self.combine(np.arange(len(self.values)), combinations @ coefficients)


def make_rows(
    vectors: np.ndarray,
    map: str = "none",
    standardise: bool = False,
    domains: np.ndarray | None = None,
    folder: Path | None = None,
) -> TrainingRows:
    """Make the training rows of vectors (n, d).

    With `standardise`, every column is divided by its standard deviation, for measures in different units, and by the
    root of the number of columns. By default all rows are of one domain.
    """
    n_rows = len(vectors)
    n_columns = apply_feature_map(vectors[:1].astype(np.float32), map).shape[1]
    values = make_array(n_rows, n_columns, np.float32, folder)
    batches = list(iterate_batches(n_rows, n_columns))
    sums, squares = np.zeros(n_columns), np.zeros(n_columns)
    for part in batches:
        values[part] = apply_feature_map(vectors[part].astype(np.float32), map)
        sums += values[part].sum(axis=0, dtype=np.float64)
    mean = (sums / n_rows).astype(np.float32)
    for part in batches:
        values[part] -= mean
        squares += np.square(values[part], dtype=np.float64).sum(axis=0)
    scale = None
    if standardise:
        spread = np.sqrt(squares / n_rows)
        # A constant column is set to 0: dividing by its spread would amplify rounding errors.
        varies = spread > _MIN_SPREAD
        factors = np.where(varies, 1 / np.maximum(spread, _MIN_SPREAD), 0)
        scale = (factors / max(int(varies.sum()), 1) ** 0.5).astype(np.float32)
        for part in batches:
            values[part] *= scale
    own = np.zeros(n_rows, np.int64) if domains is None else domains
    return TrainingRows(values, own, map, mean, scale, folder)


@dataclass(frozen=True, eq=False)
class RowPreparation:
    """Turns vectors into centred rows like those of a training."""

    #: The feature map.
    map: str
    #: Means of the mapped vectors by domain, float32 (n_columns,).
    means: Mapping[int, np.ndarray]
    #: Of all rows, for domains without a mean: float32 (n_columns,).
    mean: np.ndarray
    #: As in `TrainingRows`.
    scale: np.ndarray | None = None

    def prepare(self, vectors: np.ndarray, domains: np.ndarray) -> np.ndarray:
        """Turn vectors (n, d) of domains, int (n,), into rows, float32 (n, n_columns)."""
        rows = apply_feature_map(vectors.astype(np.float32), self.map)
        rows = rows - np.array([self.means.get(domain, self.mean) for domain in domains.tolist()])
        return rows if self.scale is None else rows * self.scale

    def make_scorer(self, coefficients: np.ndarray, intercepts: np.ndarray, domain: int | None = None) -> LinearScorer:
        """Turn a classifier of centred rows into one of vectors of a domain, by default of any."""
        mean = self.mean if domain is None else self.means.get(domain, self.mean)
        own = coefficients if self.scale is None else coefficients * self.scale[:, None]
        return LinearScorer(self.map, own.astype(np.float32), (intercepts - mean @ own).astype(np.float32))
