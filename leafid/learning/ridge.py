"""Linear classifiers of weighted training rows, centred by domain: ridge regression, and what else is learned there.

The rows of a domain (acquisition type and augmentation) are centred on their mean, in which all count the same; those
of a domain of which none is trained on are centred on the mean of all. Rows of weight 0 are left out: nothing is
learned from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from leafid.errors import LeafidError
from leafid.learning.eigenvectors import find_leading_eigenvectors
from leafid.learning.linear import encode_one_vs_rest, fit_linear
from leafid.learning.rows import RowPreparation, TrainingRows, encode_domains, iterate_batches, release_memory
from leafid.learning.settings import ClassifierSettings
from leafid.learning.softmax import fit_softmax

#: A linear classifier of centred rows: coefficients, float (n_columns, n_species), and intercepts, float (n_species,).
Classifier = tuple[np.ndarray, np.ndarray]

# Ratio of the trace of a matrix to the penalty above which single precision would lose the penalty.
_MAX_SINGLE_RATIO = 1e5
# Rows of a kernel matrix that are copied at once, so that they stay in the processor's cache.
_ROWS_AT_ONCE = 64
# Penalty of the softmax regression.
_SOFTMAX_REGULARISATION = 0.01


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
        Theirs.
    indicators : float32 (k, n_domains)
        1 where a row belongs to a domain.
    counts : float32 (n_domains,)
        Numbers of rows of the domains.
    shares : float32 (k, n_domains)
        Indicators divided by the counts: what rows are averaged with.
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
    def preparation(self) -> RowPreparation:
        """What prepares further vectors like these rows."""
        return self.rows.make_preparation(self.counts, self._column_sums[0].T)

    def sum_centred(self) -> tuple[np.ndarray, np.ndarray]:
        """Sum the centred rows, and their squares, with their weights: float (n_columns,)."""
        (means, sums, _), totals = self._column_sums, self.weights @ self.indicators
        squares = self.rows.sum_squares(self._spread(self.weights))
        return (sums - means * totals).sum(axis=1), squares - (means * (2 * sums - means * totals)).sum(axis=1)

    @cached_property
    def _column_sums(self) -> list[np.ndarray]:
        """Sum rows with several factors at once, float (n_columns, …), as it takes time to read them.

        The means of the domains, the weighted sums of the domains, and the coefficients of a dual form.
        """
        factors = [self.shares, self.weights[:, None] * self.indicators, self._dual]
        bounds = np.cumsum([own.shape[1] for own in factors])[:-1]
        return np.split(self.rows.combine(self._spread(np.hstack(factors))), bounds, axis=1)

    def _spread(self, values: np.ndarray) -> np.ndarray:
        """Give values of the rows of weight above 0, (k, …), to all rows, (n, …), with 0 for the others."""
        spread = np.zeros((len(self.rows.domains), *values.shape[1:]))
        spread[self.indices] = values
        return spread


class DualRidge(WeightedRows):
    """Ridge regression by the kernel matrix of the rows, where these are fewer than twice the columns.

    With K the kernel matrix of the rows, Kc that of the centred ones, W the weights, λ the penalty, and Y the targets
    less their weighted mean, the dual coefficients are (Kc + λ W⁻¹)⁻¹ Y. With D the indicators of the domains, and S
    those divided by their sums, Kc = (1 - D S') K (1 - S D'): K and a matrix of low rank, for Woodbury's identity.

    Parameters
    ----------
    rows, weights
        As of `WeightedRows`.
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
    def classifiers(self) -> list[Classifier]:
        """The classifier of centred rows."""
        return [(self._column_sums[2], self._intercepts)]

    def score(self, indices: np.ndarray) -> list[np.ndarray]:
        """Score any rows, given by their indices: float (n, n_species)."""
        products = self.rows.kernel[indices] @ self._spread(self._dual).astype(np.float32)
        return [products - self._means[self.rows.domains[indices]] + self._intercepts]

    def find_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Find leading principal components, float (n_columns, k), and the weighted sums of squares along them."""
        roots = self._spread(np.sqrt(self.weights[:, None])).astype(np.float32)
        indicators, shares = (self._spread(own).astype(np.float32) for own in (self.indicators, self.shares))

        def centre(columns: np.ndarray) -> np.ndarray:
            return columns - shares @ (indicators.T @ columns)

        def multiply(columns: np.ndarray) -> np.ndarray:
            product = self.rows.kernel @ centre(roots * columns)
            return roots * (product - indicators @ (shares.T @ product))

        # √W X X' √W of centred rows X; a component is X'√W v / √strength, for v an eigenvector.
        vectors, strengths = find_leading_eigenvectors(multiply, len(roots), number)
        return self.rows.combine(centre(roots * vectors) / np.sqrt(np.maximum(strengths, 1e-12))), strengths

    def _read_kernel(self, columns: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """Read the upper triangle of the kernel matrix of the rows of weight above 0, and multiply it with columns."""
        size, spread = len(self.indices), self._spread(columns).astype(np.float32)
        # Single precision mostly suffices for vectors in half precision.
        is_single = self.weights @ self.rows.kernel.diagonal()[self.indices] <= _MAX_SINGLE_RATIO * penalty
        kernel, products = np.empty((size, size), np.float32 if is_single else np.float64), np.empty(columns.shape)
        for start in range(0, size, _ROWS_AT_ONCE):
            own = slice(start, start + _ROWS_AT_ONCE)
            rows = self.rows.kernel[self.indices[own]]
            products[own] = rows @ spread
            kernel[own, start:] = rows.take(self.indices[start:], axis=1)
        release_memory(self.rows.kernel)
        return kernel, products

    def _solve(self, kernel: np.ndarray, columns: np.ndarray, penalty: float) -> np.ndarray:
        """Solve (K + λ W⁻¹) Z = columns; K, of which the upper triangle is there, is overwritten."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        np.fill_diagonal(kernel, kernel.diagonal() + penalty / self.weights)
        try:
            # In Fortran's order it is the lower triangle of the transpose.
            factor = cho_factor(kernel.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise _make_error(penalty, len(kernel)) from error
        return cho_solve(factor, columns.astype(kernel.dtype), check_finite=False)


class PrimalFit(WeightedRows):
    """Classifiers of the columns of rows, which are compressed where there are more columns.

    Ridge regression and principal components need the sums of products Z'WZ alone, where Z = [X D W⁻¹D Y] are the rows,
    the indicators of their domains, without and with their weights, and the targets, and W are the weights.

    Parameters
    ----------
    rows, weights
        As of `WeightedRows`.
    labels : int (n,)
        Species from 0.
    settings : ClassifierSettings
        A `LeafidError` is raised when a ridge's penalty is too weak.
    reference : PrimalFit, optional
        The same with other weights; only rows whose weight differs are then multiplied again, if they are few.

    Attributes
    ----------
    compressed : TrainingRows
    products : float64 (n_columns + 2 n_domains + n_species, the same)
        Z'WZ.
    gram : float64 (n_columns, n_columns)
        X'WX of centred rows.
    """

    def __init__(
        self,
        rows: TrainingRows,
        weights: np.ndarray,
        labels: np.ndarray,
        settings: ClassifierSettings,
        reference: PrimalFit | None = None,
    ) -> None:
        super().__init__(rows, weights)
        self._all_weights, self._labels, self._settings = weights, labels, settings
        self.compressed, self._combinations = rows.compressed
        self.products = self._sum_products(reference)
        n_columns, n_domains = self.compressed.shape[1], len(self.counts)
        bounds = np.cumsum([n_columns, n_domains, n_domains])
        gram, weighted, sums, moments = np.split(self.products[:n_columns], bounds, axis=1)
        targets = self.products[n_columns : bounds[1], bounds[2] :]
        totals = self.weights @ self.indicators
        means = np.tile(sums.sum(axis=1, keepdims=True) / len(self.indices), n_domains)
        present = self.counts > 0
        means[:, present] = sums[:, present] / self.counts[present]
        self._means = means.T
        means = np.where(present, means, 0)
        shift = (weighted - means * totals / 2) @ means.T
        self.gram = gram - shift - shift.T
        intercepts = targets.sum(axis=0) / totals.sum()
        moments = moments - means @ targets - np.outer((weighted - means * totals).sum(axis=1), intercepts)
        self._fits = list(self._fit(moments, intercepts))

    @property
    def classifiers(self) -> list[Classifier]:
        """The classifier of centred rows, and that of the softmax regression if the settings ask for one."""
        back = self.rows.rotate_back
        return [(back(coefficients, self._combinations), intercepts) for coefficients, intercepts in self._fits]

    def score(self, indices: np.ndarray) -> list[np.ndarray]:
        """Score any rows, given by their indices, by each classifier: float (n, n_species)."""
        scores = [np.empty((len(indices), len(intercepts)), np.float32) for _, intercepts in self._fits]
        for part in iterate_batches(len(indices), len(self.gram)):
            values = self._read_centred(indices[part])
            for found, (coefficients, intercepts) in zip(scores, self._fits, strict=True):
                found[part] = values @ coefficients + intercepts
        return scores

    def find_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Find leading principal components, float (n_columns, k), and the weighted sums of squares along them."""
        vectors, strengths = self._find_compressed_components(number)
        return self.rows.rotate_back(vectors, self._combinations), strengths

    def _find_compressed_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        return find_leading_eigenvectors(self.gram.__matmul__, len(self.gram), number)

    def _read_centred(self, indices: np.ndarray) -> np.ndarray:
        return self.compressed.read(indices) - self._means[self.rows.domains[indices]].astype(np.float32)

    def _fit(self, moments: np.ndarray, intercepts: np.ndarray) -> Iterator[Classifier]:
        """Fit the classifiers; a species that no row is of has coefficients of 0."""
        from scipy.linalg import LinAlgError, solve

        settings = self._settings
        classes, labels = np.unique(self._labels[self.indices], return_inverse=True)
        if settings.classifier == "ridge":
            penalised = self.gram + settings.regularisation * np.eye(len(self.gram))
            try:
                yield solve(penalised, moments, assume_a="pos", overwrite_a=True, check_finite=False), intercepts
            except LinAlgError as error:
                raise _make_error(settings.regularisation, len(self.indices)) from error
        else:
            values = self._read_centred(self.indices)
            own = fit_linear(settings.classifier, values, labels, settings.regularisation, self.weights)
            yield _insert_columns(own, classes, len(intercepts))
        if settings.softmax_components:
            # They leave out what varies between pictures rather than between species.
            components, strengths = self._find_compressed_components(settings.softmax_components)
            projections = np.empty((len(self.indices), components.shape[1]), np.float32)
            for part in iterate_batches(len(projections), len(components)):
                projections[part] = self._read_centred(self.indices[part]) @ components
            own = fit_softmax(projections, strengths, labels, self.weights, _SOFTMAX_REGULARISATION)
            yield _insert_columns((components @ own[0], own[1]), classes, len(intercepts))

    def _sum_products(self, reference: PrimalFit | None) -> np.ndarray:
        weights = self._all_weights
        if reference is not None:
            removed = reference._all_weights - weights
            if not weights[removed != 0].any() and 2 * np.count_nonzero(removed) < len(self.indices):
                return reference.products - self._multiply(removed)
        return self._multiply(weights)

    def _multiply(self, weights: np.ndarray) -> np.ndarray:
        """Sum the products of rows with weights, float (n,)."""
        indices, targets = np.flatnonzero(weights), encode_one_vs_rest(self._labels)
        domains = encode_domains(self.rows.domains)
        width = self.compressed.shape[1] + 2 * domains.shape[1] + targets.shape[1]
        total = np.zeros((width, width))
        for part in iterate_batches(len(indices), width):
            own = indices[part]
            with_weights = domains[own] / weights[own, None]
            columns = np.hstack([self.compressed.read(own), domains[own], with_weights, targets[own]])
            columns *= np.sqrt(weights[own, None])
            total += columns.T @ columns
        return total


def _insert_columns(classifier: Classifier, classes: np.ndarray, number: int) -> Classifier:
    """Turn a classifier of some species, int (m,), into one of a number of species."""
    coefficients, intercepts = np.zeros((len(classifier[0]), number)), np.zeros(number)
    coefficients[:, classes], intercepts[classes] = classifier
    return coefficients, intercepts


def _make_error(penalty: float, n_rows: int) -> LeafidError:
    return LeafidError(f"a ridge's regularisation of {penalty:g} is too weak for {n_rows} pictures; use a larger one")
