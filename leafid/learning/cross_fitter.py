"""Fits linear classifiers repeatedly: without each fold, and on all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from leafid.learning.disk_backed_array import DiskBackedArray
from leafid.learning.linear import LinearScorer, fit_linear
from leafid.learning.row_statistics import RowStatistics
from leafid.learning.softmax import find_leading_eigenvectors, fit_softmax
from leafid.learning.training_matrix import TrainingMatrix

# Rows of projections that are copied at a time.
_COPIED_ROWS = 2**14


@dataclass(frozen=True)
class Solution:
    """A fitted classifier of the species in its training rows."""

    #: float32 (n_dimensions, n_classes): in the representation of rows that the cross-fitter works with.
    coefficients: np.ndarray
    #: float32 (n_classes,).
    intercepts: np.ndarray
    #: int (n_classes,): the species, ascending.
    classes: np.ndarray


@dataclass(eq=False)
class CrossFitter(ABC):
    """Fits linear classifiers to the rows of all folds but one, or to all rows.

    `labels`, int (n,), are species from 0; `weights`, float (n,), sample weights, in place of which `fold_weights` has
    some for the fit without each fold. Each of the `partitions` has folds, which are indices of rows, every row in one
    fold; `folds` are those of all partitions. `folder` has temporary files, by default that of the system.
    """

    matrix: TrainingMatrix
    labels: np.ndarray
    weights: np.ndarray
    partitions: Sequence[Sequence[np.ndarray]]
    regularisation: float
    fold_weights: Sequence[np.ndarray] | None = None
    folder: Path | None = None
    _projections: tuple[np.ndarray, np.ndarray, DiskBackedArray] | None = field(default=None, init=False)

    @property
    def folds(self) -> list[np.ndarray]:
        """The folds of all partitions."""
        return list(chain.from_iterable(self.partitions))

    def index_folds(self) -> list[range]:
        """Return the indices in `folds` of the folds of each partition."""
        stops = np.cumsum([len(own) for own in self.partitions]).tolist()
        return [range(stop - len(own), stop) for own, stop in zip(self.partitions, stops, strict=True)]

    def fit(self, left_out: int | None = None) -> Solution:
        """Fit a classifier without a fold, or to all rows. One that sees a single species scores it 0."""
        classes = self._get_classes(left_out)
        return self._solve_single_class(classes) or Solution(*self._solve(left_out, classes), classes)

    def fit_softmax(self, n_components: int, regularisation: float, left_out: int | None = None) -> Solution:
        """Fit a softmax regression on at most `n_components` leading principal components of all rows.

        These leave out what varies between pictures rather than between species. They are the same for all fits.
        """
        classes = self._get_classes(left_out)
        if single := self._solve_single_class(classes):
            return single
        basis, strengths, projections = self._project_rows(n_components)
        training = self._get_training_indices(left_out)
        targets = np.searchsorted(classes, self.labels[training])
        with closing(DiskBackedArray(np.float32, self.folder)) as rows:
            for start in range(0, len(training), _COPIED_ROWS):
                rows.append(projections[training[start : start + _COPIED_ROWS]])
            weights = self._get_training_weights(left_out)
            coefficients, intercepts = fit_softmax(rows, strengths, targets, weights, regularisation)
        return Solution(basis @ coefficients, intercepts, classes)

    def score_rows(self, solution: Solution, indices: np.ndarray) -> np.ndarray:
        """Score the rows at some indices; float32 (k, n_classes)."""
        scores = np.empty((len(indices), len(solution.classes)), np.float32)
        for positions, values in self._iterate_representations(indices):
            scores[positions] = values @ solution.coefficients + solution.intercepts
        return scores

    def make_scorer(self, solution: Solution) -> LinearScorer:
        """Turn a solution into a classifier of vectors."""
        return self.matrix.make_scorer(self.expand_coefficients(solution.coefficients), solution.intercepts)

    def summarise_rows(self, n_components: int) -> RowStatistics:
        """Summarise all rows by at most `n_components` principal components, and the variances of the rest."""
        basis, strengths = self._find_components(n_components)
        vectors = self.expand_coefficients(basis).astype(np.float64)
        total, sums, squares = float(self.weights.sum()), np.zeros(len(vectors)), np.zeros(len(vectors))
        for positions, rows in self.matrix.iterate_batches():
            weights = self.weights[positions].astype(np.float32)
            sums += weights @ rows
            squares += weights @ np.square(rows, out=rows)
        mean = sums / total
        # Within the span of the vectors, the mean can be taken off without losing positive semidefiniteness.
        inside = vectors.T @ mean
        values, rotation = np.linalg.eigh(np.diag(strengths) - total * np.outer(inside, inside))
        components = vectors @ (rotation * np.sqrt(np.maximum(values, 0)))
        return RowStatistics.make(components, squares - total * mean**2, mean, total)

    def close(self) -> None:
        """Delete temporary files."""
        if self._projections:
            self._projections[2].close()

    @property
    @abstractmethod
    def n_dimensions(self) -> int:
        """Number of dimensions of the representation of rows."""

    @abstractmethod
    def expand_coefficients(self, coefficients: np.ndarray) -> np.ndarray:
        """Turn coefficients of the representation, (n_dimensions, k), into those of rows, (n_columns, k)."""

    @abstractmethod
    def _solve(self, left_out: int | None, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute coefficients and intercepts for at least two classes."""

    @abstractmethod
    def _iterate_representations(self, indices: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Iterate over batches of rows, by default all; float32 (k, n_dimensions)."""

    @abstractmethod
    def _find_components(self, n_components: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the leading principal components, (n_dimensions, k), and the weighted sums of squares along them."""

    def _project_rows(self, n_components: int) -> tuple[np.ndarray, np.ndarray, DiskBackedArray]:
        """Find the leading principal components once, and project all rows on them."""
        if self._projections is None:
            basis, strengths = self._find_components(n_components)
            self._projections = basis, strengths, DiskBackedArray(np.float32, self.folder)
            for _, values in self._iterate_representations():
                self._projections[2].append(values @ basis)
        return self._projections

    def _get_classes(self, left_out: int | None) -> np.ndarray:
        return np.unique(self.labels[self._get_training_indices(left_out)])

    def _solve_single_class(self, classes: np.ndarray) -> Solution | None:
        if len(classes) > 1:
            return None
        return Solution(np.zeros((self.n_dimensions, 1), np.float32), np.zeros(1, np.float32), classes)

    def _get_training_indices(self, left_out: int | None) -> np.ndarray:
        indices = np.arange(len(self.labels))
        return indices if left_out is None else np.setdiff1d(indices, self.folds[left_out])

    def _get_training_weights(self, left_out: int | None) -> np.ndarray:
        weights = self.weights if left_out is None or self.fold_weights is None else self.fold_weights[left_out]
        return weights[self._get_training_indices(left_out)]


@dataclass(eq=False)
class SklearnCrossFitter(CrossFitter):
    """Fits a classifier of scikit-learn, a `kind` of `fit_linear`, with all rows in memory."""

    kind: str = field(kw_only=True)

    @property
    def n_dimensions(self) -> int:
        """Columns of the rows in memory."""
        return self.matrix.rows_in_memory.shape[1]

    def expand_coefficients(self, coefficients: np.ndarray) -> np.ndarray:
        """Rotate coefficients back, of a matrix that was rotated into its row space."""
        return self.matrix.rotate_back(coefficients)

    def _iterate_representations(self, indices: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        rows = self.matrix.rows_in_memory if indices is None else self.matrix.rows_in_memory[indices]
        yield slice(0, len(rows)), rows

    def _find_components(self, n_components: int) -> tuple[np.ndarray, np.ndarray]:
        rows, weights = self.matrix.rows_in_memory, self.weights.astype(np.float32)
        return find_leading_eigenvectors((rows * weights[:, None]).T @ rows, n_components)

    def _solve(self, left_out: int | None, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        training = self._get_training_indices(left_out)
        labels = np.searchsorted(classes, self.labels[training])
        rows, weights = self.matrix.rows_in_memory[training], self._get_training_weights(left_out)
        return fit_linear(self.kind, rows, labels, self.regularisation, weights)
