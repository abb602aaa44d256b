"""Tables of distances between classes."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from leafid.errors import LeafidError, ProblemsError
from leafid.textfiles import parse_finite_number, read_table


def read_distances(path: str | os.PathLike[str]) -> Callable[[str, str], float]:
    """Read a matrix of distances between classes.

    Parameters
    ----------
    path : path-like
        CSV in UTF-8. The first line holds an empty cell (or a word) and the classes; every other line a class and its
        distances, 0 to 1, to the classes in the order of the first line.

    Returns
    -------
    callable
        ``distance(true class, class)``; raises LeafidError for a class that the file lacks.

    Raises
    ------
    ProblemsError
        Names every line with another number of cells, an unknown or repeated class, or what is no distance.
    """
    lines = read_table(path)
    _, first = next(lines, (1, []))
    names = first[1:]
    if not names or len(set(names)) != len(names):
        raise LeafidError(f"{path}:1: expected an empty cell and the classes, each once, found {names}")
    rows: dict[str, np.ndarray] = {}
    problems = []
    for line, cells in lines:
        problem = _problem(cells, names, rows)
        if problem:
            problems.append(f"{path}:{line}: {problem}")
        elif cells:
            rows[cells[0]] = np.array([float(cell) for cell in cells[1:]])
    problems += [
        f"{path}: expected a line for class {name!r}, found none" for name in names if name not in rows and not problems
    ]
    if problems:
        raise ProblemsError(problems)
    matrix = np.array([rows[name] for name in names])
    return distances_between(names, matrix, str(path))


def distances_between(
    names: list[str] | tuple[str, ...], matrix: np.ndarray, source: str
) -> Callable[[str, str], float]:
    """Look distances up by name.

    Parameters
    ----------
    names : sequence of str
    matrix : float array (C, C)
    source : str
        Where the distances come from, for messages.

    Returns
    -------
    callable
        ``distance(true class, class)``; raises LeafidError for an unknown class.
    """
    place = {name: index for index, name in enumerate(names)}

    def distance(one: str, other: str) -> float:
        for name in (one, other):
            if name not in place:
                raise LeafidError(f"{source}: expected distances of every class, found none of {name!r}")
        return float(matrix[place[one], place[other]])

    return distance


def _problem(cells: list[str], names: list[str], rows: dict[str, np.ndarray]) -> str | None:
    if not cells:
        return None
    if len(cells) != len(names) + 1:
        return f"expected a class and {len(names)} distances, found {len(cells)} cells"
    if cells[0] not in names or cells[0] in rows:
        return f"expected each class of the first line once, found {cells[0]!r}"
    for cell in cells[1:]:
        distance = parse_finite_number(cell)
        if distance is None or not 0 <= distance <= 1:
            return f"expected a distance from 0 to 1, found {cell!r}"
    return None
