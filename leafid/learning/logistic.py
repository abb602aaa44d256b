"""Logistic regressions: applied, fitted, and calibrated on held-out groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_TOLERANCE = 1e-5
_MAX_ITERATIONS = 500
# Three folds would be too few: leaves of a few plants look like others if a third of
# the plants is missing.
_N_FOLDS = 10
# The spread below which a column counts as constant: the rest is rounding.
_MIN_SPREAD = 1e-6
# The penalty of the calibration.
_CALIBRATION_REGULARISATION = 1.0


class Examples(NamedTuple):
    """Examples of two classes."""

    #: float (n, n_columns).
    rows: np.ndarray
    #: bool (n,): the class.
    is_positive: np.ndarray
    #: float (n,): sample weights. Both classes get the same total.
    weights: np.ndarray
    #: (n,): groups that folds keep together.
    groups: Sequence[str] | np.ndarray


def apply_logistic(logits: np.ndarray) -> np.ndarray:
    """Turn logits into probabilities."""
    return 1 / (1 + np.exp(-np.clip(logits, -50, 50)))


def take_logits(probabilities: np.ndarray, floor: float) -> np.ndarray:
    """Turn probabilities into logits.

    A probability, and its complement, is `floor` at least.
    """
    inside = np.clip(probabilities, floor, 1 - floor)
    return np.log(inside / (1 - inside))


def predict_logistic(rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Give the probabilities, float64 (n,), that rows (n, n_columns) are positive.

    The coefficients, float (n_columns + 1,), end with the intercept.
    """
    # A product of several rows rounds differently: no answer may depend on others.
    logits = [
        row.astype(np.float64) @ coefficients[:-1] + coefficients[-1] for row in rows
    ]
    return apply_logistic(np.array(logits))


def fit_logistic(
    rows: np.ndarray, is_positive: np.ndarray, weights: np.ndarray, penalty: float
) -> np.ndarray:
    """Fit coefficients and intercept, float64 (n_columns + 1,)."""
    regression = _make_regression(penalty).fit(rows, is_positive, weights)
    return np.append(regression.coef_, regression.intercept_)


def _make_regression(penalty: float) -> Any:
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    return LogisticRegression(C=1 / penalty, tol=_TOLERANCE, max_iter=_MAX_ITERATIONS)


def fit_calibrated(examples: Examples, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression, and calibrate it on groups that were held out of it.

    Parameters
    ----------
    examples : Examples
        Of both classes.
    penalty : float
        The weight of the squared coefficients.

    Returns
    -------
    coefficients : ndarray of float32, (n_columns + 1,)
        The intercept is the last one.
    probabilities : ndarray of float64, (n,)
        Of the examples, each by a regression without its group.
    """
    from sklearn.model_selection import PredefinedSplit, cross_val_predict

    mean = examples.rows.mean(axis=0)
    spread = examples.rows.std(axis=0)
    varies = spread > _MIN_SPREAD
    # A constant column has no influence.
    scale = np.where(varies, spread, np.inf) * max(int(varies.sum()), 1) ** 0.5
    values = (examples.rows - mean) / scale
    is_positive = examples.is_positive
    weights = balance(examples.weights, is_positive)
    final = fit_logistic(values, is_positive, weights, penalty)
    logits = cross_val_predict(
        _make_regression(penalty),
        values,
        is_positive,
        cv=PredefinedSplit(assign_folds(is_positive, examples.groups, _N_FOLDS)),
        method="decision_function",
        params={"sample_weight": weights},
    )
    slope, offset = fit_logistic(
        logits[:, None], is_positive, weights, _CALIBRATION_REGULARISATION
    )
    coefficients = final[:-1] / scale
    calibrated = slope * np.append(coefficients, final[-1] - mean @ coefficients)
    calibrated[-1] += offset
    return calibrated.astype(np.float32), apply_logistic(logits * slope + offset)


def balance(weights: np.ndarray, is_positive: np.ndarray) -> np.ndarray:
    """Scale weights so that both classes have the same total, and the mean is 1."""
    balanced = weights.astype(np.float64)
    for is_of_class in (is_positive, ~is_positive):
        balanced[is_of_class] /= balanced[is_of_class].sum()
    return balanced * (len(weights) / 2)


def assign_folds(
    is_positive: np.ndarray, groups: Sequence[str] | np.ndarray, n_folds: int
) -> np.ndarray:
    """Assign the groups of each class to folds at random: int (n,).

    A group with examples of both classes has one fold.
    """
    folds = np.empty(len(is_positive), int)
    fold_of: dict[Any, int] = {}
    for is_of_class in (is_positive, ~is_positive):
        members = np.asarray(groups)[is_of_class]
        if len(np.unique(members)) == 1:
            # Without its only group, there would be no example of the class.
            members = np.arange(len(members))
        new = [group for group in np.unique(members).tolist() if group not in fold_of]
        order = np.random.default_rng(0).permutation(len(new))
        fold_of |= zip(new, (order % n_folds).tolist(), strict=True)
        folds[is_of_class] = [fold_of[group] for group in members.tolist()]
    return folds
