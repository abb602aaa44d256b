"""Recognises the acquisition type of a picture from the picture itself."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from msgspec import Meta

from leafid.features.loader import FeatureLoader
from leafid.features.type_features import N_TYPE_FEATURES
from leafid.learning.linear import LinearScorer
from leafid.pictures.collection import warn_of_lost_species
from leafid.pictures.picture import AcquisitionType, Picture

#: Number of features after `expand_features`.
N_EXPANDED_FEATURES = 2 * N_TYPE_FEATURES
#: Share of the pictures without a type below which a recognised type is taken for an error of the recogniser.
MIN_TYPE_SHARE = 0.1
# A few pictures are taken for a mixture, not for a collection of one kind.
_MIN_COLLECTION = 10
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TypeRecogniser:
    """Logistic regression on `measure_type_features` and their squares."""

    #: At least one; the columns of the scorer.
    types: Annotated[tuple[AcquisitionType, ...], Meta(min_length=1)]
    #: None where training saw a single type, which every picture then is taken for.
    scorer: LinearScorer | None = None
    #: Share of held-out pictures that were recognised correctly; None where this could not be measured.
    accuracy: float | None = None

    def recognise(self, features: np.ndarray) -> list[tuple[AcquisitionType, float]]:
        """Recognise the types of pictures, with their probabilities, from float32 (n, N_TYPE_FEATURES)."""
        if self.scorer is None:
            return [(self.types[0], 1.0)] * len(features)
        scores = self.scorer.scores(expand_features(features)).astype(np.float64)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities = odds / odds.sum(axis=1, keepdims=True)
        return [(self.types[int(row.argmax())], round(float(row.max()), 9)) for row in probabilities]


def recognise_missing_types(
    recogniser: TypeRecogniser, pictures: Sequence[Picture], loader: FeatureLoader
) -> dict[int, tuple[Picture, float | None]]:
    """Give every readable picture a type, with its probability where it is recognised; by the pictures' indices."""
    table = iter(loader.load_type_features([picture for picture in pictures if picture.type is None]))
    typed: dict[int, tuple[Picture, float | None]] = {}
    for index, picture in enumerate(pictures):
        if picture.type is not None:
            typed[index] = picture, None
        elif (features := next(table)) is not None:
            # One at a time: a product of several rows rounds differently.
            ((type_, probability),) = recogniser.recognise(features[None])
            typed[index] = replace(picture, type=type_), probability
    return typed


def recognise_frequent_types(
    recogniser: TypeRecogniser, pictures: Sequence[Picture], loader: FeatureLoader
) -> tuple[list[Picture], dict[AcquisitionType, int]]:
    """Give readable pictures without a type one of those that are frequent among them, and count what was given."""
    typed = recognise_missing_types(recogniser, pictures, loader)
    found = {index: own.type for index, (own, _) in typed.items() if pictures[index].type is None and own.type}
    counts = Counter(found.values()).most_common()
    rare = {type_ for type_, count in counts if count < MIN_TYPE_SHARE * len(found)}
    given = {index: counts[0][0] if type_ in rare else type_ for index, type_ in found.items()}
    numbers = Counter(given.values())
    warn_of_mixed_types(numbers)
    in_order = {type_: numbers[type_] for type_ in AcquisitionType if numbers[type_]}
    warn_of_lost_species(pictures, [picture for picture, _ in typed.values()])
    return [replace(own, type=given.get(index, own.type)) for index, (own, _) in typed.items()], in_order


def warn_of_mixed_types(recognised: Mapping[AcquisitionType, int]) -> None:
    """Warn that pictures were recognised as several types: in a collection of one kind, some of them are errors."""
    if len(recognised) > 1 and sum(recognised.values()) >= _MIN_COLLECTION:
        counts = ", ".join(f"{recognised[type_]} {type_}" for type_ in AcquisitionType if type_ in recognised)
        _log.warning(
            "the acquisition types of %d pictures were recognised as different ones: %s; if all of them were taken in "
            "the same way, say which by --assume-type (in Python: assume_type)",
            sum(recognised.values()),
            counts,
        )


def expand_features(features: np.ndarray) -> np.ndarray:
    """Append the squares of features."""
    # Squares let a linear classifier single out a middle range: a sheet is neither pure white nor dark.
    return np.hstack([features, features**2])
