"""Training rows with weights, centred by domain: what the classifiers of an expert learn from.

The rows of a domain (acquisition type and augmentation) are centred on their mean, in which all count the same. A
domain without rows of weight above 0 is centred on the mean of all. Nothing is learned from rows of weight 0.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from leafid.learning.row_statistics import N_COMPONENTS, RowStatistics, make_statistics
from leafid.learning.rows import TrainingRows, encode_domains, iterate_batches
from leafid.learning.scorers import RowTransform

# Ratio of an eigenvalue to the largest one below which it is a rounding error.
_MIN_EIGENVALUE_RATIO = 1e-6


class WeightedRows:
    """Training rows with weights.

    Parameters
    ----------
    rows : TrainingRows
    weights : float (n,)
        0 or more, above 0 for one row at least.

    Attributes
    ----------
    indices : int (k,)
        The rows of weight above 0.
    weights : float (k,)
        The weights of these rows.
    indicators : float32 (k, n_domains)
        1 where a row belongs to a domain.
    counts : float32 (n_domains,)
        Numbers of rows of the domains.
    shares : float32 (k, n_domains)
        Indicators divided by the counts: their products with rows are the means of the domains.
    """

    def __init__(self, rows: TrainingRows, weights: np.ndarray) -> None:
        self.rows = rows
        self.indices = np.flatnonzero(weights)
        self.weights = weights[self.indices]
        self.indicators = encode_domains(rows.domains)[self.indices]
        self.counts = self.indicators.sum(axis=0)
        self.shares = self.indicators / np.maximum(self.counts, 1)
        self._dual = np.empty((len(self.indices), 0))

    @cached_property
    def transform(self) -> RowTransform:
        """What turns further vectors into centred rows like these."""
        return self.rows.make_transform(self.counts, self._column_sums[0].T)

    def read_centred(self, indices: np.ndarray) -> np.ndarray:
        """Read any rows, given by their indices, centred: float32 (k, n_columns)."""
        return self.transform.transform(self.rows.vectors[indices], self.rows.domains[indices])

    def summarise(self) -> RowStatistics:
        """Summarise centred rows by their leading principal components, and the variances of what they leave."""
        vectors, strengths = self.find_components(N_COMPONENTS)
        total = float(self.weights.sum())
        sums, squares = self._sum_centred()
        mean = sums / total
        # Within the span of the vectors, the mean can be taken off without losing positive semidefiniteness.
        inside = vectors.T @ mean
        values, rotation = np.linalg.eigh(np.diag(strengths) - total * np.outer(inside, inside))
        components = vectors @ (rotation * np.sqrt(np.maximum(values, 0)))
        remainder = squares - total * mean**2 - (components**2).sum(axis=1)
        return make_statistics(components, remainder, mean, total, self.transform)

    def find_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Find leading principal components, float (n_columns, k), and the weighted sums of squares along them."""
        if self.rows.shape[1] < self.rows.shape[0]:
            gram = np.zeros((self.rows.shape[1],) * 2)
            for part in iterate_batches(len(self.indices), len(gram)):
                values = self.read_centred(self.indices[part]) * np.sqrt(self.weights[part, None])
                gram += values.T @ values
            return _find_eigenvectors(gram.__matmul__, len(gram), number)
        roots = self._scatter_to_all_rows(np.sqrt(self.weights[:, None])).astype(np.float32)
        indicators = self._scatter_to_all_rows(self.indicators).astype(np.float32)
        shares = self._scatter_to_all_rows(self.shares).astype(np.float32)

        def centre(columns: np.ndarray) -> np.ndarray:
            return columns - shares @ (indicators.T @ columns)

        def multiply(columns: np.ndarray) -> np.ndarray:
            product = self.rows.kernel @ centre(roots * columns.astype(np.float32))
            return roots * (product - indicators @ (shares.T @ product))

        # The matrix is √W X X' √W, with centred rows X; a component is X'√W v / √strength, for v an eigenvector.
        vectors, strengths = _find_eigenvectors(multiply, len(roots), number)
        return self.rows.combine(centre(roots * vectors) / np.sqrt(np.maximum(strengths, 1e-12))), strengths

    def _sum_centred(self) -> tuple[np.ndarray, np.ndarray]:
        """Sum the centred rows, and their squares, with their weights: float (n_columns,)."""
        (means, sums, _), totals = self._column_sums, self.weights @ self.indicators
        squares = self.rows.sum_squares(self._scatter_to_all_rows(self.weights))
        return (sums - means * totals).sum(axis=1), squares - (means * (2 * sums - means * totals)).sum(axis=1)

    @cached_property
    def _column_sums(self) -> list[np.ndarray]:
        """Sum rows with several factors at once, as it takes time to read them: float (n_columns, …).

        The sums are the means of the domains, the weighted sums of the domains, and the coefficients of a dual form.
        """
        factors = [self.shares, self.weights[:, None] * self.indicators, self._dual]
        bounds = np.cumsum([factor.shape[1] for factor in factors])[:-1]
        return np.split(self.rows.combine(self._scatter_to_all_rows(np.hstack(factors))), bounds, axis=1)

    def _scatter_to_all_rows(self, values: np.ndarray) -> np.ndarray:
        """Give values of the rows of weight above 0, (k, …), to all rows, (n, …), with 0 for the others."""
        scattered = np.zeros((len(self.rows.domains), *values.shape[1:]))
        scattered[self.indices] = values
        return scattered


def _find_eigenvectors(
    multiply: Callable[[np.ndarray], np.ndarray], size: int, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find the eigenvectors, (size, k), with the largest eigenvalues above 0 of a positive semidefinite matrix."""
    start = np.random.default_rng(0).standard_normal((size, 1))
    if size <= 2 * number or not multiply(start).any():
        values, vectors = np.linalg.eigh(multiply(np.eye(size)).astype(np.float64))
    else:
        operator = LinearOperator((size, size), lambda column: multiply(column.reshape(-1, 1)), dtype=np.float64)
        values, vectors = eigsh(operator, number, v0=start[:, 0])
    leading = np.flatnonzero(values > _MIN_EIGENVALUE_RATIO * values.max())[::-1][:number]
    if not len(leading):
        leading = np.array([len(values) - 1])
    return vectors[:, leading].astype(np.float32), np.maximum(values[leading], 0)
