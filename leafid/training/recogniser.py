"""Trains the recogniser of acquisition types."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leafid.features.loader import FeatureLoader, get_type
from leafid.learning.linear import weigh_pictures
from leafid.learning.rows import make_rows
from leafid.model.recogniser import TypeRecogniser, expand_features
from leafid.pictures import split_by_plant
from leafid.pictures.picture import AcquisitionType, Picture

_OPTIONS = {"C": 1e3, "max_iter": 200}
_N_FOLDS = 5


def train_recogniser(pictures: Sequence[Picture], loader: FeatureLoader, seed: int) -> TypeRecogniser:
    """Train a recogniser on pictures of known types, and measure its accuracy on held-out plants."""
    pairs = zip(pictures, loader.load_type_features(pictures), strict=True)
    readable, rows = zip(*((picture, row) for picture, row in pairs if row is not None), strict=True)
    types = [get_type(picture) for picture in readable]
    if len(set(types)) < 2:
        return TypeRecogniser(tuple(dict.fromkeys(types)))
    table = np.stack(rows)
    n_plants = len({picture.group for picture in readable})
    correct: list[bool] = []
    for test in split_by_plant(readable, min(_N_FOLDS, n_plants), seed) if n_plants > 1 else []:
        training = np.setdiff1d(np.arange(len(table)), test)
        training_types = [types[index] for index in training]
        if len(set(training_types)) > 1:
            recogniser = fit_type_recogniser(table[training], training_types)
            correct += [recogniser.recognise(table[index])[0] is types[index] for index in test]
    return replace(fit_type_recogniser(table, types), accuracy=float(np.mean(correct)) if correct else None)


def fit_type_recogniser(features: np.ndarray, types: Sequence[AcquisitionType]) -> TypeRecogniser:
    """Fit a recogniser to features, (n, N_TYPE_FEATURES), of known types, each type with the same total weight."""
    from leafid.learning.estimators import fit_estimator, make_estimator, to_linear

    names, labels = np.unique([str(type_) for type_ in types], return_inverse=True)
    weights = weigh_pictures(labels, [""] * len(labels), 1.0, 0.0)
    weights /= weights.mean()
    rows = make_rows(expand_features(features), standardise=True)
    estimator = make_estimator("sklearn.linear_model.LogisticRegression", _OPTIONS, 0)
    classifier = to_linear(fit_estimator(estimator, rows.read(slice(None)), labels, weights))
    scorer = rows.make_transform(np.ones(1), np.zeros((1, len(rows.mean)))).make_scorer(*classifier)
    return TypeRecogniser(tuple(AcquisitionType(str(name)) for name in names), scorer)
