"""Ridge regression on more rows than memory holds: exact, from sums over batches of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leafid.classifiers.fold_fitting import Fit, Learner
from leafid.classifiers.linear import LinearScorer, one_against_rest
from leafid.classifiers.softmax import leading_eigenvectors
from leafid.classifiers.spool import Spool
from leafid.errors import LeafidError

# Rows of a matrix that are multiplied, or read back, at a time.
_BLOCK = 1024
# How many batches of rows are held on one side of a product: 256 MiB.
_TALLER = 4
# A part that is never left out.
_NEVER = -1
# A penalty that is smaller than the sum of squares by more than this would be lost to rounding in single precision.
_SINGLE = 1e5


@dataclass(eq=False)
class NormalEquations(Learner):
    """Ridge regression of rows that are at least as many as their columns.

    Of every part the weighted products of all columns with each other, X'WX, and with the species, are summed up batch
    by batch, and put aside. Without a part, the sums of the other parts are solved: the rows are read once for all
    fits, and once more for the scores. With `part_weights` the sums of the other parts are made for each part that is
    left out, in as many times the work. In memory is one matrix of the columns by the columns, of float64.

    Parameters
    ----------
    table, labels, weights, parts, regularisation, part_weights, folder
        As in `Learner`.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2nd ed., Springer 2009,
       equation 3.44
    """

    def __post_init__(self) -> None:
        self._n_species = int(self.labels.max()) + 1
        self._sums = Spool(np.float64, self.folder)
        if self.part_weights is None:
            for part in self.parts:
                self._put_aside(part, self.weights[part])
        else:
            for left_out in (*range(len(self.parts)), None):
                self._put_aside(self._chosen(left_out), self._weights(left_out))

    @property
    def n_values(self) -> int:
        """Columns of the prepared rows."""
        return self.table.n_columns

    def scorer(self, fit: Fit) -> LinearScorer:
        """Take a fit to the original vectors."""
        return self.table.scorer_of_prepared(fit.coefficients, fit.intercepts)

    def close(self) -> None:
        """Forget the sums."""
        self._sums.close()

    def _represented(self, asked: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        return self.table.batches(asked)

    def _directions(self, left_out: int | None, number: int) -> tuple[np.ndarray, np.ndarray]:
        products = self._summed(left_out, 0, self.n_values)
        for start in range(_BLOCK, self.n_values, _BLOCK):
            # What lies left of the diagonal was not summed up.
            products[start : start + _BLOCK, :start] = products[:start, start : start + _BLOCK].T
        return leading_eigenvectors(products, number)

    def _put_aside(self, part: np.ndarray, weights: np.ndarray) -> None:
        n_columns = self.n_values
        products = np.zeros((n_columns, n_columns))
        by_species = np.zeros((self._n_species, n_columns))
        for places, values in self.table.batches(part):
            batch = values.astype(np.float64)
            weighted = batch * weights[places, None]
            labels = self.labels[part[places]]
            order = np.argsort(labels, kind="stable")
            present, starts = np.unique(labels[order], return_index=True)
            by_species[present] += np.add.reduceat(weighted[order], starts, axis=0)
            for start in range(0, n_columns, _BLOCK):
                # The matrix is symmetric: only what lies right of the diagonal is summed up.
                stop = min(start + _BLOCK, n_columns)
                products[start:stop, start:] += weighted[:, start:stop].T @ batch[:, start:]
        self._sums.append(products)
        self._sums.append(by_species)

    def _summed(self, left_out: int | None, start: int, stop: int) -> np.ndarray:
        """Add up some rows of what was put aside of all parts but one."""
        if self.part_weights is None:
            numbers = [number for number in range(len(self.parts)) if number != left_out]
        else:
            numbers = [len(self.parts) if left_out is None else left_out]
        height = self.n_values + self._n_species
        total = np.zeros((stop - start, self.n_values))
        for number in numbers:
            for first in range(start, stop, _BLOCK):
                last = min(first + _BLOCK, stop)
                total[first - start : last - start] += self._sums[np.arange(first, last) + number * height]
        return total

    def _solved(self, left_out: int | None, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_columns = self.n_values
        chosen = self._chosen(left_out)
        by_species = self._summed(left_out, n_columns, n_columns + self._n_species)[seen]
        masses = np.bincount(self.labels[chosen], self._weights(left_out), self._n_species)[seen]
        mean = by_species.sum(axis=0) / masses.sum()
        shares = masses / masses.sum()
        products = self._summed(left_out, 0, n_columns)
        for start in range(0, n_columns, _BLOCK):
            products[start : start + _BLOCK] -= masses.sum() * mean[start : start + _BLOCK, None] * mean
        products[np.diag_indices(n_columns)] += self.regularisation
        # With targets 1 and -1, X'W(Y - mean of Y) is twice what each species' sum has over its share of the mean.
        right = 2 * (by_species - masses[:, None] * mean)
        # Seen from the other side, the upper triangle in rows is the lower one in columns: solved where it is.
        coefficients = _solved(products.T, right.T, self.regularisation, len(chosen))
        intercepts = 2 * shares - 1 - mean @ coefficients
        return coefficients.astype(np.float32), intercepts.astype(np.float32)


@dataclass(eq=False)
class InnerProducts(Learner):
    """Ridge regression of rows that are fewer than their columns, by the rows' inner products: its dual.

    The matrix of the inner products, float32 (n, n), serves all fits. The offset is the targets' weighted mean.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in dual variables", ICML 1998
    """

    def __post_init__(self) -> None:
        rows = self.table
        # Memory is asked for once, and not for every fit: to be given it takes as long as to fill it.
        self._weighted_room = np.empty(rows.n_rows**2, np.float32)
        self._solving_room = np.empty(rows.n_rows**2, np.float32)
        self._weighted_without: int | None = _NEVER
        self._products = np.empty((rows.n_rows, rows.n_rows), np.float32)
        # The larger the batches on one side, the less often those on the other are read again.
        for places, values in rows.batches(times=_TALLER):
            self._products[places, places] = values @ values.T
            for others, more in rows.batches(np.arange(places.stop, rows.n_rows)):
                right = slice(places.stop + others.start, places.stop + others.stop)
                self._products[places, right] = values @ more.T
                self._products[right, places] = self._products[places, right].T

    @property
    def n_values(self) -> int:
        """One for every row."""
        return self.table.n_rows

    def scorer(self, fit: Fit) -> LinearScorer:
        """Take a fit to the original vectors, in a pass over the rows."""
        coefficients = np.zeros((self.table.n_columns, len(fit.seen)), np.float32)
        for places, values in self.table.batches():
            coefficients += values.T @ fit.coefficients[places]
        return self.table.scorer_of_prepared(coefficients, fit.intercepts)

    def _represented(self, asked: np.ndarray | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        products = self._products if asked is None else self._products[asked]
        yield slice(0, len(products)), products

    def _directions(self, left_out: int | None, number: int) -> tuple[np.ndarray, np.ndarray]:
        chosen = self._chosen(left_out)
        roots = np.sqrt(self._weights(left_out)).astype(np.float32)
        vectors, strengths = leading_eigenvectors(self._weighted(left_out), number)
        # A direction is a sum of rows: X'√W v / √λ, for v an eigenvector of √W X X' √W.
        coefficients = np.zeros((self.table.n_rows, len(strengths)), np.float32)
        coefficients[chosen] = roots[:, None] * vectors / np.sqrt(np.maximum(strengths, 1e-12))
        return coefficients, strengths

    def _solved(self, left_out: int | None, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen = self._chosen(left_out)
        weights = self._weights(left_out)
        targets = one_against_rest(np.searchsorted(seen, self.labels[chosen])).astype(np.float64)
        intercepts = weights @ targets / weights.sum()
        roots = np.sqrt(weights)[:, None]
        weighted = self._weighted(left_out)
        if self.regularisation * _SINGLE < np.trace(weighted):
            inner = weighted.astype(np.float64)
        else:
            # The vectors come in half precision: single is enough for what is learned of them.
            inner = _square(self._solving_room, len(chosen))
            inner[...] = weighted
        inner[np.diag_indices(len(chosen))] += self.regularisation
        right = ((targets - intercepts) * roots).astype(inner.dtype)
        # Symmetric: its columns one after the other are its rows one after the other, and are solved where they are.
        dual = _solved(inner.T, right, self.regularisation, len(chosen)) * roots
        coefficients = np.zeros((self.table.n_rows, len(seen)), np.float32)
        coefficients[chosen] = dual
        return coefficients, intercepts.astype(np.float32)

    def _weighted(self, left_out: int | None) -> np.ndarray:
        """Give √W X X' √W of the rows that are learned from; it lasts until another part is left out."""
        chosen = self._chosen(left_out)
        weighted = _square(self._weighted_room, len(chosen))
        if self._weighted_without != left_out:
            self._weighted_without = left_out
            roots = np.sqrt(self._weights(left_out)).astype(np.float32)
            for start in range(0, len(chosen), _BLOCK):
                block = slice(start, start + _BLOCK)
                np.take(self._products[chosen[block]], chosen, axis=1, out=weighted[block], mode="clip")
                weighted[block] *= roots
                weighted[block] *= roots[block, None]
        return weighted


def _square(room: np.ndarray, side: int) -> np.ndarray:
    return room[: side * side].reshape(side, side)


def _solved(matrix: np.ndarray, right: np.ndarray, regularisation: float, n_rows: int) -> np.ndarray:
    """Solve for a symmetric matrix (d, d) by columns, whose lower triangle is used and overwritten."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise LeafidError(
            f"a ridge's regularisation of {regularisation:g} is too weak for {n_rows} pictures; use a larger one"
        ) from error
    return cho_solve(factor, right, check_finite=False)
