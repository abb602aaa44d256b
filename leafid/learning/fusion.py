"""Fuses the scores of several experts into one calibrated probability for every species."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Penalty of the squared weights: they stay finite where every held-out picture is identified correctly.
_PENALTY = 1e-4
# Range of an expert's scores below which they don't distinguish species.
_MIN_RANGE = 1e-9


def fuse(
    scores: Sequence[np.ndarray], trust: Sequence[np.ndarray], weights: np.ndarray
) -> np.ndarray:
    """Turn the experts' scores into probabilities, float64 (n, n_species); rows sum to 1.

    An expert's scores times its weight and its trust in the picture are, up to a constant, logarithms of a posterior;
    the posteriors of all experts are multiplied. For each expert there are scores, float (n, n_species), -inf for an
    impossible species, trust, float (n,), from 0 to 1, and a weight of 0 or more. A row without any possible species is
    uniform.
    """
    total = np.zeros(scores[0].shape)
    for expert_scores, expert_trust, weight in zip(scores, trust, weights, strict=True):
        # -inf stays even with a weight of 0.
        finite = (
            np.where(np.isfinite(expert_scores), expert_scores, 0)
            * (weight * expert_trust)[:, None]
        )
        total += np.where(np.isfinite(expert_scores), finite, -np.inf)
    total[~np.isfinite(total).any(axis=1)] = 0
    total -= total.max(axis=1, keepdims=True)
    np.exp(total, out=total)
    return total / total.sum(axis=1, keepdims=True)


def fit_fusion_weights(
    scores: Sequence[np.ndarray],
    trust: Sequence[np.ndarray],
    labels: np.ndarray,
    importance: np.ndarray,
) -> np.ndarray:
    """Fit the weights, float64 (n_experts,), that maximise the likelihood of held-out pictures.

    Scores and trust are those of `fuse`, of pictures whose plants the experts were not trained on; `labels`, int (n,),
    are their species, of finite scores, and `importance`, float (n,), sample weights. This calibrates as well: the
    weight of a single expert is the inverse temperature of its scores.

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
    trusted = [
        np.where(np.isfinite(s), s, 0) * t[:, None]
        for s, t in zip(scores, trust, strict=True)
    ]
    # Weights are optimised in units of the scores' standard deviations, so that all are equally easy to change.
    units = np.array(
        [
            float(values.std()) if np.ptp(values) > _MIN_RANGE else 1.0
            for values in trusted
        ]
    )

    def compute_loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        posterior = fuse(scores, trust, scaled / units)
        log_likelihood = np.log(np.maximum(posterior[rows, labels], 1e-300))
        gradient = [
            (
                importance * ((posterior * values).sum(axis=1) - values[rows, labels])
            ).sum()
            / unit
            for values, unit in zip(trusted, units, strict=True)
        ]
        return (
            float(-(importance * log_likelihood).sum() + _PENALTY * (scaled**2).sum()),
            np.array(gradient) + 2 * _PENALTY * scaled,
        )

    solution = minimize(
        compute_loss,
        np.ones(n_experts),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * n_experts,
    )
    return solution.x / units
