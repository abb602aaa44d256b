"""Cross-fitting of an expert's classifiers: on all rows, and held-out scores of classifiers without each fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from leafid.errors import LeafidError
from leafid.features.recipe import ClassifierSettings
from leafid.learning.cross_fitter import CrossFitter, SklearnCrossFitter, Solution
from leafid.learning.linear import LinearScorer
from leafid.learning.ridge import DualRidge, PrimalRidge
from leafid.learning.training_matrix import TrainingMatrix

#: Maximum size in bytes of the rows of classifiers other than ridge; scikit-learn holds copies of them besides.
MAX_BYTES_IN_MEMORY = 2**32
# Penalty of the softmax regression.
_SOFTMAX_REGULARISATION = 0.01
# Number of rows up to which their kernel matrix is cheaper than the normal equations of half as many columns, which
# have to be summed for each fold.
_MAX_KERNEL_ROWS = 2**13


def cross_fit(
    matrix: TrainingMatrix,
    labels: np.ndarray,
    weights: np.ndarray,
    partitions: Sequence[Sequence[np.ndarray]],
    scored: np.ndarray,
    settings: ClassifierSettings,
    folder: Path | None = None,
    fold_weights: Sequence[np.ndarray] | None = None,
    advance: Callable[[], object] = lambda: None,
    observe: Callable[[CrossFitter], None] | None = None,
) -> list[tuple[LinearScorer, list[np.ndarray]]]:
    """Fit classifiers to all rows, and score rows by classifiers that were fitted without the row's fold.

    `labels`, int (n,), are species from 0, each of them present; `weights`, float (n,), sample weights; `partitions`
    ways to divide the rows, each the indices of the rows of every fold, none where there is a single plant; `scored`,
    int (k,), the indices of the rows to score. `fold_weights` has sample weights for the fit without each fold, in the
    order of the partitions; it is ignored for ridge regression on more rows than stay in memory, where leaving out a
    fold hardly changes weights. `advance` is called after each fit, `observe` gets the cross-fitter.

    Returns for the classifier, and for the softmax regression if the settings ask for one, the scorer and the held-out
    scores of each partition, float32 (k, n_species): -inf for species that the classifiers without the row's fold did
    not see.
    """
    with closing(_make_cross_fitter(matrix, labels, weights, partitions, settings, folder, fold_weights)) as fitter:
        fits = _list_fits(settings)
        shape = len(scored), int(labels.max()) + 1
        held_out_scores = [[np.full(shape, -np.inf, np.float32) for _ in partitions] for _ in fits]
        for number, left_out in enumerate(fitter.index_folds()):
            for index in left_out:
                for fit, scores in zip(fits, held_out_scores, strict=True):
                    _score_held_out(fitter, fit, index, scored, scores[number])
                advance()
        scorers = [fitter.make_scorer(fit(fitter, None)) for fit in fits]
        if observe is not None:
            observe(fitter)
        advance()
    return list(zip(scorers, held_out_scores, strict=True))


_Fit = Callable[[CrossFitter, int | None], Solution]


def _list_fits(settings: ClassifierSettings) -> list[_Fit]:
    fits: list[_Fit] = [lambda fitter, left_out: fitter.fit(left_out)]
    if settings.softmax_components:
        fits.append(
            lambda fitter, left_out: fitter.fit_softmax(settings.softmax_components, _SOFTMAX_REGULARISATION, left_out)
        )
    return fits


def _score_held_out(fitter: CrossFitter, fit: _Fit, left_out: int, scored: np.ndarray, scores: np.ndarray) -> None:
    """Fill in the scores of a fold's rows by a classifier without it; nothing if it has all rows."""
    fold = fitter.folds[left_out]
    positions = np.flatnonzero(np.isin(scored, fold))
    if len(positions) and len(fold) < len(fitter.labels):
        solution = fit(fitter, left_out)
        scores[np.ix_(positions, solution.classes)] = fitter.score_rows(solution, scored[positions])


def check_memory(name: str, settings: ClassifierSettings, n_rows: int, n_columns: int) -> None:
    """Refuse a classifier whose rows would exceed `MAX_BYTES_IN_MEMORY`; ridge regression has no limit of rows."""
    size = 4 * n_rows * n_columns * (3 if settings.feature_map == "chi2" else 1)
    if settings.classifier != "ridge" and size > MAX_BYTES_IN_MEMORY:
        raise LeafidError(
            f"expert {name!r}: {settings.classifier} needs all of its {n_rows} rows in memory, {size / 2**30:.1f} GiB; "
            f'at most {MAX_BYTES_IN_MEMORY / 2**30:g} GiB are allowed; use classifier = "ridge" for so many pictures'
        )


def _make_cross_fitter(
    matrix: TrainingMatrix,
    labels: np.ndarray,
    weights: np.ndarray,
    partitions: Sequence[Sequence[np.ndarray]],
    settings: ClassifierSettings,
    folder: Path | None,
    fold_weights: Sequence[np.ndarray] | None,
) -> CrossFitter:
    """Choose how to fit, by the settings and the size of the matrix; parameters are those of `cross_fit`."""
    common = (matrix, labels, weights, partitions, settings.regularisation)
    if settings.classifier != "ridge":
        return SklearnCrossFitter(*common, fold_weights, folder, kind=settings.classifier)
    if matrix.is_wide or matrix.n_rows <= min(2 * matrix.n_columns, _MAX_KERNEL_ROWS):
        return DualRidge(*common, fold_weights, folder)
    return PrimalRidge(*common, fold_weights if matrix.is_small else None, folder)
