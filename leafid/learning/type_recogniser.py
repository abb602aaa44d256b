"""Recognises the acquisition type of a picture from the picture itself."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.features.type_features import N_TYPE_FEATURES
from leafid.learning.linear import LinearScorer, compute_sample_weights, fit_linear
from leafid.learning.training_matrix import TrainingMatrix
from leafid.pictures.picture import AcquisitionType

#: Number of features after `_add_squares`.
N_EXPANDED_FEATURES = 2 * N_TYPE_FEATURES
_REGULARISATION = 1e-3


@dataclass(frozen=True, eq=False)
class TypeRecogniser:
    """Logistic regression on `measure_type_features` and their squares."""

    #: The columns of the scorer.
    types: tuple[AcquisitionType, ...]
    scorer: LinearScorer

    def recognise(self, features: np.ndarray, among: Container[AcquisitionType] | None = None) -> list[AcquisitionType]:
        """Recognise the types of pictures from float32 (n, N_TYPE_FEATURES), `among` some of `types` or all."""
        return [self.types[column] for column in self.predict_proba(features, among).argmax(axis=1)]

    def predict_proba(self, features: np.ndarray, among: Container[AcquisitionType] | None = None) -> np.ndarray:
        """Give the probability of each of `types`, float64 (n, n_types); parameters as for `recognise`."""
        scores = self.scorer.scores(_add_squares(features)).astype(np.float64)
        if among is not None:
            scores[:, [type_ not in among for type_ in self.types]] = -np.inf
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class TypeRecognition:
    """The recogniser of a model, and the types that the model identifies: it recognises no other."""

    #: At least one.
    types: tuple[AcquisitionType, ...]
    #: None where training saw a single type, which every picture then is taken for.
    recogniser: TypeRecogniser | None

    def recognise(self, features: np.ndarray) -> tuple[AcquisitionType, float]:
        """Recognise the type of a picture by its `measure_type_features`; also give its probability."""
        if self.recogniser is None or not set(self.recogniser.types) & set(self.types):
            return self.types[0], 1.0
        (row,) = self.recogniser.predict_proba(features[None], self.types)
        best = int(row.argmax())
        return self.recogniser.types[best], round(float(row[best]), 9)


def fit_type_recogniser(features: np.ndarray, types: Sequence[AcquisitionType]) -> TypeRecogniser:
    """Fit a recogniser to features, (n, N_TYPE_FEATURES), of known types, each type with the same total weight."""
    names, labels = np.unique([str(type_) for type_ in types], return_inverse=True)
    matrix = TrainingMatrix(_add_squares(features), "none", standardise=True)
    weights = compute_sample_weights(labels, [""] * len(labels), 1.0, 0.0)
    coefficients, intercepts = fit_linear("logistic", matrix.rows_in_memory, labels, _REGULARISATION, weights)
    scorer = matrix.make_scorer(matrix.rotate_back(coefficients), intercepts)
    return TypeRecogniser(tuple(AcquisitionType(str(name)) for name in names), scorer)


def _add_squares(features: np.ndarray) -> np.ndarray:
    # Squares let a linear classifier single out a middle range: a sheet is neither pure white nor dark.
    return np.hstack([features, features**2])
