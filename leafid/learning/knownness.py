"""The probability that a leaf is of a known species, by how the experts' scores look.

For a leaf of a known species, one score stands out in each expert, and the experts
agree. Examples are leaves that were held out: scored by classifiers that didn't see
their plants, they are of a known species; by classifiers that didn't see their species,
of an unknown one. Species that the model is not to know give further examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafid.learning.folds import Folds
from leafid.learning.fusion import normalise, sum_scores
from leafid.learning.logistic import Examples, fit_calibrated

_PENALTY = 10.0
# Weight of further leaves of unknown species, relative to the held-out ones:
# with as much, known species that nothing but held-out leaves show are rejected.
_FURTHER_WEIGHT = 0.25
# Numbers of values that evidence has of the fused answer, of each expert, and of all
# experts together.
_N_FUSED = 4
_N_PER_EXPERT = 5
_N_COMMON = 2
# The smallest probability, and complement of one, whose logarithm is taken.
_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class HeldOutLeaves:
    """Leaves, with their scores by classifiers that have not seen them."""

    #: int (n,): their species, as columns of the scores.
    labels: np.ndarray
    #: (n,): their plants.
    plants: np.ndarray
    #: float (n,): sample weights.
    weights: np.ndarray
    #: float (n,): confidence of the segmentation.
    confidence: np.ndarray
    #: bool (n,): whether it is a jittered copy, or a picture that has none.
    is_last_copy: np.ndarray
    #: float (n,) for each expert: its trust in the pictures.
    trust: Sequence[np.ndarray]
    #: float (n, n_species) for each expert, -inf for species that it has not seen.
    scores: Folds[Sequence[np.ndarray]]

    @property
    def sees_species(self) -> Folds[np.ndarray]:
        """Whether classifiers saw another plant of the species, bool (n,)."""
        rows = np.arange(len(self.labels))
        return self.scores.map(lambda scores: np.isfinite(scores[0][rows, self.labels]))


class Knownness(NamedTuple):
    """A fitted regression."""

    #: float32 (n_evidence + 1,): for `predict_logistic` of evidence. The probability
    #: holds where leaves of known and of unknown species are equally frequent.
    coefficients: np.ndarray
    #: float64 (n,): probabilities of the leaves as examples of known species.
    known: np.ndarray
    #: float64 (n,): their probabilities as examples of unknown species.
    unknown: np.ndarray
    #: By how much the logit of a leaf of a known species is higher on average if the
    #: classifiers have seen all other plants.
    gain: float


def fit_knownness(
    leaves: HeldOutLeaves, weights: np.ndarray, further: Examples | None = None
) -> Knownness:
    """Learn to distinguish leaves of known species from others.

    A leaf counts among the known only if the classifiers that didn't see its plant saw
    another one of its species.

    Parameters
    ----------
    leaves : HeldOutLeaves
    weights : ndarray of float, (n_experts,)
        The weights of the fusion.
    further : Examples, optional
        The evidence of further leaves of unknown species, grouped by plant.

    Returns
    -------
    Knownness
    """
    evidence = leaves.scores.map(
        lambda scores: compute_evidence(
            scores, leaves.trust, weights, leaves.confidence
        )
    )
    sees_species = leaves.sees_species
    n_leaves = len(leaves.labels)
    examples = Examples(
        np.concatenate([evidence.without_plant, evidence.without_species]),
        np.arange(2 * n_leaves) < n_leaves,
        np.append(leaves.weights * sees_species.without_plant, leaves.weights),
        np.tile(leaves.plants, 2),
    )
    if further:
        weight = _FURTHER_WEIGHT * leaves.weights.sum() / further.weights.sum()
        further = further._replace(weights=weight * further.weights)
        examples = Examples(*map(np.concatenate, zip(examples, further, strict=True)))
    coefficients, probabilities = fit_calibrated(examples, _PENALTY)
    comparable = sees_species.without_plant & sees_species.without_more_plants
    changes = evidence.without_plant - evidence.without_more_plants
    total = max(leaves.weights[comparable].sum(), 1e-12)
    mean_change = leaves.weights[comparable] @ changes[comparable] / total
    known, unknown = np.split(probabilities[: 2 * n_leaves], 2)
    gain = float(np.sum(mean_change * coefficients[:-1]))
    # More plants can't make a known leaf look less known: a loss is noise.
    return Knownness(coefficients, known, unknown, max(0.0, gain))


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

    Scores, trust and weights are as for `leafid.learning.fusion.fuse`, for two
    species at least; `confidence`, float (n,), is the segmentation's.

    The values are, of the fused answer: logarithm of the highest probability, logarithm
    of its complement, entropy, and margin of the log posterior. Of each expert: its
    best score above the mean; its margin; its score of the fused answer's species,
    above the mean and relative to its best; the standard deviation. Then the number of
    experts that agree with the fused answer, and the confidence.
    """
    total = sum_scores(scores, trust, weights)
    rows = np.arange(len(total))
    best = total.argmax(axis=1)
    first, second = _take_two_highest(total)
    probabilities = normalise(total)
    highest = probabilities[rows, best]
    logarithms = np.log(np.maximum(probabilities, 1e-300))
    evidence = [
        np.log(np.maximum(highest, _FLOOR)),
        np.log(np.maximum(1 - highest, _FLOOR)),
        -(probabilities * logarithms).sum(axis=1),
        first - second,
    ]
    # NumPy's functions for NaN would take twice as long.
    table = np.array(scores, np.float64)
    is_possible = np.isfinite(table)
    mean = table.mean(axis=2, where=is_possible)
    first, second = _take_two_highest(table)
    best_scores = table[:, rows, best]
    by_expert = [
        first - mean,
        first - second,
        best_scores - mean,
        best_scores - first,
        table.std(axis=2, where=is_possible),
    ]
    evidence += [*np.stack(by_expert, axis=1).reshape(-1, len(rows))]
    agreement = (table.argmax(axis=2) == best).sum(axis=0)
    return np.column_stack([*evidence, agreement, confidence])


def _take_two_highest(scores: np.ndarray) -> np.ndarray:
    """Take the highest and the next score along the last axis: float64 (2, …)."""
    return -np.moveaxis(np.partition(-scores, 1)[..., :2], -1, 0)
