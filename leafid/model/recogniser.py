"""Recognises the acquisition type of a picture from the picture itself."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from msgspec import Meta

from leafid.features.computations import TYPE_FEATURES
from leafid.features.extractor import N_TYPE_FEATURES
from leafid.features.loader import FeatureLoader
from leafid.learning.classifiers.scorers import LinearScorer
from leafid.learning.fusion import normalise
from leafid.pictures.picture import AcquisitionType, Picture

#: Number of features after `expand_features`.
N_EXPANDED_FEATURES = 2 * N_TYPE_FEATURES
#: Fewer pictures are taken for a mixture, not for a collection of one kind.
MIN_COLLECTION = 10
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TypeRecogniser:
    """Logistic regression on `measure_type_features` and their squares."""

    #: At least one; the columns of the scorer.
    types: Annotated[tuple[AcquisitionType, ...], Meta(min_length=1)]
    #: None where training saw a single type, which every picture then is taken for.
    scorer: LinearScorer | None = None
    #: Share of held-out pictures that were recognised correctly; None where this could
    #: not be measured.
    accuracy: float | None = None

    def recognise(self, features: np.ndarray) -> tuple[AcquisitionType, float]:
        """Recognise a type, with its probability, from float32 (N_TYPE_FEATURES,)."""
        if self.scorer is None:
            return self.types[0], 1.0
        scores = self.scorer.scores(expand_features(features[None]))[0]
        probabilities = normalise(scores.astype(np.float64))
        probability = round(float(probabilities.max()), 9)
        return self.types[int(probabilities.argmax())], probability

    def recognise_pictures(
        self, pictures: Sequence[Picture], loader: FeatureLoader
    ) -> dict[int, tuple[Picture, float | None]]:
        """Give every readable picture a type, by the pictures' indices.

        Recognised types have a probability.
        """
        table = iter(
            loader.compute_for_each(
                TYPE_FEATURES, [picture for picture in pictures if picture.type is None]
            )
        )
        typed: dict[int, tuple[Picture, float | None]] = {}
        for index, picture in enumerate(pictures):
            if picture.type is not None:
                typed[index] = picture, None
            elif (features := next(table)) is not None:
                type_, probability = self.recognise(features)
                typed[index] = replace(picture, type=type_), probability
        return typed


def log_types(
    recognised: Counter[AcquisitionType], at_least: int = 1, collection: str = ""
) -> None:
    """Log how many pictures were recognised as each type, where there are enough.

    In a collection of one kind, several types mean errors.
    """
    if recognised.total() < at_least:
        return
    counts = ", ".join(
        f"{type_} {recognised[type_]}"
        for type_ in AcquisitionType
        if type_ in recognised
    )
    if collection:
        collection += ": "
    elif len(recognised) > 1:
        counts += "; if all were taken in the same way, say which: --assume-type"
    _log.info("%sacquisition types recognised: %s", collection, counts)


def expand_features(features: np.ndarray) -> np.ndarray:
    """Append the squares of features."""
    # Squares let a linear classifier single out a middle range: a sheet is neither pure
    # white nor dark.
    return np.hstack([features, features**2])
