"""How well a system tells known species from unknown ones, and names the known ones.

Each picture has a score, higher where the system takes it for a known species; pictures below a threshold are rejected.
"""

from collections.abc import Sequence

import numpy as np

from leafid.features.non_leaves import TEST_KINDS
from leafid.grouping import group_by
from leafid.metrics.averages import accuracy_score
from leafid.metrics.confidence import (
    CONFIDENT,
    false_positive_rate,
    open_set_classification_rate,
)
from leafid.model.answer import Answer
from leafid.scoring.tables import Cell, Table
from leafid.studies.cross_validation import OpenWorldFold


def make_open_world_tables(folds: Sequence[OpenWorldFold]) -> list[Table]:
    """Tabulate how leaves of unknown species, and pictures without a leaf, are judged, by acquisition type.

    Scores are means over the folds, each with other species held out.
    """
    species_rows: list[list[Cell]] = []
    kind_rows: list[list[Cell]] = []
    for type_, of_type in group_by(folds, lambda fold: str(fold.type)).items():
        if scores := [
            _score_fold(fold) for fold in of_type if fold.known and fold.unknown
        ]:
            known, unknown, *means = np.mean(scores, axis=0).tolist()
            species_rows.append([type_, round(known), round(unknown), *means])
        for kind in dict.fromkeys(kind for fold in of_type for kind in fold.non_leaves):
            answers = [
                answer for fold in of_type for answer in fold.non_leaves.get(kind, ())
            ]
            kind_rows.append(
                [type_, kind, "no" if kind in TEST_KINDS else "yes", *_count(answers)]
            )
    headings = [
        "known",
        "unknown",
        "AUROC",
        "OSCR",
        "FPR-95",
        "unknown rejected",
        "known rejected",
        "unknown ≥ 0.9",
    ]
    notes = [
        "scores are means over the folds, each with other species held out of training"
    ]
    counted = ["pictures", "no leaf", "unclear", "unknown", "named", "named ≥ 0.9"]
    return [
        Table(
            "Leaves of known and of unknown species",
            ["type", *headings, "top-1"],
            species_rows,
            notes,
        ),
        Table(
            "Pictures without a leaf in which the segmentation found something",
            ["type", "kind", "learned", *counted],
            kind_rows,
        ),
    ]


def _score_fold(fold: OpenWorldFold) -> list[float]:
    answers = (fold.known, fold.unknown)
    known, unknown = (
        np.array([answer.p_known for answer in listed], float) for listed in answers
    )
    is_named, is_unknown_named = (
        [answer.name is not None for answer in listed] for listed in answers
    )
    is_correct = [
        answer.ranking[0][0] == answer.picture.species for answer in fold.known
    ]
    return [
        *(len(known), len(unknown)),
        open_set_classification_rate(known, unknown),
        open_set_classification_rate(known, unknown, is_correct),
        false_positive_rate(known, unknown),
        *(1 - accuracy_score(is_unknown_named), 1 - accuracy_score(is_named)),
        accuracy_score(
            [
                answer.name is not None and _is_confident(answer)
                for answer in fold.unknown
            ]
        ),
        accuracy_score(is_correct),
    ]


def _count(answers: Sequence[Answer]) -> list[int]:
    decisions = [answer.decision for answer in answers]
    n_confident = sum(
        answer.decision == "species" and _is_confident(answer) for answer in answers
    )
    return [
        len(answers),
        *(
            decisions.count(name)
            for name in ("no-leaf", "unclear", "unknown", "species")
        ),
        n_confident,
    ]


def _is_confident(answer: Answer) -> bool:
    return (answer.answer_probability or 0) >= CONFIDENT
