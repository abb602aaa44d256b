"""Learns an expert's classifiers, and what they say of plants that they did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from leafid.classifiers.fold_fitting import Fit, InMemory, Learner
from leafid.classifiers.linear import LinearScorer
from leafid.classifiers.ridge import InnerProducts, NormalEquations
from leafid.classifiers.rows import Rows
from leafid.errors import LeafidError
from leafid.recipes.recipe import ClassifierSettings

#: Rows that classifiers other than ridge may have, in bytes; they and scikit-learn's copies of them are in memory.
LARGEST_IN_MEMORY = 2**32
# So few rows are multiplied with each other in less time than twice as few columns are, once for each fold.
_FEW_ROWS = 2**13


def learn_expert(
    rows: Rows,
    labels: np.ndarray,
    weights: np.ndarray,
    folds: Sequence[np.ndarray],
    asked: np.ndarray,
    settings: ClassifierSettings,
    folder: Path | None = None,
    fold_weights: Sequence[np.ndarray] | None = None,
) -> list[tuple[LinearScorer, np.ndarray]]:
    """Train classifiers on all rows, and score rows by classifiers that did not see their plants.

    Parameters
    ----------
    rows : Rows
    labels : int (n,)
        Species, from 0, all of them present.
    weights : float (n,)
        How much each row counts.
    folds : sequence of int array
        Rows that are left out together; none where there is one plant only.
    asked : int (k,)
        Rows that are scored.
    settings : ClassifierSettings
    folder : path-like, optional
        For what does not fit into memory.
    fold_weights : sequence of float (n,), optional
        How much each row counts where a fold is left out; by default as always. Of no effect on ridge regression of
        more rows than stay in memory: of so many, some that are left out hardly change how much the others count.

    Returns
    -------
    list of tuple
        One for the classifier, and one for the softmax regression beside it where it asks for one:

        scorer : LinearScorer
        held_out : float32 (k, n_species)
            -inf for species that the row's classifier did not see.
    """
    kinds: list[Callable[[Learner, int | None], Fit]] = [lambda learner, left_out: learner.fit(left_out)]
    if settings.softmax_components:
        kinds.append(
            lambda learner, left_out: learner.fit_softmax(
                settings.softmax_components, settings.softmax_regularisation, left_out
            )
        )
    with closing(
        _learner(rows, labels, weights, folds or [np.arange(len(labels))], settings, folder, fold_weights or None)
    ) as learner:
        held_out = [np.full((len(asked), int(labels.max()) + 1), -np.inf, np.float32) for _ in kinds]
        for number, fold in enumerate(folds):
            places = np.flatnonzero(np.isin(asked, fold))
            for scores, fitted in zip(held_out, kinds, strict=True):
                if len(places):
                    fit = fitted(learner, number)
                    scores[np.ix_(places, fit.seen)] = learner.scores(fit, asked[places])
        return [(learner.scorer(fitted(learner, None)), scores) for fitted, scores in zip(kinds, held_out, strict=True)]


def check_bounded(name: str, settings: ClassifierSettings, n_rows: int, n_columns: int) -> None:
    """Refuse to train a classifier that would hold more than memory may have.

    Ridge regression needs memory for its columns only, however many rows there are.

    Raises
    ------
    LeafidError
    """
    size = 4 * n_rows * n_columns * (3 if settings.feature_map == "chi2" else 1)
    if settings.kind != "ridge" and size > LARGEST_IN_MEMORY:
        raise LeafidError(
            f"expert {name!r}: {settings.kind} needs all of its {n_rows} rows in memory, {size / 2**30:.1f} GiB; "
            f'at most {LARGEST_IN_MEMORY / 2**30:g} GiB are allowed; use classifier = "ridge" for so many pictures'
        )


def _learner(
    rows: Rows,
    labels: np.ndarray,
    weights: np.ndarray,
    parts: Sequence[np.ndarray],
    settings: ClassifierSettings,
    folder: Path | None,
    part_weights: Sequence[np.ndarray] | None,
) -> Learner:
    common = (rows, labels, weights, parts, settings.regularisation)
    if settings.kind != "ridge":
        return InMemory(*common, part_weights, folder, kind=settings.kind)
    if rows.is_wide or rows.n_rows <= min(2 * rows.n_columns, _FEW_ROWS):
        return InnerProducts(*common, part_weights, folder)
    return NormalEquations(*common, part_weights if rows.is_small else None, folder)
