"""Identifies pictures: recognises their types, extracts features, classifies, ranks the species."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from leafid.classifiers.rejection import REJECTED_SHARE
from leafid.collection.picture import AcquisitionType, Picture
from leafid.features.loader import FeatureLoader, Progress, pass_through

if TYPE_CHECKING:
    from leafid.classifiers.context import Context
    from leafid.features.extractor import Features
    from leafid.identification.identifier import Identifier
    from leafid.identification.model import Model

# Probabilities in answers are multiples of one over this number.
_DIGITS = 10**9
_log = logging.getLogger(__name__)

Verdict = Literal["species", "unknown", "no-leaf", "unreadable"]

#: Number of pictures that are identified together. Sums may round differently in batches of another size, so that a
#: resumed run needs the size that it was begun with.
BATCH_SIZE = 256


@dataclass(frozen=True)
class Answer:
    """What a model says about a picture."""

    #: With the acquisition type that it was identified as.
    picture: Picture
    #: All species with their probabilities, rounded down to nine digits: the most probable first,
    #: equally probable ones in alphabetical order.
    ranking: list[tuple[str, float]]
    #: Confidence of the segmentation, from 0 to 1. 0: no leaf was found, and all species are equally probable.
    confidence: float
    #: `leaf`, `known`: probability that the picture shows a leaf, and that a leaf is of a species that the model knows;
    #: those of the ranking hold if it is. None where the model has not learned to tell.
    leaf: float | None = None
    known: float | None = None
    #: One of {"species", "unknown", "no-leaf", "unreadable"}: whether the model names a species, or rejects the
    #: picture: as a leaf of an unknown species, or as no leaf.
    verdict: Verdict = "species"
    #: Why the picture can't be read; its ranking is empty then.
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
    """Answers to consecutive pictures."""

    #: In the order of the pictures, without those that can't be read.
    answers: list[Answer]
    #: An error message for each picture that can't be read.
    unreadable: dict[Path, str]
    #: Readable or not.
    n_pictures: int


def predict(
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    *,
    context: bool = False,
    reject_at: float = REJECTED_SHARE,
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
    reject_at : float
        The share, from 0 to 1, of the leaves of known species that may be rejected as unknown or as no leaf.

    Yields
    ------
    Answer
        In the order of the pictures.

    Raises
    ------
    LeafidError
        When the model was not trained for a picture's type.
    """
    for batch in predict_batches(model, pictures, loader, context=context, reject_at=reject_at):
        yield from batch.answers


def predict_batches(
    model: Model,
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    *,
    context: bool = False,
    reject_at: float = REJECTED_SHARE,
    n_skipped: int = 0,
    progress: Progress | None = None,
) -> Iterator[AnswerBatch]:
    """Identify pictures in batches; memory doesn't grow with their number.

    Parameters
    ----------
    model, pictures, loader, context, reject_at
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
            answers.update(_identify_type(model, type_, own, loader, progress, context=context, reject_at=reject_at))
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
    reject_at: float,
) -> Iterator[tuple[int, Answer]]:
    identifier = model.identifier(type_)
    table = loader.load(list(pictures.values()), identifier.extractor, progress)
    features = {index: found for index, found in zip(pictures, table, strict=True) if found is not None}
    if not features:
        return
    for index, found in features.items():
        if found.confidence == 0:
            _log.warning("%s: no leaf found in it; every species is ranked as equally likely", pictures[index].file)
    answers = make_answers(
        identifier,
        [pictures[index] for index in features],
        list(features.values()),
        context=model.contexts.get(type_) if context else None,
        reject_at=reject_at,
    )
    yield from zip(features, answers, strict=True)


def make_answers(
    identifier: Identifier,
    pictures: Sequence[Picture],
    features: Sequence[Features],
    *,
    context: Context | None = None,
    reject_at: float = REJECTED_SHARE,
) -> list[Answer]:
    """Make the answers of an identifier for pictures of its type by their features.

    `context` is the prior of place and day to apply, if any.
    """
    scores = identifier.score(features)
    probabilities = identifier.predict_proba(features, scores)
    if context is not None:
        probabilities = context.apply(probabilities, pictures)
    judgements = _judge_features(identifier, features, scores, reject_at)
    return [
        Answer(picture, rank_species(row, identifier.species), item.confidence, *judgement)
        for picture, row, item, judgement in zip(pictures, probabilities, features, judgements, strict=True)
    ]


def _judge_features(
    identifier: Identifier, features: Sequence[Features], scores: Sequence[np.ndarray], reject_at: float
) -> list[tuple[float | None, float | None, Verdict]]:
    """Give `Answer.leaf`, `Answer.known` and `Answer.verdict` for the features of pictures.

    A picture is rejected where the product of both probabilities is lower than that of a share `reject_at` of held-out
    leaves of known species.
    """
    found = identifier.assess(features, scores)
    if found is None or identifier.rejection is None:
        return [(None, None, "species" if item.confidence else "no-leaf") for item in features]
    threshold = identifier.rejection.threshold(reject_at)
    judgements: list[tuple[float | None, float | None, Verdict]] = []
    for leaf, known in zip(*found, strict=True):
        rejected: Verdict = "unknown" if leaf >= 0.5 else "no-leaf"
        judgements.append((float(leaf), float(known), "species" if leaf * known >= threshold else rejected))
    return judgements


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
