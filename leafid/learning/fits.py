"""Classifiers of weighted rows: ridge regression in two forms, and scikit-learn's."""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve

from leafid.learning.estimator_bytes import dump
from leafid.learning.estimators import fit_estimator, is_linear, score, to_linear
from leafid.learning.linear import LinearClassifier, encode_one_vs_rest
from leafid.learning.rows import TrainingRows, iterate_batches
from leafid.learning.weighted_rows import WeightedRows

# Ratio of the trace of a matrix to the penalty above which single precision would lose
# the penalty.
_MAX_SINGLE_RATIO = 1e5


class DualRidge(WeightedRows):
    """Ridge regression by the kernel matrix, for fewer rows than twice the columns.

    With K the kernel matrix of the rows, Kc of the centred rows, W the weights, λ
    the penalty, and Y the targets less their weighted mean, the dual coefficients are
    (Kc + λ W⁻¹)⁻¹ Y. With D the indicators of the domains, and S those divided by their
    sums, Kc = (1 - D S') K (1 - S D'): K and a matrix of low rank, for Woodbury's
    identity.

    Rows and weights are as for `WeightedRows`; labels, int (n,), are species from 0.
    A `LinAlgError` is raised when the penalty is too weak.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in
       dual variables", ICML 1998
    """

    def __init__(
        self,
        rows: TrainingRows,
        weights: np.ndarray,
        labels: np.ndarray,
        penalty: float,
    ) -> None:
        super().__init__(rows, weights)
        targets = encode_one_vs_rest(labels)[self.indices]
        self._intercepts = self.weights @ targets / self.weights.sum()
        indicators = self.indicators
        shares = self.shares
        kernel = self.read_kernel()
        with_means = kernel @ shares
        low_rank = np.hstack([indicators, with_means])
        solution = self._solve(
            kernel, np.hstack([targets - self._intercepts, low_rank]), penalty
        )
        dual, of_low_rank = np.hsplit(solution.astype(np.float64), [targets.shape[1]])
        nothing = np.zeros((shares.shape[1],) * 2)
        one = np.eye(shares.shape[1])
        # The inverse of [[S'KS, -1], [-1, 0]].
        core = (
            np.block([[nothing, -one], [-one, -(shares.T @ with_means)]])
            + low_rank.T @ of_low_rank
        )
        dual -= of_low_rank @ np.linalg.solve(core, low_rank.T @ dual)
        self._dual = dual - shares @ (indicators.T @ dual)
        means = with_means.T @ self._dual
        self._means = np.tile(
            self.counts @ means / len(self.indices), (rows.domains.max() + 1, 1)
        )
        self._means[self.domains] = means

    @property
    def classifier(self) -> LinearClassifier:
        """The classifier of centred rows."""
        return self.sum_rows(self._dual), self._intercepts

    def score(self, indices: np.ndarray) -> np.ndarray:
        """Score any rows, given by their indices: float (n, n_species)."""
        products = self.rows.kernel[indices] @ self._scatter_to_all_rows(
            self._dual
        ).astype(np.float32)
        return products - self._means[self.rows.domains[indices]] + self._intercepts

    def _solve(
        self, kernel: np.ndarray, columns: np.ndarray, penalty: float
    ) -> np.ndarray:
        """Solve (K + λ W⁻¹) Z = columns; K may be overwritten."""
        # Single precision mostly suffices for vectors in half precision.
        if self.weights @ kernel.diagonal() > _MAX_SINGLE_RATIO * penalty:
            kernel = kernel.astype(np.float64)
        np.fill_diagonal(kernel, kernel.diagonal() + penalty / self.weights)
        # The transpose is in Fortran's order, which spares a copy.
        factor = cho_factor(kernel.T, overwrite_a=True, check_finite=False)
        return cho_solve(factor, columns.astype(kernel.dtype), check_finite=False)


class PrimalRidge(WeightedRows):
    """Ridge regression by products of columns, for fewer columns than half the rows.

    With X the centred rows, W the weights, λ the penalty, and Y the targets less their
    weighted mean, the coefficients are (X'WX + λ)⁻¹ X'WY, equal to the coefficients of
    `DualRidge`. The parameters are the same.
    """

    def __init__(
        self,
        rows: TrainingRows,
        weights: np.ndarray,
        labels: np.ndarray,
        penalty: float,
    ) -> None:
        super().__init__(rows, weights)
        targets = encode_one_vs_rest(labels)[self.indices]
        intercepts = self.weights @ targets / self.weights.sum()
        gram = self.compute_gram()
        gram[np.diag_indices_from(gram)] += penalty
        weighted = self.weights[:, None] * (targets - intercepts)
        moments = np.zeros((len(gram), len(intercepts)))
        for part in iterate_batches(len(self.indices), len(gram)):
            moments += self.read_centred(self.indices[part]).T @ weighted[part]
        coefficients = solve(
            gram, moments, assume_a="pos", overwrite_a=True, check_finite=False
        )
        #: The classifier of centred rows.
        self.classifier: LinearClassifier = coefficients, intercepts

    def score(self, indices: np.ndarray) -> np.ndarray:
        """Score any rows, given by their indices: float (n, n_species)."""
        coefficients, intercepts = self.classifier
        parts = iterate_batches(len(indices), len(coefficients))
        return np.concatenate(
            [
                self.read_centred(indices[part]) @ coefficients + intercepts
                for part in parts
            ]
        )


class EstimatorFit(WeightedRows):
    """A classifier of scikit-learn, of weighted rows.

    A copy of the estimator is fitted; one that is linear to compressed rows, from which
    it learns the same in less time. Labels, int (n,), are species from 0; one without a
    row has coefficients and scores of 0.
    """

    def __init__(
        self,
        rows: TrainingRows,
        weights: np.ndarray,
        labels: np.ndarray,
        estimator: Any,
    ) -> None:
        super().__init__(rows, weights)
        compressed, self._combinations = (
            rows.compressed if is_linear(estimator) else (rows, None)
        )
        self._compressed = WeightedRows(compressed, weights)
        self._n_species = int(labels.max()) + 1
        self._classes, targets = np.unique(labels[self.indices], return_inverse=True)
        values = self._compressed.read_centred(self.indices)
        self._estimator = fit_estimator(estimator, values, targets, self.weights)

    @property
    def classifier(self) -> LinearClassifier | bytes:
        """The classifier of centred rows: bytes if the estimator isn't linear.

        The bytes are in the format of `leafid.learning.estimator_bytes`.
        """
        if not is_linear(self._estimator):
            return dump(self._estimator)
        values, intercepts = to_linear(self._estimator)
        coefficients = np.zeros((self.rows.shape[1], self._n_species), np.float32)
        coefficients[:, self._classes] = self.rows.rotate_back(
            values, self._combinations
        )
        all_intercepts = np.zeros(self._n_species, np.float32)
        all_intercepts[self._classes] = intercepts
        return coefficients, all_intercepts

    def score(self, indices: np.ndarray) -> np.ndarray:
        """Score any rows, given by their indices: float (n, n_species)."""
        scores = np.zeros((len(indices), self._n_species), np.float32)
        scores[:, self._classes] = score(
            self._estimator, self._compressed.read_centred(indices)
        )
        return scores
