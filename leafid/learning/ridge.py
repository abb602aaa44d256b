"""Classifiers of weighted training rows, centred by domain: ridge regression in primal or dual form, and softmax."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from leafid.errors import LeafidError
from leafid.features.recipe import ClassifierSettings
from leafid.learning.linear import encode_one_vs_rest, fit_linear
from leafid.learning.rows import RowPreparation, TrainingRows, iterate_batches
from leafid.learning.softmax import fit_softmax

# Number of rows up to which their kernel matrix is cheaper than the products of half as many columns.
_MAX_KERNEL_ROWS = 2**13
# Ratio of the trace of a matrix to the penalty above which single precision would lose the penalty.
_MAX_SINGLE_RATIO = 1e5
# Penalty of the softmax regression.
_SOFTMAX_REGULARISATION = 0.01
# Vectors that are iterated besides the requested eigenvectors, and iterations: for the last ones to be accurate.
_N_OVERSAMPLES = 16
_N_POWER_ITERATIONS = 4
# Ratio of an eigenvalue to the largest one below which it is a rounding error.
_MIN_EIGENVALUE_RATIO = 1e-13


class WeightedRows:
    """Training rows with weights, each centred on the mean of its domain.

    Rows of weight 0 are left out: neither means nor anything else is learned from them. With X the centred rows and W
    their weights, the Gram matrix is X'WX of the columns (primal form), or √W X X' √W of the rows (dual form) where
    there are fewer of these. Both have the same eigenvalues, and the same ridge regression.

    Parameters
    ----------
    rows : TrainingRows
    weights : float (n,)
        0 or more, above 0 for one row at least.
    reference : WeightedRows, optional
        The same rows with other weights; of many rows, only those whose weight differs are then multiplied again.

    Attributes
    ----------
    indices : int (k,)
        The rows of weight above 0.
    means : float64 (n_domains, n_columns)
        Means of rows of weight above 0, which count the same; that of all of them for a domain without any.
    mean : float64 (n_columns,)
        Mean of all rows of weight above 0.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2nd ed., Springer 2009,
       equation 3.44
    .. [2] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998
    """

    def __init__(self, rows: TrainingRows, weights: np.ndarray, reference: WeightedRows | None = None) -> None:
        self.rows = rows
        self.indices = np.flatnonzero(weights)
        self.weights = weights[self.indices].astype(np.float64)
        self._all_weights = weights
        self._reference = reference
        self._domains = np.equal.outer(rows.domains[self.indices], np.arange(rows.domains.max() + 1)).astype(np.float64)
        self._counts = self._domains.sum(axis=0)
        sums = rows.combine(self.indices, self._domains).T
        self.mean = sums.sum(axis=0) / len(self.indices)
        counts = self._counts[:, None]
        self.means = np.where(counts > 0, sums / np.maximum(counts, 1), self.mean)

    def read_centred(self, indices: np.ndarray) -> np.ndarray:
        """Read centred rows, float32 (len(indices), n_columns)."""
        return self.rows.values[indices] - self.means[self.rows.domains[indices]].astype(np.float32)

    @property
    def is_dual(self) -> bool:
        """Whether the Gram matrix is that of the rows."""
        n_rows, n_columns = self.rows.values.shape
        return self.rows.is_wide or n_rows <= min(2 * n_columns, _MAX_KERNEL_ROWS)

    @property
    def preparation(self) -> RowPreparation:
        """What prepares further vectors like these rows."""
        rows = self.rows
        scale = np.ones(len(self.mean)) if rows.scale is None else rows.scale.astype(np.float64)
        units = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
        present = np.flatnonzero(self._counts).tolist()
        means = {domain: (rows.mean + self.means[domain] * units).astype(np.float32) for domain in present}
        return RowPreparation(rows.map, means, (rows.mean + self.mean * units).astype(np.float32), rows.scale)

    @cached_property
    def gram(self) -> np.ndarray:
        """The Gram matrix: float64 (n_columns, n_columns) in primal form, float32 (k, k) in dual form."""
        if self.is_dual:
            return self._weigh_kernel()
        totals = self.weights @ self._domains
        sums = self.rows.combine(self.indices, self._domains * self.weights[:, None])
        # The products of centred columns, from those of columns.
        shift = (sums - 0.5 * self.means.T * totals) @ self.means
        return self._sum_products() - shift - shift.T

    def combine(self, coefficients: np.ndarray) -> np.ndarray:
        """Sum the centred rows with coefficients (k, m): float64 (n_columns, m)."""
        return self.rows.combine(self.indices, coefficients) - self.means.T @ (self._domains.T @ coefficients)

    def multiply(self, coefficients: np.ndarray, indices: np.ndarray | None = None) -> np.ndarray:
        """Multiply centred rows, by default all of weight above 0, by coefficients (n_columns, m): float32 (n, m)."""
        own = self.indices if indices is None else indices
        shifts = (self.means @ coefficients).astype(np.float32)
        return self.rows.multiply(own, coefficients) - shifts[self.rows.domains[own]]

    def find_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the leading principal components, float (n_columns, m), and the weighted sums of squares along them."""
        vectors, strengths = find_leading_eigenvectors(self.gram, number)
        if self.is_dual:
            # A component is a sum of rows: X'√W v / √λ, for v an eigenvector of √W X X' √W.
            vectors = self.combine(np.sqrt(self.weights)[:, None] * vectors / np.sqrt(np.maximum(strengths, 1e-12)))
        return vectors, strengths

    def fit_ridge(self, targets: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """Fit targets, float (k, m): coefficients of centred rows, (n_columns, m), and intercepts, (m,).

        Minimises the weighted sum of squared errors plus the penalty times the squared coefficients: with
        A = X'WX + λ in primal form, the coefficients are A⁻¹X'W(Y - y), and with A = √W X X' √W + λ in dual form
        X'√W A⁻¹√W(Y - y), where y, the intercepts, is the weighted mean of Y. A `LeafidError` is raised when the
        penalty is too weak.
        """
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        intercepts = self.weights @ targets / self.weights.sum()
        centred, roots = targets - intercepts, np.sqrt(self.weights)[:, None]
        # Single precision mostly suffices for vectors in half precision.
        is_single = self.is_dual and penalty * _MAX_SINGLE_RATIO >= np.trace(self.gram)
        penalised: np.ndarray = self.gram.astype(np.float32 if is_single else np.float64)
        np.fill_diagonal(penalised, penalised.diagonal() + penalty)
        try:
            # The transpose is the same matrix in the order of the solver, which then needs no copy.
            factor = cho_factor(penalised.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise LeafidError(
                f"a ridge's regularisation of {penalty:g} is too weak for {len(targets)} pictures; use a larger one"
            ) from error
        if self.is_dual:
            dual = cho_solve(factor, (centred * roots).astype(penalised.dtype), check_finite=False)
            return self.combine(dual * roots), intercepts
        return cho_solve(factor, self.combine(centred * self.weights[:, None]), check_finite=False), intercepts

    def fit(self, labels: np.ndarray, settings: ClassifierSettings) -> list[tuple[np.ndarray, np.ndarray]]:
        """Fit the classifier, and the softmax regression if the settings ask for one, to the species of all rows.

        Gives coefficients of centred rows, (n_columns, m), and intercepts, (m,), of the m species among rows of weight
        above 0.
        """
        classes, targets = np.unique(labels[self.indices], return_inverse=True)
        if len(classes) == 1:
            nothing = np.zeros((self.rows.values.shape[1], 1)), np.zeros(1)
            return [nothing] * (2 if settings.softmax_components else 1)
        if settings.classifier == "ridge":
            fits = [self.fit_ridge(encode_one_vs_rest(targets).astype(np.float64), settings.regularisation)]
        else:
            centred = self.read_centred(self.indices)
            fits = [fit_linear(settings.classifier, centred, targets, settings.regularisation, self.weights)]
        if settings.softmax_components:
            # They leave out what varies between pictures rather than between species.
            components, strengths = self.find_components(settings.softmax_components)
            projections = self.multiply(components)
            own = fit_softmax(projections, strengths, targets, self.weights, _SOFTMAX_REGULARISATION)
            fits.append((components @ own[0], own[1]))
        return fits

    def _weigh_kernel(self) -> np.ndarray:
        """Centre and weigh the kernel matrix of the rows."""
        size, roots = len(self.indices), np.sqrt(self.weights).astype(np.float32)
        domains = self.rows.domains[self.indices]
        shares = (self._domains / np.maximum(self._counts, 1)).astype(np.float32)
        gram = np.empty((size, size), np.float32)
        for part in iterate_batches(size, size):
            gram[part] = self.rows.kernel[self.indices[part]].take(self.indices, axis=1)
        with_means = gram @ shares
        of_means = shares.T @ with_means
        for part in iterate_batches(size, size):
            gram[part] -= with_means[part][:, domains]
            gram[part] -= (with_means - of_means[domains]).T[domains[part]]
            gram[part] *= roots[part, None] * roots
        return gram

    def _sum_products(self) -> np.ndarray:
        """Sum the weighted products of all columns before they are centred: float64 (n_columns, n_columns)."""
        if self._reference is not None:
            change = self._reference._all_weights - self._all_weights
            if (change >= 0).all() and 2 * np.count_nonzero(change) < len(self.indices):
                return self._reference._products - WeightedRows(self.rows, change)._products
        return self._products

    @cached_property
    def _products(self) -> np.ndarray:
        n_columns = self.rows.values.shape[1]
        total = np.zeros((n_columns, n_columns))
        for part in iterate_batches(len(self.indices), n_columns):
            weighted = self.rows.values[self.indices[part]] * np.sqrt(self.weights[part])[:, None]
            total += weighted.T @ weighted
        return total


def find_leading_eigenvectors(matrix: np.ndarray, n_vectors: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the eigenvectors with the largest eigenvalues of a positive semidefinite matrix, by randomised iteration.

    Returns orthonormal vectors, float32 (d, k), and their values, falling; `k` is `n_vectors`, or less where fewer
    eigenvalues are above 0, and at least 1. For 128 vectors of 4,000 rows `scipy.sparse.linalg.eigsh` takes 9 times the
    time, and `sklearn.utils.extmath.randomized_svd` 8 times that of the same accuracy, mostly for QR decompositions.

    References
    ----------
    .. [1] N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure with randomness: probabilistic algorithms for
       constructing approximate matrix decompositions", SIAM Review 53(2), 2011, algorithm 4.4, doi:10.1137/090771806
    """
    size = len(matrix)
    width = n_vectors + _N_OVERSAMPLES
    if 2 * width >= size:
        values, vectors = np.linalg.eigh(matrix.astype(np.float64))
    else:
        basis = np.random.default_rng(0).standard_normal((size, width)).astype(matrix.dtype)
        for _ in range(_N_POWER_ITERATIONS):
            basis = _orthonormalise(_orthonormalise(matrix @ basis))
        values, rotation = np.linalg.eigh((basis.T @ (matrix @ basis)).astype(np.float64))
        vectors = basis @ rotation.astype(matrix.dtype)
    leading = np.flatnonzero(values > 1e-6 * values[-1])[::-1][:n_vectors]
    if not len(leading):
        leading = np.array([len(values) - 1])
    return vectors[:, leading].astype(np.float32), np.maximum(values[leading], 0)


def _orthonormalise(columns: np.ndarray) -> np.ndarray:
    """Find nearly orthonormal columns with the same span; a second pass removes the rounding errors of the first.

    The eigenvectors of the columns' inner products take a fraction of the time of a QR decomposition.
    """
    double = columns.astype(np.float64)
    values, rotation = np.linalg.eigh(double.T @ double)
    kept = values > values[-1] * _MIN_EIGENVALUE_RATIO
    if not kept.any():  # all columns are 0
        return columns[:, :1]
    return (double @ (rotation[:, kept] / np.sqrt(values[kept]))).astype(columns.dtype)
