"""Decides whether a picture shows a leaf at all, and whether a leaf is of a species that an identifier knows.

Species probabilities add up to 1 whatever a picture shows. Two logistic regressions tell more. One separates the
feature vectors of leaves from those of pictures without a leaf. The other knows how the experts' scores look for a leaf
of a known species, where one score stands out in each expert and the experts agree, and for a leaf of a species that
was held out of training. The probability of a leaf holds where most pictures show one, that of a known species where
leaves of known and of unknown ones are equally frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

#: Numbers of values that `compute_evidence` gives for the fused answer, for each expert, and for all together.
_N_FUSED, _N_PER_EXPERT, _N_COMMON = 4, 5, 2
#: Share of the leaves of known species that may be rejected by default.
REJECTED_SHARE = 0.05
# Below the first probability of a leaf, a picture surely shows none; below the second it can't be judged, and its score
# is multiplied by the third.
_NO_LEAF, _MIN_LEAF, _NO_LEAF_FACTOR = 0.16, 0.9, 0.01
# The smallest probability, and complement of one, whose logarithm is taken: of evidence, and to calibrate it.
_FLOOR, _CALIBRATION_FLOOR = 1e-6, 1e-15


@dataclass(frozen=True, eq=False)
class Rejection:
    """Two logistic regressions, and the operating points of both together."""

    #: float32 (n_columns + 1,): coefficients on the vectors of all experts, in the recipe's order, for the probability
    #: of a leaf; the intercept last.
    leaf: np.ndarray
    #: float32 (n_evidence + 1,): those on `compute_evidence`, for the probability that a leaf is of a known species.
    known: np.ndarray
    #: float64 (m,): evenly spaced quantiles of `acceptance_score` over leaves of known species whose plants are new,
    #: ascending.
    quantiles: np.ndarray
    #: float32 (2,): slope and offset of `apply_calibration`, for the probability that the first species is right: that
    #: of a leaf, times that of a known species, times that of the species.
    answer: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0], np.float32))

    def assess(
        self, vectors: np.ndarray, evidence: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the probabilities that pictures show a leaf, and that a leaf is of a known species: float64 (n,).

        `vectors`, float (n, n_columns), are the joined ones of all experts; `evidence` is that of `compute_evidence`.
        """
        leaf, known = (
            _compute_logits(vectors, self.leaf),
            _compute_logits(evidence, self.known),
        )
        return apply_logistic(leaf), apply_logistic(known)

    def judge(
        self,
        leaf: np.ndarray,
        known: np.ndarray,
        rejected_share: float = REJECTED_SHARE,
    ) -> np.ndarray:
        """Judge pictures by the probabilities of `assess`, float (n,), and a share as in `find_threshold`: str (n,).

        It is "species" for a picture whose species is named, or why it is rejected: "no-leaf" surely shows none,
        "unclear" hardly looks like a leaf, "unknown" is probably a leaf of an unknown species. The first two are not
        counted in the share, but with a share of 0 only what has a probability of 0 is rejected.
        """
        is_named = (leaf >= _MIN_LEAF) & (
            acceptance_score(leaf, known) >= self.find_threshold(rejected_share)
        )
        if rejected_share == 0:
            is_named = leaf > 0
        conditions = [is_named, leaf < _NO_LEAF, leaf < _MIN_LEAF]
        return np.select(conditions, ["species", "no-leaf", "unclear"], "unknown")

    def find_threshold(self, rejected_share: float = REJECTED_SHARE) -> float:
        """Give the value of `acceptance_score` below which pictures are rejected; infinity to reject all.

        `rejected_share` of the leaves of known species may be rejected; a `ValueError` is raised if it is not from 0
        to 1.
        """
        if not 0 <= rejected_share <= 1:
            raise ValueError(f"expected a share from 0 to 1, found {rejected_share}")
        if rejected_share == 1:
            return float("inf")
        return float(
            np.interp(
                rejected_share, np.linspace(0, 1, len(self.quantiles)), self.quantiles
            )
        )


def acceptance_score(leaf: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Score by the probabilities of `Rejection.assess`, float (n,), how surely pictures show a leaf of a known species.

    It is the product of both. Pictures that hardly look like leaves have lower scores than all others: many of them are
    as sure a species as a leaf to the experts.
    """
    return leaf * known * np.where(leaf < _MIN_LEAF, _NO_LEAF_FACTOR, 1)


def count_evidence(n_experts: int) -> int:
    """Count the values that `compute_evidence` gives for a picture."""
    return _N_FUSED + _N_PER_EXPERT * n_experts + _N_COMMON


def compute_evidence(
    scores: Sequence[np.ndarray],
    trust: Sequence[np.ndarray],
    weights: np.ndarray,
    confidence: np.ndarray,
) -> np.ndarray:
    """Measure how the scores of a picture look: float64 (n, count_evidence(n_experts)).

    Scores, trust and weights are those of `leafid.learning.fusion.fuse`, for two species at least; `confidence`, float
    (n,), is that of the segmentation.

    The values are, of the fused answer: logarithm of the highest probability, logarithm of its complement, entropy, and
    margin of the log posterior. Of each expert: its best score above the mean; its margin; its score of the fused
    answer's species, above the mean and relative to its best; the standard deviation. Then the number of experts that
    agree with the fused answer, and the confidence.
    """
    possible = np.isfinite(scores[0])
    finite = [np.where(possible, values, 0.0).astype(np.float64) for values in scores]
    total = sum(
        values * (weight * trusted)[:, None]
        for values, trusted, weight in zip(finite, trust, weights, strict=True)
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
    for values in finite:
        mean = values.sum(axis=1) / counts
        deviation = np.sqrt(
            (np.where(possible, values - mean[:, None], 0.0) ** 2).sum(axis=1) / counts
        )
        masked = np.where(possible, values, -np.inf)
        first, second = -np.partition(-masked, 1, axis=1)[:, :2].T
        chosen = masked[rows, best]
        evidence += [
            first - mean,
            first - second,
            chosen - mean,
            chosen - first,
            deviation,
        ]
        agreement += masked.argmax(axis=1) == best
    return np.column_stack([*evidence, agreement, confidence])


def apply_calibration(probability: float, calibration: tuple[float, float]) -> float:
    """Correct a probability: the logit of the result is its own logit times the slope, plus the offset."""
    slope, offset = calibration
    inside = np.clip(probability, _CALIBRATION_FLOOR, 1 - _CALIBRATION_FLOOR)
    return float(apply_logistic(slope * np.log(inside / (1 - inside)) + offset))


def apply_logistic(logits: np.ndarray) -> np.ndarray:
    """Turn logits into probabilities."""
    return 1 / (1 + np.exp(-np.clip(logits, -50, 50)))


def _compute_logits(rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    # One row at a time: a product of several rows rounds differently, and no answer may depend on other pictures.
    return np.array(
        [row.astype(np.float64) @ coefficients[:-1] + coefficients[-1] for row in rows]
    )
