"""Identifies pictures: recognises their types, extracts features, classifies, ranks the species."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from leafid.collection.picture import AcquisitionType, Picture
from leafid.features.loader import FeatureLoader, Progress, pass_through

if TYPE_CHECKING:
    from leafid.identification.model import Model

# Probabilities in answers are multiples of one over this number.
_DIGITS = 10**9
_log = logging.getLogger(__name__)

#: Number of pictures that are identified together. Sums may round differently in batches of another size, so that a
#: resumed run needs the size that it was begun with.
BATCH_SIZE = 256


@dataclass(frozen=True)
class Answer:
    """What a model says about a picture.

    Attributes
    ----------
    picture : Picture
        With the acquisition type that it was identified as.
    ranking : list of (str, float)
        All species with their probabilities, rounded down to nine digits: the most probable first, equally probable
        ones in alphabetical order.
    confidence : float
        Confidence of the segmentation, from 0 to 1. 0: no leaf was found, and all species are equally probable.
    problem : str or None
        Why the picture can't be read; its ranking is empty then.
    """

    picture: Picture
    ranking: list[tuple[str, float]]
    confidence: float
    problem: str | None = None

    @property
    def type(self) -> AcquisitionType | None:
        """The acquisition type that the picture was identified as; None where it could not be read."""
        return self.picture.type

    @property
    def has_leaf(self) -> bool:
        """Whether a leaf was found in the picture."""
        return self.confidence > 0


@dataclass(frozen=True)
class AnswerBatch:
    """Answers to consecutive pictures.

    Attributes
    ----------
    answers : list of Answer
        In the order of the pictures, without those that can't be read.
    unreadable : dict of Path to str
        An error message for each picture that can't be read.
    n_pictures : int
        Readable or not.
    """

    answers: list[Answer]
    unreadable: dict[Path, str]
    n_pictures: int


def predict(
    model: Model, pictures: Sequence[Picture], loader: FeatureLoader, *, context: bool = False
) -> Iterator[Answer]:
    """Identify pictures.

    Parameters
    ----------
    model : Model
    pictures : sequence of Picture
        The model recognises the type of those whose type is unknown.
    loader : FeatureLoader
        Its `unreadable` gets the pictures that can't be read; they have no answer.
    context : bool, default False
        Apply the prior of place and day, where the model has one and the metadata of a picture tell them.

    Yields
    ------
    Answer
        In the order of the pictures.

    Raises
    ------
    LeafidError
        When the model was not trained for a picture's type.
    """
    for batch in predict_batches(model, pictures, loader, context=context):
        yield from batch.answers


def predict_batches(
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    *,
    context: bool = False,
    n_skipped: int = 0,
    progress: Progress | None = None,
) -> Iterator[AnswerBatch]:
    """Identify pictures in batches; memory doesn't grow with their number.

    Parameters
    ----------
    model, pictures, loader, context
        As for `predict`, but unreadable pictures are listed in the batches.
    n_skipped : int, default 0
        Number of batches at the beginning that are skipped; the other batches stay the same.
    progress : callable, optional
        For the pictures that are described, in place of the loader's own.

    Raises
    ------
    LeafidError
        When the model was not trained for a picture's type.
    """
    for type_ in dict.fromkeys(picture.type for picture in pictures if picture.type is not None):
        model.identifier(type_)  # raises before any work is done
    for start in range(n_skipped * BATCH_SIZE, len(pictures), BATCH_SIZE):
        batch = pictures[start : start + BATCH_SIZE]
        typed = _recognise_missing_types(model, batch, loader, progress and pass_through)
        answers: dict[int, Answer] = {}
        for type_ in dict.fromkeys(picture.type for picture in typed.values() if picture.type is not None):
            own = {index: picture for index, picture in typed.items() if picture.type == type_}
            answers.update(_identify_type(model, type_, own, loader, progress, context=context))
        unreadable = {p.file: loader.unreadable[p.file] for p in batch if p.file in loader.unreadable}
        yield AnswerBatch([answers[index] for index in sorted(answers)], unreadable, len(batch))


def _recognise_missing_types(
    model: Model, pictures: Sequence[Picture], loader: FeatureLoader, progress: Progress | None
) -> dict[int, Picture]:
    """Give every readable picture a type; by the pictures' indices."""
    untyped = [index for index, picture in enumerate(pictures) if picture.type is None]
    typed = {index: picture for index, picture in enumerate(pictures) if picture.type is not None}
    if untyped:
        table = loader.load_type_features([pictures[index] for index in untyped], progress)
        for index, features in zip(untyped, table, strict=True):
            if features is not None:
                typed[index] = replace(pictures[index], type=model.recognise_type(features))
    return dict(sorted(typed.items()))


def _identify_type(
    model: Model,
    type_: AcquisitionType,
    pictures: dict[int, Picture],
    loader: FeatureLoader,
    progress: Progress | None,
    *,
    context: bool,
) -> Iterator[tuple[int, Answer]]:
    identifier = model.identifier(type_)
    table = loader.load(list(pictures.values()), identifier.extractor, progress)
    features = {index: found for index, found in zip(pictures, table, strict=True) if found is not None}
    if not features:
        return
    for index, found in features.items():
        if found.confidence == 0:
            _log.warning("%s: no leaf found in it; every species is ranked as equally likely", pictures[index].file)
    probabilities = identifier.predict_proba(list(features.values()))
    if context and type_ in model.contexts:
        readable = [pictures[index] for index in features]
        probabilities = model.contexts[type_].apply(probabilities, readable)
    for (index, found), row in zip(features.items(), probabilities, strict=True):
        yield index, Answer(pictures[index], rank_species(row, identifier.species), found.confidence)


def rank_species(probabilities: np.ndarray, species: Sequence[str]) -> list[tuple[str, float]]:
    """Sort species by falling probability, equally probable ones by name.

    Parameters
    ----------
    probabilities : float (n_species,)
    species : sequence of str
        In alphabetical order.

    Examples
    --------
    >>> rank_species(np.array([0.25, 0.5, 0.25]), ["Acer campestre", "Olea europaea", "Salix alba"])
    [('Olea europaea', 0.5), ('Acer campestre', 0.25), ('Salix alba', 0.25)]
    """
    order = np.argsort(-probabilities, kind="stable")
    # Rounded down, so that the probabilities of a picture never sum to more than 1.
    return [(species[column], math.floor(probabilities[column] * _DIGITS) / _DIGITS) for column in order]
