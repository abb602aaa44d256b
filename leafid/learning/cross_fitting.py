"""Cross-fitting of an expert's classifiers: on all rows, and held-out scores of classifiers without each fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafid.learning.ridge import DualRidge, PrimalFit
from leafid.learning.rows import TrainingRows
from leafid.learning.settings import ClassifierSettings

# Number of values up to which sums over all rows are cheap enough to be repeated for the weights of each fold.
_SMALL_NUMBERS = 2**25


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear classifier of centred rows, with the scores of rows that were held out of it."""

    #: float (n_columns, n_species), and float (n_species,).
    coefficients: np.ndarray
    intercepts: np.ndarray
    #: For each partition, float32 (k, n_species): scores of rows by the classifier without the row's fold; -inf for
    #: species that this did not see.
    held_out_scores: list[np.ndarray]


def cross_fit(
    rows: TrainingRows,
    labels: np.ndarray,
    weights: Sequence[np.ndarray],
    partitions: Sequence[Sequence[np.ndarray]],
    scored: np.ndarray,
    settings: ClassifierSettings,
) -> tuple[list[LinearFit], DualRidge | PrimalFit]:
    """Fit classifiers to all rows, and score rows by classifiers that were fitted without the row's fold.

    Means, principal components and all else of a fit are those of its own rows: nothing is learned from held-out ones.

    Parameters
    ----------
    rows : TrainingRows
    labels : int (n,)
        Species from 0, each of them present among the rows of weight above 0.
    weights : sequence of float (n,)
        Of all rows, 0 for rows that are left out of everything; then of the rows without each fold, in the order of the
        partitions. Where there are many rows the first are used without each fold, too: to leave it out hardly changes
        the weights of others.
    partitions : sequence of sequences of int arrays
        Several ways to divide the rows, each the indices of the rows of every fold; none where there is one plant.
    scored : int (k,)
        The rows to score.
    settings : ClassifierSettings

    Returns
    -------
    list of LinearFit
        Of the classifier, and of the softmax regression if the settings ask for one.
    DualRidge or PrimalFit
        The fit to all rows.
    """
    every = _fit(rows, weights[0], labels, settings)
    classifiers = every.classifiers
    shape = len(scored), int(labels.max()) + 1
    held_out_scores = [[np.full(shape, -np.inf, np.float32) for _ in partitions] for _ in classifiers]
    remaining = iter(weights[1:])
    for number, folds in enumerate(partitions):
        for fold in folds:
            fold_weights = next(remaining)
            positions = np.flatnonzero(np.isin(scored, fold))
            if isinstance(every, PrimalFit) and rows.vectors.size > _SMALL_NUMBERS:
                fold_weights = weights[0].copy()
                fold_weights[fold] = 0
            if not len(positions) or not fold_weights.any():
                continue
            rest = _fit(rows, fold_weights, labels, settings, every)
            classes = np.unique(labels[rest.indices])
            for scores, found in zip(held_out_scores, rest.score(scored[positions]), strict=True):
                scores[number][np.ix_(positions, classes)] = found[:, classes]
    fits = [LinearFit(*own, scores) for own, scores in zip(classifiers, held_out_scores, strict=True)]
    return fits, every


def _fit(
    rows: TrainingRows,
    weights: np.ndarray,
    labels: np.ndarray,
    settings: ClassifierSettings,
    reference: DualRidge | PrimalFit | None = None,
) -> DualRidge | PrimalFit:
    n_rows, n_columns = rows.shape
    if settings.classifier == "ridge" and not settings.softmax_components and n_rows <= 2 * n_columns:
        return DualRidge(rows, weights, labels, settings.regularisation)
    return PrimalFit(rows, weights, labels, settings, reference if isinstance(reference, PrimalFit) else None)
