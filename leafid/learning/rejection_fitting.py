"""Fits what rejects pictures: two logistic regressions, and the operating points of both together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from leafid.learning.rejection import Rejection, acceptance_score, apply_logistic
from leafid.learning.rows import make_rows, release_memory

# Penalty of the regression on feature vectors, of that on evidence, and of their calibration.
_LEAF_REGULARISATION, _KNOWN_REGULARISATION, _CALIBRATION_REGULARISATION = (
    0.01,
    10.0,
    1.0,
)
# Share of the pictures that people ask about that show a leaf. Without it, P(leaf) would tell cameras apart.
_LEAF_SHARE = 0.95
_TOLERANCE, _MAX_ITERATIONS = 1e-5, 500
# The least probability, and complement of one, whose logit is calibrated.
_CALIBRATION_FLOOR = 1e-6
# Three folds would be too few: leaves of a few plants look like others if a third of the plants is missing.
_N_FOLDS = 10
#: Maximum number of quantiles of held-out leaves that are kept for the operating point.
MAX_QUANTILES = 1001
# Weight of a plant's share in the operating points; the remaining weight is that of its pictures.
_PLANT_SHARE = 2 / 3


class Examples(NamedTuple):
    """Examples of a class: rows (n, n_columns), sample weights (n,), and groups (n,) that folds keep together."""

    rows: np.ndarray
    weights: np.ndarray
    groups: Sequence[str] | np.ndarray


class FirstSpecies(NamedTuple):
    """The first species of held-out answers: by classifiers that did not see their plants, and not their species."""

    #: float (n,): its probability, of 1 for all species.
    known: np.ndarray
    unknown: np.ndarray
    #: bool (n,): whether the first of `known` is right.
    is_right: np.ndarray
    #: bool (n,): the leaves that the number of an answer is calibrated on.
    is_used: np.ndarray


def fit_rejection(
    leaves: Examples,
    non_leaves: Examples,
    known: Examples,
    unknown: Examples,
    gain: np.ndarray,
    is_typical: np.ndarray,
    first: FirstSpecies,
) -> Rejection:
    """Fit both regressions, and what calibrates their product with the probability of the first species.

    Parameters
    ----------
    leaves, non_leaves : Examples
        Vectors of leaves, grouped by plant, and of other pictures, grouped by kind.
    known, unknown : Examples
        Evidence of the same leaves by classifiers that did not see their plants, and by classifiers that did not see
        their species; a leaf weighs 0 among the known where the former did not see its species, either.
    gain : float (n_evidence,)
        What the evidence of leaves of known species gains on average if the classifiers see all other plants. The
        operating points take it into account: without it, fewer leaves than asked for are rejected.
    is_typical : bool (n_leaves,)
        The leaves that operating points are taken from; if there are none, they are taken from all known ones.
    first : FirstSpecies
    """
    leaf, is_leaf, _ = _fit_calibrated(
        leaves, non_leaves, _LEAF_REGULARISATION, _LEAF_SHARE
    )
    coefficients, is_known, seems_known = _fit_calibrated(
        known, unknown, _KNOWN_REGULARISATION
    )
    answer = np.array([1.0, 0.0])
    if first.is_right[known.weights * first.is_used > 0].any():
        products = np.concatenate(
            [is_leaf * is_known * first.known, is_leaf * seems_known * first.unknown]
        )
        labels = np.append(first.is_right, np.zeros(len(leaves.rows), bool)).astype(int)
        inside = np.clip(products, _CALIBRATION_FLOOR, 1 - _CALIBRATION_FLOOR)
        logits = np.log(inside / (1 - inside))[:, None]
        weights = _balance(
            known.weights * first.is_used, unknown.weights * first.is_used
        )
        answer = _fit_logistic(logits, labels, weights, _CALIBRATION_REGULARISATION)
    shift = max(0.0, float(np.sum(gain * coefficients[:-1])))
    is_known = is_known / (is_known + (1 - is_known) * np.exp(-shift))
    is_chosen = known.weights > 0
    if is_typical[is_chosen].any():
        is_chosen = is_chosen & is_typical
    accepted = acceptance_score(is_leaf, is_known)[is_chosen]
    order = np.argsort(accepted)
    # Pictures of a plant are rejected together: by pictures, a few plants with many would set the operating points, by
    # plants, a few with a single picture. In between, neither the share of pictures nor that of plants is far off.
    by_plant = leaves.weights[is_chosen][order]
    weights = _PLANT_SHARE * by_plant / by_plant.sum() + (1 - _PLANT_SHARE) / len(order)
    shares = np.linspace(0, 1, min(len(order), MAX_QUANTILES))
    quantiles = np.interp(shares, np.cumsum(weights) - weights / 2, accepted[order])
    return Rejection(leaf, coefficients, quantiles, answer.astype(np.float32))


def _balance(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Join the weights of two classes, each with the same total; their mean is 1."""
    weights = np.concatenate([positive / positive.sum(), negative / negative.sum()])
    return weights * (len(weights) / 2)


def _fit_calibrated(
    positive: Examples,
    negative: Examples,
    regularisation: float,
    positive_share: float = 0.5,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit a logistic regression, and calibrate it on groups that were held out of it.

    Its probabilities hold where the positives' share is `positive_share`. Returns the coefficients, float32
    (n_columns + 1,), the intercept last, and the held-out probabilities of the positive and negative examples.
    """
    # The examples are released once they are copied, so that one copy is in memory.
    joined = np.empty(
        (len(positive.rows) + len(negative.rows), positive.rows.shape[1]),
        positive.rows.dtype,
    )
    for examples, part in zip(
        (positive, negative), np.split(joined, [len(positive.rows)]), strict=True
    ):
        part[:] = examples.rows
        release_memory(examples.rows)
    rows = make_rows(joined, standardise=True)
    compressed, combinations = rows.compressed
    values = compressed.read(slice(None))
    labels = np.repeat([1, 0], [len(positive.rows), len(negative.rows)])
    weights = _balance(positive.weights, negative.weights)
    folds = np.concatenate(
        [_assign_folds(examples.groups) for examples in (positive, negative)]
    )
    final = _fit_logistic(values, labels, weights, regularisation)
    logits = np.empty(len(labels))
    for fold in np.unique(folds):
        is_held_out = folds == fold
        training = np.flatnonzero(~is_held_out)
        without = final
        # Without all groups of a class there is nothing to learn.
        if len(np.unique(labels[training])) == 2:
            without = _fit_logistic(
                values[training], labels[training], weights[training], regularisation
            )
        logits[is_held_out] = values[is_held_out] @ without[:-1] + without[-1]
    slope, offset = _fit_logistic(
        logits[:, None], labels, weights, _CALIBRATION_REGULARISATION
    )
    offset += np.log(positive_share / (1 - positive_share))
    coefficients = rows.rotate_back(final[:-1, None], combinations)[:, 0] * rows.scale
    calibrated = slope * np.append(coefficients, final[-1] - rows.mean @ coefficients)
    calibrated[-1] += offset
    held_out = apply_logistic(logits * slope + offset)
    return calibrated.astype(np.float32), held_out[labels == 1], held_out[labels == 0]


def _fit_logistic(
    rows: np.ndarray, labels: np.ndarray, weights: np.ndarray, regularisation: float
) -> np.ndarray:
    """Fit a logistic regression: coefficients and intercept, float (n_columns + 1,)."""
    regression = LogisticRegression(
        C=1 / regularisation, tol=_TOLERANCE, max_iter=_MAX_ITERATIONS
    )
    regression.fit(rows, labels, weights)
    return np.append(regression.coef_, regression.intercept_)


def _assign_folds(groups: Sequence[str] | np.ndarray) -> np.ndarray:
    _, indices = np.unique(groups, return_inverse=True)
    return (
        np.random.default_rng(0).permutation(int(indices.max()) + 1)[indices] % _N_FOLDS
    )
