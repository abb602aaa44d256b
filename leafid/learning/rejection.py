"""Decides whether a picture shows a leaf at all, and whether a leaf is of a species that an identifier knows.

Species probabilities add up to 1 whatever a picture shows. Two logistic regressions tell more. One separates the
feature vectors of leaves from those of pictures without a leaf. The other knows how the experts' scores look for a leaf
of a known species, where one score stands out in each expert and the experts agree, and for a leaf of a species that
was held out of training. Both classes have the same total weight: the probabilities hold where they are equally
frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafid.learning.linear import fit_logistic
from leafid.learning.rows import make_rows, release_memory

#: Numbers of values that `compute_evidence` gives for the fused answer, for each expert, and for all together.
_N_FUSED, _N_PER_EXPERT, _N_COMMON = 4, 5, 2
#: Penalty of the regression on feature vectors, of that on evidence, and of their calibration.
_LEAF_REGULARISATION, _KNOWN_REGULARISATION, _CALIBRATION_REGULARISATION = 0.01, 0.4, 1.0
# Three folds would be too few: leaves of a few plants look like others if a third of the plants is missing.
_N_FOLDS = 10
#: Maximum number of quantiles of held-out leaves that are kept for the operating point.
MAX_QUANTILES = 1001
#: Share of the leaves of known species that may be rejected by default.
REJECTED_SHARE = 0.05
# Weight of a plant's share in the operating points; the remaining weight is that of its pictures.
_PLANT_SHARE = 2 / 3
# A picture whose probability of a leaf is below the first probably shows none: the second multiplies its score.
_MIN_LEAF, _NO_LEAF_FACTOR = 0.4, 0.01
# The smallest probability, and complement of one, whose logarithm is taken.
_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class Rejection:
    """Two logistic regressions, and the operating points of both together.

    Attributes
    ----------
    leaf : float32 (n_columns + 1,)
        Coefficients on the vectors of all experts, in the recipe's order, for the probability of a leaf; the intercept
        last.
    known : float32 (n_evidence + 1,)
        Likewise coefficients on `compute_evidence`, for the probability that a leaf is of a known species.
    quantiles : float64 (m,)
        Evenly spaced quantiles of `acceptance_score` over leaves of known species whose plants are new, ascending.
    """

    leaf: np.ndarray
    known: np.ndarray
    quantiles: np.ndarray

    def assess(self, vectors: np.ndarray, evidence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give the probabilities that pictures show a leaf, and that a leaf is of a known species: float64 (n,).

        Parameters
        ----------
        vectors : float (n, n_columns)
            The joined vectors of all experts.
        evidence : float (n, n_evidence)
            What `compute_evidence` gives for the pictures.
        """
        return _apply_logistic(_compute_logits(vectors, self.leaf)), _apply_logistic(
            _compute_logits(evidence, self.known)
        )

    def reject(
        self, leaf: np.ndarray, known: np.ndarray, rejected_share: float = REJECTED_SHARE
    ) -> tuple[np.ndarray, np.ndarray]:
        """Decide by the probabilities of `assess` which pictures are rejected.

        Parameters
        ----------
        leaf, known : float (n,)
        rejected_share : float
            As in `find_threshold`.

        Returns
        -------
        is_no_leaf, is_unknown : bool (n,)
            Why a picture is rejected; both are false where it is not.
        """
        is_rejected = (acceptance_score(leaf, known) < self.find_threshold(rejected_share)) | (leaf == 0)
        return is_rejected & (leaf < 0.5), is_rejected & (leaf >= 0.5)

    def find_threshold(self, rejected_share: float = REJECTED_SHARE) -> float:
        """Give the value of `acceptance_score` below which pictures are rejected; infinity to reject all.

        Parameters
        ----------
        rejected_share : float
            The share of the leaves of known species that may be rejected, from 0 to 1.

        A `ValueError` is raised when the share is not from 0 to 1.
        """
        if not 0 <= rejected_share <= 1:
            raise ValueError(f"expected a share from 0 to 1, found {rejected_share}")
        if rejected_share == 1:
            return float("inf")
        return float(np.interp(rejected_share, np.linspace(0, 1, len(self.quantiles)), self.quantiles))


def acceptance_score(leaf: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Score by the probabilities of `Rejection.assess`, float (n,), how surely pictures show a leaf of a known species.

    It is the product of both. Pictures that probably show no leaf have lower scores than all others: many of them look
    as sure as a known species to the experts.
    """
    return leaf * known * np.where(leaf < _MIN_LEAF, _NO_LEAF_FACTOR, 1)


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
        As in `leafid.learning.fusion.fuse`; for two species at least.
    confidence : float (n,)
        The confidence of the segmentation.

    Returns
    -------
    float64 (n, count_evidence(n_experts))
        Of the fused answer: logarithm of the highest probability, logarithm of its complement, entropy, and margin of
        the log posterior. Of each expert: its best score above the mean; its margin; its score of the fused answer's
        species, above the mean and relative to its best; the standard deviation. Then the number of experts that agree
        with the fused answer, and the confidence.
    """
    possible = np.isfinite(scores[0])
    finite = [np.where(possible, values, 0.0).astype(np.float64) for values in scores]
    total = sum(
        values * (weight * trusted)[:, None] for values, trusted, weight in zip(finite, trust, weights, strict=True)
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
        deviation = np.sqrt((np.where(possible, values - mean[:, None], 0.0) ** 2).sum(axis=1) / counts)
        masked = np.where(possible, values, -np.inf)
        first, second = -np.partition(-masked, 1, axis=1)[:, :2].T
        chosen = masked[rows, best]
        evidence += [first - mean, first - second, chosen - mean, chosen - first, deviation]
        agreement += masked.argmax(axis=1) == best
    return np.column_stack([*evidence, agreement, confidence])


class Examples(NamedTuple):
    """Examples of a class: rows (n, n_columns), sample weights (n,), and groups (n,) that folds keep together."""

    rows: np.ndarray
    weights: np.ndarray
    groups: Sequence[str] | np.ndarray


def fit_rejection(
    leaves: Examples,
    non_leaves: Examples,
    known: Examples,
    unknown: Examples,
    gain: np.ndarray | float = 0.0,
    has_another_plant: np.ndarray | None = None,
) -> Rejection:
    """Fit both regressions.

    Parameters
    ----------
    leaves, non_leaves : Examples
        Vectors of leaves, grouped by plant, and of other pictures, grouped by kind.
    known, unknown : Examples
        Evidence of the same leaves by classifiers that did not see their plants, and of leaves by classifiers that did
        not see their species; grouped by plant.
    gain : float (n_evidence,)
        What the evidence of leaves of known species gains on average if the classifiers see all other plants. The
        operating points take it into account: without it, fewer leaves than asked for are rejected.
    has_another_plant : bool (n_leaves,), optional
        The leaves whose species has another plant: operating points are taken from these, by default and if there are
        none from all.
    """
    leaf, is_leaf = _fit_logistic(leaves, non_leaves, _LEAF_REGULARISATION)
    coefficients, is_known = _fit_logistic(known, unknown, _KNOWN_REGULARISATION)
    shift = max(0.0, float(np.sum(gain * coefficients[:-1])))
    is_known = is_known / (is_known + (1 - is_known) * np.exp(-shift))
    accepted, plant_weights = acceptance_score(is_leaf, is_known), leaves.weights
    if has_another_plant is not None and has_another_plant.any():
        accepted, plant_weights = accepted[has_another_plant], plant_weights[has_another_plant]
    order = np.argsort(accepted)
    # Pictures of a plant are rejected together: by pictures, a few plants with many would set the operating points, by
    # plants, a few with a single picture. In between, neither the share of pictures nor that of plants is far off.
    by_plant = plant_weights[order] / plant_weights.sum()
    weights = _PLANT_SHARE * by_plant + (1 - _PLANT_SHARE) / len(order)
    shares = np.linspace(0, 1, min(len(order), MAX_QUANTILES))
    quantiles = np.interp(shares, np.cumsum(weights) - weights / 2, accepted[order])
    return Rejection(leaf, coefficients, quantiles)


def _fit_logistic(positive: Examples, negative: Examples, regularisation: float) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression, and calibrate it on groups that were held out of it.

    Returns
    -------
    coefficients : float32 (n_columns + 1,)
        The intercept last.
    held_out : float64 (n_positive,)
        Probabilities of the positive examples.
    """
    # The examples are released once they are copied, so that one copy is in memory.
    joined = np.empty((len(positive.rows) + len(negative.rows), positive.rows.shape[1]), positive.rows.dtype)
    for examples, part in zip((positive, negative), np.split(joined, [len(positive.rows)]), strict=True):
        part[:] = examples.rows
        release_memory(examples.rows)
    rows = make_rows(joined, standardise=True)
    compressed, combinations = rows.compressed
    values = compressed.read(slice(None))
    labels = np.repeat([1, 0], [len(positive.rows), len(negative.rows)])
    classes = positive, negative
    weights = np.concatenate([members.weights / members.weights.sum() for members in classes]) * (len(labels) / 2)
    folds = np.concatenate([_assign_folds(members.groups) for members in classes])
    seen = np.not_equal.outer(folds, np.arange(-1, _N_FOLDS))
    # Without all groups of a class there is nothing to learn.
    seen |= ~(seen[labels == 1].any(axis=0) & seen[labels == 0].any(axis=0))
    coefficients, intercepts = fit_logistic(values, labels, weights[:, None] * seen, regularisation)
    logits = np.take_along_axis(values @ coefficients + intercepts, folds[:, None] + 1, axis=1)
    slope, offset = fit_logistic(logits, labels, weights[:, None], _CALIBRATION_REGULARISATION)
    coefficients = rows.rotate_back(coefficients[:, :1], combinations)[:, 0] * rows.scale
    final = slope[0] * np.append(coefficients, intercepts[0] - rows.mean @ coefficients)
    final[-1] += offset[0]
    return final.astype(np.float32), _apply_logistic(logits[labels == 1, 0] * slope[0] + offset)


def _assign_folds(groups: Sequence[str] | np.ndarray) -> np.ndarray:
    _, indices = np.unique(groups, return_inverse=True)
    return np.random.default_rng(0).permutation(int(indices.max()) + 1)[indices] % _N_FOLDS


def _apply_logistic(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(logits, -50, 50)))


def _compute_logits(rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    # One row at a time: a product of several rows rounds differently, and no answer may depend on other pictures.
    return np.array([row.astype(np.float64) @ coefficients[:-1] + coefficients[-1] for row in rows])
