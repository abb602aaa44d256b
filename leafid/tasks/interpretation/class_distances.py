"""Distances between classes of objects."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

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
        for line, cells in lines:
            if not cells:
                continue
            values = [value for value in map(parse_finite_number, cells[1:]) if value is not None and 0 <= value <= 1]
            if cells[0] not in names or cells[0] in rows:
                problems.add(line, f"expected each class of the first line once, found {cells[0]!r}")
            elif not len(cells) - 1 == len(values) == len(names):
                problems.add(line, f"expected a class and {len(names)} distances from 0 to 1, found {cells}")
            else:
                rows[cells[0]] = values
        for name in [] if problems else [name for name in names if name not in rows]:
            problems.add(None, f"expected a line for class {name!r}, found none")
    return make_distance(names, np.array([rows[name] for name in names]), path)


def read_taxonomy(path: str | os.PathLike[str]) -> Distance:
    """Read a tree of classes: the species of a collection, or a CSV of a tree of any depth.

    The distance of two species of a collection is the share of ranks (order, family, genus, species) that differ.

    A CSV has the columns ``class`` and ``parent``. A node whose parent is empty is at the top, and so is a parent
    without a line of its own; several nodes at the top have a common root. The distance of two nodes is the number of
    edges between them, divided by twice the depth of the tree: 1 for two of the deepest nodes that share nothing but
    the root. A `ProblemsError` names the bad lines and repeated classes; a class below itself raises a `LeafidError`.
    """
    if Path(path).suffix.lower() != ".csv":
        tree = Taxonomy.from_pictures(read_and_warn(path).pictures)
        return make_distance(tree.species, tree.compute_distances(), path)
    parents: dict[str, str] = {}
    rows = read_table(path)
    _, columns = next(rows, (1, []))
    if columns != ["class", "parent"]:
        raise LeafidError(f"{path}:1: expected the columns class and parent, found {columns}")
    with LineProblems(path) as problems:
        for line, cells in rows:
            if cells and (len(cells) != 2 or not cells[0]):
                problems.add(line, f"expected a class and its parent, found {cells}")
            elif cells and problems.check_unique(line, "every class", cells[0]):
                parents[cells[0]] = cells[1]
        if not parents and not problems:
            problems.add(None, "expected lines 'class,parent', found none")
    # The empty parent is the root of all nodes at the top; a single one is the root itself.
    edges = [*parents.items(), *((name, "") for name in {*parents.values()} - {*parents, ""})]
    tops = [name for name, parent in edges if not parent]
    nodes = {name: index for index, name in enumerate(dict.fromkeys(name for edge in edges for name in edge))}
    ends = np.array([[nodes[name], nodes[parent]] for name, parent in edges])
    graph = coo_array((np.ones(len(ends)), ends.T), (len(nodes), len(nodes)))
    n_edges = shortest_path(graph.tocsr(), directed=False, unweighted=True)
    root = nodes.get(tops[0] if len(tops) == 1 else "", 0)
    lost = [name for name, index in nodes.items() if np.isinf(n_edges[root, index])]
    if lost or not tops:
        raise LeafidError(f"{path}: expected classes that are not below themselves, found {(lost or [*parents])[0]!r}")
    depth = max(n_edges[root, index] for name, index in nodes.items() if name)
    return make_distance([*nodes], n_edges / max(2 * depth, 1), path)


def make_distance(names: Sequence[str], matrix: np.ndarray, source: str | os.PathLike[str]) -> Distance:
    """Make a function of a matrix of distances, shape (C, C), between C classes; `source` names it in messages."""
    indices = {name: index for index, name in enumerate(names) if name}

    def distance(true_name: str, name: str) -> float:
        for unknown in {true_name, name} - indices.keys():
            raise LeafidError(f"{source}: expected distances of every class, found none of {unknown!r}")
        return float(matrix[indices[true_name], indices[name]])

    return distance
