"""A forest of extremely randomised trees that distinguishes two classes of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from leafid.learning.logistic import take_logits

_N_TREES = 50
# Number of columns among which a node chooses: most say little.
_COLUMNS_PER_NODE = 200
# The smallest share of trees, and complement of one, whose logarithm is taken.
_FLOOR = 0.01


class Forest(msgspec.Struct, frozen=True, eq=False):
    """A forest of binary trees.

    The nodes of a tree follow each other in depth-first order: the left child of a node
    is the next one.
    """

    #: uint16 (n_nodes,): the column that an inner node compares.
    columns: np.ndarray
    #: float16 (n_nodes,): the highest value with which a row goes to the left, or the
    #: share of positive rows at the end of a path.
    values: np.ndarray
    #: uint16 (n_nodes,): how many nodes further the right child is; 0 at the end of a
    #: path.
    jumps: np.ndarray
    #: uint32 (n_trees,): the first node of each tree.
    roots: np.ndarray

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Score rows: the logits of the mean share of positive rows, float64 (n, 1).

        The rows are float (n, n_columns), in the range of half precision.
        """
        shares = [_follow_paths(row, self).mean() for row in rows.astype(np.float16)]
        return take_logits(np.array(shares), _FLOOR)[:, None]

    def check(self, n_columns: int) -> None:
        """Raise a `ValueError` where a path would leave the nodes, or a row's columns.

        The arrays have the shapes above.
        """
        last = np.arange(len(self.jumps)) + self.jumps
        limits = [(self.columns, n_columns), (self.roots, last.size), (last, last.size)]
        for indices, limit in limits:
            if indices.dtype.kind not in "iu" or indices.max() >= limit:
                raise ValueError(
                    f"expected trees for {n_columns} columns, found other indices"
                )


def cross_fit_forest(
    rows: np.ndarray, is_positive: np.ndarray, weights: np.ndarray, folds: np.ndarray
) -> tuple[Forest, np.ndarray]:
    """Fit some trees without each fold; all of them make the forest.

    Parameters
    ----------
    rows : ndarray of float, (n, n_columns)
        In the range of half precision.
    is_positive : ndarray of bool, (n,)
    weights : ndarray of float, (n,)
    folds : ndarray of int, (n,)

    Returns
    -------
    forest : Forest
    scores : ndarray of float64, (n,)
        Of the rows, each by the trees that were fitted without its fold.
    """
    rows = rows.astype(np.float16).astype(np.float32)
    shares = np.empty(len(rows))
    trees: list[Any] = []
    for fold in np.unique(folds):
        is_held_out = folds == fold
        model = _make_forest(rows.shape[1], seed=int(fold))
        model.fit(rows[~is_held_out], is_positive[~is_held_out], weights[~is_held_out])
        shares[is_held_out] = model.predict_proba(rows[is_held_out])[:, 1]
        trees += model.estimators_
    forest = _store_trees([tree.tree_ for tree in trees])
    return forest, take_logits(shares, _FLOOR)


def _follow_paths(row: np.ndarray, forest: Forest) -> np.ndarray:
    """Give the share of positive rows where the path of a row ends in each tree."""
    nodes = forest.roots.astype(np.intp)
    while (jumps := forest.jumps[nodes]).any():
        is_left = row[forest.columns[nodes]] <= forest.values[nodes]
        nodes += np.where(is_left, jumps > 0, jumps)
    return forest.values[nodes].astype(np.float64)


def _make_forest(n_columns: int, seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier  # takes a second to import

    return ExtraTreesClassifier(
        _N_TREES,
        max_features=min(_COLUMNS_PER_NODE, n_columns),
        random_state=seed,
    )


def _store_trees(trees: Sequence[Any]) -> Forest:
    columns, values, jumps = zip(*map(_read_tree, trees), strict=True)
    sizes = [tree.node_count for tree in trees]
    return Forest(
        columns=np.concatenate(columns),
        values=np.concatenate(values),
        jumps=np.concatenate(jumps),
        roots=np.cumsum([0, *sizes[:-1]]).astype(np.uint32),
    )


def _read_tree(tree: Any) -> Iterator[np.ndarray]:
    """Give the columns, values and jumps of the nodes of a tree of scikit-learn."""
    is_inner = tree.children_left >= 0
    yield np.where(is_inner, tree.feature, 0).astype(np.uint16)
    shares = tree.value[:, 0, 1] / tree.value[:, 0].sum(axis=1)
    yield np.where(is_inner, _round_down(tree.threshold), shares).astype(np.float16)
    jumps = tree.children_right - np.arange(tree.node_count)
    yield np.where(is_inner, jumps, 0).astype(np.uint16)


def _round_down(thresholds: np.ndarray) -> np.ndarray:
    """Round to half precision, so that the same values of that are at most as high."""
    nearest = thresholds.astype(np.float16)
    below = np.nextafter(nearest, np.float16(-np.inf))
    return np.where(nearest > thresholds, below, nearest)
