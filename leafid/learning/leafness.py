"""The probability that a picture shows a leaf, by the vectors of all experts."""

import numpy as np

from leafid.learning.logistic import Examples, fit_calibrated, predict_logistic

_PENALTY = 0.01
# The share of the pictures that people ask about that show a leaf. Without it, the
# probability would distinguish cameras.
_LEAF_SHARE = 0.95


def fit_leafness(examples: Examples) -> tuple[np.ndarray, np.ndarray]:
    """Learn to distinguish leaves from pictures without a leaf.

    Parameters
    ----------
    examples : Examples
        Joined vectors of all experts, of leaves (positive), grouped by plant, and of
        pictures without a leaf, grouped by kind.

    Returns
    -------
    coefficients : ndarray of float32, (n_columns + 1,)
        For `predict_leafness`.
    probabilities : ndarray of float64, (n,)
        Of the examples, each by a regression without its group.
    """
    return fit_calibrated(examples, _PENALTY, _LEAF_SHARE)


def predict_leafness(vectors: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Give the probability that pictures show a leaf, float64 (n,).

    The joined vectors of all experts are float (n, n_columns).
    """
    return predict_logistic(vectors, coefficients)
