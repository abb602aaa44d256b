"""Recognises the acquisition type of a picture as a model does, without the rest of the model."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from leafid.classifiers.type_recogniser import TypeRecogniser
from leafid.collection.picture import AcquisitionType
from leafid.features.type_features import TYPE_SIDE, measure_type_features
from leafid.images import read_image


@dataclass(frozen=True)
class TypeRecognition:
    """The recogniser of a model, and the types that the model identifies: it recognises no other."""

    #: At least one.
    types: tuple[AcquisitionType, ...]
    #: None where training saw a single type, which every picture then is taken for.
    recogniser: TypeRecogniser | None

    def predict_proba(self, features: np.ndarray) -> dict[AcquisitionType, float]:
        """Give the probability of each of `types` for a picture by its `measure_type_features`."""
        if self.recogniser is None or not set(self.recogniser.types) & set(self.types):
            return {self.types[0]: 1.0}
        (row,) = self.recogniser.predict_proba(features[None], self.types)
        return dict(zip(self.recogniser.types, row.tolist(), strict=True))

    def recognise_features(self, features: np.ndarray) -> AcquisitionType:
        """Recognise a picture by its `measure_type_features`."""
        probabilities = self.predict_proba(features)
        return max(probabilities, key=probabilities.__getitem__)

    def recognise_file(self, file: str | os.PathLike[str]) -> AcquisitionType:
        """Recognise a picture by its thumbnail; a file that can't be read raises an `ImageError`."""
        return self.recognise_features(measure_type_features(read_image(file, TYPE_SIDE)))
