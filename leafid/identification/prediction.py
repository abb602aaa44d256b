"""Answers for pictures: read, describe, classify, rank."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from leafid.collection.picture import AcquisitionType, Picture
from leafid.features.loader import FeatureLoader
from leafid.identification.model import Model

_DIGITS = 10**9
_log = logging.getLogger(__name__)

#: Pictures that are described and answered together. Sums over them may be added up in another order with another
#: number: a run that goes on after an interruption has to keep it.
BATCH = 256


@dataclass(frozen=True)
class Answer:
    """The ranking of one picture.

    Attributes
    ----------
    picture : Picture
        Its type is the one that it was treated as.
    ranking : list of (str, float)
        Species names and probabilities (of nine digits), the likeliest first; species of equal probability by name.
    """

    picture: Picture
    ranking: list[tuple[str, float]]


@dataclass(frozen=True)
class Batch:
    """What became of some pictures that follow one another.

    Attributes
    ----------
    answers : list of Answer
        In the pictures' order; none for a picture that can't be read.
    unreadable : dict of Path to str
        Those that can't be read, with the message.
    n_pictures : int
        All of them.
    """

    answers: list[Answer]
    unreadable: dict[Path, str]
    n_pictures: int


def predict(
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    *,
    context: bool = False,
) -> Iterator[Answer]:
    """Rank the species for pictures.

    Parameters
    ----------
    model : Model
    pictures : sequence of Picture
        A picture of unknown type gets the type that the model recognises.
    loader : FeatureLoader
        A picture that can't be read is noted there and gets no answer.
    context : bool, default False
        Let place and day of the year have a say, where the picture's are known and the model learned of them.

    Yields
    ------
    Answer
        In the pictures' order.

    Raises
    ------
    LeafidError
        When the model was not trained for a picture's type.
    """
    for batch in predict_batches(model, pictures, loader, context=context):
        yield from batch.answers
        loader.unreadable.update(batch.unreadable)


def predict_batches(
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    *,
    context: bool = False,
    first: int = 0,
) -> Iterator[Batch]:
    """Rank the species for pictures, some hundred at a time; memory doesn't grow with the number of pictures.

    Parameters
    ----------
    model, pictures, loader, context
        As for `predict`; unreadable pictures are noted in the batches.
    first : int, default 0
        Leave out so many batches, which were answered before: the others don't change by that.

    Yields
    ------
    Batch

    Raises
    ------
    LeafidError
        When the model was not trained for a picture's type.
    """
    for type_ in dict.fromkeys(picture.type for picture in pictures if picture.type is not None):
        model.identifier(type_)  # found out now rather than after the work on other pictures
    for start in range(first * BATCH, len(pictures), BATCH):
        # What is remembered of every picture, its hash for one, is of no use to the next batch.
        own = FeatureLoader(loader.store, loader.jobs, loader.progress)
        chosen = pictures[start : start + BATCH]
        typed = _typed(model, chosen, own)
        answers: dict[int, Answer] = {}
        for type_ in dict.fromkeys(picture.type for picture in typed if picture is not None and picture.type):
            places = [i for i, picture in enumerate(typed) if picture is not None and picture.type == type_]
            answers.update(_answers_of_type(model, type_, typed, places, own, context))
        yield Batch([answers[place] for place in sorted(answers)], own.unreadable, len(chosen))


def _answers_of_type(
    model: Model,
    type_: AcquisitionType,
    batch: list[Picture | None],
    places: list[int],
    loader: FeatureLoader,
    context: bool,
) -> Iterator[tuple[int, Answer]]:
    identifier = model.identifier(type_)
    asked = [(place, picture) for place in places if (picture := batch[place]) is not None]
    found = loader.describe([picture for _, picture in asked], identifier.extractor)
    known = [(place, picture, one) for (place, picture), one in zip(asked, found, strict=True) if one is not None]
    if not known:
        return
    for _, picture, one in known:
        if one.confidence == 0:
            _log.warning("%s: no leaf found in it; every species is ranked as equally likely", picture.file)
    probabilities = identifier.predict_proba([one for _, _, one in known])
    if context and type_ in model.contexts:
        probabilities = model.contexts[type_].apply(probabilities, [picture for _, picture, _ in known])
    for (place, picture, _), row in zip(known, probabilities, strict=True):
        yield place, Answer(picture, rank_species(row, identifier.species))


def rank_species(probabilities: np.ndarray, species: Sequence[str]) -> list[tuple[str, float]]:
    """Sort species by falling probability, equal ones by name.

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
    # Rounded down, so that a picture's scores never add up to more than 1.
    return [(species[column], math.floor(probabilities[column] * _DIGITS) / _DIGITS) for column in order]


def _typed(model: Model, pictures: Sequence[Picture], loader: FeatureLoader) -> list[Picture | None]:
    """Give every picture a type; None for one that can't be read."""
    unknown = [picture for picture in pictures if picture.type is None]
    if not unknown:
        return list(pictures)
    recognised = dict(zip([p.file for p in unknown], loader.type_features(unknown), strict=True))
    typed: list[Picture | None] = []
    for picture in pictures:
        features = recognised.get(picture.file)
        if picture.type is not None:
            typed.append(picture)
        elif features is None:
            typed.append(None)
        else:
            typed.append(replace(picture, type=model.recognise_type(features)))
    return typed
