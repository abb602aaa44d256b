"""The steps of the interpretation metric in one picture, as tables."""

import math
from collections.abc import Sequence

import numpy as np

from leafid.scoring.tables import Cell, Table
from leafid.tasks.interpretation.metric import Interpretation, Scene


def explain_scene(picture: str, scene: Scene, found: Interpretation) -> list[Table]:
    """Make a table of each step's matrix, and of the error of every object.

    Rows are true objects, columns found ones, numbered from 1 as in the COCO file (without ignored ones) or the mask.
    """
    rows, columns = _number_names(scene.true_names), _number_names(scene.names)
    steps = {
        "overlap (intersection over union)": scene.overlap,
        "matches": found.matches.astype(int),
        "localisation errors of matches": np.where(found.matches, found.localisation, np.nan),
        "recognition errors of matches": np.where(found.matches, found.recognition, np.nan),
        "local errors of matches": np.where(found.matches, found.local, np.nan),
        "errors with compensation": found.compensated,
    }
    tables = [_make_matrix(f"{picture}: {step}", matrix, rows, columns) for step, matrix in steps.items()]
    return [*tables, _list_objects(picture, found, rows, columns)]


def _number_names(names: Sequence[str]) -> list[str]:
    return [f"{number} {name}".strip() for number, name in enumerate(names, start=1)]


def _make_matrix(title: str, matrix: np.ndarray, rows: list[str], columns: list[str]) -> Table:
    n_rows, n_columns = matrix.shape
    row_names = rows + [f"+{number}" for number in range(1, n_rows - len(rows) + 1)]
    column_names = columns + [f"+{number}" for number in range(1, n_columns - len(columns) + 1)]
    return Table(
        title,
        ["true object", *column_names],
        [[name, *values] for name, values in zip(row_names, matrix.tolist(), strict=True)],
    )


def _list_objects(picture: str, found: Interpretation, rows: list[str], columns: list[str]) -> Table:
    objects: list[list[Cell]] = []
    for side, names, others, matches, local, alone in (
        ("true", rows, columns, found.matches, found.local, "none: missed"),
        ("found", columns, rows, found.matches.T, found.local.T, "none: invented"),
    ):
        for index, name in enumerate(names):
            partners = np.flatnonzero(matches[index])
            errors = local[index, partners].tolist() or [1.0]
            matched = ", ".join(others[partner] for partner in partners) or alone
            objects.append([side, name, matched, math.fsum(errors) / len(errors)])
    n_errors = int(np.count_nonzero(~np.isnan(found.compensated)))
    notes = [f"error of the picture: {found.error:.4f}, the mean of {n_errors} errors with compensation"]
    return Table(f"{picture}: objects", ["side", "object", "matched with", "error"], objects, notes)
