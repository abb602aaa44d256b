"""Tables and curves of a cross-validation in an open world."""

from collections.abc import Sequence

import numpy as np

from leafid.features.non_leaves import HELD_BACK_KINDS
from leafid.metrics.open_world import (
    area_under_roc,
    confident_share,
    false_positive_rate,
    open_set_classification_rate,
)
from leafid.model.open_world import Judgements, OpenWorldFold
from leafid.report.facts import compute_open_set_curve
from leafid.report.plots import draw_curves
from leafid.report.tables import Cell, Table

_SCORES = (
    "AUROC",
    "OSCR",
    "FPR-95",
    "unknown rejected",
    "unknown ≥ 0.9",
    "known rejected",
    "known ≥ 0.9",
    "unknown ≥ 0.9 in all",
    "known ≥ 0.9 in all",
    "top-1",
)
_SHARES = np.linspace(0, 1, 201)


def make_open_world_tables(folds: Sequence[OpenWorldFold]) -> list[Table]:
    """Tabulate how leaves of unknown species, and pictures without a leaf, are judged, by acquisition type.

    Scores are means over the folds, each with other species held out.
    """
    types = list(dict.fromkeys(str(fold.type) for fold in folds))
    species_rows: list[list[Cell]] = []
    kind_rows: list[list[Cell]] = []
    for type_ in types:
        own = [fold for fold in folds if str(fold.type) == type_ and fold.has_both]
        scores = np.array([_score(fold) for fold in own]).reshape(len(own), len(_SCORES))
        known, unknown = (
            round(float(np.mean([len(getattr(fold, name).known) for fold in own]))) if own else 0
            for name in ("known", "unknown")
        )
        if own:
            species_rows.append([type_, known, unknown, *scores.mean(axis=0).tolist()])
        for kind in dict.fromkeys(kind for fold in folds for kind in fold.non_leaves):
            judged = [fold.non_leaves[kind] for fold in folds if str(fold.type) == type_ and kind in fold.non_leaves]
            if judged:
                kind_rows.append([type_, kind, "no" if kind in HELD_BACK_KINDS else "yes", *_count(judged)])
    return [
        Table(
            "Leaves of known and of unknown species",
            ["type", "known", "unknown", *_SCORES],
            species_rows,
            [
                "scores are means over the folds, each with other species held out of training",
                "in all: the probability of the species times those of a leaf and of a known species",
            ],
        ),
        Table(
            "Pictures without a leaf in which the segmentation found something",
            ["type", "kind", "learned", "pictures", "no leaf", "unknown", "named", "named ≥ 0.9"],
            kind_rows,
        ),
    ]


def draw_open_world_curves(folds: Sequence[OpenWorldFold]) -> dict[str, str]:
    """Draw what is accepted where a share of the leaves of known species is rejected, and the OSCR; SVG by name.

    The score is the product of the probabilities of a leaf and of a known species. A curve is the mean over the folds
    of a type.
    """
    folds = [fold for fold in folds if fold.has_both]
    rejected = "known leaves rejected"
    unknown, non_leaves, oscr = (
        {
            str(type_): (_SHARES, np.mean([compute(fold) for fold in folds if fold.type == type_], axis=0))
            for type_ in dict.fromkeys(fold.type for fold in folds)
        }
        for compute in (
            lambda fold: _trace_accepted(fold.known, [fold.unknown]),
            lambda fold: _trace_accepted(fold.known, list(fold.non_leaves.values())),
            _trace_oscr,
        )
    )
    return {
        "unknown-species": draw_curves(unknown, rejected, "leaves of unknown species accepted"),
        "no-leaf": draw_curves(non_leaves, rejected, "pictures without a leaf accepted"),
        "oscr": draw_curves(oscr, "leaves of unknown species accepted", "known leaves accepted and correct"),
    }


def _trace_accepted(known: Judgements, others: Sequence[Judgements]) -> np.ndarray:
    """Compute the share of the others that is accepted where each of `_SHARES` of the known leaves is rejected."""
    scores = np.sort(np.concatenate([own.score for own in others]))
    thresholds = np.quantile(known.score, _SHARES, method="lower")
    return 1 - np.searchsorted(scores, thresholds) / max(len(scores), 1)


def _trace_oscr(fold: OpenWorldFold) -> np.ndarray:
    accepted, correct = compute_open_set_curve(
        np.concatenate([fold.known.score, fold.unknown.score]),
        np.concatenate([fold.is_correct, np.zeros(len(fold.unknown.score), bool)]),
        np.repeat([True, False], [len(fold.known.score), len(fold.unknown.score)]),
    )
    return np.interp(_SHARES, accepted, correct)


def _score(fold: OpenWorldFold) -> list[float]:
    known, unknown = fold.known, fold.unknown
    return [
        area_under_roc(known.known, unknown.known),
        open_set_classification_rate(known.known, fold.is_correct, unknown.known),
        false_positive_rate(known.known, unknown.known),
        1 - unknown.is_named.mean(),
        confident_share(unknown.highest, unknown.is_named),
        1 - known.is_named.mean(),
        confident_share(known.highest, known.is_named),
        confident_share(unknown.highest * unknown.score, unknown.is_named),
        confident_share(known.highest * known.score, known.is_named),
        fold.is_correct.mean(),
    ]


def _count(judged: Sequence[Judgements]) -> list[Cell]:
    confident = [(own.is_named & (own.highest >= 0.9)).sum() for own in judged]
    return [
        sum(len(own.leaf) for own in judged),
        *(int(sum(getattr(own, name).sum() for own in judged)) for name in ("is_no_leaf", "is_unknown", "is_named")),
        int(sum(confident)),
    ]
