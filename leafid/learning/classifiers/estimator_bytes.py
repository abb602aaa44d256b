"""Fitted estimators of scikit-learn as bytes, by skops, which executes none of them.

Compiled code of scikit-learn trusts the arrays of an estimator, and wrong ones can make
it write to the memory of others: load only bytes whose author the user trusts
(`leafid.permissions`).
"""

from __future__ import annotations

import logging
import warnings
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import InconsistentVersionWarning

from leafid.errors import LeafidError

# Parts of estimators that skops doesn't trust by itself.
_TRUSTED = {
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
}
_log = logging.getLogger(__name__)


def dump(estimator: Any) -> bytes:
    """Turn a fitted estimator into bytes.

    A `LeafidError` is raised when it has parts that `load` would refuse, or skops is
    not installed.
    """
    skops = _import_skops()
    try:
        data = skops.dumps(estimator)
        _check_types(skops, data)
    except Exception as error:
        # skops raises various errors for estimators that it can't store.
        raise LeafidError(
            f"{type(estimator).__name__} can't be stored: {error}; use another "
            "classifier"
        ) from error
    return data


def load(data: bytes) -> Any:
    """Make the estimator of `dump` again, without executing anything in the bytes.

    A `ValueError` is raised when they hold no classifier, or one with types beside
    scikit-learn's and NumPy's, or of a version of scikit-learn that this one can't
    read; a `LeafidError` is raised when skops is not installed.
    """
    skops = _import_skops()
    try:
        _check_types(skops, data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InconsistentVersionWarning)
            estimator = skops.loads(data, trusted=sorted(_TRUSTED))
        if not isinstance(estimator, BaseEstimator) or not is_classifier(estimator):
            raise ValueError(f"expected a classifier, found {type(estimator).__name__}")
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
            "expected only types of scikit-learn and NumPy, found "
            f"{', '.join(sorted(unknown))}"
        )
