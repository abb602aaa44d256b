"""Curves of a cross-validation in an open world."""

from collections.abc import Sequence

import numpy as np

from leafid.model.crossvalidation import OpenWorldFold
from leafid.pages.plots import draw_curves
from leafid.scoring.open_world import SHARES, trace_accepted, trace_oscr


def draw_open_world_curves(folds: Sequence[OpenWorldFold]) -> dict[str, str]:
    """Draw what is accepted where a share of the leaves of known species is rejected, and the OSCR; SVG by name.

    The score is the product of the probabilities of a leaf and of a known species. A curve is the mean over the folds
    of a type.
    """
    folds = [fold for fold in folds if fold.has_both]
    rejected = "known leaves rejected"
    unknown, non_leaves, oscr = (
        {
            str(type_): (SHARES, np.mean([compute(fold) for fold in folds if fold.type == type_], axis=0))
            for type_ in dict.fromkeys(fold.type for fold in folds)
        }
        for compute in (
            lambda fold: trace_accepted(fold.known, [fold.unknown]),
            lambda fold: trace_accepted(fold.known, list(fold.non_leaves.values())),
            trace_oscr,
        )
    )
    return {
        "unknown-species": draw_curves(unknown, rejected, "leaves of unknown species accepted"),
        "no-leaf": draw_curves(non_leaves, rejected, "pictures without a leaf accepted"),
        "oscr": draw_curves(oscr, "leaves of unknown species accepted", "known leaves accepted and correct"),
    }
