"""Distances between classes of objects."""

import os
from collections.abc import Callable, Sequence

import numpy as np

from leafid.errors import LeafidError
from leafid.pictures import read_and_warn
from leafid.pictures.taxonomy import Taxonomy
from leafid.textfiles import LineProblems, parse_finite_number, read_table

#: Distance of a class from a true class, 0 to 1; called as ``distance(true class, class)``.
Distance = Callable[[str, str], float]


def read_distances(path: str | os.PathLike[str]) -> Distance:
    """Read a matrix of distances between classes.

    The file is CSV in UTF-8. The first line has an empty cell (or a word) and the classes; every other line has a true
    class and its distances, 0 to 1, to these classes. A `ProblemsError` names the bad lines. The function returned
    raises a `LeafidError` for a class that the file lacks.
    """
    lines = read_table(path)
    _, header = next(lines, (1, []))
    names = header[1:]
    if not names or len(set(names)) != len(names):
        raise LeafidError(f"{path}:1: expected an empty cell and the classes, each once, found {names}")
    rows: dict[str, list[float]] = {}
    with LineProblems(path) as problems:
        for line, (name, *cells) in lines:
            values = [value for value in map(parse_finite_number, cells) if value is not None and 0 <= value <= 1]
            if name not in names or not len(cells) == len(values) == len(names):
                expected = f"a class of the first line and {len(names)} distances from 0 to 1"
                problems.add(line, f"expected {expected}, found {[name, *cells]}")
            elif problems.check_unique(line, "every class", name):
                rows[name] = values
        if not problems and len(rows) < len(names):
            problems.add(None, f"expected a line for each of {len(names)} classes, found {len(rows)}")
    return make_distance(names, np.array([rows[name] for name in names]), path)


def read_taxonomy(collection: str | os.PathLike[str]) -> Distance:
    """Make distances of the species of a collection: the share of ranks (order, family, genus, species) that differ."""
    tree = Taxonomy.from_pictures(read_and_warn(collection).pictures)
    return make_distance(tree.species, tree.compute_distances(), collection)


def make_distance(names: Sequence[str], matrix: np.ndarray, source: str | os.PathLike[str]) -> Distance:
    """Make a function of a matrix of distances, shape (C, C), between C classes; `source` names it in messages."""
    indices = {name: index for index, name in enumerate(names)}

    def distance(true_name: str, name: str) -> float:
        for unknown in {true_name, name} - indices.keys():
            raise LeafidError(f"{source}: expected distances of every class, found none of {unknown!r}")
        return float(matrix[indices[true_name], indices[name]])

    return distance
