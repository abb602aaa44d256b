"""Linear classifiers as plain arrays, and the feature maps with which they do the work of those with a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
#: A linear classifier of centred rows: coefficients, float (n_columns, n_species), and intercepts, float (n_species,).
LinearClassifier = tuple[np.ndarray, np.ndarray]

# Iterations of logistic regression, and the gradient of the mean loss at which it stops, as in scikit-learn.
_MAX_ITERATIONS = 200
_MAX_GRADIENT = 1e-4
# Interval between the two samples of the spectrum of the χ² kernel.
_CHI2_SAMPLE_INTERVAL = 0.5


@dataclass(frozen=True, slots=True)
class LinearScorer:
    """A trained linear classifier."""

    #: One of {"none", "chi2"}: explicit feature map that is applied first.
    map: str
    #: float (n_mapped, n_species).
    coefficients: np.ndarray
    #: float (n_species,).
    intercepts: np.ndarray

    def scores(self, vectors: np.ndarray) -> np.ndarray:
        """Score every species for vectors (n, d), higher is better; float32 (n, n_species)."""
        return apply_feature_map(vectors, self.map) @ np.asarray(self.coefficients, np.float32) + self.intercepts


def sum_scorers(scorers: Sequence[LinearScorer], weights: Sequence[float]) -> LinearScorer:
    """Make the classifier whose scores are the weighted sum of those of several with the same feature map."""
    factors = np.asarray(weights, np.float32)
    return LinearScorer(
        scorers[0].map,
        np.tensordot(factors, np.stack([scorer.coefficients for scorer in scorers]), 1),
        np.tensordot(factors, np.stack([scorer.intercepts for scorer in scorers]), 1),
    )


def apply_feature_map(vectors: np.ndarray, name: str) -> np.ndarray:
    """Apply a feature map to vectors (n, d): ``none``, or ``chi2``, for which negative numbers count as 0."""
    return apply_chi2_map(np.maximum(vectors, 0)) if name == "chi2" else vectors


def apply_chi2_map(vectors: np.ndarray) -> np.ndarray:
    """Map vectors (n, d) of 0 or more so that inner products, of float32 (n, 3 d), approximate Σ 2xy / (x + y).

    The result is `sklearn.kernel_approximation.AdditiveChi2Sampler(sample_steps=2, sample_interval=0.5)` to the bit.
    Importing that takes twice the CPU time of everything else that identifying a picture imports.

    References
    ----------
    .. [1] A. Vedaldi, A. Zisserman, "Efficient additive kernels via explicit feature maps", IEEE TPAMI 34(3), 2012,
       section 4, doi:10.1109/TPAMI.2011.153

    Examples
    --------
    >>> x, y = apply_chi2_map(np.array([[0.2], [0.6]]))
    >>> round(float(x @ y), 1)  # 2 · 0.2 · 0.6 / 0.8 = 0.3
    0.3
    """
    step = _CHI2_SAMPLE_INTERVAL
    values = np.asarray(vectors, np.float64)
    phase = step * np.log(np.where(values > 0, values, 1.0))
    amplitude = np.sqrt(2 * values * step / np.cosh(np.pi * step))
    parts = [np.sqrt(values * step), amplitude * np.cos(phase), amplitude * np.sin(phase)]
    return np.concatenate(parts, axis=-1).astype(np.float32)


def weigh_pictures(
    labels: np.ndarray, plants: Sequence[str] | np.ndarray, species_balance: float, plant_balance: float
) -> np.ndarray:
    """Weigh pictures by the numbers of pictures of their species and of their plant, to negative powers.

    The balances are the exponents without their sign. With a species balance above 1, rare species count more in total
    than common ones: the pictures to identify differ more from the few that were trained on.
    """
    weights = np.ones(len(labels))
    for groups, balance in ((np.asarray(labels), species_balance), (np.asarray(plants), plant_balance)):
        _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
        weights /= counts[inverse] ** float(balance)
    return weights


def fit_logistic(rows: Array, labels: Array, weights: Array, regularisation: float) -> tuple[Array, Array]:
    """Train logistic regressions of the same rows (n, d) with several weights, float (n, m), together.

    Each row is read once for all of them. Labels are 0 and 1. Returns coefficients, float32 (d, m), and intercepts,
    float32 (m,).
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    shape = rows.shape[1] + 1, weights.shape[1]
    signs = np.where(labels, np.float32(1), np.float32(-1))[:, None]
    rows, weights = rows.astype(np.float32), weights.astype(np.float32)
    scale = 1 / weights.sum(axis=0).max()

    def compute_loss(point: Array) -> tuple[float, Array]:
        coefficients = point.reshape(shape).astype(np.float32)
        margins = signs * (rows @ coefficients[:-1] + coefficients[-1])
        slopes = -signs * weights * expit(-margins)
        penalised = regularisation * coefficients[:-1].astype(np.float64)
        loss = (weights * np.logaddexp(0, -margins)).sum(dtype=np.float64) + (penalised * coefficients[:-1]).sum() / 2
        gradient = np.vstack([rows.T @ slopes + penalised, slopes.sum(axis=0)])
        return scale * float(loss), scale * gradient.ravel()

    options = {"maxiter": _MAX_ITERATIONS, "gtol": _MAX_GRADIENT, "ftol": 0}
    solution = minimize(compute_loss, np.zeros(np.prod(shape)), jac=True, method="L-BFGS-B", options=options).x
    coefficients = solution.reshape(shape).astype(np.float32)
    return coefficients[:-1], coefficients[-1]


def encode_one_vs_rest(labels: Array) -> Array:
    """Encode labels as regression targets: float32 (n, n_species), 1 in the label's column and -1 in all others."""
    return np.where(labels[:, None] == np.arange(labels.max() + 1), np.float32(1), np.float32(-1))
