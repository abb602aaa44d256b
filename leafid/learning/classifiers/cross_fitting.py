"""Fits an expert's classifier to all rows, and scores each row without its fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafid.errors import LeafidError
from leafid.learning.classifiers.estimator_bytes import dump
from leafid.learning.classifiers.fits import Classifier, fit_classifier, score_rows
from leafid.learning.classifiers.linear import LinearClassifier, encode_one_vs_rest
from leafid.learning.classifiers.row_statistics import RowStatistics
from leafid.learning.classifiers.rows import TrainingRows
from leafid.learning.classifiers.scorers import (
    EstimatorScorer,
    LinearScorer,
    RowTransform,
)
from leafid.learning.classifiers.settings import ClassifierSettings
from leafid.learning.classifiers.weighted_rows import WeightedRows
from leafid.learning.folds import Folds


class Fold(NamedTuple):
    """A fold of rows."""

    #: int (m,): the rows.
    rows: np.ndarray
    #: float (n,): weights of all rows for the fit without them.
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class FittedExpert:
    """The classifier of an expert."""

    #: Turns vectors into the centred rows that the classifier takes.
    transform: RowTransform
    #: A classifier that is not linear is in the format of
    #: `leafid.learning.classifiers.estimator_bytes.dump`.
    classifier: LinearClassifier | bytes
    #: float32 (k, n_species): each row is scored by the classifier that was fitted
    #: without its fold, with -inf for species that this did not see.
    held_out_scores: Folds[np.ndarray]
    #: What further rows are learned with later; None where there is no need of it.
    statistics: RowStatistics | None = None
    #: The mean scores of the rows that it was fitted to: of wrong species, and of the
    #: right one.
    targets: tuple[float, float] = (-1.0, 1.0)

    def make_scorer(self, domain: int = 0) -> LinearScorer | EstimatorScorer:
        """Turn the classifier into one of vectors of a domain."""
        if isinstance(self.classifier, bytes):
            return EstimatorScorer(
                self.transform.select_domain(domain), self.classifier
            )
        return self.transform.make_scorer(*self.classifier, domain)


def cross_fit(
    rows: TrainingRows,
    labels: np.ndarray,
    weights: np.ndarray,
    folds: Folds[Sequence[Fold]],
    scored: np.ndarray,
    settings: ClassifierSettings,
    *,
    keep_statistics: bool = False,
) -> FittedExpert:
    """Fit a classifier to all rows, and score each row by one fitted without its fold.

    Each fit computes means and all else from its training rows: held-out ones teach it
    nothing.

    Parameters
    ----------
    rows : TrainingRows
    labels : ndarray of int, (n,)
        Species from 0, each of them present among the rows of weight above 0.
    weights : ndarray of float, (n,)
        For the fit to all rows; 0 for rows that are left out of everything.
    folds : Folds
        The rows, divided in several ways; there is no fold if all rows are of one
        plant.
    scored : ndarray of int, (k,)
        The rows to score.
    settings : ClassifierSettings
    keep_statistics : bool
        Summarise the rows of a linear classifier, to learn further ones
        (`leafid.learning.classifiers.row_statistics.update_ridge`).

    Returns
    -------
    FittedExpert

    Raises
    ------
    LeafidError
        When a ridge is regularised too little.
    """
    weighted = WeightedRows(rows, weights)
    classifier = _fit(weighted, labels[weighted.indices], settings)
    held_out_scores = folds.map(
        lambda parts: _score_held_out(
            rows, labels, folds=parts, scored=scored, settings=settings
        )
    )
    statistics = None
    targets = (-1.0, 1.0)
    is_linear = isinstance(classifier, tuple)
    if keep_statistics and is_linear:
        statistics = weighted.summarise()
        if settings.classifier != "ridge" and labels.any():
            scores = score_rows(classifier, weighted, weighted.indices)
            targets = _find_targets(scores, labels[weighted.indices], weighted.weights)
    return FittedExpert(
        transform=weighted.transform,
        classifier=classifier if is_linear else dump(classifier),
        held_out_scores=held_out_scores,
        statistics=statistics,
        targets=targets,
    )


def _score_held_out(
    rows: TrainingRows,
    labels: np.ndarray,
    folds: Sequence[Fold],
    scored: np.ndarray,
    settings: ClassifierSettings,
) -> np.ndarray:
    """Score rows by classifiers fitted without the row's fold, for `FittedExpert`."""
    scores = np.full((len(scored), int(labels.max()) + 1), -np.inf, np.float32)
    for fold in folds:
        positions = np.flatnonzero(np.isin(scored, fold.rows))
        if not len(positions) or not fold.weights.any():
            continue
        weighted = WeightedRows(rows, fold.weights)
        species, numbers = np.unique(labels[weighted.indices], return_inverse=True)
        classifier = _fit(weighted, numbers, settings)
        fold_scores = score_rows(classifier, weighted, scored[positions])
        scores[np.ix_(positions, species)] = fold_scores
    return scores


def _fit(
    rows: WeightedRows, labels: np.ndarray, settings: ClassifierSettings
) -> Classifier:
    try:
        return fit_classifier(rows, labels, settings)
    except np.linalg.LinAlgError as error:
        raise LeafidError(
            f"a ridge's regularisation of {settings.regularisation:g} is too weak for "
            f"{len(labels)} pictures; use a larger one"
        ) from error


def _find_targets(
    scores: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Average the scores of wrong species, and of the right one."""
    is_right = encode_one_vs_rest(labels) > 0
    spread = np.broadcast_to(weights[:, None], scores.shape)
    wrong = np.average(scores[~is_right], weights=spread[~is_right])
    right = np.average(scores[is_right], weights=spread[is_right])
    return float(wrong), float(right)
