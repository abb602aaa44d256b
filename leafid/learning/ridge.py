"""Ridge regression in dual form, by the kernel matrix of the rows."""

import numpy as np

from leafid.errors import LeafidError
from leafid.learning.components import find_leading_eigenvectors
from leafid.learning.linear import LinearClassifier, encode_one_vs_rest
from leafid.learning.rows import TrainingRows, release_memory
from leafid.learning.weighted_rows import WeightedRows

# Ratio of the trace of a matrix to the penalty above which single precision would lose the penalty.
_MAX_SINGLE_RATIO = 1e5
# Rows of a kernel matrix that are copied at once, so that they stay in the processor's cache.
_ROWS_AT_ONCE = 64


class DualRidge(WeightedRows):
    """Ridge regression by the kernel matrix of the rows, where these are fewer than twice the columns.

    With K the kernel matrix of the rows, Kc that of the centred ones, W the weights, λ the penalty, and Y the targets
    less their weighted mean, the dual coefficients are (Kc + λ W⁻¹)⁻¹ Y. With D the indicators of the domains, and S
    those divided by their sums, Kc = (1 - D S') K (1 - S D'): K and a matrix of low rank, for Woodbury's identity.

    Parameters
    ----------
    rows, weights
        As in `WeightedRows`.
    labels : int (n,)
        Species from 0.
    penalty : float
        A `LeafidError` is raised when it is too weak.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998
    """

    def __init__(self, rows: TrainingRows, weights: np.ndarray, labels: np.ndarray, penalty: float) -> None:
        super().__init__(rows, weights)
        targets = encode_one_vs_rest(labels)[self.indices]
        self._intercepts = self.weights @ targets / self.weights.sum()
        present = self.counts > 0
        indicators, shares = self.indicators[:, present], self.shares[:, present]
        kernel, with_means = self._read_kernel(shares, penalty)
        low_rank = np.hstack([indicators, with_means])
        solved = self._solve(kernel, np.hstack([targets - self._intercepts, low_rank]), penalty)
        dual, of_low_rank = np.hsplit(solved.astype(np.float64), [targets.shape[1]])
        nothing, one = np.zeros((shares.shape[1],) * 2), np.eye(shares.shape[1])
        # The inverse of [[S'KS, -1], [-1, 0]].
        core = np.block([[nothing, -one], [-one, -(shares.T @ with_means)]]) + low_rank.T @ of_low_rank
        dual -= of_low_rank @ np.linalg.solve(core, low_rank.T @ dual)
        self._dual = dual - shares @ (indicators.T @ dual)
        means = with_means.T @ self._dual
        self._means = np.tile(self.counts[present] @ means / len(self.indices), (len(present), 1))
        self._means[present] = means

    @property
    def classifiers(self) -> list[LinearClassifier]:
        """The classifier of centred rows."""
        return [(self._column_sums[2], self._intercepts)]

    def score(self, indices: np.ndarray) -> list[np.ndarray]:
        """Score any rows, given by their indices: float (n, n_species)."""
        products = self.rows.kernel[indices] @ self._scatter_to_all_rows(self._dual).astype(np.float32)
        return [products - self._means[self.rows.domains[indices]] + self._intercepts]

    def find_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Find leading principal components, float (n_columns, k), and the weighted sums of squares along them."""
        roots = self._scatter_to_all_rows(np.sqrt(self.weights[:, None])).astype(np.float32)
        indicators = self._scatter_to_all_rows(self.indicators).astype(np.float32)
        shares = self._scatter_to_all_rows(self.shares).astype(np.float32)

        def centre(columns: np.ndarray) -> np.ndarray:
            return columns - shares @ (indicators.T @ columns)

        def multiply(columns: np.ndarray) -> np.ndarray:
            product = self.rows.kernel @ centre(roots * columns)
            return roots * (product - indicators @ (shares.T @ product))

        # The matrix is √W X X' √W, with centred rows X; a component is X'√W v / √strength, for v an eigenvector.
        vectors, strengths = find_leading_eigenvectors(multiply, len(roots), number)
        return self.rows.combine(centre(roots * vectors) / np.sqrt(np.maximum(strengths, 1e-12))), strengths

    def _read_kernel(self, columns: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """Read the upper triangle of the kernel matrix of the rows of weight above 0, and multiply it with columns."""
        size, scattered = len(self.indices), self._scatter_to_all_rows(columns).astype(np.float32)
        # Single precision mostly suffices for vectors in half precision.
        is_single = self.weights @ self.rows.kernel.diagonal()[self.indices] <= _MAX_SINGLE_RATIO * penalty
        kernel, products = np.empty((size, size), np.float32 if is_single else np.float64), np.empty(columns.shape)
        for start in range(0, size, _ROWS_AT_ONCE):
            batch = slice(start, start + _ROWS_AT_ONCE)
            rows = self.rows.kernel[self.indices[batch]]
            products[batch] = rows @ scattered
            kernel[batch, start:] = rows.take(self.indices[start:], axis=1)
        release_memory(self.rows.kernel)
        return kernel, products

    def _solve(self, kernel: np.ndarray, columns: np.ndarray, penalty: float) -> np.ndarray:
        """Solve (K + λ W⁻¹) Z = columns; only the upper triangle of K is read, and K is overwritten."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        np.fill_diagonal(kernel, kernel.diagonal() + penalty / self.weights)
        try:
            # In Fortran's order, the upper triangle is the lower one of the transpose.
            factor = cho_factor(kernel.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise make_penalty_error(penalty, len(kernel)) from error
        return cho_solve(factor, columns.astype(kernel.dtype), check_finite=False)


def make_penalty_error(penalty: float, n_rows: int) -> LeafidError:
    """Make the error of a penalty with which a matrix is not positive definite."""
    return LeafidError(f"a ridge's regularisation of {penalty:g} is too weak for {n_rows} pictures; use a larger one")
