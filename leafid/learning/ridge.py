"""Exact ridge regression on more rows than memory holds, in primal and dual form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leafid.errors import LeafidError
from leafid.learning.cross_fitter import CrossFitter
from leafid.learning.disk_backed_array import DiskBackedArray
from leafid.learning.linear import encode_one_vs_rest
from leafid.learning.softmax import find_leading_eigenvectors

# Rows of a matrix that are multiplied, or read back, at a time.
_BLOCK_SIZE = 1024
# Rows of a kernel matrix that are gathered at a time: few enough for the processor's cache.
_GATHERED_ROWS = 64
# Ratio of the kernel matrix's trace to the penalty above which single precision would lose the penalty.
_MAX_SINGLE_RATIO = 1e5


@dataclass(eq=False)
class PrimalRidge(CrossFitter):
    """Ridge regression by normal equations, for at least as many rows as columns.

    The weighted products of the columns, X'WX, and of the species' indicators with the columns, Y'WX, are summed for
    each fold, batch by batch, and stored. A fit without a fold adds up those of the other folds of its partition, so
    that the rows are read once for all of these fits, and once more for the scores. With `fold_weights` the products
    are summed for each fit instead. Memory holds one float64 matrix of columns by columns.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2nd ed., Springer 2009,
       equation 3.44
    """

    def __post_init__(self) -> None:
        self._n_species = int(self.labels.max()) + 1
        self._products = DiskBackedArray(np.float64, self.folder)
        if self.fold_weights is None:
            for fold in self.folds or [np.arange(len(self.labels))]:
                self._store_products(fold, self.weights[fold])
        else:
            for left_out in (*range(len(self.folds)), None):
                self._store_products(self._get_training_indices(left_out), self._get_training_weights(left_out))

    @property
    def n_dimensions(self) -> int:
        """Columns of the matrix."""
        return self.matrix.n_columns

    def expand_coefficients(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the coefficients: the representation is that of rows."""
        return coefficients

    def close(self) -> None:
        """Delete the stored products, and other temporary files."""
        super().close()
        self._products.close()

    def _iterate_representations(self, indices: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        return self.matrix.iterate_batches(indices)

    def _find_components(self, n_components: int) -> tuple[np.ndarray, np.ndarray]:
        products = self._sum_products(None, 0, self.n_dimensions)
        for start in range(_BLOCK_SIZE, self.n_dimensions, _BLOCK_SIZE):
            # Blocks below the diagonal are not stored.
            products[start : start + _BLOCK_SIZE, :start] = products[:start, start : start + _BLOCK_SIZE].T
        return find_leading_eigenvectors(products, n_components)

    def _store_products(self, indices: np.ndarray, weights: np.ndarray) -> None:
        n_columns = self.n_dimensions
        products = np.zeros((n_columns, n_columns))
        species_sums = np.zeros((self._n_species, n_columns))
        for positions, rows in self.matrix.iterate_batches(indices):
            batch = rows.astype(np.float64)
            weighted = batch * weights[positions, None]
            labels = self.labels[indices[positions]]
            order = np.argsort(labels, kind="stable")
            present, starts = np.unique(labels[order], return_index=True)
            species_sums[present] += np.add.reduceat(weighted[order], starts, axis=0)
            for start in range(0, n_columns, _BLOCK_SIZE):
                # The matrix is symmetric: blocks below the diagonal are left out.
                stop = min(start + _BLOCK_SIZE, n_columns)
                products[start:stop, start:] += weighted[:, start:stop].T @ batch[:, start:]
        self._products.append(products)
        self._products.append(species_sums)

    def _sum_products(self, left_out: int | None, start: int, stop: int) -> np.ndarray:
        """Sum some rows of the stored products over the training folds."""
        if self.fold_weights is None:
            partition = next((own for own in self.index_folds() if (left_out or 0) in own), range(1))
            stored = [fold for fold in partition if fold != left_out]
        else:
            stored = [len(self.folds) if left_out is None else left_out]
        height = self.n_dimensions + self._n_species
        total = np.zeros((stop - start, self.n_dimensions))
        for index in stored:
            for first in range(start, stop, _BLOCK_SIZE):
                last = min(first + _BLOCK_SIZE, stop)
                total[first - start : last - start] += self._products[np.arange(first, last) + index * height]
        return total

    def _solve(self, left_out: int | None, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_columns = self.n_dimensions
        training = self._get_training_indices(left_out)
        species_sums = self._sum_products(left_out, n_columns, n_columns + self._n_species)[classes]
        totals = np.bincount(self.labels[training], self._get_training_weights(left_out), self._n_species)[classes]
        mean = species_sums.sum(axis=0) / totals.sum()
        products = self._sum_products(left_out, 0, n_columns)
        for start in range(0, n_columns, _BLOCK_SIZE):
            products[start : start + _BLOCK_SIZE] -= totals.sum() * mean[start : start + _BLOCK_SIZE, None] * mean
        products[np.diag_indices(n_columns)] += self.regularisation
        # For targets of 1 and -1, X'W(Y - mean of Y) is twice the deviation of a species' sum from its expected value.
        targets = 2 * (species_sums - totals[:, None] * mean)
        # The upper triangle by rows is the lower triangle by columns, which the solver needs.
        coefficients = _solve_symmetric(products.T, targets.T, self.regularisation, len(training))
        intercepts = 2 * (totals / totals.sum()) - 1 - mean @ coefficients
        return coefficients.astype(np.float32), intercepts.astype(np.float32)


@dataclass(eq=False)
class DualRidge(CrossFitter):
    """Ridge regression in dual form, for fewer rows than columns: a row is represented by its kernels with all rows.

    One linear kernel matrix, float32 (n, n), serves all fits. The intercepts are the weighted means of the targets.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998
    """

    def __post_init__(self) -> None:
        self._kernel = self.matrix.compute_kernel()
        # Allocated once for all fits: first access to new memory takes as long as filling it.
        self._buffer = np.empty(self.matrix.n_rows**2, np.float32)

    @property
    def n_dimensions(self) -> int:
        """Number of rows."""
        return self.matrix.n_rows

    def expand_coefficients(self, coefficients: np.ndarray) -> np.ndarray:
        """Sum rows times their coefficients, in a pass over the rows."""
        return self.matrix.combine_rows(coefficients)

    def _iterate_representations(self, indices: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        kernel = self._kernel if indices is None else self._kernel[indices]
        yield slice(0, len(kernel)), kernel

    def _find_components(self, n_components: int) -> tuple[np.ndarray, np.ndarray]:
        roots = np.sqrt(self.weights).astype(np.float32)
        weighted = self._weigh_kernel(None)
        for block, columns in _split_triangle(len(weighted)):
            weighted[columns, block] = weighted[block, columns].T
        vectors, strengths = find_leading_eigenvectors(weighted, n_components)
        # A component is a sum of rows: X'√W v / √λ, for v an eigenvector of √W X X' √W.
        basis = roots[:, None] * vectors / np.sqrt(np.maximum(strengths, 1e-12))
        return basis.astype(np.float32), strengths

    def _solve(self, left_out: int | None, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        training = self._get_training_indices(left_out)
        weights = self._get_training_weights(left_out)
        targets = encode_one_vs_rest(np.searchsorted(classes, self.labels[training])).astype(np.float64)
        intercepts = weights @ targets / weights.sum()
        roots = np.sqrt(weights)[:, None]
        penalised = self._weigh_kernel(left_out)
        # Single precision mostly suffices for vectors in half precision.
        if self.regularisation * _MAX_SINGLE_RATIO < np.trace(penalised):
            penalised = penalised.astype(np.float64)
        penalised[np.diag_indices(len(training))] += self.regularisation
        centred = ((targets - intercepts) * roots).astype(penalised.dtype)
        # The upper triangle by rows is the lower triangle by columns, which the solver needs.
        dual = _solve_symmetric(penalised.T, centred, self.regularisation, len(training)) * roots
        coefficients = np.zeros((self.matrix.n_rows, len(classes)), np.float32)
        coefficients[training] = dual
        return coefficients, intercepts.astype(np.float32)

    def _weigh_kernel(self, left_out: int | None) -> np.ndarray:
        """Compute √W X X' √W of the training rows in a buffer that the next call uses again.

        Blocks below the diagonal are left out.
        """
        training = self._get_training_indices(left_out)
        weighted = self._buffer[: len(training) ** 2].reshape(len(training), -1)
        roots = np.sqrt(self._get_training_weights(left_out)).astype(np.float32)
        for block, columns in _split_triangle(len(training)):
            values = self._kernel[training[block]].take(training[columns], axis=1)
            values *= roots[columns]
            np.multiply(values, roots[block, None], out=weighted[block, columns])
        return weighted


def _split_triangle(size: int) -> Iterator[tuple[slice, slice]]:
    """Split the upper triangle of a matrix into blocks of rows, each with the columns from its first on."""
    starts = range(0, size, _GATHERED_ROWS)
    return ((slice(start, start + _GATHERED_ROWS), slice(start, None)) for start in starts)


def _solve_symmetric(matrix: np.ndarray, targets: np.ndarray, regularisation: float, n_rows: int) -> np.ndarray:
    """Solve a positive definite system (d, d) in column order, whose lower triangle is read and overwritten."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise LeafidError(
            f"a ridge's regularisation of {regularisation:g} is too weak for {n_rows} pictures; use a larger one"
        ) from error
    return cho_solve(factor, targets, check_finite=False)
