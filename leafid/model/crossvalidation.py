"""Cross-validation, and other protocols of training and testing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe, group_by_training
from leafid.grouping import group_by
from leafid.learning.held_out import FIGURES, HeldOutAnswers, held_out_scores
from leafid.model.bundled import find_encoders
from leafid.model.fitting.identifiers import fit_identifiers, select_trainable
from leafid.model.fitting.shared import SharedTrainingSet
from leafid.model.identifier import Identifier
from leafid.model.plant_fusion import DEFAULT_EXPONENT, fit_plant_exponent
from leafid.model.sessions import share_held_out
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.protocols import Split

N_FOLDS = 5
# Number of pictures whose features are in memory at once.
_BATCH_SIZE = 256


@dataclass(frozen=True)
class FoldAnswers:
    """Answers to one fold's test pictures of one type."""

    type: AcquisitionType
    seed: int
    fold: int
    held_out: HeldOutAnswers
    #: Learned from the fold's training part (`leafid.model.plant_fusion`).
    plant_exponent: float = DEFAULT_EXPONENT
    #: That of the split: how many training pictures, for example.
    setting: str = ""
    #: What gave the answers, if it is kept.
    identifier: Identifier | None = field(default=None, repr=False)


def cross_validate(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    splits: Iterable[Split],
    *,
    shared_codebooks: bool = False,
    test_type: AcquisitionType | None = None,
    keep_identifiers: bool = False,
) -> Iterator[FoldAnswers]:
    """Identify the test pictures of splits, labelled and of any known type, with models of their training pictures.

    Codebooks, classifiers, calibration and fusion are learned from each training part alone. Yields the answers of
    every split and type that has test and training pictures there.

    `shared_codebooks` learns the codebooks once, from all pictures without their labels: features are then extracted,
    and kernel matrices computed, once instead of once a split. With `test_type`, the recipes answer pictures of this
    type instead of those of their own. With `keep_identifiers`, the answers come with the identifier
    that gave them, which takes much memory.
    """
    with ExitStack() as stack:
        shared = share_training_sets(pictures, recipes, loader, stack) if shared_codebooks else {}
        for split in splits:
            seed, test = split.seed, split.test
            training = [pictures[index] for index in split.training]
            queries = {
                type_: [pictures[index] for index in test if pictures[index].type == (test_type or type_)]
                for type_ in recipes
            }
            trained = {picture.type for picture in training}
            chosen = {type_: recipe for type_, recipe in recipes.items() if queries[type_] and type_ in trained}
            for types in group_by_training(chosen):
                loader.step = f"seed {seed}, fold {split.fold + 1}, {', '.join(types)}"
                fitted = fit_identifiers(
                    recipes[types[0]],
                    types,
                    training,
                    loader,
                    seed,
                    learn_rejection=False,
                    keep_statistics=False,
                    shared=shared.get(types[0]),
                )
                for type_, own in zip(types, fitted, strict=True):
                    yield FoldAnswers(
                        test_type or type_,
                        seed,
                        split.fold,
                        _identify(queries[type_], own.identifier, loader),
                        fit_plant_exponent(own.held_out, seed),
                        split.setting,
                        own.identifier if keep_identifiers else None,
                    )


def share_training_sets(
    pictures: Sequence[Picture], recipes: Mapping[AcquisitionType, Recipe], loader: FeatureLoader, stack: ExitStack
) -> dict[AcquisitionType, SharedTrainingSet]:
    """Learn the encoders of each type from pictures, without their labels, for the training sets of all splits.

    The end of the stack deletes temporary files.
    """
    shared: dict[AcquisitionType, SharedTrainingSet] = {}
    for types in group_by_training(recipes):
        recipe = recipes[types[0]]
        chosen = select_trainable(pictures, recipe)
        encoders = find_encoders(recipe, chosen, loader, 0)
        extractor = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
        own = stack.enter_context(closing(SharedTrainingSet(chosen, recipe, loader, extractor)))
        shared |= dict.fromkeys(types, own)
    return shared


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


def share_fold_answers(answers: Sequence[FoldAnswers]) -> list[FoldAnswers]:
    """Let the answers to the pictures of one session support one another (`leafid.model.sessions`).

    Sessions are made of the pictures of all folds and types with the same seed and setting.
    """
    shared = list(answers)
    for folds in group_by(range(len(answers)), lambda index: (answers[index].seed, answers[index].setting)).values():
        for index, held_out in zip(folds, share_held_out([answers[index].held_out for index in folds]), strict=True):
            shared[index] = replace(answers[index], held_out=held_out)
    return shared


def cross_validated_scores(answers: Sequence[FoldAnswers]) -> dict[str, Any]:
    """Score the folds of one acquisition type: all folds of a seed together, and every fold on its own.

    ``repeats`` is a list of `held_out_scores`, by seed. For each of `FIGURES` there is the ``mean`` over the seeds and
    ``fold_sd``, the standard deviation over all folds, unless no fold has a picture of known species.
    """
    folds = [held_out_scores([own.held_out]) for own in answers]
    repeats = [
        held_out_scores([own.held_out for own in answers if own.seed == seed])
        for seed in sorted({own.seed for own in answers})
    ]
    scores: dict[str, Any] = {"repeats": repeats}
    for name in FIGURES:
        by_seed = [own[name] for own in repeats if name in own]
        by_fold = [own[name] for own in folds if name in own]
        if by_seed:
            scores[name] = {"mean": float(np.mean(by_seed)), "fold_sd": float(np.std(by_fold))}
    return scores
