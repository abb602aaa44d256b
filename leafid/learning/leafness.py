"""The probability that a picture shows a leaf, by a forest of randomised trees.

A linear classifier of the same measures mostly distinguishes cameras, while deep trees
learn what leaves by all cameras have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from leafid.learning.logistic import (
    Examples,
    apply_logistic,
    assign_folds,
    balance,
    fit_logistic,
    take_logits,
)

#: A picture with a lower probability shows no leaf.
MIN_LEAF = 0.5
#: A picture with a lower probability surely shows none, however it was taken.
POSSIBLE_LEAF = 0.1
# The share of the pictures without a leaf that may have a probability above `MIN_LEAF`.
# Most of them are figures with a leaf's texture, which `knownness` rejects.
_PASSING_SHARE = 0.05
# Some trees learn without each fold of groups; all of them make the forest.
_N_FOLDS = 5
_TREES_PER_FOLD = 50
# Number of columns among which a node chooses: most say little.
_COLUMNS_PER_NODE = 200
# The smallest share of trees, and complement of one, whose logarithm is taken.
_FLOOR = 0.01
# The smallest probability whose logarithm is taken.
_LEAST = 1e-15
# More than the rounding of an offset.
_ROUNDING = 1e-5
_PENALTY = 1.0


class Leafness(msgspec.Struct, frozen=True, eq=False):
    """A forest of binary trees, and the calibration of its answer.

    The nodes of a tree follow each other in depth-first order: the left child of a node
    is the next one.
    """

    #: uint16 (n_nodes,): the column that an inner node compares.
    columns: np.ndarray
    #: float16 (n_nodes,): the highest value with which a row goes to the left, or the
    #: share of leaves at the end of a path.
    values: np.ndarray
    #: uint16 (n_nodes,): how many nodes further the right child is; 0 at the end of a
    #: path.
    jumps: np.ndarray
    #: uint32 (n_trees,): the first node of each tree.
    roots: np.ndarray
    #: float32 (2,): slope and offset of the logit of the mean share.
    calibration: np.ndarray

    def admit(self, probability: float) -> Leafness:
        """Raise the offset until this probability is `MIN_LEAF` at least."""
        slope, offset = self.calibration
        missing = _ROUNDING - float(take_logits(np.array(probability), _LEAST))
        calibration = np.array([slope, offset + max(0.0, missing)], np.float32)
        return msgspec.structs.replace(self, calibration=calibration)

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


def fit_leafness(examples: Examples) -> tuple[Leafness, np.ndarray]:
    """Learn to distinguish leaves from pictures without a leaf.

    Parameters
    ----------
    examples : Examples
        Measures of leaves (positive), grouped by plant, and of pictures without a leaf,
        in groups that resemble each other.

    Returns
    -------
    leafness : Leafness
        Its probability is `MIN_LEAF` where 5 % of the pictures without a leaf have a
        higher one.
    probabilities : ndarray of float64, (n,)
        Of the examples, each by the trees that learned without its group.
    """
    rows = examples.rows.astype(np.float16).astype(np.float32)
    is_leaf = examples.is_positive
    weights = balance(examples.weights, is_leaf)
    folds = assign_folds(examples, _N_FOLDS)
    shares = np.empty(len(rows))
    trees: list[Any] = []
    for fold in np.unique(folds):
        is_held_out = folds == fold
        forest = _make_forest(rows.shape[1], seed=int(fold))
        forest.fit(rows[~is_held_out], is_leaf[~is_held_out], weights[~is_held_out])
        shares[is_held_out] = forest.predict_proba(rows[is_held_out])[:, 1]
        trees += forest.estimators_
    logits = take_logits(shares, _FLOOR)
    slope, _ = fit_logistic(logits[:, None], is_leaf, weights, _PENALTY)
    # Where nothing distinguishes them, all are taken for leaves.
    slope = max(slope, 0.0)
    threshold = np.quantile(logits[~is_leaf], 1 - _PASSING_SHARE)
    calibration = np.array([slope, -slope * threshold], np.float32)
    leafness = _store_trees([tree.tree_ for tree in trees], calibration)
    return leafness, _calibrate(shares, leafness)


def predict_leafness(rows: np.ndarray, leafness: Leafness) -> np.ndarray:
    """Give the probability that pictures show a leaf, float64 (n,).

    The rows are float (n, n_columns), in the range of half precision.
    """
    shares = [_follow_paths(row, leafness).mean() for row in rows.astype(np.float16)]
    return _calibrate(np.array(shares), leafness)


def _follow_paths(row: np.ndarray, leafness: Leafness) -> np.ndarray:
    """Give the share of leaves where the path of a row ends in each tree."""
    nodes = leafness.roots.astype(np.intp)
    while (jumps := leafness.jumps[nodes]).any():
        is_left = row[leafness.columns[nodes]] <= leafness.values[nodes]
        nodes += np.where(is_left, jumps > 0, jumps)
    return leafness.values[nodes].astype(np.float64)


def _calibrate(shares: np.ndarray, leafness: Leafness) -> np.ndarray:
    slope, offset = leafness.calibration.astype(np.float64)
    return apply_logistic(slope * take_logits(shares, _FLOOR) + offset)


def _make_forest(n_columns: int, seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier  # takes a second to import

    return ExtraTreesClassifier(
        _TREES_PER_FOLD,
        max_features=min(_COLUMNS_PER_NODE, n_columns),
        random_state=seed,
    )


def _store_trees(trees: Sequence[Any], calibration: np.ndarray) -> Leafness:
    columns, values, jumps = zip(*map(_read_tree, trees), strict=True)
    sizes = [tree.node_count for tree in trees]
    return Leafness(
        columns=np.concatenate(columns),
        values=np.concatenate(values),
        jumps=np.concatenate(jumps),
        roots=np.cumsum([0, *sizes[:-1]]).astype(np.uint32),
        calibration=calibration,
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
