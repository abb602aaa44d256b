"""Softmax regression along a few directions, on more rows than memory holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np

from leafid.classifiers.rows import Vectors
from leafid.parallel import get_blas_controller

# More steps change the coefficients, but not what they say of plants that were not seen.
_STEPS = 60
_TOLERANCE = 1e-5
# Numbers that are in memory at once, of the rows' places or of their scores.
_BATCH_NUMBERS = 2**22
# Directions that are followed beside those asked for, and how often: for the last of them to be found as well.
_SPARE_DIRECTIONS = 16
_ROUNDS = 4
# A column whose square is a smaller part of the largest one's is nothing but rounding.
_NO_LENGTH = 1e-13


def fit_softmax(
    places: Vectors, strengths: np.ndarray, targets: np.ndarray, weights: np.ndarray, regularisation: float
) -> tuple[np.ndarray, np.ndarray]:
    """Train a multinomial logistic regression, by L-BFGS that stops after 60 steps.

    Minimises the sum of the rows' weighted cross-entropies and ``regularisation / 2`` times the squared coefficients.

    Parameters
    ----------
    places : Vectors, (n, k)
        The rows, read in batches.
    strengths : float (k,)
        The weighted sum of squares of each column, about: units in which all columns bend the loss alike.
    targets : int (n,)
        Species, from 0, all of them present.
    weights : float (n,)
        How much each row counts; 0 leaves it out.
    regularisation : float
        Above 0.

    Returns
    -------
    coefficients : float32 (k, n_species)
    intercepts : float32 (n_species,)

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", 2nd ed., Springer 2009,
       section 4.4
    """
    from scipy.optimize import minimize

    n_species = int(targets.max()) + 1
    shape = (places.shape[1], n_species)
    weights = weights.astype(np.float32)
    units = 1 / np.sqrt(strengths[:, None] / 4 + regularisation)
    penalties = regularisation * units**2

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        relative, intercepts = point[:-n_species].reshape(shape), point[-n_species:]
        coefficients, offsets = (relative * units).astype(np.float32), intercepts.astype(np.float32)
        total, slope, slope_of_intercepts = 0.5 * (penalties * relative**2).sum(), np.zeros(shape), np.zeros(n_species)
        for part in _batches(places.shape[0], max(shape)):
            rows, right = places[part], (np.arange(len(part)), targets[part])
            scores = rows @ coefficients + offsets
            scores -= scores.max(axis=1, keepdims=True)
            of_right = scores[right]
            np.exp(scores, out=scores)
            sums = scores.sum(axis=1)
            total += weights[part] @ (np.log(sums) - of_right)
            scores *= (weights[part] / sums)[:, None]
            scores[right] -= weights[part]
            slope += rows.T @ scores
            slope_of_intercepts += scores.sum(axis=0)
        return float(total), np.concatenate([(slope * units + penalties * relative).ravel(), slope_of_intercepts])

    start = np.zeros((places.shape[1] + 1) * n_species)
    # NumPy's threads and SciPy's, each waiting for the other's, take several times as long as one over small products.
    is_small = places.shape[0] * max(shape) <= _BATCH_NUMBERS
    with get_blas_controller().limit(limits=1) if is_small else nullcontext():
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS, "ftol": _TOLERANCE}).x
    coefficients = found[:-n_species].reshape(shape) * units
    return coefficients.astype(np.float32), found[-n_species:].astype(np.float32)


def leading_eigenvectors(matrix: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the eigenvectors of a symmetric matrix without negative eigenvalues that have the largest ones.

    Parameters
    ----------
    matrix : float (d, d)
    number : int
        How many are wanted.

    Returns
    -------
    vectors : float32 (d, k)
        Orthonormal, the one of the largest eigenvalue first. `k` is `number`, or fewer where no more eigenvalues
        are above 0; at least 1.
    values : float64 (k,)

    References
    ----------
    .. [1] N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure with randomness: probabilistic algorithms for
       constructing approximate matrix decompositions", SIAM Review 53(2), 2011, algorithm 4.4, doi:10.1137/090771806
    """
    size = len(matrix)
    width = number + _SPARE_DIRECTIONS
    if 2 * width >= size:
        values, vectors = np.linalg.eigh(matrix.astype(np.float64))
    else:
        found = np.random.default_rng(0).standard_normal((size, width)).astype(matrix.dtype)
        for _ in range(_ROUNDS):
            found = _orthonormal(_orthonormal(matrix @ found))
        values, turn = np.linalg.eigh((found.T @ (matrix @ found)).astype(np.float64))
        vectors = found @ turn.astype(matrix.dtype)
    leading = np.flatnonzero(values > 1e-6 * values[-1])[::-1][:number]
    if not len(leading):
        leading = np.array([len(values) - 1])
    return vectors[:, leading].astype(np.float32), np.maximum(values[leading], 0)


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Find orthonormal columns of the same span, or nearly so: once more makes up for what rounding leaves.

    Of many rows the inner products of the columns take a fraction of the time of a QR decomposition.
    """
    double = columns.astype(np.float64)
    values, turn = np.linalg.eigh(double.T @ double)
    kept = values > values[-1] * _NO_LENGTH
    if not kept.any():  # Columns of nothing span nothing.
        return columns[:, :1]
    return (double @ (turn[:, kept] / np.sqrt(values[kept]))).astype(columns.dtype)


def _batches(n_rows: int, width: int) -> Iterator[np.ndarray]:
    step = max(1, _BATCH_NUMBERS // width)
    for start in range(0, n_rows, step):
        yield np.arange(start, min(start + step, n_rows))
