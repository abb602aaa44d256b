"""Decides whether a picture shows a leaf at all, and whether a leaf is of a species that an identifier knows.

Species probabilities add up to 1 whatever a picture shows. The experts' scores tell more: for a leaf of a known species
one score stands out in each expert, and the experts agree. Two logistic regressions learn from such evidence: one from
pictures without a leaf, one from species that were held out of training. Known and unknown species have the same total
weight, and so have leaves and other pictures: the probabilities hold where either is as frequent as the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Evidence of the fused answer, of each expert, and of their agreement.
_N_FUSED, _N_PER_EXPERT, _N_COMMON = 4, 5, 2
_REGULARISATION = 10.0
#: Maximum number of quantiles of held-out leaves that are kept for the operating point.
MAX_QUANTILES = 1001
#: Share of the leaves of known species that may be rejected by default.
REJECTED_SHARE = 0.05
# The smallest probability, and complement of one, whose logarithm is taken.
_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class Rejection:
    """Evidence to probabilities: that there is a leaf, and that a leaf is of a known species."""

    #: float64 (n_evidence + n_measures + 1,): coefficients of the logistic regression on evidence and measures, the
    #: intercept last.
    leaf: np.ndarray
    #: float64 (n_evidence + 1,): likewise, on evidence alone.
    known: np.ndarray
    #: float64 (m,): of the product of both probabilities over held-out leaves of known species, evenly spaced, rising.
    quantiles: np.ndarray

    def assess(self, evidence: np.ndarray, measures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the probability of a picture that it shows a leaf, and that a leaf is of a known species.

        Parameters
        ----------
        evidence : float (n, n_evidence)
            Of `compute_evidence`.
        measures : float (n, n_measures)
            The measured features of the identifier's experts.
        """
        return (
            _apply_logistic(self.leaf, np.hstack([evidence, measures])),
            _apply_logistic(self.known, evidence),
        )

    def threshold(self, rejected_share: float = REJECTED_SHARE) -> float:
        """Give the product of both probabilities below which this share of the leaves of known species lies.

        A `ValueError` is raised when the share is not from 0 to 1.
        """
        if not 0 <= rejected_share <= 1:
            raise ValueError(f"expected a share from 0 to 1, found {rejected_share}")
        return float(np.interp(rejected_share, np.linspace(0, 1, len(self.quantiles)), self.quantiles))


def count_evidence(n_experts: int) -> int:
    """Count the values that `compute_evidence` gives for a picture."""
    return _N_FUSED + _N_PER_EXPERT * n_experts + _N_COMMON


def compute_evidence(
    scores: Sequence[np.ndarray], trust: Sequence[np.ndarray], weights: np.ndarray, confidence: np.ndarray
) -> np.ndarray:
    """Measure how the scores of a picture look.

    Parameters
    ----------
    scores, trust, weights
        As in `leafid.classifiers.fusion.fuse`; for two species at least.
    confidence : float (n,)
        Of the segmentation.

    Returns
    -------
    float64 (n, count_evidence(n_experts))
        Of the fused answer: logarithm of the highest probability, logarithm of its complement, entropy, and margin of
        the log posterior. Of each expert: its best score above the mean; its margin; its score of the fused answer's
        species, above the mean and relative to its best; the standard deviation. Then the number of experts that agree
        with the fused answer, and the confidence.
    """
    possible = np.isfinite(scores[0])
    finite = [np.where(possible, own, 0.0).astype(np.float64) for own in scores]
    total = sum(
        own * (weight * own_trust)[:, None] for own, own_trust, weight in zip(finite, trust, weights, strict=True)
    )
    total = np.where(possible, total, -np.inf)
    best = total.argmax(axis=1)
    rows = np.arange(len(best))
    ranked = -np.partition(-total, 1, axis=1)
    probabilities = np.exp(total - ranked[:, :1])
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    highest = probabilities[rows, best]
    logarithms = np.log(np.maximum(probabilities, 1e-300))
    evidence = [
        np.log(np.maximum(highest, _FLOOR)),
        np.log(np.maximum(1 - highest, _FLOOR)),
        -(probabilities * logarithms).sum(axis=1),
        ranked[:, 0] - ranked[:, 1],
    ]
    counts = possible.sum(axis=1)
    agreement = np.zeros(len(best))
    for own in finite:
        mean = own.sum(axis=1) / counts
        deviation = np.sqrt((np.where(possible, own - mean[:, None], 0.0) ** 2).sum(axis=1) / counts)
        masked = np.where(possible, own, -np.inf)
        first, second = -np.partition(-masked, 1, axis=1)[:, :2].T
        chosen = masked[rows, best]
        evidence += [first - mean, first - second, chosen - mean, chosen - first, deviation]
        agreement += masked.argmax(axis=1) == best
    return np.column_stack([*evidence, agreement, confidence])


@dataclass(frozen=True, eq=False)
class Examples:
    """Pictures to fit a `Rejection` to: evidence (n, n_evidence), measures (n, n_measures), sample weights (n,)."""

    evidence: np.ndarray
    measures: np.ndarray
    weights: np.ndarray


def fit_rejection(known: Examples, unknown: Examples, non_leaves: Examples) -> Rejection:
    """Fit to held-out pictures.

    Parameters
    ----------
    known : Examples
        Leaves of known species, by classifiers that did not see their plants.
    unknown : Examples
        Leaves by classifiers that did not see their species.
    non_leaves : Examples
        Pictures without a leaf.
    """
    coefficients = _fit_logistic(known.evidence, known.weights, unknown.evidence, unknown.weights)
    leaf = _fit_logistic(
        np.vstack([np.hstack([own.evidence, own.measures]) for own in (known, unknown)]),
        np.concatenate([known.weights, unknown.weights]),
        np.hstack([non_leaves.evidence, non_leaves.measures]),
        non_leaves.weights,
    )
    fitted = Rejection(leaf, coefficients, np.zeros(1))
    accepted = np.multiply(*fitted.assess(known.evidence, known.measures))
    n_quantiles = min(len(accepted), MAX_QUANTILES)
    return Rejection(leaf, coefficients, np.quantile(accepted, np.linspace(0, 1, n_quantiles)))


def _fit_logistic(
    positive: np.ndarray, positive_weights: np.ndarray, negative: np.ndarray, negative_weights: np.ndarray
) -> np.ndarray:
    """Fit a logistic regression in which both classes have the same total weight; the intercept comes last."""
    from sklearn.linear_model import LogisticRegression

    rows = np.vstack([positive, negative])
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale[scale < 1e-9] = 1
    weights = np.concatenate([positive_weights / positive_weights.sum(), negative_weights / negative_weights.sum()]) * (
        len(rows) / 2
    )
    labels = np.repeat([1, 0], [len(positive), len(negative)])
    model = LogisticRegression(C=1 / _REGULARISATION, max_iter=5000)
    model.fit((rows - mean) / scale, labels, sample_weight=weights)
    coefficients = model.coef_[0] / scale
    return np.append(coefficients, model.intercept_[0] - coefficients @ mean)


def _apply_logistic(coefficients: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(evidence @ coefficients[:-1] + coefficients[-1], -50, 50)))
