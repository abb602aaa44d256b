"""Fuses the scores of experts into one calibrated probability for every species."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Penalty of the squared weights: they stay finite where every held-out picture is
# identified correctly.
_PENALTY = 1e-4
# Range of an expert's scores below which they don't distinguish species.
_MIN_RANGE = 1e-9


def fuse(
    scores: Sequence[np.ndarray], trust: Sequence[np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """Turn the experts' scores into probabilities.

    An expert's scores times its weight and its trust in the picture are, up to a
    constant, logarithms of a posterior; the posteriors of all experts are multiplied.

    Parameters
    ----------
    scores : sequence of ndarray of float, (n, n_species)
        The scores of each expert, -inf for a species that is impossible to all experts.
    trust : sequence of ndarray of float, (n,)
        The trust of each expert, from 0 to 1.
    weights : ndarray of float, (n_experts,)
        0 or more.

    Returns
    -------
    ndarray of float64, (n, n_species)
        Rows sum to 1. A row without any possible species is uniform.
    """
    total = sum_scores(scores, trust, weights)
    total[~np.isfinite(total).any(axis=1)] = 0
    return normalise(total)


def sum_scores(
    scores: Sequence[np.ndarray], trust: Sequence[np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """Sum the weighted scores that `fuse` turns into probabilities.

    The parameters are as for `fuse`.

    Returns
    -------
    ndarray of float64, (n, n_species)
        -inf for impossible species.
    """
    possible = np.isfinite(scores[0])
    total = np.zeros(possible.shape)
    for expert_scores, expert_trust, weight in zip(scores, trust, weights, strict=True):
        factors = weight * expert_trust
        total += np.where(possible, expert_scores, 0) * factors[:, None]
    # An impossible species stays so with a weight of 0.
    return np.where(possible, total, -np.inf)


def normalise(logarithms: np.ndarray) -> np.ndarray:
    """Turn logarithms up to a constant, (…, n_species), into probabilities.

    Rows sum to 1.
    """
    odds = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


def fit_fusion_weights(
    scores: Sequence[np.ndarray],
    trust: Sequence[np.ndarray],
    labels: np.ndarray,
    importance: np.ndarray,
) -> np.ndarray:
    """Fit the weights of highest likelihood on held-out pictures.

    This calibrates as well: the weight of a single expert is the inverse temperature of
    its scores.

    Parameters
    ----------
    scores, trust : sequence of ndarray
        As for `fuse`, of pictures whose plants the experts were not trained on.
    labels : ndarray of int, (n,)
        The species of the pictures, whose scores are finite.
    importance : ndarray of float, (n,)
        Sample weights.

    Returns
    -------
    ndarray of float64, (n_experts,)
        0 or more; all are 1 without pictures.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural
       networks", ICML 2017, section 4
    """
    from scipy.optimize import minimize

    n_experts = len(scores)
    if not len(labels):
        return np.ones(n_experts)
    importance = importance / importance.sum()
    rows = np.arange(len(labels))
    units = np.ones(n_experts)
    trusted_scores = []
    for index in range(n_experts):
        finite = np.where(np.isfinite(scores[index]), scores[index], 0)
        trusted_scores.append(finite * trust[index][:, None])
        # Weights are optimised in units of the scores' standard deviations, so that all
        # are equally easy to change.
        if np.ptp(trusted_scores[index]) > _MIN_RANGE:
            units[index] = trusted_scores[index].std()

    def compute_loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        posterior = fuse(scores, trust, scaled / units)
        log_likelihood = np.log(np.maximum(posterior[rows, labels], 1e-300))
        excess = [
            (posterior * values).sum(axis=1) - values[rows, labels]
            for values in trusted_scores
        ]
        gradient = np.array(excess) @ importance / units
        loss = _PENALTY * (scaled**2).sum() - importance @ log_likelihood
        return float(loss), gradient + 2 * _PENALTY * scaled

    solution = minimize(
        compute_loss,
        np.ones(n_experts),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * n_experts,
    )
    return solution.x / units
