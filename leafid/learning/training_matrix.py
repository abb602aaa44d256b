"""The training matrix: an expert's vectors, mapped, centred and standardised batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from leafid.learning.linear import LinearScorer, apply_feature_map

# Numbers in a batch of rows: 64 MiB.
_BATCH_NUMBERS = 2**24
# Numbers that are read and prepared together, few enough for the processor's cache: 1 MiB.
_PIECE_NUMBERS = 2**18
# Numbers up to which all mapped rows stay in memory: 128 MiB.
_SMALL_NUMBERS = 2**25
# Batches of rows on the left side of a kernel matrix's block: 128 MiB.
_LEFT_BATCHES = 2
# Pivot, relative to the largest, below which a row counts as a sum of others.
_MIN_PIVOT = 1e-6
# Standard deviation below which a column counts as constant.
_MIN_SPREAD = 1e-6


class Vectors(Protocol):
    """A table of numbers (n, d), in memory or a `DiskBackedArray`, that is read by row indices."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, indices: np.ndarray) -> np.ndarray:
        """Read rows."""


@dataclass(frozen=True, eq=False)
class RowPreparation:
    """Prepares vectors as a training matrix prepared its own."""

    map: str
    #: By domain, float32 (n_columns,).
    means: Mapping[int, np.ndarray]
    #: Of all rows, for domains without a mean: float32 (n_columns,).
    mean: np.ndarray
    #: float32 (n_columns,), 0 for constant columns; None where columns are not standardised.
    scale: np.ndarray | None = None

    def prepare(self, vectors: np.ndarray, domains: np.ndarray) -> np.ndarray:
        """Turn vectors (n, d) of domains, int (n,), into rows, float32 (n, n_columns)."""
        rows = apply_feature_map(vectors.astype(np.float32), self.map)
        rows = rows - np.array([self.means.get(domain, self.mean) for domain in domains.tolist()])
        return rows if self.scale is None else rows * self.scale


class TrainingMatrix:
    """Training vectors, float (n, d), as the classifiers see them.

    Means and standard deviations are computed in a pass each. Rows are prepared whenever they are read, so that no more
    than a batch of them is in memory, by default 64 MiB, unless all mapped rows are small enough (`is_small`).

    With `standardise`, every column is divided by its standard deviation, for measures in different units. `domains`,
    int (n,), is each row's domain (acquisition type and augmentation), if every domain is centred on a mean of its own.
    `read_kernel` reads the inner products of the mapped vectors less a vector that is the same for all, where these
    are known, float32 (n, n).
    """

    def __init__(
        self,
        vectors: Vectors,
        map: str,
        *,
        standardise: bool,
        domains: np.ndarray | None = None,
        batch_size: int | None = None,
        read_kernel: Callable[[], np.ndarray] | None = None,
    ) -> None:
        self.map = map
        self.n_rows = vectors.shape[0]
        self._vectors = vectors
        self._read_kernel = read_kernel
        self._domains = np.zeros(self.n_rows, np.int64) if domains is None else domains
        self.n_columns = apply_feature_map(vectors[np.arange(1)], map).shape[1]
        self.is_small = batch_size is None and self.n_rows * self.n_columns <= _SMALL_NUMBERS
        # The map is the most expensive step: that of a small table is applied once, not in every pass.
        self._mapped = self._map_all() if self.is_small else None
        self._batch_size = batch_size or max(1, _BATCH_NUMBERS // max(self.n_columns, 1))
        self._scale: np.ndarray | None = None
        self._means = np.zeros((int(self._domains.max()) + 1, self.n_columns), np.float32)
        self._means, self._mean = self._compute_means()
        if standardise:
            self._scale = self._compute_scale()

    def iterate_batches(
        self, indices: np.ndarray | None = None, size_factor: int = 1
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the rows at some indices, by default all, in batches: positions among the indices, and float32 rows.

        The rows of a batch are in a buffer that the next batch uses again.
        """
        wanted = np.arange(self.n_rows) if indices is None else indices
        size = min(self._batch_size * size_factor, len(wanted))
        # First access to new memory takes longer than filling it.
        buffer = np.empty((size, self.n_columns), np.float32)
        for start in range(0, len(wanted), max(size, 1)):
            positions = slice(start, min(start + size, len(wanted)))
            yield positions, self.read_rows(wanted[positions], buffer[: positions.stop - start])

    def read_rows(self, indices: np.ndarray, buffer: np.ndarray | None = None) -> np.ndarray:
        """Read rows and prepare them, in a buffer where there is one; float32 (k, n_columns)."""
        rows = np.empty((len(indices), self.n_columns), np.float32) if buffer is None else buffer
        for part in self._split_into_pieces(len(indices)):
            own, piece = indices[part], rows[part]
            _widen(self._read_mapped(own) if self._mapped is None else self._mapped[own], piece)
            piece -= self._means[self._domains[own]]
            if self._scale is not None:
                piece *= self._scale
        return rows

    @property
    def preparation(self) -> RowPreparation:
        """What prepares further vectors like these."""
        means = {domain: self._means[domain] for domain in np.unique(self._domains).tolist()}
        return RowPreparation(self.map, means, self._mean, self._scale)

    @property
    def is_wide(self) -> bool:
        """Whether there are more columns than rows."""
        return self.n_columns > self.n_rows

    @property
    def rows_in_memory(self) -> np.ndarray:
        """All rows, float32 (n, m), for classifiers that need them at once.

        A wide matrix is rotated into its row space. That keeps lengths and angles in as many columns as there are rows,
        so that every linear classifier learns the same in a fraction of the time.
        """
        return self._rows_and_combinations[0]

    def rotate_back(self, coefficients: np.ndarray) -> np.ndarray:
        """Turn coefficients of `rows_in_memory` into coefficients of rows, (n_columns, n_species)."""
        combinations = self._rows_and_combinations[1]
        return coefficients if combinations is None else self.combine_rows(combinations @ coefficients)

    def combine_rows(self, coefficients: np.ndarray) -> np.ndarray:
        """Sum all rows with coefficients (n, k); float32 (n_columns, k)."""
        total = np.zeros((self.n_columns, coefficients.shape[1]), np.float32)
        for positions, rows in self.iterate_batches():
            total += rows.T @ coefficients[positions]
        return total

    def compute_kernel(self) -> np.ndarray:
        """Compute the inner products of all rows with all rows; float32 (n, n)."""
        if self._read_kernel is not None and self._scale is None:
            return self._centre_kernel(self._read_kernel())
        kernel = np.empty((self.n_rows, self.n_rows), np.float32)
        # Large batches on the left save passes over those on the right.
        for positions, rows in self.iterate_batches(size_factor=_LEFT_BATCHES):
            kernel[positions, positions] = rows @ rows.T
            for others, other_rows in self.iterate_batches(np.arange(positions.stop, self.n_rows)):
                right = slice(positions.stop + others.start, positions.stop + others.stop)
                kernel[positions, right] = rows @ other_rows.T
                kernel[right, positions] = kernel[positions, right].T
        return kernel

    def _centre_kernel(self, kernel: np.ndarray) -> np.ndarray:
        """Turn inner products of vectors into those of centred ones, in place."""
        counts = np.bincount(self._domains)
        shares = (self._domains[:, None] == np.arange(len(counts))) / np.maximum(counts, 1).astype(np.float32)
        means = kernel @ shares.astype(np.float32)
        of_means = (shares.T @ means).astype(np.float32)
        shifts = means.T - of_means[:, self._domains]
        for rows in self._split_into_pieces(self.n_rows):
            kernel[rows] -= means[rows][:, self._domains]
            kernel[rows] -= shifts[self._domains[rows]]
        return kernel

    def make_scorer(self, coefficients: np.ndarray, intercepts: np.ndarray) -> LinearScorer:
        """Turn a classifier of rows into one of vectors without a known domain."""
        if self._scale is not None:
            coefficients = coefficients * self._scale[:, None]
        return LinearScorer(self.map, coefficients, intercepts - self._mean @ coefficients)

    def adapt_to_domain(self, scorer: LinearScorer, domain: int) -> LinearScorer:
        """Turn a classifier from `make_scorer` into one of vectors of a domain, if any training row is of that."""
        if not (self._domains == domain).any():
            return scorer
        shift = (self._mean - self._means[domain]) @ scorer.coefficients
        return LinearScorer(self.map, scorer.coefficients, scorer.intercepts + shift)

    def _map_all(self) -> np.ndarray:
        # In pieces, as a map needs many times their memory.
        mapped = np.empty((self.n_rows, self.n_columns), np.float32)
        for part in self._split_into_pieces(self.n_rows):
            mapped[part] = self._read_mapped(np.arange(part.start, part.stop))
        return mapped

    def _split_into_pieces(self, n_rows: int) -> Iterator[slice]:
        size = max(1, _PIECE_NUMBERS // max(self.n_columns, 1))
        return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))

    def _read_mapped(self, indices: np.ndarray) -> np.ndarray:
        vectors = self._vectors[indices]
        return vectors if self.map == "none" else apply_feature_map(vectors.astype(np.float32), self.map)

    def _compute_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute the mean of every domain, float32 (n_domains, n_columns), and of all rows, (n_columns,)."""
        sums = np.zeros(self._means.shape)
        for positions, rows in self.iterate_batches():
            domains = self._domains[positions]
            for domain in np.unique(domains):
                sums[domain] += rows[domains == domain].sum(axis=0, dtype=np.float64)
        counts = np.bincount(self._domains, minlength=len(sums))
        means = sums / np.maximum(counts, 1)[:, None]
        return means.astype(np.float32), (sums.sum(axis=0) / max(self.n_rows, 1)).astype(np.float32)

    def _compute_scale(self) -> np.ndarray:
        squares = np.zeros(self.n_columns)
        for _, rows in self.iterate_batches():
            squares += np.square(rows, dtype=np.float64).sum(axis=0)
        spread = np.sqrt(squares / max(self.n_rows, 1))
        # A constant column is set to 0: dividing by its spread would amplify rounding errors.
        varies = spread > _MIN_SPREAD
        scale = np.where(varies, 1 / np.maximum(spread, _MIN_SPREAD), 0)
        return (scale / np.sqrt(max(int(np.count_nonzero(varies)), 1))).astype(np.float32)

    @cached_property
    def _rows_and_combinations(self) -> tuple[np.ndarray, np.ndarray | None]:
        """`rows_in_memory`; of a wide matrix also the coefficients that combine rows to the axes of their space."""
        if not self.is_wide:
            return self.read_rows(np.arange(self.n_rows)), None
        return _factorise_kernel(self.compute_kernel())


def _widen(values: np.ndarray, rows: np.ndarray) -> None:
    """Copy finite values, float (n, d), to rows, float32 (n, d); those in half precision in a third of NumPy's time."""
    if values.dtype != np.float16:
        rows[...] = values
        return
    # Exponent and mantissa move 13 bits to the left, the sign stays first, and the factor corrects the exponent's bias.
    bits = rows.view(np.int32)
    bits[...] = values.view(np.int16)
    bits <<= 13
    bits &= ~0x70000000
    rows *= np.float32(2.0**112)


def _factorise_kernel(kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factorise a kernel matrix K (n, n) as L L'; also give C, (n, k), such that K C = L.

    The pivoted Cholesky factorisation takes a small fraction of the time of eigenvectors.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    n_rows = len(kernel)
    factor, order, rank, _ = dpstrf(kernel.astype(np.float64), tol=max(kernel.diagonal().max(), 1e-30) * _MIN_PIVOT)
    # Equal rows span nothing; one empty column is kept to fit something to.
    order, rank = order - 1, max(int(rank), 1)
    rows, combinations = np.zeros((n_rows, rank), np.float32), np.zeros((n_rows, rank), np.float32)
    upper = np.triu(factor)[:rank]
    rows[order] = upper.T
    if upper[0, 0] > 0:
        combinations[order[:rank]] = solve_triangular(upper[:, :rank], np.eye(rank))
    return rows, combinations
