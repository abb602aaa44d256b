"""Linear classifiers: trained by scikit-learn, kept as plain arrays."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from leafid.descriptors.texture import chi2_map

Array = np.ndarray


class _Fitted(Protocol):
    coef_: Array
    intercept_: Array


@dataclass(frozen=True, slots=True)
class LinearScorer:
    """A trained linear classifier.

    Attributes
    ----------
    map : {"none", "chi2"}
        Explicit feature map applied first.
    coefficients : float (n_mapped, n_species)
    intercepts : float (n_species,)
    """

    map: str
    coefficients: np.ndarray
    intercepts: np.ndarray

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Give a score for every species, higher is better: float32 (n, n_species) for vectors (n, d)."""
        return mapped(vectors, self.map) @ self.coefficients.astype(np.float32) + self.intercepts


def mapped(vectors: np.ndarray, name: str) -> np.ndarray:
    """Apply an explicit feature map to the rows of a float array (n, d)."""
    return chi2_map(np.maximum(vectors, 0)) if name == "chi2" else vectors


@dataclass(frozen=True, slots=True)
class Fit:
    """A classifier fitted on some of the `Rows`.

    Attributes
    ----------
    rows : float32 (n, m)
        All of them, as the fit takes them.
    coefficients : float32 (m, n_species)
    intercepts : float32 (n_species,)
    back : float32 (d, m) or None
        Takes the coefficients to the (mapped, standardised) vectors; None where they are of these already.
    """

    rows: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    back: np.ndarray | None

    def scores(self, asked: np.ndarray) -> np.ndarray:
        """Score the rows at some indices; float32 (k, n_species)."""
        return self.rows[asked] @ self.coefficients + self.intercepts


class Rows:
    """Training vectors made ready for many fits: mapped, standardised, and turned into few columns.

    With more columns than rows, the rows are turned into the space that they span: the same lengths and angles in as
    many columns as there are rows, so that every linear classifier learns the same from them in a fraction of the time.

    Parameters
    ----------
    vectors : float32 (n, d)
    map : {"none", "chi2"}
    standardise : bool
        Divide every column by its standard deviation; for measures that come in different units.
    types : int (n,), optional
        A number for each row's acquisition type; given when each type's mean is taken off.
    own_type : int, default 0
        The type that new vectors will be of.

    """

    def __init__(
        self,
        vectors: np.ndarray,
        map: str,
        *,
        standardise: bool,
        types: np.ndarray | None = None,
        own_type: int = 0,
    ) -> None:
        self.map = map
        values = mapped(vectors, map).astype(np.float32)
        overall = values.mean(axis=0)
        self._centre = overall
        if types is None:
            values = values - overall
        else:
            values = values.copy()
            for number in range(int(types.max()) + 1):
                own = types == number
                if not own.any():
                    continue
                mean = values[own].mean(axis=0)
                values[own] -= mean
                if number == own_type:
                    self._centre = mean
        self._scale = np.ones(values.shape[1], np.float32)
        if standardise:
            spread = values.std(axis=0)
            # A column that hardly varies says nothing; dividing by its spread would only make noise of it.
            varied = spread > 1e-6
            self._scale = np.where(varied, 1 / np.maximum(spread, 1e-6), 0).astype(np.float32)
            self._scale /= np.sqrt(np.float32(max(int(np.count_nonzero(varied)), 1)))
        values *= self._scale
        self._values = values
        self._is_wide = values.shape[1] > values.shape[0]

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows that classifiers are fitted on; float32 (n, m)."""
        return self._spanned[0] if self._is_wide else self._values

    def fit(self, kind: str, chosen: np.ndarray, labels: np.ndarray, regularisation: float, weights: np.ndarray) -> Fit:
        """Train a linear classifier on some of the rows.

        Parameters
        ----------
        kind, regularisation
            As in `fit_linear`.
        chosen : int (k,)
            Indices of rows.
        labels : int (k,)
            Of the chosen rows, as in `fit_linear`.
        weights : float (k,)
            Of the chosen rows.

        Returns
        -------
        Fit
        """
        if kind == "ridge" and self._is_wide and labels.max() > 0:
            return self._fit_in_dual(chosen, labels, regularisation, weights)
        fitted = fit_linear(kind, self.rows[chosen], labels, regularisation, weights)
        return Fit(self.rows, *fitted, self._spanned[1] if self._is_wide else None)

    def scorer(self, coefficients: np.ndarray, intercepts: np.ndarray, back: np.ndarray | None = None) -> LinearScorer:
        """Take a fit on `rows` (or what `back` leads back from) to the original vectors."""
        if back is None and self._is_wide:
            back = self._spanned[1]
        if back is not None:
            coefficients = back @ coefficients
        coefficients = coefficients * self._scale[:, None]
        return LinearScorer(self.map, coefficients, intercepts - self._centre @ coefficients)

    @cached_property
    def _spanned(self) -> tuple[np.ndarray, np.ndarray]:
        return _in_own_span(self._values)

    @cached_property
    def _gram(self) -> np.ndarray:
        return self._values @ self._values.T

    def _fit_in_dual(self, chosen: np.ndarray, labels: np.ndarray, regularisation: float, weights: np.ndarray) -> Fit:
        """Ridge regression by inner products: one matrix of them serves every fold."""
        from sklearn.kernel_ridge import KernelRidge

        targets = _one_against_rest(labels).astype(np.float64)
        intercepts = weights @ targets / weights.sum()
        inner = self._gram[np.ix_(chosen, chosen)].astype(np.float64)
        model = KernelRidge(alpha=regularisation, kernel="precomputed")
        model.fit(inner, targets - intercepts, sample_weight=weights)
        coefficients = np.zeros((len(self._gram), targets.shape[1]), np.float32)
        coefficients[chosen] = model.dual_coef_
        return Fit(self._gram, coefficients, intercepts.astype(np.float32), self._values.T)


def picture_weights(labels: np.ndarray, plants: Sequence[str], balance: float) -> np.ndarray:
    """Let a picture count the less, the more there are of its species and of its plant.

    Parameters
    ----------
    labels : int (n,)
        Species.
    plants : sequence of str
    balance : float
        0: every picture counts the same; 1: every species does, and within it every plant.

    Returns
    -------
    float64 (n,)
        With mean 1.
    """
    weights = np.ones(len(labels))
    for groups in (np.asarray(labels), np.asarray(plants)):
        _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
        weights /= counts[inverse] ** float(balance)
    return weights / weights.mean()


def fit_linear(
    kind: str, rows: np.ndarray, labels: np.ndarray, regularisation: float, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Train a linear classifier with scikit-learn.

    Parameters
    ----------
    kind : {"ridge", "linear-svm", "lda", "logistic"}
    rows : float32 (n, m)
    labels : int (n,)
        From 0 to the number of species less 1, all of them present.
    regularisation : float
        Ridge's penalty; 1 / C; LDA's shrinkage.
    weights : float (n,)
        How much each row counts; of LDA they only set how likely a species is beforehand.

    Returns
    -------
    coefficients : float32 (m, n_species)
    intercepts : float32 (n_species,)
    """
    if labels.max() == 0:
        return np.zeros((rows.shape[1], 1), np.float32), np.zeros(1, np.float32)
    with warnings.catch_warnings():
        # A solver that stops a little early is judged by its scores on held-out plants like any other.
        warnings.simplefilter("ignore")
        model = _FITS[kind](rows, labels, weights, regularisation)
    coefficients, intercepts = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    if len(coefficients) == 1:  # scikit-learn keeps one row for two classes: that of the second
        coefficients, intercepts = np.vstack([-coefficients, coefficients]), np.concatenate([-intercepts, intercepts])
    return coefficients.T.astype(np.float32), intercepts.astype(np.float32)


def _ridge(rows: Array, labels: Array, weights: Array, regularisation: float) -> _Fitted:
    from sklearn.linear_model import Ridge

    return Ridge(alpha=regularisation, solver="cholesky").fit(rows, _one_against_rest(labels), sample_weight=weights)


def _one_against_rest(labels: Array) -> Array:
    return np.where(labels[:, None] == np.arange(labels.max() + 1), np.float32(1), np.float32(-1))


def _linear_svm(rows: Array, labels: Array, weights: Array, regularisation: float) -> _Fitted:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=1 / regularisation, random_state=0, max_iter=2000).fit(rows, labels, sample_weight=weights)


def _lda(rows: Array, labels: Array, weights: Array, regularisation: float) -> _Fitted:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    if len(labels) == labels.max() + 1:
        # With one row a species there is no spread within species to learn from.
        return _ridge(rows, labels, weights, regularisation)
    priors = np.bincount(labels, weights)
    return LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage=min(regularisation, 1.0), priors=priors / priors.sum()
    ).fit(rows, labels)


def _logistic(rows: Array, labels: Array, weights: Array, regularisation: float) -> _Fitted:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1 / regularisation, max_iter=200).fit(rows, labels, sample_weight=weights)


_FITS = {"ridge": _ridge, "linear-svm": _linear_svm, "lda": _lda, "logistic": _logistic}


def _in_own_span(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn rows into the space that they span; also give the matrix that takes coefficients back."""
    eigenvalues, vectors = np.linalg.eigh((values @ values.T).astype(np.float64))
    keep = eigenvalues > eigenvalues[-1] * 1e-7
    # Rows that are all alike span nothing; one empty column is left, for there to be something to fit.
    keep[-1] = True
    lengths = np.sqrt(np.maximum(eigenvalues[keep], np.finfo(np.float32).tiny))
    vectors = vectors[:, keep]
    return (vectors * lengths).astype(np.float32), (values.T @ (vectors / lengths).astype(np.float32))
