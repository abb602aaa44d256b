"""Training rows with weights, centred by domain: what the classifiers of an expert learn from.

The rows of a domain (acquisition type and augmentation) are centred on their mean, in which all count the same. A
domain without rows of weight above 0 is centred on the mean of all. Nothing is learned from rows of weight 0.
"""

from functools import cached_property

import numpy as np

from leafid.learning.rows import RowTransform, TrainingRows, encode_domains


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

    @property
    def transform(self) -> RowTransform:
        """What turns further vectors into centred rows like these."""
        return self.rows.make_transform(self.counts, self._column_sums[0].T)

    def sum_centred(self) -> tuple[np.ndarray, np.ndarray]:
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
