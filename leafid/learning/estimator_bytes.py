"""Fitted estimators of scikit-learn as bytes, by skops, which executes nothing that is in them."""

from __future__ import annotations

import io
import logging
import warnings
from importlib import import_module
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

from leafid.errors import LeafidError

# Parts of estimators that skops doesn't trust by itself. A tree is among them, as a manipulated one makes scikit-learn
# read memory that isn't its own: `_check_nodes` looks at its content.
_TRUSTED = {
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
}
# What the nodes of `Tree`, and those of `TreePredictor`, refer to other nodes and to columns by.
_TREE_COLUMNS, _HISTOGRAM_COLUMNS = (
    ("left_child", "right_child", "feature"),
    ("left", "right", "feature_idx"),
)
# The first bytes of an array, whatever its file is called.
_MAGIC = b"\x93NUMPY"
_log = logging.getLogger(__name__)


def dump(estimator: Any) -> bytes:
    """Turn a fitted estimator into bytes.

    A `LeafidError` is raised when it has parts that `load` would refuse, or skops is not installed.
    """
    skops = _import_skops()
    try:
        data = skops.dumps(estimator)
        _check_types(skops, data)
    except Exception as error:  # skops raises errors of its own for what it can't store
        raise LeafidError(
            f"{type(estimator).__name__} can't be stored: {error}; use another classifier"
        ) from error
    return data


def load(data: bytes) -> Any:
    """Make the estimator of `dump` again, without executing anything that is in the bytes.

    A `ValueError` is raised when they hold no classifier, or one with other types than those of scikit-learn and NumPy,
    or of a version of scikit-learn that this one can't read; a `LeafidError` is raised when skops is not installed.
    """
    skops = _import_skops()
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            if any(info.compress_type != ZIP_STORED for info in archive.infolist()):
                raise ValueError("expected files that are not compressed, found others")
            contents = [
                archive.read(name)
                for name in archive.namelist()
                if name != "schema.json"
            ]
        _check_types(skops, data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InconsistentVersionWarning)
            estimator = skops.loads(data, trusted=sorted(_TRUSTED))
        if not isinstance(estimator, BaseEstimator) or not is_classifier(estimator):
            raise ValueError(f"expected a classifier, found {type(estimator).__name__}")
        for nodes in map(_read_nodes, contents):
            if nodes is not None:
                _check_nodes(nodes, estimator)
        if caught:
            _log.warning(
                "a classifier of a model may answer differently; train it again: %s",
                caught[0].message,
            )
    except MemoryError:
        raise
    except Exception as error:  # anything may be wrong with the bytes
        raise ValueError(
            f"expected a classifier as skops stores it, found an error: {error}"
        ) from error
    return estimator


def _import_skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        advice = "pip install 'leafid[skops]'"
        raise LeafidError(
            f"to store or read a classifier of scikit-learn, skops is needed: {advice}"
        ) from error


def _check_types(skops: Any, data: bytes) -> None:
    if unknown := set(skops.get_untrusted_types(data=data)) - _TRUSTED:
        raise ValueError(
            f"expected only types of scikit-learn and NumPy, found {', '.join(sorted(unknown))}"
        )


def _read_nodes(content: bytes) -> np.ndarray | None:
    """Read the nodes of a tree, a structured array; None where a file holds something else."""
    if not content.startswith(_MAGIC):
        return None
    array = np.load(io.BytesIO(content), allow_pickle=False)
    return None if array.dtype.names is None else array


def _check_nodes(nodes: np.ndarray, estimator: Any) -> None:
    """Check that the nodes of a tree refer to later nodes, so that the way ends at a leaf, and to existing columns."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    is_histogram = "is_leaf" in (nodes.dtype.names or ())
    left, right, feature = _HISTOGRAM_COLUMNS if is_histogram else _TREE_COLUMNS
    inner = np.flatnonzero(nodes["is_leaf"] == 0 if is_histogram else nodes[left] != -1)
    children, columns = (
        np.stack([nodes[left], nodes[right]]).astype(np.int64)[:, inner],
        nodes[feature][inner],
    )
    is_right = (
        (children > inner)
        & (children < len(nodes))
        & (columns >= 0)
        & (columns < last.n_features_in_)
    )
    if not is_right.all() or (is_histogram and nodes["is_categorical"].any()):
        raise ValueError(
            "expected nodes of trees that refer to later ones, found others"
        )
