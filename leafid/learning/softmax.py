"""Softmax regression on principal components."""

from __future__ import annotations

import numpy as np

# Stopping early regularises: with more iterations, held-out accuracy falls.
_MAX_ITERATIONS = 60
_TOLERANCE = 1e-5
# Maximum number of scores in memory.
_BATCH_NUMBERS = 2**22


def fit_softmax(
    rows: np.ndarray, strengths: np.ndarray, targets: np.ndarray, weights: np.ndarray, regularisation: float
) -> tuple[np.ndarray, np.ndarray]:
    """Train a multinomial logistic regression by L-BFGS, stopped after 60 iterations.

    Minimises the weighted sum of the cross-entropies of rows (n, k) plus ``regularisation / 2`` times the squared
    coefficients. `strengths`, float (k,), is the weighted sum of squares of each column, at least roughly: coefficients
    are optimised in units in which the loss has about the same curvature for all columns. `targets`, int (n,), are
    species from 0, each of them present. Returns coefficients, float32 (k, n_species), and intercepts, float32
    (n_species,).

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2nd ed., Springer 2009,
       section 4.4
    """
    from scipy.optimize import minimize

    n_rows, n_columns = rows.shape
    n_species = int(targets.max()) + 1
    shape = (n_columns, n_species)
    weights = weights.astype(np.float32)
    units = 1 / np.sqrt(strengths[:, None] / 4 + regularisation)
    penalties = regularisation * units**2
    batch_size = max(1, _BATCH_NUMBERS // max(shape))

    def compute_loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        scaled, intercepts = point[:-n_species].reshape(shape), point[-n_species:]
        coefficients, offsets = (scaled * units).astype(np.float32), intercepts.astype(np.float32)
        loss, gradient, intercept_gradient = 0.5 * (penalties * scaled**2).sum(), np.zeros(shape), np.zeros(n_species)
        for start in range(0, n_rows, batch_size):
            part = slice(start, start + batch_size)
            batch, label_cells = rows[part], (np.arange(len(rows[part])), targets[part])
            scores = batch @ coefficients + offsets
            scores -= scores.max(axis=1, keepdims=True)
            label_scores = scores[label_cells]
            np.exp(scores, out=scores)
            sums = scores.sum(axis=1)
            loss += weights[part] @ (np.log(sums) - label_scores)
            scores *= (weights[part] / sums)[:, None]
            scores[label_cells] -= weights[part]
            gradient += batch.T @ scores
            intercept_gradient += scores.sum(axis=0)
        return float(loss), np.concatenate([(gradient * units + penalties * scaled).ravel(), intercept_gradient])

    start = np.zeros((n_columns + 1) * n_species)
    options = {"maxiter": _MAX_ITERATIONS, "ftol": _TOLERANCE}
    solution = minimize(compute_loss, start, jac=True, method="L-BFGS-B", options=options).x
    coefficients = solution[:-n_species].reshape(shape) * units
    return coefficients.astype(np.float32), solution[-n_species:].astype(np.float32)
