"""Cross-fitting of an expert's classifiers: on all rows, and held-out scores of classifiers without each fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from leafid.classifiers.cross_fitter import CrossFitter, SklearnCrossFitter, Solution
from leafid.classifiers.linear import LinearScorer
from leafid.classifiers.ridge import DualRidge, PrimalRidge
from leafid.classifiers.training_matrix import TrainingMatrix
from leafid.errors import LeafidError
from leafid.recipes.recipe import ClassifierSettings

#: Maximum size in bytes of the rows of classifiers other than ridge; scikit-learn holds copies of them besides.
MAX_BYTES_IN_MEMORY = 2**32
# Number of rows up to which their kernel matrix is cheaper than the normal equations of half as many columns, which
# have to be summed for each fold.
_MAX_KERNEL_ROWS = 2**13


def cross_fit(
    matrix: TrainingMatrix,
    labels: np.ndarray,
    weights: np.ndarray,
    folds: Sequence[np.ndarray],
    scored: np.ndarray,
    settings: ClassifierSettings,
    folder: Path | None = None,
    fold_weights: Sequence[np.ndarray] | None = None,
    observe: Callable[[CrossFitter], None] | None = None,
) -> list[tuple[LinearScorer, np.ndarray]]:
    """Fit classifiers to all rows, and score rows by classifiers that were fitted without the row's fold.

    `labels`, int (n,), are species from 0, each of them present; `weights`, float (n,), sample weights; `folds` the
    indices of the rows of each fold, none where there is a single plant; `scored`, int (k,), the indices of the rows to
    score. `fold_weights` has sample weights for the fit without each fold; it is ignored for ridge regression on more
    rows than stay in memory, where leaving out a fold hardly changes weights. `observe` gets the cross-fitter.

    Returns for the classifier, and for the softmax regression if the settings ask for one, the scorer and the held-out
    scores, float32 (k, n_species): -inf for species that the classifiers without the row's fold did not see.
    """
    all_folds = folds or [np.arange(len(labels))]
    with closing(
        make_cross_fitter(matrix, labels, weights, all_folds, settings, folder, fold_weights or None)
    ) as fitter:
        held_out_scores = score_held_out(fitter, scored, settings)
        scorers = [fitter.make_scorer(fit(fitter, None)) for fit in _list_fits(settings)]
        if observe is not None:
            observe(fitter)
    return list(zip(scorers, held_out_scores, strict=True))


def _list_fits(settings: ClassifierSettings) -> list[Callable[[CrossFitter, int | None], Solution]]:
    fits: list[Callable[[CrossFitter, int | None], Solution]] = [lambda fitter, left_out: fitter.fit(left_out)]
    if settings.softmax_components:
        fits.append(
            lambda fitter, left_out: fitter.fit_softmax(
                settings.softmax_components, settings.softmax_regularisation, left_out
            )
        )
    return fits


def score_held_out(fitter: CrossFitter, scored: np.ndarray, settings: ClassifierSettings) -> list[np.ndarray]:
    """Give the held-out scores of `cross_fit` alone; those of a fold that has all rows are -inf."""
    fits = _list_fits(settings)
    held_out_scores = [np.full((len(scored), int(fitter.labels.max()) + 1), -np.inf, np.float32) for _ in fits]
    for left_out, fold in enumerate(fitter.folds):
        positions = np.flatnonzero(np.isin(scored, fold))
        if not len(positions) or len(fold) == len(fitter.labels):
            continue
        for scores, fit in zip(held_out_scores, fits, strict=True):
            solution = fit(fitter, left_out)
            scores[np.ix_(positions, solution.classes)] = fitter.score_rows(solution, scored[positions])
    return held_out_scores


def check_memory(name: str, settings: ClassifierSettings, n_rows: int, n_columns: int) -> None:
    """Refuse a classifier whose rows would exceed `MAX_BYTES_IN_MEMORY`; ridge regression has no limit of rows."""
    size = 4 * n_rows * n_columns * (3 if settings.feature_map == "chi2" else 1)
    if settings.kind != "ridge" and size > MAX_BYTES_IN_MEMORY:
        raise LeafidError(
            f"expert {name!r}: {settings.kind} needs all of its {n_rows} rows in memory, {size / 2**30:.1f} GiB; "
            f'at most {MAX_BYTES_IN_MEMORY / 2**30:g} GiB are allowed; use classifier = "ridge" for so many pictures'
        )


def make_cross_fitter(
    matrix: TrainingMatrix,
    labels: np.ndarray,
    weights: np.ndarray,
    folds: Sequence[np.ndarray],
    settings: ClassifierSettings,
    folder: Path | None,
    fold_weights: Sequence[np.ndarray] | None,
) -> CrossFitter:
    """Choose how to fit, by the settings and the size of the matrix; parameters are those of `cross_fit`."""
    common = (matrix, labels, weights, folds, settings.regularisation)
    if settings.kind != "ridge":
        return SklearnCrossFitter(*common, fold_weights, folder, kind=settings.kind)
    if matrix.is_wide or matrix.n_rows <= min(2 * matrix.n_columns, _MAX_KERNEL_ROWS):
        return DualRidge(*common, fold_weights, folder)
    return PrimalRidge(*common, fold_weights if matrix.is_small else None, folder)
