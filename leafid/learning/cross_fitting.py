"""Fits an expert's classifier to all rows, and scores each row without its fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from leafid.errors import LeafidError
from leafid.learning.estimators import make_estimator
from leafid.learning.fits import DualRidge, EstimatorFit, PrimalRidge
from leafid.learning.folds import Folds
from leafid.learning.linear import LinearClassifier
from leafid.learning.row_statistics import RowStatistics
from leafid.learning.rows import TrainingRows
from leafid.learning.scorers import EstimatorScorer, LinearScorer, RowTransform
from leafid.learning.settings import ClassifierSettings


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
    #: `leafid.learning.estimator_bytes.dump`.
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
        (`leafid.learning.row_statistics.update_ridge`).

    Raises
    ------
    LeafidError
        When a ridge is regularised too little.
    """
    fit = _fit(rows, weights, labels, settings)
    classifier = fit.classifier
    held_out_scores = folds.map(
        lambda parts: _score_held_out(
            rows, labels, folds=parts, scored=scored, settings=settings
        )
    )
    statistics = None
    targets = (-1.0, 1.0)
    if keep_statistics and not isinstance(classifier, bytes):
        statistics = fit.summarise()
        if isinstance(fit, EstimatorFit):
            targets = _find_targets(fit, labels)
    return FittedExpert(
        transform=fit.transform,
        classifier=classifier,
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
        fit = _fit(rows, fold.weights, labels, settings)
        classes = np.unique(labels[fit.indices])
        of_fold = fit.score(scored[positions])
        scores[np.ix_(positions, classes)] = of_fold[:, classes]
    return scores


def _fit(
    rows: TrainingRows,
    weights: np.ndarray,
    labels: np.ndarray,
    settings: ClassifierSettings,
) -> DualRidge | PrimalRidge | EstimatorFit:
    # Of a single species nothing is to be learned: a ridge gives it a constant score.
    has_several = np.ptp(labels[weights > 0]) > 0
    if settings.classifier != "ridge" and has_several:
        estimator = make_estimator(settings.classifier, settings.classifier_options)
        return EstimatorFit(rows, weights, labels, estimator)
    n_rows, n_columns = rows.shape
    ridge = DualRidge if n_rows <= 2 * n_columns else PrimalRidge
    try:
        return ridge(rows, weights, labels, settings.regularisation)
    except np.linalg.LinAlgError as error:
        penalty = settings.regularisation
        n_pictures = np.count_nonzero(weights)
        raise LeafidError(
            f"a ridge's regularisation of {penalty:g} is too weak for {n_pictures} "
            "pictures; use a larger one"
        ) from error


def _find_targets(fit: EstimatorFit, labels: np.ndarray) -> tuple[float, float]:
    scores = fit.score(fit.indices)
    weights = fit.weights / fit.weights.sum()
    is_right = labels[fit.indices, None] == np.arange(scores.shape[1])
    right = weights @ np.where(is_right, scores, 0).sum(axis=1)
    wrong = (
        weights
        @ np.where(is_right, 0, scores).sum(axis=1)
        / max(scores.shape[1] - 1, 1)
    )
    return float(wrong), float(right)
