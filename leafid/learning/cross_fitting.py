"""Fits an expert's classifiers to all rows, and scores rows by classifiers that were fitted without their fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.learning.linear import LinearClassifier
from leafid.learning.nonlinear import EstimatorFit
from leafid.learning.primal import PrimalFit
from leafid.learning.ridge import DualRidge
from leafid.learning.row_statistics import RowStatistics, summarise_rows
from leafid.learning.rows import RowTransform, TrainingRows
from leafid.learning.settings import ClassifierSettings

# Number of values up to which sums over all rows are cheap enough to be repeated for the weights of each fold.
_SMALL_NUMBERS = 2**25


@dataclass(frozen=True, eq=False)
class FittedExpert:
    """The classifiers of an expert: the one that its settings name, and the softmax regression if they ask for one."""

    #: What turns vectors into the centred rows that the classifiers take.
    transform: RowTransform
    #: A classifier that is not linear is in the format of `leafid.learning.estimator_bytes.dump`.
    classifiers: Sequence[LinearClassifier] | Sequence[bytes]
    #: Scores of rows by the name of the folds, then by classifier, float32 (k, n_species): each row is scored by the
    #: classifier that was fitted without its fold, with -inf for species that this did not see.
    held_out_scores: Mapping[str, Sequence[np.ndarray]]
    #: What further rows are learned with later; None where there is no need of it.
    statistics: RowStatistics | None = None


def cross_fit(
    rows: TrainingRows,
    labels: np.ndarray,
    weights: np.ndarray,
    folds: Mapping[str, Sequence[tuple[np.ndarray, np.ndarray]]],
    scored: np.ndarray,
    settings: ClassifierSettings,
    *,
    keep_statistics: bool = False,
) -> FittedExpert:
    """Fit classifiers to all rows, and score rows by classifiers that were fitted without the row's fold.

    Each fit computes means, principal components and all else from its own rows: held-out ones teach it nothing.

    Parameters
    ----------
    rows : TrainingRows
    labels : int (n,)
        Species from 0, each of them present among the rows of weight above 0.
    weights : float (n,)
        Weights for the fit to all rows; 0 for rows that are left out of everything.
    folds : mapping of sequences of tuples of int (m,) and float (n,)
        Several ways to divide the rows, by name. Each fold is given by its rows, and by the weights of the fit without
        them; there is none if all rows are of one plant. If there are more than 2²⁵ values, `weights` are used without
        the fold's rows instead, so that sums over these can be subtracted: the weights of others hardly change.
    scored : int (k,)
        The rows to score.
    settings : ClassifierSettings
    keep_statistics : bool
        Summarise the rows of a ridge regression, for `leafid.learning.row_statistics.update_ridge`.
    """
    fit = _fit(rows, weights, labels, settings)
    classifiers = fit.classifiers
    keeps_weights = isinstance(fit, PrimalFit) and rows.vectors.size > _SMALL_NUMBERS
    shape = len(scored), int(labels.max()) + 1
    held_out_scores = {name: [np.full(shape, -np.inf, np.float32) for _ in classifiers] for name in folds}
    for name, parts in folds.items():
        for fold, new_weights in parts:
            positions = np.flatnonzero(np.isin(scored, fold))
            remaining = np.where(np.isin(np.arange(len(weights)), fold), 0, weights) if keeps_weights else new_weights
            if not len(positions) or not remaining.any():
                continue
            fit_without = _fit(rows, remaining, labels, settings, fit)
            classes = np.unique(labels[fit_without.indices])
            for scores, fold_scores in zip(held_out_scores[name], fit_without.score(scored[positions]), strict=True):
                scores[np.ix_(positions, classes)] = fold_scores[:, classes]
    statistics = summarise_rows(fit) if keep_statistics and not isinstance(fit, EstimatorFit) else None
    return FittedExpert(fit.transform, classifiers, held_out_scores, statistics)


def _fit(
    rows: TrainingRows,
    weights: np.ndarray,
    labels: np.ndarray,
    settings: ClassifierSettings,
    reference: DualRidge | PrimalFit | EstimatorFit | None = None,
) -> DualRidge | PrimalFit | EstimatorFit:
    n_rows, n_columns = rows.shape
    if not settings.is_linear:
        return EstimatorFit(rows, weights, labels, settings)
    if settings.classifier == "ridge" and not settings.softmax_components and n_rows <= 2 * n_columns:
        return DualRidge(rows, weights, labels, settings.regularisation)
    return PrimalFit(rows, weights, labels, settings, reference if isinstance(reference, PrimalFit) else None)
