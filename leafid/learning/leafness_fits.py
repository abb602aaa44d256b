"""Learns to distinguish pictures of leaves from pictures without a leaf."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from leafid.learning.classifiers.cross_fitting import FittedExpert, Fold, cross_fit
from leafid.learning.classifiers.rows import TrainingRows
from leafid.learning.classifiers.scorers import LinearScorer
from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.learning.folds import Folds
from leafid.learning.forest import cross_fit_forest
from leafid.learning.leafness import Leafness, calibrate
from leafid.learning.logistic import assign_folds, balance, fit_logistic

# The share of the pictures without a leaf that may have a probability above one half.
# On sheets, most of them are figures with a leaf's texture, which `knownness` rejects.
_PASSING_SHARE = 0.05
_PASSING_SHARE_OF_PHOTOS = 1 / 300
# The share of photos of leaves, half of them altered, that may have a lower one: where
# experts see little, more photos without a leaf pass instead.
_LOST_SHARE_OF_PHOTOS = 0.25
_N_FOLDS = 5
# Linear classifiers of vectors of whole pictures need less than those of species.
_SETTINGS = ClassifierSettings(classifier="ridge", regularisation=0.5)
_PENALTY = 1.0


class LeafExamples(NamedTuple):
    """Pictures of leaves, and pictures without a leaf."""

    #: bool (n,).
    is_leaf: np.ndarray
    #: float (n,): sample weights. Both classes get the same total.
    weights: np.ndarray
    #: (n,): groups that folds keep together: plants, and things that resemble each
    #: other.
    groups: Sequence[str]

    @property
    def folds(self) -> np.ndarray:
        """The fold of each picture, int (n,)."""
        return assign_folds(self.is_leaf, self.groups, _N_FOLDS)

    @property
    def balanced_weights(self) -> np.ndarray:
        """The weights, float64 (n,), with the same total for both classes."""
        return balance(self.weights, self.is_leaf)


def fit_forest(
    name: str, rows: np.ndarray, examples: LeafExamples
) -> tuple[Leafness, np.ndarray]:
    """Learn to distinguish leaves on sheets from pictures without a leaf.

    Parameters
    ----------
    name : str
        The name of the vectors.
    rows : ndarray of float, (n, n_columns)
        The vectors of the examples, in the range of half precision.
    examples : LeafExamples

    Returns
    -------
    leafness : Leafness
        Its probability is one half where 5 % of the pictures without a leaf have a
        higher one.
    probabilities : ndarray of float64, (n,)
        Of the examples, each by the trees that learned without its group.
    """
    is_leaf = examples.is_leaf
    weights = examples.balanced_weights
    forest, scores = cross_fit_forest(rows, is_leaf, weights, examples.folds)
    slope, _ = fit_logistic(scores[:, None], is_leaf, weights, _PENALTY)
    # Where nothing distinguishes them, all are taken for leaves.
    slope = max(slope, 0.0)
    threshold = np.quantile(scores[~is_leaf], 1 - _PASSING_SHARE)
    calibration = np.array([slope, -slope * threshold], np.float32)
    leafness = Leafness({name: forest}, {}, calibration)
    return leafness, calibrate(scores, calibration)


def fit_linear(
    rows: Iterable[tuple[str, TrainingRows]], examples: LeafExamples
) -> tuple[Leafness, np.ndarray]:
    """Learn to distinguish photos of leaves from other photos.

    Parameters
    ----------
    rows : iterable of str and TrainingRows
        The names of vectors, and these vectors of the examples.
    examples : LeafExamples

    Returns
    -------
    leafness : Leafness
        Its probability is one half where one in 300 of the pictures without a leaf has
        a higher one, or a quarter of the leaves a lower one.
    probabilities : ndarray of float64, (n,)
        Of the examples, each by classifiers that learned without its group.
    """
    is_leaf = examples.is_leaf
    weights = examples.balanced_weights
    numbers = examples.folds
    folds = [
        Fold(np.flatnonzero(numbers == number), np.where(numbers == number, 0, weights))
        for number in np.unique(numbers)
    ]
    experts = {
        name: cross_fit(
            rows=expert_rows,
            labels=is_leaf.astype(int),
            weights=weights,
            folds=Folds(folds, [], []),
            scored=np.arange(len(weights)),
            settings=_SETTINGS,
        )
        for name, expert_rows in rows
    }
    scores = np.column_stack(
        [expert.held_out_scores.without_plant[:, 1] for expert in experts.values()]
    )
    factors = fit_logistic(scores, is_leaf, weights, _PENALTY)[:-1]
    logits = scores @ factors
    threshold = min(
        np.quantile(logits[~is_leaf], 1 - _PASSING_SHARE_OF_PHOTOS),
        np.quantile(logits[is_leaf], _LOST_SHARE_OF_PHOTOS),
    )
    calibration = np.array([1, -threshold], np.float32)
    scorers = {
        name: _make_scorer(expert, factor)
        for (name, expert), factor in zip(experts.items(), factors, strict=True)
    }
    return Leafness({}, scorers, calibration), calibrate(logits, calibration)


def _make_scorer(expert: FittedExpert, factor: float) -> LinearScorer:
    """Make a scorer whose only score is the score of a leaf, times a factor."""
    scorer = expert.make_scorer()
    assert isinstance(scorer, LinearScorer)  # A ridge regression is linear.
    return LinearScorer(
        scorer.map,
        np.float32(factor) * scorer.coefficients[:, 1:],
        np.float32(factor) * scorer.intercepts[1:],
    )
