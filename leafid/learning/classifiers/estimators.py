"""Classifiers of scikit-learn, by their names: checked, fitted to rows, and scored.

Importing scikit-learn takes longer than identifying a picture: import this module only
where one of them is used.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from typing import Any

import msgspec
import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.discovery import all_estimators
from sklearn.utils.validation import has_fit_parameter

from leafid.errors import LeafidError
from leafid.grouping import count_noun

#: Entry points of this group name classes of classifiers that other packages have.
ENTRY_POINT_GROUP = "leafid_classifiers"
# A tenth of the vote of one in 100 trees. With 0.1, and with 1e-12, the held-out
# log-loss of neighbours and forests is higher.
_MIN_PROBABILITY = 1e-3
_STEPS = (
    'steps = [["scale", "sklearn.preprocessing.StandardScaler", {}], ["svc", '
    '"sklearn.svm.SVC", { C = 10 }]]'
)
_log = logging.getLogger(__name__)


def check_estimator(name: str, options: Mapping[str, Any]) -> None:
    """Check that a name and its parameters make a classifier whose scores can be used.

    Parameters
    ----------
    name : str
        A class of scikit-learn, such as ``sklearn.svm.SVC``, or an entry point of the
        group ``leafid_classifiers``.
    options : mapping
        The parameters of the class. The steps of ``sklearn.pipeline.Pipeline`` are
        lists of a name, a class and its parameters.

    Raises
    ------
    ValueError
        If it is no classifier, or one without scores and probabilities.
    """
    estimator = make_estimator(name, options)
    if not is_classifier(estimator):
        raise ValueError(f"expected a classifier, found {name}")
    if not hasattr(estimator, "decision_function") and not hasattr(
        estimator, "predict_proba"
    ):
        raise ValueError(
            f"expected a classifier that gives scores or probabilities, found {name} "
            f"with {dict(options)}"
        )


def make_estimator(name: str, options: Mapping[str, Any]) -> Any:
    """Make an estimator by its name.

    An estimator that draws random numbers has the seed 0 unless the options have
    another. A `ValueError` is raised as by `check_estimator`.
    """
    class_ = _find_class(name)
    # Where `memory` names a folder, joblib unpickles the files in it.
    allowed = signature(class_).parameters.keys() - {"memory"}
    if unknown := sorted(options.keys() - allowed):
        raise ValueError(
            f"{name}: expected parameters among {', '.join(sorted(allowed))}, found "
            f"{', '.join(unknown)}"
        )
    # A tree of neighbours can't be stored; with more than 15 columns none is made.
    defaults: dict[str, Any] = {"random_state": 0}
    if "leaf_size" in allowed:
        defaults["algorithm"] = "brute"
    parameters = {k: v for k, v in defaults.items() if k in allowed} | dict(options)
    if issubclass(class_, Pipeline):
        parameters["steps"] = _make_steps(parameters.get("steps"))
    if parameters.get("decision_function_shape", "ovr") != "ovr":
        raise ValueError(
            f"{name}: expected decision_function_shape = 'ovr', a score for each "
            "species, found another"
        )
    try:
        estimator = class_(**parameters)
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
        if isinstance(estimator, Pipeline):
            estimator._validate_steps()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    return estimator


def fit_estimator(
    estimator: Any, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray
) -> Any:
    """Fit an estimator to weighted rows.

    A classifier that takes no weights gets its priors from them, or ignores them with a
    warning.

    Parameters
    ----------
    estimator : object
        A classifier of scikit-learn.
    rows : ndarray of float32, (n, d)
    labels : ndarray of int, (n,)
        Species from 0, each of them present.
    weights : ndarray of float, (n,)
        Above 0.

    Returns
    -------
    object
        The estimator.

    Raises
    ------
    LeafidError
        If scikit-learn can't fit it.
    """
    last = estimator
    parameter = "sample_weight"
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        parameter = f"{step}__{parameter}"
    fit_parameters = {}
    if has_fit_parameter(last, "sample_weight"):
        fit_parameters[parameter] = weights
    elif getattr(last, "priors", ()) is None:
        last.set_params(priors=np.bincount(labels, weights) / weights.sum())
    else:
        _warn_of_ignored_weights(type(last).__name__)
    try:
        with warnings.catch_warnings():
            # Held-out scores judge a solver that stopped before it converged like any
            # other.
            warnings.simplefilter("ignore")
            return estimator.fit(rows, labels, **fit_parameters)
    except (ValueError, np.linalg.LinAlgError) as error:
        counts = f"{count_noun(len(rows), 'picture')} of {labels.max() + 1} species"
        raise LeafidError(
            f"{type(last).__name__} can't be fitted to {counts}: {error}"
        ) from error


def score(estimator: Any, rows: np.ndarray) -> np.ndarray:
    """Score every species for rows.

    Parameters
    ----------
    estimator : object
        A fitted classifier of scikit-learn.
    rows : ndarray of float32, (n, d)

    Returns
    -------
    ndarray of float32, (n, n_species)
        Margins or log odds where the estimator gives them, and else logarithms of its
        probabilities. The votes of neighbours and trees are often 0: a probability
        counts as `_MIN_PROBABILITY` at least.

    Raises
    ------
    LeafidError
        If there are no scores, or some are not finite.
    """
    try:
        if hasattr(estimator, "decision_function"):
            scores = estimator.decision_function(rows)
            if scores.ndim == 1:
                scores = np.column_stack([-scores, scores])
        else:
            scores = np.log(np.maximum(estimator.predict_proba(rows), _MIN_PROBABILITY))
    except ValueError as error:  # of a classifier of too few rows
        raise LeafidError(
            f"{type(estimator).__name__} gives no scores: {error}"
        ) from error
    if not np.isfinite(scores).all():
        raise LeafidError(
            f"{type(estimator).__name__} gives scores that are not finite; use "
            "another, or more pictures"
        )
    return np.asarray(scores, np.float32)


def is_linear(estimator: Any) -> bool:
    """Whether an estimator's scores are linear in the rows, as `to_linear` needs."""
    return isinstance(estimator, LinearClassifierMixin)


def to_linear(estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """Take the coefficients and intercepts out of a linear estimator.

    Coefficients are float32 (d, n_species), intercepts (n_species,).
    """
    coefficients = np.atleast_2d(estimator.coef_)
    intercepts = np.broadcast_to(estimator.intercept_, len(coefficients))
    if len(coefficients) == 1:
        # Of two classes, scikit-learn keeps the row of the second.
        coefficients = np.vstack([-coefficients, coefficients])
        intercepts = np.append(-intercepts, intercepts)
    return coefficients.T.astype(np.float32), intercepts.astype(np.float32)


def _find_class(name: str) -> type:
    """Find the class that a name means.

    Only modules of scikit-learn and entry points are imported.
    """
    module, _, class_name = name.rpartition(".")
    class_ = None
    with suppress(ImportError, SystemExit):
        if points := entry_points(group=ENTRY_POINT_GROUP, name=name):
            class_ = next(iter(points)).load()
        elif module.startswith("sklearn."):
            class_ = getattr(import_module(module), class_name, None)
    if isinstance(class_, type) and issubclass(class_, BaseEstimator):
        return class_
    classes = "a class of scikit-learn such as sklearn.svm.LinearSVC"
    names = f"{classes}, or an entry point of {ENTRY_POINT_GROUP}"
    raise ValueError(
        f"expected ridge (not in a pipeline), {names}, found "
        f"{name!r}{_suggest_names(class_name)}"
    )


def _suggest_names(class_name: str) -> str:
    """Suggest the classifiers of scikit-learn whose names are nearest to one."""
    classes = dict(all_estimators(type_filter="classifier"))
    packages = {
        name: ".".join(class_.__module__.split(".")[:2])
        for name, class_ in classes.items()
    }
    matches = [
        f"{packages[name]}.{name}" for name in get_close_matches(class_name, packages)
    ]
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


def _make_steps(steps: Any) -> list[tuple[str, Any]]:
    """Make the steps of a pipeline, each from a name, a class and its parameters."""
    try:
        steps = msgspec.convert(steps, list[tuple[str, str, dict[str, Any]]])
    except msgspec.ValidationError:
        raise ValueError(
            f"sklearn.pipeline.Pipeline: expected {_STEPS}, found steps = "
            f"{steps!r:.100}"
        ) from None
    return [(step, make_estimator(name, options)) for step, name, options in steps]


@cache
def _warn_of_ignored_weights(class_name: str) -> None:
    """Warn once of a class."""
    _log.warning(
        "%s takes no weights: all training pictures count the same for it", class_name
    )
