"""Training rows with weights, centred by domain, for the classifiers of an expert.

The rows of a domain (acquisition type and augmentation) are centred on their mean, in
which all count the same. A domain without rows of weight above 0 is centred on the mean
of all. Nothing is learned from rows of weight 0.
"""

from functools import cached_property

import numpy as np
from scipy.sparse.linalg import eigsh

from leafid.learning.classifiers.row_statistics import (
    N_COMPONENTS,
    RowStatistics,
    make_statistics,
)
from leafid.learning.classifiers.rows import (
    TrainingRows,
    iterate_batches,
    release_memory,
)
from leafid.learning.classifiers.scorers import RowTransform

# Ratio of an eigenvalue to the largest one below which it is a rounding error.
_MIN_EIGENVALUE_RATIO = 1e-6


class WeightedRows:
    """Training rows with weights, float (n,), of 0 or more, of which one is above 0."""

    def __init__(self, rows: TrainingRows, weights: np.ndarray) -> None:
        self.rows = rows
        #: int (k,): the rows of weight above 0.
        self.indices = np.flatnonzero(weights)
        #: float (k,): their weights.
        self.weights = weights[self.indices]
        #: int (n_domains,): their domains.
        self.domains, numbers = np.unique(
            rows.domains[self.indices], return_inverse=True
        )
        #: float32 (k, n_domains): 1 where a row belongs to a domain.
        self.indicators = np.eye(len(self.domains), dtype=np.float32)[numbers]
        #: float32 (n_domains,): numbers of rows of the domains.
        self.counts = self.indicators.sum(axis=0)
        #: float32 (k, n_domains): indicators divided by the counts; their products with
        #: rows are the domains' means.
        self.shares = self.indicators / self.counts

    @cached_property
    def transform(self) -> RowTransform:
        """The transform of further vectors into centred rows like these."""
        rows = self.rows
        scale = np.ones(rows.shape[1], np.float32) if rows.scale is None else rows.scale
        units = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
        means = (rows.mean + self.sum_rows(self.shares).T * units).astype(np.float32)
        mean = (self.counts / self.counts.sum() @ means).astype(np.float32)
        return RowTransform(
            rows.map,
            dict(zip(self.domains.tolist(), means, strict=True)),
            mean,
            rows.scale,
        )

    def sum_rows(self, coefficients: np.ndarray) -> np.ndarray:
        """Sum the rows of weight above 0 with coefficients (k, m): (n_columns, m)."""
        padded = np.zeros((len(self.rows.vectors), coefficients.shape[1]))
        padded[self.indices] = coefficients
        return self.rows.combine(padded)

    def sum_centred(self, coefficients: np.ndarray) -> np.ndarray:
        """Sum the centred rows of weight above 0, as `sum_rows` sums rows."""
        totals = self.indicators.T @ coefficients
        return self.sum_rows(coefficients - self.shares @ totals)

    def read_centred_kernel(self) -> np.ndarray:
        """Read the products of centred rows of weight above 0: float32 (k, k)."""
        kernel = self.rows.kernel[np.ix_(self.indices, self.indices)]
        release_memory(self.rows.kernel)
        for side in (kernel, kernel.T):
            means = self.shares.T @ side
            for part in iterate_batches(len(kernel), len(kernel)):
                side[part] -= self.indicators[part] @ means
        return kernel

    def read_centred(self, indices: np.ndarray) -> np.ndarray:
        """Read any rows, given by their indices, centred: float32 (k, n_columns)."""
        return self.transform.transform(
            self.rows.vectors[indices], self.rows.domains[indices]
        )

    def summarise(self) -> RowStatistics:
        """Summarise centred rows by principal components and residual variances."""
        vectors, strengths = self.find_components(N_COMPONENTS)
        total = float(self.weights.sum())
        mean = np.zeros(self.rows.shape[1])
        squares = np.zeros(self.rows.shape[1])
        for part in iterate_batches(len(self.indices), len(mean)):
            values = self.read_centred(self.indices[part])
            mean += self.weights[part] @ values / total
            squares += self.weights[part] @ np.square(values)
        # Within the span of the vectors, the mean can be taken off without losing
        # positive semidefiniteness.
        inside = vectors.T @ mean
        values, rotation = np.linalg.eigh(
            np.diag(strengths) - total * np.outer(inside, inside)
        )
        components = vectors @ (rotation * np.sqrt(np.maximum(values, 0)))
        remainder = squares - total * mean**2 - (components**2).sum(axis=1)
        return make_statistics(
            components, remainder, mean=mean, weight=total, transform=self.transform
        )

    def compute_gram(self) -> np.ndarray:
        """Compute weighted products of centred columns, (n_columns, n_columns)."""
        n_columns = self.rows.shape[1]
        gram = np.zeros((n_columns, n_columns))
        for part in iterate_batches(len(self.indices), n_columns):
            values = self.read_centred(self.indices[part]).astype(np.float64)
            gram += values.T * self.weights[part] @ values
        return gram

    def find_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Find principal components, (n_columns, k), and weighted sums of squares.

        The sums of squares are along the components, which are the leading ones.
        """
        n_rows, n_columns = self.rows.shape
        roots = np.sqrt(self.weights[:, None])
        if n_columns < n_rows:
            return _find_eigenvectors(self.compute_gram(), number)
        # The matrix is √W X X' √W, with centred rows X; a component is X'√W v /
        # √strength, for v an eigenvector.
        kernel = self.read_centred_kernel()
        kernel *= roots
        kernel *= roots.T
        vectors, strengths = _find_eigenvectors(kernel, number)
        scaled = roots * vectors / np.sqrt(np.maximum(strengths, 1e-12))
        return self.sum_centred(scaled), strengths


def _find_eigenvectors(
    matrix: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find leading eigenvectors, (size, k), of a positive semidefinite matrix.

    Their eigenvalues are the largest ones above 0.
    """
    if len(matrix) <= 2 * number or not matrix.any():
        values, vectors = np.linalg.eigh(matrix.astype(np.float64))
    else:
        values, vectors = eigsh(
            matrix, number, v0=np.random.default_rng(0).standard_normal(len(matrix))
        )
    leading = np.flatnonzero(values > _MIN_EIGENVALUE_RATIO * values.max())[::-1][
        :number
    ]
    if not len(leading):
        leading = np.array([len(values) - 1])
    return vectors[:, leading].astype(np.float32), np.maximum(values[leading], 0)
