"""Trains and answers by folds of plants, or of places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from leafid.classifiers.context import Context
from leafid.classifiers.held_out import HeldOut
from leafid.collection import split_by_plant
from leafid.collection.geography import split_by_place
from leafid.collection.picture import AcquisitionType, Picture
from leafid.encoding import Encoder
from leafid.features.loader import FeatureLoader
from leafid.identification.identifier import Identifier, fit_together, trainable
from leafid.identification.training import bounded_context
from leafid.recipes.recipe import Recipe, group_by_training

N_FOLDS = 5
# Descriptions of so many pictures are held at once.
_BATCH = 256


@dataclass(frozen=True)
class FoldAnswers:
    """What was said of one fold's test pictures of one type.

    Attributes
    ----------
    type : AcquisitionType
    seed, fold : int
    held_out : HeldOut
        By looks alone.
    context : Context or None
        What the fold's training part taught of place and day; None where it was not asked for.
    with_context : HeldOut or None
        The same pictures, by looks and context.
    """

    type: AcquisitionType
    seed: int
    fold: int
    held_out: HeldOut
    context: Context | None = None
    with_context: HeldOut | None = None


def cross_validate(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    n_folds: int = N_FOLDS,
    seeds: Sequence[int] = (0, 1, 2),
    *,
    shared_codebooks: bool = False,
    context: bool = False,
    by_place: bool = False,
) -> Iterator[FoldAnswers]:
    """Answer every picture by a model that saw no picture of its plant, of whatever type.

    Codebooks, classifiers, calibration and fusion are learned anew in every fold, from its training part alone.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled, each of a known type.
    recipes : mapping of AcquisitionType to Recipe
    loader : FeatureLoader
    n_folds : int, default 5
    seeds : sequence of int, default (0, 1, 2)
        The plants are dealt out anew with each.
    shared_codebooks : bool, default False
        Learn the codebooks once, from pictures of all folds without their labels: every picture is described once
        instead of once a fold.
    context : bool, default False
        Also answer by looks and by place and day together.
    by_place : bool, default False
        Fold places instead of plants: no picture of a test picture's place, of whatever plant, was seen.

    Yields
    ------
    FoldAnswers
        For every seed, fold and type that has test and training pictures there.

    Raises
    ------
    LeafidError
        When there are fewer plants, or places, than folds.
    """
    encoders: dict[AcquisitionType, dict[str, Encoder]] = {}
    if shared_codebooks:
        for types in group_by_training(recipes):
            recipe = recipes[types[0]]
            learned = loader.learn_encoders(trainable(pictures, recipe), recipe, seeds[0])
            encoders |= dict.fromkeys(types, learned)
    deal = split_by_place if by_place else split_by_plant
    for seed in seeds:
        for fold, test in enumerate(deal(pictures, n_folds, seed)):
            in_test = np.zeros(len(pictures), bool)
            in_test[test] = True
            training = [picture for picture, held in zip(pictures, in_test, strict=True) if not held]
            asked = {type_: [pictures[index] for index in test if pictures[index].type == type_] for type_ in recipes}
            trained = {picture.type for picture in training}
            for types in group_by_training({t: recipe for t, recipe in recipes.items() if asked[t] and t in trained}):
                identifiers = [Identifier(recipes[type_], seed) for type_ in types]
                fit_together(identifiers, training, loader, encoders.get(types[0]))
                for identifier in identifiers:
                    held_out = _answered(asked[identifier.type], identifier, loader)
                    answers = FoldAnswers(identifier.type, seed, fold, held_out)
                    yield _in_context(answers, identifier, training) if context else answers


def _in_context(answers: FoldAnswers, identifier: Identifier, training: Sequence[Picture]) -> FoldAnswers:
    assert identifier.held_out_ is not None
    looks = answers.held_out
    context = bounded_context(identifier.held_out_, training, answers.seed)
    probabilities = context.apply(looks.probabilities, looks.pictures)
    return replace(answers, context=context, with_context=replace(looks, probabilities=probabilities))


def _answered(asked: list[Picture], identifier: Identifier, loader: FeatureLoader) -> HeldOut:
    species = identifier.species_
    pictures: list[Picture] = []
    probabilities = [np.empty((0, len(species)))]
    with closing(loader.stream(asked, identifier.extractor_)) as stream:
        found = zip(asked, stream, strict=True)
        while batch := list(islice(found, _BATCH)):
            known = [(picture, one) for picture, one in batch if one is not None]
            pictures += [picture for picture, _ in known]
            if known:
                probabilities.append(identifier.predict_proba([one for _, one in known]))
    of_model = set(species)
    seen = np.array([picture.species in of_model for picture in pictures], bool)
    return HeldOut(pictures, np.concatenate(probabilities), species, seen)
