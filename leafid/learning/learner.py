"""Fits one linear classifier several times: without each fold of plants, and on everything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafid.learning.linear import LinearScorer, fit_linear
from leafid.learning.rows import Rows


@dataclass(frozen=True)
class Fit:
    """A classifier of the species that it saw.

    Attributes
    ----------
    coefficients : float32 (n_values, n_seen)
        In whatever space the learner works in.
    intercepts : float32 (n_seen,)
    seen : int (n_seen,)
        Numbers of the species, ascending.
    """

    coefficients: np.ndarray
    intercepts: np.ndarray
    seen: np.ndarray


class Learner(ABC):
    """Fits a linear classifier without any one part of its rows.

    Parameters
    ----------
    rows : Rows
    labels : int (n,)
        Species, from 0.
    weights : float (n,)
        How much each row counts.
    parts : sequence of int array
        The folds; together all rows, each once.
    regularisation : float
    """

    def __init__(
        self, rows: Rows, labels: np.ndarray, weights: np.ndarray, parts: Sequence[np.ndarray], regularisation: float
    ) -> None:
        self.table = rows
        self.labels = labels
        self.weights = weights
        self.parts = list(parts)
        self.regularisation = regularisation

    def fit(self, left_out: int | None = None) -> Fit:
        """Learn from all parts but one; by default from all. One species alone needs no classifier: it scores 0."""
        seen = np.unique(self.labels[self._chosen(left_out)])
        if len(seen) == 1:
            return Fit(np.zeros((self.n_values, 1), np.float32), np.zeros(1, np.float32), seen)
        return Fit(*self._solved(left_out, seen), seen)

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Forget what was put aside."""

    @property
    @abstractmethod
    def n_values(self) -> int:
        """Rows of the coefficients."""

    @abstractmethod
    def scores(self, fit: Fit, asked: np.ndarray) -> np.ndarray:
        """Score the rows at some indices; float32 (k, n_seen)."""

    @abstractmethod
    def scorer(self, fit: Fit) -> LinearScorer:
        """Take a fit to the original vectors."""

    @abstractmethod
    def _solved(self, left_out: int | None, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give coefficients and intercepts for two species or more."""

    def _chosen(self, left_out: int | None) -> np.ndarray:
        if left_out is None:
            return np.arange(len(self.labels))
        return np.setdiff1d(np.arange(len(self.labels)), self.parts[left_out])


class InMemory(Learner):
    """Any classifier of scikit-learn; all rows are held at once.

    Parameters
    ----------
    kind : {"ridge", "linear-svm", "lda", "logistic"}
    rows, labels, weights, parts, regularisation
        As in `Learner`.
    """

    def __init__(
        self,
        kind: str,
        rows: Rows,
        labels: np.ndarray,
        weights: np.ndarray,
        parts: Sequence[np.ndarray],
        regularisation: float,
    ) -> None:
        super().__init__(rows, labels, weights, parts, regularisation)
        self.kind = kind

    @property
    def n_values(self) -> int:
        """Columns of the rows in memory."""
        return self.table.rows.shape[1]

    def scores(self, fit: Fit, asked: np.ndarray) -> np.ndarray:
        """Score the rows at some indices."""
        return self.table.rows[asked] @ fit.coefficients + fit.intercepts

    def scorer(self, fit: Fit) -> LinearScorer:
        """Take a fit to the original vectors."""
        return self.table.scorer(fit.coefficients, fit.intercepts)

    def _solved(self, left_out: int | None, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen = self._chosen(left_out)
        labels = np.searchsorted(seen, self.labels[chosen])
        return fit_linear(self.kind, self.table.rows[chosen], labels, self.regularisation, self.weights[chosen])
