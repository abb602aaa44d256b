"""Distances between classes of objects."""

import os
from collections.abc import Callable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np

from leafid.errors import LeafidError
from leafid.textfiles import LineProblems, parse_finite_number, read_table

#: Distance of a class from a true class, 0 to 1; called as ``distance(true class, class)``.
Distance = Callable[[str, str], float]


def read_distances(path: str | os.PathLike[str], *, similarities: bool = False) -> Distance:
    """Read a matrix of distances between classes, or of similarities, 1 minus the distance.

    The file is CSV in UTF-8. The first line has an empty cell (or a word) and the classes; every other line has a true
    class and its distances, 0 to 1, to these classes. A `ProblemsError` names every bad line. The function returned
    raises a `LeafidError` for a class that the file lacks.
    """
    kind, kinds = ("similarity", "similarities") if similarities else ("distance", "distances")
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
                problems.add(line, f"expected a class and {len(names)} {kinds}, found {len(cells)} cells")
            elif cells[0] not in names or cells[0] in rows:
                problems.add(line, f"expected each class of the first line once, found {cells[0]!r}")
            elif bad:
                problems.add(line, f"expected a {kind} from 0 to 1, found {bad[0]!r}")
            else:
                rows[cells[0]] = [value for value in values if value is not None]
        for name in [] if problems else [name for name in names if name not in rows]:
            problems.add(None, f"expected a line for class {name!r}, found none")
    matrix = np.array([rows[name] for name in names])
    return make_distance(names, 1 - matrix if similarities else matrix, str(path))


def read_taxonomy(path: str | os.PathLike[str]) -> Distance:
    """Read a tree of classes of any depth; the distance of two classes is that of their nodes.

    The file is CSV in UTF-8 with the columns ``class`` and ``parent``. A node whose parent is empty is at the top, and
    so is a parent without a line of its own; several nodes at the top have a common root. Inner nodes are classes as
    well.

    The distance is the number of edges between two nodes, divided by twice the depth of the tree: 1 for two of the
    deepest nodes that share nothing but the root. A class that the file lacks raises a `LeafidError`; a `ProblemsError`
    names every bad line, every repeated class, and a class that is below itself.
    """
    parents: dict[str, str] = {}
    lines_of: dict[str, int] = {}
    rows = read_table(path)
    _, columns = next(rows, (1, []))
    if columns != ["class", "parent"]:
        raise LeafidError(f"{path}:1: expected the columns class and parent, found {columns}")
    with LineProblems(path) as problems:
        for line, cells in rows:
            if not cells:
                continue
            if len(cells) != 2 or not cells[0]:
                problems.add(line, f"expected a class and its parent, found {cells}")
            elif problems.check_unique(line, "every class", cells[0]):
                parents[cells[0]], lines_of[cells[0]] = cells[1], line
        depths, cycle = _measure_depths(parents)
        if cycle:
            first = min(cycle, key=lambda name: lines_of[name])
            problems.add(lines_of[first], f"expected a class that is not below itself, found {first!r}")
        if not parents and not problems:
            problems.add(None, "expected lines 'class,parent', found none")
    # A single node at the top is the root itself.
    n_tops = list(depths.values()).count(1)
    n_edges = 2 * (max(depths.values()) - (n_tops == 1))

    def distance(true_name: str, name: str) -> float:
        for unknown in {true_name, name} - depths.keys():
            raise LeafidError(f"{path}: expected a line for every class, found none for {unknown!r}")
        true_node, node, edges = true_name, name, 0
        while true_node != node:
            # The deeper node moves up; two tops meet in the root above them, which has no name.
            if depths.get(true_node, 0) >= depths.get(node, 0):
                true_node = parents.get(true_node, "")
            else:
                node = parents.get(node, "")
            edges += 1
        return edges / n_edges if n_edges else 0.0

    return distance


def _measure_depths(parents: Mapping[str, str]) -> tuple[dict[str, int], list[str]]:
    """Measure the depth of every node, 1 at the top, or list the nodes of a cycle."""
    graph = {name: [parent] if parent else [] for name, parent in parents.items()}
    depths: dict[str, int] = {}
    try:
        for node in TopologicalSorter(graph).static_order():
            depths[node] = depths.get(parents.get(node, ""), 0) + 1
    except CycleError as error:
        return {}, error.args[1][1:]
    return depths, []


def make_distance(names: Sequence[str], matrix: np.ndarray, source: str) -> Distance:
    """Make a function of a matrix of distances, shape (C, C), between C classes; `source` names it in messages."""
    indices = {name: index for index, name in enumerate(names)}

    def distance(true_name: str, name: str) -> float:
        for unknown in {true_name, name} - indices.keys():
            raise LeafidError(f"{source}: expected distances of every class, found none of {unknown!r}")
        return float(matrix[indices[true_name], indices[name]])

    return distance
