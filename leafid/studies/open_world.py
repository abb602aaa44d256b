"""How well a system tells known species from unknown ones, and names the known ones.

Each picture has a score, higher where the system takes it for a known species; pictures
below a threshold are rejected.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

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
from leafid.scoring.tables import Rows, Table
from leafid.studies.cross_validation import OpenWorldFold

#: The columns of pictures without a leaf, by the decisions that they count.
_DECISIONS = {
    "no-leaf": "no leaf",
    "unclear": "unclear",
    "unknown": "unknown",
    "species": "named",
}


def make_open_world_tables(folds: Sequence[OpenWorldFold]) -> list[Table]:
    """Tabulate how leaves of unknown species, and pictures without a leaf, are judged.

    Rows are acquisition types. Scores are means over the folds, each with other species
    held out.
    """
    species_rows: Rows = []
    kind_rows: Rows = []
    for type_, group in group_by(folds, lambda fold: str(fold.type)).items():
        scores = [_score_fold(fold) for fold in group if fold.known and fold.unknown]
        if scores:
            known, unknown, *means = np.mean(scores, axis=0)
            counts = [round(known), round(unknown)]
            species_rows.append([type_, *counts, *map(float, means)])
        by_kind: dict[str, list[Answer]] = {}
        for kind, answers in chain(*(fold.non_leaves.items() for fold in group)):
            by_kind.setdefault(kind, []).extend(answers)
        for kind, answers in by_kind.items():
            is_learned = "no" if kind in TEST_KINDS else "yes"
            kind_rows.append([type_, kind, is_learned, *_count(answers)])
    columns = ["AUROC", "OSCR", "FPR-95", "unknown rejected", "known rejected"]
    note = (
        "scores are means over the folds, each with other species held out of training"
    )
    return [
        Table(
            title="Leaves of known and of unknown species",
            columns=["type", "known", "unknown", *columns, "unknown ≥ 0.9", "top-1"],
            rows=species_rows,
            notes=[note],
        ),
        Table(
            title="Pictures without a leaf in which something is segmented",
            columns=[
                *("type", "kind", "learned", "pictures"),
                *_DECISIONS.values(),
                "named ≥ 0.9",
            ],
            rows=kind_rows,
        ),
    ]


def _score_fold(fold: OpenWorldFold) -> list[float]:
    known = [answer.p_known or 0 for answer in fold.known]
    unknown = [answer.p_known or 0 for answer in fold.unknown]
    is_correct = [
        answer.ranking[0][0] == answer.picture.species for answer in fold.known
    ]
    return [
        len(known),
        len(unknown),
        open_set_classification_rate(known, unknown),
        open_set_classification_rate(known, unknown, is_correct),
        false_positive_rate(known, unknown),
        accuracy_score([answer.name is None for answer in fold.unknown]),
        accuracy_score([answer.name is None for answer in fold.known]),
        accuracy_score([_is_confident(a) and bool(a.name) for a in fold.unknown]),
        accuracy_score(is_correct),
    ]


def _count(answers: Sequence[Answer]) -> list[int]:
    counts = Counter[str](answer.decision for answer in answers)
    confident = Counter[str](a.decision for a in answers if _is_confident(a))
    return [len(answers), *map(counts.__getitem__, _DECISIONS), confident["species"]]


def _is_confident(answer: Answer) -> bool:
    return (answer.answer_probability or 0) >= CONFIDENT
