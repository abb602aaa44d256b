"""Fits a classifier to weighted rows: a ridge regression, or one of scikit-learn's."""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve

from leafid.learning.classifiers.estimators import (
    fit_estimator,
    is_linear,
    make_estimator,
    score,
    to_linear,
)
from leafid.learning.classifiers.linear import (
    LinearClassifier,
    encode_one_vs_rest,
    rotate_rows,
)
from leafid.learning.classifiers.rows import iterate_batches
from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.learning.classifiers.weighted_rows import WeightedRows

#: A classifier of centred rows: a linear one, or an estimator of scikit-learn.
Classifier = LinearClassifier | Any
# Ratio of the trace of a matrix to the penalty above which single precision would lose
# the penalty.
_MAX_SINGLE_RATIO = 1e5


def fit_classifier(
    rows: WeightedRows, labels: np.ndarray, settings: ClassifierSettings
) -> Classifier:
    """Fit a classifier to the rows of weight above 0.

    Parameters
    ----------
    rows : WeightedRows
    labels : ndarray of int, (k,)
        The species of the rows of weight above 0; all species from 0 are present.
    settings : ClassifierSettings

    Returns
    -------
    tuple of two ndarray, or object
        A `LinearClassifier`, or an estimator that isn't linear.

    Raises
    ------
    LinAlgError
        When a ridge is regularised too little.
    LeafidError
        When scikit-learn can't fit its classifier.
    """
    # Of a single species nothing is to be learned: a ridge gives it a constant score.
    if settings.classifier != "ridge" and labels.any():
        estimator = make_estimator(settings.classifier, settings.classifier_options)
        return _fit_estimator(rows, labels, estimator)
    targets = encode_one_vs_rest(labels)
    intercepts = rows.weights @ targets / rows.weights.sum()
    n_rows, n_columns = rows.rows.shape
    solve_ridge = solve_dual if n_rows <= 2 * n_columns else solve_primal
    return solve_ridge(rows, targets - intercepts, settings.regularisation), intercepts


def score_rows(
    classifier: Classifier, rows: WeightedRows, indices: np.ndarray
) -> np.ndarray:
    """Score any rows, given by their indices: float (n, n_species)."""
    scores = []
    for part in iterate_batches(len(indices), rows.rows.shape[1]):
        values = rows.read_centred(indices[part])
        if isinstance(classifier, tuple):
            coefficients, intercepts = classifier
            scores.append(values @ coefficients + intercepts)
        else:
            scores.append(score(classifier, values))
    return np.concatenate(scores)


def solve_dual(rows: WeightedRows, targets: np.ndarray, penalty: float) -> np.ndarray:
    """Solve a ridge regression by the kernel matrix, for few rows.

    With K the kernel matrix of the centred rows X, W the weights, λ the penalty, and Y
    the targets less their weighted mean, float (k, n_species), the coefficients are
    X'(K + λ W⁻¹)⁻¹ Y, float64 (n_columns, n_species). A `LinAlgError` is raised when
    the penalty is too weak.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk, "Ridge regression learning algorithm in
       dual variables", ICML 1998
    """
    kernel = rows.read_centred_kernel()
    # Single precision mostly suffices for vectors in half precision.
    if rows.weights @ kernel.diagonal() > _MAX_SINGLE_RATIO * penalty:
        kernel = kernel.astype(np.float64)
    np.fill_diagonal(kernel, kernel.diagonal() + penalty / rows.weights)
    # The transpose is in Fortran's order, which spares a copy.
    factor = cho_factor(kernel.T, overwrite_a=True, check_finite=False)
    dual = cho_solve(factor, targets.astype(kernel.dtype), check_finite=False)
    return rows.sum_centred(dual)


def solve_primal(rows: WeightedRows, targets: np.ndarray, penalty: float) -> np.ndarray:
    """Solve a ridge regression by products of columns, for few columns.

    The coefficients are (X'WX + λ)⁻¹ X'WY, equal to the coefficients of `solve_dual`.
    """
    gram = rows.compute_gram()
    gram[np.diag_indices_from(gram)] += penalty
    moments = rows.sum_centred(rows.weights[:, None] * targets)
    return solve(gram, moments, assume_a="pos", overwrite_a=True, check_finite=False)


def _fit_estimator(
    rows: WeightedRows, labels: np.ndarray, estimator: Any
) -> Classifier:
    """Fit an estimator of scikit-learn; a linear one becomes a linear classifier."""
    values = rows.read_centred(rows.indices)
    if not is_linear(estimator):
        return fit_estimator(estimator, values, labels, rows.weights)
    values, axes = rotate_rows(values)
    fitted = fit_estimator(estimator, values, labels, rows.weights)
    coefficients, intercepts = to_linear(fitted)
    return axes @ coefficients, intercepts
