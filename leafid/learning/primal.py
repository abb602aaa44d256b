"""Linear classifiers of the columns of weighted rows: ridge, softmax, and those of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from leafid.learning.components import find_leading_eigenvectors, fit_softmax
from leafid.learning.linear import LinearClassifier, encode_one_vs_rest
from leafid.learning.ridge import make_penalty_error
from leafid.learning.rows import TrainingRows, encode_domains, iterate_batches
from leafid.learning.settings import ClassifierSettings
from leafid.learning.weighted_rows import WeightedRows

# Penalty of the softmax regression.
_SOFTMAX_REGULARISATION = 0.01


class PrimalFit(WeightedRows):
    """Classifiers of the columns of rows, which are compressed where there are more columns.

    Ridge regression and principal components need the sums of products Z'WZ alone, where Z = [X D W⁻¹D Y] are the rows,
    the indicators of their domains, without and with their weights, and the targets, and W are the weights.

    Parameters
    ----------
    rows, weights
        As in `WeightedRows`.
    labels : int (n,)
        Species from 0.
    settings : ClassifierSettings
        A `LeafidError` is raised when a ridge's penalty is too weak.
    reference : PrimalFit, optional
        A fit to the same rows with other weights: if few weights differ, only their rows are multiplied again.

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
    def classifiers(self) -> list[LinearClassifier]:
        """The classifier of centred rows, and that of the softmax regression if the settings ask for one."""
        back = self.rows.rotate_back
        return [(back(coefficients, self._combinations), intercepts) for coefficients, intercepts in self._fits]

    def score(self, indices: np.ndarray) -> list[np.ndarray]:
        """Score any rows, given by their indices, by each classifier: float (n, n_species)."""
        scores = [np.empty((len(indices), len(intercepts)), np.float32) for _, intercepts in self._fits]
        for part in iterate_batches(len(indices), len(self.gram)):
            values = self._read_centred(indices[part])
            for classifier_scores, (coefficients, intercepts) in zip(scores, self._fits, strict=True):
                classifier_scores[part] = values @ coefficients + intercepts
        return scores

    def find_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Find leading principal components, float (n_columns, k), and the weighted sums of squares along them."""
        vectors, strengths = self._find_compressed_components(number)
        return self.rows.rotate_back(vectors, self._combinations), strengths

    def _find_compressed_components(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        return find_leading_eigenvectors(self.gram.__matmul__, len(self.gram), number)

    def _read_centred(self, indices: np.ndarray) -> np.ndarray:
        return self.compressed.read(indices) - self._means[self.rows.domains[indices]].astype(np.float32)

    def _fit(self, moments: np.ndarray, intercepts: np.ndarray) -> Iterator[LinearClassifier]:
        """Fit the classifiers; a species without a row has coefficients of 0."""
        from scipy.linalg import LinAlgError, solve

        settings = self._settings
        classes, labels = np.unique(self._labels[self.indices], return_inverse=True)
        if settings.classifier == "ridge":
            penalised = self.gram + settings.regularisation * np.eye(len(self.gram))
            try:
                yield solve(penalised, moments, assume_a="pos", overwrite_a=True, check_finite=False), intercepts
            except LinAlgError as error:
                raise make_penalty_error(settings.regularisation, len(self.indices)) from error
        else:
            from leafid.learning.estimators import fit_estimator, to_linear

            values = self._read_centred(self.indices)
            estimator = fit_estimator(settings.make_estimator(), values, labels, self.weights)
            yield _insert_columns(to_linear(estimator), classes, len(intercepts))
        if settings.softmax_components:
            # Components leave out what varies between pictures rather than between species.
            components, strengths = self._find_compressed_components(settings.softmax_components)
            projections = np.empty((len(self.indices), components.shape[1]), np.float32)
            for part in iterate_batches(len(projections), len(components)):
                projections[part] = self._read_centred(self.indices[part]) @ components
            coefficients, offsets = fit_softmax(projections, strengths, labels, self.weights, _SOFTMAX_REGULARISATION)
            yield _insert_columns((components @ coefficients, offsets), classes, len(intercepts))

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
            batch = indices[part]
            with_weights = domains[batch] / weights[batch, None]
            columns = np.hstack([self.compressed.read(batch), domains[batch], with_weights, targets[batch]])
            columns *= np.sqrt(weights[batch, None])
            total += columns.T @ columns
        return total


def _insert_columns(classifier: LinearClassifier, classes: np.ndarray, number: int) -> LinearClassifier:
    """Turn a classifier of some species, int (m,), into one of a number of species."""
    coefficients, intercepts = np.zeros((len(classifier[0]), number)), np.zeros(number)
    coefficients[:, classes], intercepts[classes] = classifier
    return coefficients, intercepts
