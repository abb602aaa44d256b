"""The opinions of several experts as one calibrated probability for every species."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def fuse(scores: Sequence[np.ndarray], trust: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Turn the experts' scores into probabilities.

    Each expert's scores, times its weight and its trust in that picture, are logarithms of a posterior but for a
    constant: the posteriors are multiplied.

    Parameters
    ----------
    scores : sequence of float (n, n_species)
        One array an expert; -inf for a species that can't be.
    trust : sequence of float (n,)
        One array an expert, from 0 to 1.
    weights : float (n_experts,)
        0 or more.

    Returns
    -------
    float64 (n, n_species)
        Rows sum to 1; a row in which no species can be is spread evenly.
    """
    total = np.zeros(scores[0].shape)
    for expert_scores, expert_trust, weight in zip(scores, trust, weights, strict=True):
        # A score of -inf stays so even where the weight is 0.
        finite = np.where(np.isfinite(expert_scores), expert_scores, 0) * (weight * expert_trust)[:, None]
        total += np.where(np.isfinite(expert_scores), finite, -np.inf)
    total[~np.isfinite(total).any(axis=1)] = 0
    total -= total.max(axis=1, keepdims=True)
    np.exp(total, out=total)
    return total / total.sum(axis=1, keepdims=True)


def fit_fusion_weights(
    scores: Sequence[np.ndarray], trust: Sequence[np.ndarray], labels: np.ndarray, importance: np.ndarray
) -> np.ndarray:
    """Find the weights under which held-out pictures are the most likely.

    This calibrates and weighs in one go: a single expert's weight is the (inverse) temperature of its scores.

    Parameters
    ----------
    scores, trust
        As in `fuse`, of pictures whose plants the experts were not trained on.
    labels : int (n,)
        The right species; its scores are finite.
    importance : float (n,)
        How much each picture counts.

    Returns
    -------
    float64 (n_experts,)
        0 or more.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural networks", ICML 2017, section 4
    """
    from scipy.optimize import minimize

    n_experts = len(scores)
    if not len(labels):
        return np.ones(n_experts)
    importance = importance / importance.sum()
    rows = np.arange(len(labels))
    opinions = [np.where(np.isfinite(s), s, 0) * t[:, None] for s, t in zip(scores, trust, strict=True)]
    # Weights are found in units in which every expert's scores spread equally: no unit is easier to move than another.
    # An expert without an opinion has no unit; it is pulled to 0.
    units = np.array([float(opinion.std()) if np.ptp(opinion) > 1e-9 else 1.0 for opinion in opinions])

    def loss(relative: np.ndarray) -> tuple[float, np.ndarray]:
        weights = relative / units
        posterior = fuse(scores, trust, weights)
        log_likelihood = np.log(np.maximum(posterior[rows, labels], 1e-300))
        slope = [
            (importance * ((posterior * opinion).sum(axis=1) - opinion[rows, labels])).sum() / unit
            for opinion, unit in zip(opinions, units, strict=True)
        ]
        # A light pull to 0 keeps the weights finite where every picture is right.
        return (
            float(-(importance * log_likelihood).sum() + 1e-4 * (relative**2).sum()),
            np.array(slope) + 2e-4 * relative,
        )

    found = minimize(loss, np.ones(n_experts), jac=True, method="L-BFGS-B", bounds=[(0, None)] * n_experts)
    return found.x / units
