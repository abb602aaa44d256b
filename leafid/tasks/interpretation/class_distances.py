"""Distances between classes of objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np

from leafid.errors import LeafidError
from leafid.textfiles import LineProblems, parse_finite_number, read_table

#: Distance of a class from a true class, 0 to 1; called as ``distance(true class, class)``.
Distance = Callable[[str, str], float]


def read_distances(path: str | os.PathLike[str]) -> Distance:
    """Read a matrix of distances between classes.

    Parameters
    ----------
    path : path-like
        CSV in UTF-8. The first line has an empty cell (or a word) and the classes; every other line has a true class
        and its distances, 0 to 1, to the classes in the order of the first line.

    Returns
    -------
    callable
        Raises a `LeafidError` for a class that the file lacks.

    Raises
    ------
    ProblemsError
        Names every line with a wrong number of cells, an unknown or repeated class, or a cell that is no distance.
    """
    lines = read_table(path)
    _, header = next(lines, (1, []))
    names = header[1:]
    if not names or len(set(names)) != len(names):
        raise LeafidError(f"{path}:1: expected an empty cell and the classes, each once, found {names}")
    rows: dict[str, list[float]] = {}
    with LineProblems(path) as problems:
        for line, cells in lines:
            if not cells:
                continue
            values = [parse_finite_number(cell) for cell in cells[1:]]
            bad = [cell for cell, value in zip(cells[1:], values, strict=True) if value is None or not 0 <= value <= 1]
            if len(cells) != len(names) + 1:
                problems.add(line, f"expected a class and {len(names)} distances, found {len(cells)} cells")
            elif cells[0] not in names or cells[0] in rows:
                problems.add(line, f"expected each class of the first line once, found {cells[0]!r}")
            elif bad:
                problems.add(line, f"expected a distance from 0 to 1, found {bad[0]!r}")
            else:
                rows[cells[0]] = [value for value in values if value is not None]
        for name in [] if problems else [name for name in names if name not in rows]:
            problems.add(None, f"expected a line for class {name!r}, found none")
    return make_distance(names, np.array([rows[name] for name in names]), str(path))


def make_distance(names: Sequence[str], matrix: np.ndarray, source: str) -> Distance:
    """Make a function of a matrix, shape (C, C), of distances between C classes; `source` names it in messages."""
    indices = {name: index for index, name in enumerate(names)}

    def distance(true_name: str, name: str) -> float:
        for unknown in {true_name, name} - indices.keys():
            raise LeafidError(f"{source}: expected distances of every class, found none of {unknown!r}")
        return float(matrix[indices[true_name], indices[name]])

    return distance
