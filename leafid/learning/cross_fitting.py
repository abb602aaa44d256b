"""Cross-fitting of an expert's classifiers: on all rows, and held-out scores of classifiers without each fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafid.features.recipe import ClassifierSettings
from leafid.learning.ridge import WeightedRows
from leafid.learning.rows import TrainingRows

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
) -> tuple[list[LinearFit], WeightedRows]:
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
    WeightedRows
        All rows, as they were centred.
    """
    every = own = WeightedRows(rows, weights[0])
    combinations = None
    if settings.classifier != "ridge":
        rows, combinations = rows.compress()
        own = WeightedRows(rows, weights[0])
    all_fits = own.fit(labels, settings)
    shape = len(scored), int(labels.max()) + 1
    held_out_scores = [[np.full(shape, -np.inf, np.float32) for _ in partitions] for _ in all_fits]
    remaining = iter(weights[1:])
    for number, folds in enumerate(partitions):
        for fold in folds:
            fold_weights = next(remaining)
            positions = np.flatnonzero(np.isin(scored, fold))
            if rows.values.size > _SMALL_NUMBERS and not own.is_dual:
                fold_weights = weights[0].copy()
                fold_weights[fold] = 0
            if not len(positions) or not fold_weights.any():
                continue
            rest = WeightedRows(rows, fold_weights, own)
            classes = np.unique(labels[rest.indices])
            for scores, (coefficients, intercepts) in zip(held_out_scores, rest.fit(labels, settings), strict=True):
                found = rest.multiply(coefficients, scored[positions]) + intercepts
                scores[number][np.ix_(positions, classes)] = found
    fits = [
        LinearFit(every.rows.rotate_back(coefficients, combinations), intercepts, scores)
        for (coefficients, intercepts), scores in zip(all_fits, held_out_scores, strict=True)
    ]
    return fits, every
