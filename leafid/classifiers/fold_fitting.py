"""Fits linear classifiers several times: without each fold of plants, and on everything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from leafid.classifiers.linear import LinearScorer, fit_linear
from leafid.classifiers.rows import Rows
from leafid.classifiers.softmax import fit_softmax, leading_eigenvectors
from leafid.classifiers.spool import Spool


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


@dataclass(eq=False)
class Learner(ABC):
    """Fits linear classifiers without any one part of its rows.

    Parameters
    ----------
    table : Rows
    labels : int (n,)
        Species, from 0.
    weights : float (n,)
        How much each row counts.
    parts : sequence of int array
        The folds; together all rows, each once.
    regularisation : float
        Of `fit`.
    part_weights : sequence of float (n,), optional
        For each part, how much rows count where that part is left out; by default as always.
    folder : path-like, optional
        Where what does not fit into memory is put aside; by default where temporary files go.
    """

    table: Rows
    labels: np.ndarray
    weights: np.ndarray
    parts: Sequence[np.ndarray]
    regularisation: float
    part_weights: Sequence[np.ndarray] | None = None
    folder: Path | None = None

    def fit(self, left_out: int | None = None) -> Fit:
        """Learn from all parts but one; by default from all. One species alone needs no classifier: it scores 0."""
        seen = self._seen(left_out)
        return self._of_one_species(seen) or Fit(*self._solved(left_out, seen), seen)

    def fit_softmax(self, directions: int, regularisation: float, left_out: int | None = None) -> Fit:
        """Learn a softmax regression along the directions in which the rows that are learned from spread most.

        Few directions leave out what varies from picture to picture rather than from species to species.

        Parameters
        ----------
        directions : int
            How many; fewer where the rows have no more.
        regularisation : float
            Its penalty, as in `leafid.classifiers.softmax.fit_softmax`.
        left_out : int, optional
        """
        seen = self._seen(left_out)
        if only := self._of_one_species(seen):
            return only
        basis, strengths = self._directions(left_out, directions)
        chosen = self._chosen(left_out)
        targets = np.searchsorted(seen, self.labels[chosen])
        with closing(Spool(np.float32, self.folder)) as places:
            for batch, values in self._represented():
                # To pick rows out of what is short costs less than out of what it is made of.
                kept = chosen[np.searchsorted(chosen, batch.start) : np.searchsorted(chosen, batch.stop)]
                places.append((values @ basis)[kept - batch.start])
            coefficients, intercepts = fit_softmax(places, strengths, targets, self._weights(left_out), regularisation)
        return Fit(basis @ coefficients, intercepts, seen)

    def scores(self, fit: Fit, asked: np.ndarray) -> np.ndarray:
        """Score the rows at some indices; float32 (k, n_seen)."""
        scores = np.empty((len(asked), len(fit.seen)), np.float32)
        for places, values in self._represented(asked):
            scores[places] = values @ fit.coefficients + fit.intercepts
        return scores

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Forget what was put aside."""

    @property
    @abstractmethod
    def n_values(self) -> int:
        """Rows of the coefficients."""

    @abstractmethod
    def scorer(self, fit: Fit) -> LinearScorer:
        """Take a fit to the original vectors."""

    @abstractmethod
    def _solved(self, left_out: int | None, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give coefficients and intercepts for two species or more."""

    @abstractmethod
    def _represented(self, asked: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Go through rows, by default all, in batches: float32 (k, n_values) that coefficients are multiplied with."""

    @abstractmethod
    def _directions(self, left_out: int | None, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Give coefficients (n_values, k) of places along the leading directions, and the sums of their squares."""

    def _seen(self, left_out: int | None) -> np.ndarray:
        return np.unique(self.labels[self._chosen(left_out)])

    def _of_one_species(self, seen: np.ndarray) -> Fit | None:
        """Where there is nothing to tell apart, no classifier is needed: the species scores 0."""
        if len(seen) > 1:
            return None
        return Fit(np.zeros((self.n_values, 1), np.float32), np.zeros(1, np.float32), seen)

    def _chosen(self, left_out: int | None) -> np.ndarray:
        if left_out is None:
            return np.arange(len(self.labels))
        return np.setdiff1d(np.arange(len(self.labels)), self.parts[left_out])

    def _weights(self, left_out: int | None) -> np.ndarray:
        """Tell how much each row that is learned from counts."""
        weights = self.weights if left_out is None or self.part_weights is None else self.part_weights[left_out]
        return weights[self._chosen(left_out)]


@dataclass(eq=False)
class InMemory(Learner):
    """Any classifier of scikit-learn; all rows are held at once.

    Parameters
    ----------
    table, labels, weights, parts, regularisation, part_weights, folder
        As in `Learner`.
    kind : {"ridge", "linear-svm", "lda", "logistic"}
    """

    kind: str = field(kw_only=True)

    @property
    def n_values(self) -> int:
        """Columns of the rows in memory."""
        return self.table.rows.shape[1]

    def scorer(self, fit: Fit) -> LinearScorer:
        """Take a fit to the original vectors."""
        return self.table.scorer(fit.coefficients, fit.intercepts)

    def _represented(self, asked: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        rows = self.table.rows if asked is None else self.table.rows[asked]
        yield slice(0, len(rows)), rows

    def _directions(self, left_out: int | None, number: int) -> tuple[np.ndarray, np.ndarray]:
        chosen = self._chosen(left_out)
        rows = self.table.rows[chosen]
        weights = self._weights(left_out).astype(np.float32)
        return leading_eigenvectors((rows * weights[:, None]).T @ rows, number)

    def _solved(self, left_out: int | None, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen = self._chosen(left_out)
        labels = np.searchsorted(seen, self.labels[chosen])
        return fit_linear(self.kind, self.table.rows[chosen], labels, self.regularisation, self._weights(left_out))
