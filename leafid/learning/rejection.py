"""Decides whether a picture shows a leaf, and whether it is of a known species.

Species probabilities add up to 1 whatever a picture shows. Two further probabilities
are learned: that it shows a leaf (`leafness`), and that a leaf is of a known species
(`knownness`). Pictures are rejected by both together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec
import numpy as np

from leafid.learning.fusion import fuse
from leafid.learning.knownness import HeldOutLeaves, Knownness, fit_knownness
from leafid.learning.leafness import MIN_LEAF, Leafness, predict_leafness
from leafid.learning.logistic import (
    Examples,
    apply_logistic,
    balance,
    fit_logistic,
    predict_logistic,
    take_logits,
)

#: Share of the leaves of known species that may be rejected by default.
REJECTED_SHARE = 0.05
#: Maximum number of quantiles of held-out leaves that are kept for the operating point.
MAX_QUANTILES = 1001
# The smallest probability, and complement of one, that is calibrated.
_CALIBRATION_FLOOR = 1e-15
# The same where the calibration is fitted.
_FITTING_FLOOR = 1e-6
_CALIBRATION_PENALTY = 1.0
# Weight of a plant's share in the operating points; the remaining weight goes to its
# pictures.
_PLANT_SHARE = 2 / 3


class Rejection(msgspec.Struct, frozen=True, eq=False):
    """What gives both probabilities, and their common operating points."""

    #: For `predict_leafness`.
    leafness: Leafness
    #: float32 (n_evidence + 1,): as in `Knownness`.
    known_coefficients: np.ndarray
    #: float64 (m,): evenly spaced quantiles of the product of both probabilities over
    #: leaves of known species whose plants are new, ascending.
    quantiles: np.ndarray
    #: float32 (2,): slope and offset of `apply_calibration`, for the probability that
    #: the first species is right: the product of the probabilities of a leaf, of a
    #: known species, and of the species.
    calibration: np.ndarray

    def assess(
        self, vectors: Mapping[str, np.ndarray], evidence: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Give the probabilities of a leaf, and of a known species: float64 (n,).

        The vectors, float (n, n_columns), are by name, as `leafness` scores them;
        `leafid.learning.knownness.compute_evidence` gives the evidence.
        """
        return (
            predict_leafness(vectors, self.leafness),
            predict_logistic(evidence, self.known_coefficients),
        )

    def judge(
        self,
        leaf: np.ndarray,
        known: np.ndarray,
        rejected_share: float = REJECTED_SHARE,
    ) -> np.ndarray:
        """Judge pictures.

        Parameters
        ----------
        leaf, known : ndarray of float, (n,)
            The probabilities of `assess`.
        rejected_share : float
            As for `find_threshold`; with 0, only pictures with a probability of a leaf
            of 0 are rejected.

        Returns
        -------
        ndarray of str, (n,)
            "species" where the species is named, or else why it isn't: "no-leaf", which
            doesn't count in the share, or "unknown", probably a leaf of an unknown
            species.
        """
        is_leaf = leaf >= MIN_LEAF
        if rejected_share == 0:
            is_leaf = leaf > 0
        is_known = leaf * known >= self.find_threshold(rejected_share)
        is_known |= rejected_share == 0
        return np.select([~is_leaf, is_known], ["no-leaf", "species"], "unknown")

    def find_threshold(self, rejected_share: float = REJECTED_SHARE) -> float:
        """Give the product of probabilities below which pictures are rejected.

        Parameters
        ----------
        rejected_share : float
            The share of the leaves of known species that may be rejected.

        Returns
        -------
        float
            Infinity to reject all.

        Raises
        ------
        ValueError
            If the share is not from 0 to 1.
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


def apply_calibration(probability: float, calibration: tuple[float, float]) -> float:
    """Correct a probability: its logit is multiplied by the slope, plus the offset."""
    slope, offset = calibration
    logit = take_logits(np.array(probability), _CALIBRATION_FLOOR)
    return float(apply_logistic(slope * logit + offset))


def fit_rejection(
    leaves: HeldOutLeaves,
    leafness: Leafness,
    p_leaf: np.ndarray,
    weights: np.ndarray,
    further: Examples | None = None,
) -> Rejection:
    """Learn the probability of a known species, and calibrate the first one's.

    Parameters
    ----------
    leaves : HeldOutLeaves
        One of them at least is of a species of which another plant was seen.
    leafness : Leafness
    p_leaf : ndarray of float, (n,)
        The probabilities that the leaves are leaves, each without its plant.
    weights : ndarray of float, (n_experts,)
        The weights of the fusion.
    further : Examples, optional
        As for `fit_knownness`.

    Returns
    -------
    Rejection
    """
    knownness = fit_knownness(leaves, weights, further)
    calibration = _fit_calibration(leaves, p_leaf, knownness, weights)
    # Without the gain, fewer leaves than asked for would be rejected.
    odds = np.exp(-knownness.gain)
    p_known = knownness.known / (knownness.known + (1 - knownness.known) * odds)
    is_typical = _find_typical(leaves)
    return Rejection(
        leafness,
        knownness.coefficients,
        compute_quantiles((p_leaf * p_known)[is_typical], leaves.weights[is_typical]),
        calibration.astype(np.float32),
    )


def compute_quantiles(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the quantiles of `Rejection` from the scores of leaves, float (n,).

    With the weights, float (n,), every plant counts the same. The pictures of a plant
    are rejected together: if pictures counted the same, a few plants with many would
    set the operating points; if plants did, a few with a single picture. In between,
    neither share is far off.
    """
    order = np.argsort(scores)
    by_plant = weights[order]
    shares = _PLANT_SHARE * by_plant / by_plant.sum() + (1 - _PLANT_SHARE) / len(order)
    steps = np.linspace(0, 1, min(len(order), MAX_QUANTILES))
    return np.interp(steps, np.cumsum(shares) - shares / 2, scores[order])


def _fit_calibration(
    leaves: HeldOutLeaves,
    p_leaf: np.ndarray,
    knownness: Knownness,
    weights: np.ndarray,
) -> np.ndarray:
    """Fit slope and offset of `apply_calibration` on known and unknown species.

    The calibration is to hold for poor pictures and other cameras: it is learned from
    jittered copies, where pictures have them.
    """
    is_used = leaves.is_last_copy
    known = fuse(leaves.scores.without_plant, leaves.trust, weights)
    unknown = fuse(leaves.scores.without_species, leaves.trust, weights)
    is_right = known.argmax(axis=1) == leaves.labels
    known_weights = leaves.weights * leaves.sees_species.without_plant * is_used
    if not is_right[known_weights > 0].any():
        return np.array([1.0, 0.0])
    products = np.concatenate(
        [
            p_leaf * knownness.known * known.max(axis=1),
            p_leaf * knownness.unknown * unknown.max(axis=1),
        ]
    )
    is_of_known = np.repeat([True, False], len(is_right))
    example_weights = np.append(known_weights, leaves.weights * is_used)
    return fit_logistic(
        take_logits(products, _FITTING_FLOOR)[:, None],
        np.append(is_right, np.zeros(len(is_right), bool)),
        balance(example_weights, is_of_known),
        _CALIBRATION_PENALTY,
    )


def _find_typical(leaves: HeldOutLeaves) -> np.ndarray:
    """Find the leaves that operating points are computed from, bool (n,).

    They are of species of which the acquisition type has another plant: scores by a
    classifier that has seen none there say little of one that has. Where no species has
    two plants, all leaves of known species are typical. `leafid.training.fusing` asks
    for another plant in any type.
    """
    is_known = leaves.sees_species.without_plant & (leaves.weights > 0)
    plants = set(zip(leaves.labels.tolist(), leaves.plants.tolist(), strict=True))
    n_plants = Counter(label for label, _ in plants)
    has_another = np.array([n_plants[label] > 1 for label in leaves.labels.tolist()])
    if (is_known & has_another).any():
        return is_known & has_another
    return is_known
