"""Cross-validation by folds of plants, or of places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from leafid.classifiers.context import Context
from leafid.classifiers.held_out import FIGURES, HeldOutAnswers, held_out_scores
from leafid.classifiers.plant_fusion import DEFAULT_EXPONENT, fit_plant_exponent
from leafid.collection import split_by_plant
from leafid.collection.picture import AcquisitionType, Picture
from leafid.collection.splits import split_by_place
from leafid.encoding import Encoder
from leafid.features.codebooks import learn_encoders
from leafid.features.loader import FeatureLoader
from leafid.identification.fitting import FittedIdentifier, fit_identifiers, select_trainable
from leafid.identification.identifier import Identifier
from leafid.identification.training import fit_context
from leafid.recipes.recipe import Recipe, group_by_training

N_FOLDS = 5
# Number of pictures whose features are in memory at once.
_BATCH_SIZE = 256


@dataclass(frozen=True)
class FoldAnswers:
    """Answers to one fold's test pictures of one type."""

    type: AcquisitionType
    seed: int
    fold: int
    #: Visual probabilities alone.
    held_out: HeldOutAnswers
    #: Learned from the fold's training part (`leafid.classifiers.plant_fusion`).
    plant_exponent: float = DEFAULT_EXPONENT
    #: The prior of place and day learned from the fold's training part, if asked for.
    context: Context | None = None
    #: The same pictures with the prior applied.
    with_context: HeldOutAnswers | None = None


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
    """Identify every labelled picture, of any known type, with a model that was trained without its plant.

    Codebooks, classifiers, calibration and fusion are learned from each fold's training part alone. The plants are
    assigned to folds anew with each seed. Yields the answers of every seed, fold and type that has test and training
    pictures there.

    `shared_codebooks` learns the codebooks once, from the pictures of all folds without their labels: features are then
    extracted once instead of once a fold. `context` also gives the answers with the prior of place and day applied.
    `by_place` makes folds of places instead of plants. Fewer plants, or places, than folds raise a `LeafidError`.
    """
    encoders: dict[AcquisitionType, dict[str, Encoder]] = {}
    if shared_codebooks:
        for types in group_by_training(recipes):
            recipe = recipes[types[0]]
            shared = learn_encoders(select_trainable(pictures, recipe), recipe, loader, seeds[0])
            encoders |= dict.fromkeys(types, shared)
    split = split_by_place if by_place else split_by_plant
    for seed in seeds:
        for fold, test in enumerate(split(pictures, n_folds, seed)):
            training = [pictures[index] for index in np.setdiff1d(np.arange(len(pictures)), test)]
            queries = {type_: [pictures[index] for index in test if pictures[index].type == type_] for type_ in recipes}
            trained = {picture.type for picture in training}
            chosen = {type_: recipe for type_, recipe in recipes.items() if queries[type_] and type_ in trained}
            for types in group_by_training(chosen):
                fitted = fit_identifiers(
                    [recipes[type_] for type_ in types],
                    training,
                    loader,
                    seed,
                    encoders.get(types[0]),
                    learn_rejection=False,
                )
                for type_, own in zip(types, fitted, strict=True):
                    exponent = fit_plant_exponent(own.held_out, seed)
                    answers = FoldAnswers(
                        type_,
                        seed,
                        fold,
                        _identify(queries[type_], own.identifier, loader),
                        DEFAULT_EXPONENT if exponent is None else exponent,
                    )
                    yield _add_context(answers, own, training) if context else answers


def _add_context(answers: FoldAnswers, fitted: FittedIdentifier, training: Sequence[Picture]) -> FoldAnswers:
    visual = answers.held_out
    context = fit_context(fitted.held_out, training, answers.seed)
    probabilities = context.apply(visual.probabilities, visual.pictures)
    return replace(answers, context=context, with_context=replace(visual, probabilities=probabilities))


def _identify(queries: list[Picture], identifier: Identifier, loader: FeatureLoader) -> HeldOutAnswers:
    pictures: list[Picture] = []
    probabilities = [np.empty((0, len(identifier.species)))]
    with closing(loader.stream(queries, identifier.extractor)) as stream:
        found = zip(queries, stream, strict=True)
        while batch := list(islice(found, _BATCH_SIZE)):
            readable = [(picture, features) for picture, features in batch if features is not None]
            pictures += [picture for picture, _ in readable]
            if readable:
                probabilities.append(identifier.predict_proba([features for _, features in readable]))
    species = set(identifier.species)
    is_known = np.array([picture.species in species for picture in pictures], bool)
    return HeldOutAnswers(pictures, np.concatenate(probabilities), identifier.species, is_known)


def cross_validated_scores(answers: Sequence[FoldAnswers]) -> dict[str, Any]:
    """Score the folds of one acquisition type: all folds of a seed together, and every fold on its own.

    ``repeats`` and ``folds`` are lists of `held_out_scores`, with ``seed``, and with ``seed`` and ``fold``. For each of
    `FIGURES` there is the ``mean`` over the seeds and ``fold_sd``, the standard deviation over all folds, unless no
    fold has a picture of known species.
    """
    folds = [{"seed": own.seed, "fold": own.fold, **held_out_scores([own.held_out])} for own in answers]
    repeats = [
        {"seed": seed, **held_out_scores([own.held_out for own in answers if own.seed == seed])}
        for seed in sorted({own.seed for own in answers})
    ]
    scores: dict[str, Any] = {"repeats": repeats, "folds": folds}
    for name in FIGURES:
        by_seed = [own[name] for own in repeats if name in own]
        by_fold = [own[name] for own in folds if name in own]
        if by_seed:
            scores[name] = {"mean": float(np.mean(by_seed)), "fold_sd": float(np.std(by_fold))}
    return scores
