"""Linear classifiers: trained by scikit-learn, kept as plain arrays."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from leafid.classifiers.feature_map import chi2_map

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
        return apply_feature_map(vectors, self.map) @ np.asarray(self.coefficients, np.float32) + self.intercepts


def sum_scorers(scorers: Sequence[LinearScorer], weights: Sequence[float]) -> LinearScorer:
    """Make one classifier whose scores are the weighted sum of those of several.

    Parameters
    ----------
    scorers : sequence of LinearScorer
        At least one; all of one feature map, and as long.
    weights : sequence of float
        One for each.

    Returns
    -------
    LinearScorer
    """
    shares = np.asarray(weights, np.float32)
    return LinearScorer(
        scorers[0].map,
        np.tensordot(shares, np.stack([scorer.coefficients for scorer in scorers]), 1),
        np.tensordot(shares, np.stack([scorer.intercepts for scorer in scorers]), 1),
    )


def apply_feature_map(vectors: np.ndarray, name: str) -> np.ndarray:
    """Apply an explicit feature map to the rows of a float array (n, d)."""
    return chi2_map(np.maximum(vectors, 0)) if name == "chi2" else vectors


def picture_weights(
    labels: np.ndarray, plants: Sequence[str], species_balance: float, plant_balance: float
) -> np.ndarray:
    """Let a picture count the less, the more there are of its species and of its plant.

    Parameters
    ----------
    labels : int (n,)
        Species.
    plants : sequence of str
    species_balance, plant_balance : float
        As in `leafid.recipes.recipe.Expert`. A species with few pictures is met in others of its pictures than were
        learned from: with a species balance above 1 it counts more than a common one.

    Returns
    -------
    float64 (n,)
        With mean 1.
    """
    weights = np.ones(len(labels))
    for groups, balance in ((np.asarray(labels), species_balance), (np.asarray(plants), plant_balance)):
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

    return Ridge(alpha=regularisation, solver="cholesky").fit(rows, one_against_rest(labels), sample_weight=weights)


def one_against_rest(labels: Array) -> Array:
    """Make a target for each species: float32 (n, n_species), 1 for the right one and -1 for all others."""
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
