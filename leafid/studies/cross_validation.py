"""Cross-validation: identifiers are trained on splits of a collection, and answer what the splits hold out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from leafid.features.loader import FeatureLoader
from leafid.features.non_leaves import ALL_KINDS
from leafid.features.recipe import Recipe, group_by_training
from leafid.grouping import group_by
from leafid.learning.plant_fusion import DEFAULT_EXPONENT
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer
from leafid.model.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.sessions import pool_evidence_held_out
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import Split
from leafid.training.identifiers import train_identifiers
from leafid.training.rejection import load_non_leaves
from leafid.training.training_set import TrainingSet, build_training_set

#: The share of the species that each fold holds out in an open world: 20 of 71.
HELD_OUT_SPECIES_SHARE = 0.28
#: The number of pictures without a leaf that each fold answers.
N_TESTED_NON_LEAVES = 140


@dataclass(frozen=True)
class FoldAnswers:
    """Answers to one fold's test pictures of one type: scores of known species."""

    type: AcquisitionType
    seed: int
    fold: int
    held_out: HeldOutAnswers
    #: What the split varies, such as the number of training pictures.
    setting: str = ""


@dataclass(frozen=True)
class OpenWorldFold:
    """Answers to one fold's pictures of one type, also of what it can't know."""

    type: AcquisitionType
    seed: int
    fold: int
    #: What the split varies, such as the number of training pictures.
    setting: str
    #: Answers to leaves of known and of unknown species.
    known: list[Answer]
    unknown: list[Answer]
    #: Answers to pictures without a leaf in which the segmentation finds something, by
    #: kind (`leafid.features.non_leaves`).
    non_leaves: Mapping[str, list[Answer]]


def cross_validate(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    splits: Iterable[Split],
    shared_codebooks: bool = False,
    *,
    test_type: AcquisitionType | None = None,
) -> Iterator[FoldAnswers]:
    """Identify the test pictures of splits with models of their training pictures.

    Codebooks, classifiers, calibration and fusion are learned from each training part
    alone.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled, and of any known type.
    recipes : mapping of AcquisitionType to Recipe
    loader : FeatureLoader
    splits : iterable of Split
    shared_codebooks : bool, default False
        Learn the codebooks once, from all pictures without their labels: features are
        then extracted, and kernel matrices computed, once instead of once a split.
    test_type : AcquisitionType, optional
        The recipes answer pictures of this type instead of their own.

    Yields
    ------
    FoldAnswers
        Of every split and type that has test and training pictures there.
    """
    shared = _share_training_sets(pictures, recipes, loader) if shared_codebooks else {}
    for split in splits:
        training = [pictures[index] for index in split.training]
        test = [pictures[index] for index in split.test]
        queries = {type_: _select_type(test, test_type or type_) for type_ in recipes}
        tested = {type_: recipe for type_, recipe in recipes.items() if queries[type_]}
        for type_, identifier in _train_split(
            split, training, tested, loader, shared, learn_rejection=False
        ):
            yield FoldAnswers(
                type=test_type or type_,
                seed=split.seed,
                fold=split.fold,
                held_out=_identify(queries[type_], identifier, loader),
                setting=split.setting,
            )


def cross_validate_open_world(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    splits: Iterable[Split],
    shared_codebooks: bool = False,
) -> Iterator[OpenWorldFold]:
    """Train on each split without some random species.

    The models answer these species, test pictures, and pictures without a leaf.
    Identifiers that can't learn to reject pictures, as there are too few species, are
    left out.

    Parameters
    ----------
    pictures, recipes, loader, splits, shared_codebooks
        As `cross_validate` takes them.

    Yields
    ------
    OpenWorldFold
    """
    shared = _share_training_sets(pictures, recipes, loader) if shared_codebooks else {}
    for split in splits:
        held_out = _hold_out_species(pictures, split)
        training = [pictures[index] for index in split.training]
        training = [p for p in training if p.species not in held_out]
        test = [pictures[index] for index in split.test]
        unknown = [p for p in pictures if p.species in held_out]
        for type_, identifier in _train_split(
            split, training, recipes, loader, shared, learn_rejection=True
        ):
            if identifier.rejection is None:
                continue
            model = TypeModel(identifier, {}, DEFAULT_EXPONENT)
            known = [p for p in test if p.species in identifier.species]
            yield OpenWorldFold(
                type=type_,
                seed=split.seed,
                fold=split.fold,
                setting=split.setting,
                non_leaves=_answer_non_leaves(test, model, loader),
                known=_answer(_select_type(known, type_), model, loader),
                unknown=_answer(_select_type(unknown, type_), model, loader),
            )


def _select_type(pictures: Sequence[Picture], type_: AcquisitionType) -> list[Picture]:
    return [picture for picture in pictures if picture.type == type_]


def _hold_out_species(pictures: Sequence[Picture], split: Split) -> set[str]:
    """Draw the species that a split holds out of training."""
    names = sorted({str(picture.species) for picture in pictures})
    order = np.random.default_rng([split.seed, split.fold]).permutation(len(names))
    n_held_out = round(HELD_OUT_SPECIES_SHARE * len(names))
    return {names[index] for index in order[:n_held_out]}


def _share_training_sets(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
) -> dict[AcquisitionType, TrainingSet]:
    """Make the training sets of all pictures, which compute their kernel matrices once for the fits of all splits."""
    shared: dict[AcquisitionType, TrainingSet] = {}
    for types in group_by_training(recipes):
        training_set = build_training_set(
            pictures, recipes[types[0]], loader.with_step(", ".join(types)), 0
        )
        shared |= dict.fromkeys(types, replace(training_set, rows={}))
    return shared


def _train_split(
    split: Split,
    training: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    shared: Mapping[AcquisitionType, TrainingSet],
    *,
    learn_rejection: bool,
) -> Iterator[tuple[AcquisitionType, Identifier]]:
    """Train an identifier for each of the recipes that has training pictures of its type."""
    present = {picture.type for picture in training}
    for types in group_by_training(
        {type_: recipe for type_, recipe in recipes.items() if type_ in present}
    ):
        step = loader.with_step(
            f"seed {split.seed}, fold {split.fold + 1}, {', '.join(types)}"
        )
        training_set = shared.get(types[0]) or build_training_set(
            training, recipes[types[0]], step, split.seed
        )
        trained = train_identifiers(
            training_set,
            types,
            training,
            step,
            split.seed,
            learn_rejection=learn_rejection,
        )
        yield from ((type_, identifier) for type_, (identifier, _) in trained.items())


def _identify(
    queries: Sequence[Picture], identifier: Identifier, loader: FeatureLoader
) -> HeldOutAnswers:
    """Identify pictures, but for those that can't be read.

    Their features are not kept.
    """
    pictures: list[Picture] = []
    probabilities = [np.empty((0, len(identifier.species)))]
    with closing(loader.stream(queries, identifier.extractor)) as stream:
        for picture, features in zip(queries, stream, strict=True):
            if features is not None:
                pictures.append(picture)
                probabilities.append(identifier.predict_proba([features]))
    is_known = np.array(
        [picture.species in identifier.species for picture in pictures], bool
    )
    return HeldOutAnswers(
        pictures, np.concatenate(probabilities), identifier.species, is_known
    )


def _answer_non_leaves(
    pictures: Sequence[Picture], model: TypeModel, loader: FeatureLoader
) -> dict[str, list[Answer]]:
    """Answer pictures without a leaf that are made of pictures, by kind."""
    answers: dict[str, list[Answer]] = {}
    for kind, features in load_non_leaves(
        model.identifier, pictures, loader, N_TESTED_NON_LEAVES, ALL_KINDS
    ):
        answer = model.answer(Picture(Path(kind)), features, REJECTED_SHARE, {})
        answers.setdefault(kind, []).append(answer)
    return answers


def _answer(
    queries: Sequence[Picture], model: TypeModel, loader: FeatureLoader
) -> list[Answer]:
    """Answer the pictures that can be read."""
    loaded = zip(
        queries, loader.stream(queries, model.identifier.extractor), strict=True
    )
    return [
        model.answer(picture, features, REJECTED_SHARE, {})
        for picture, features in loaded
        if features is not None
    ]


def pool_evidence_of_folds(answers: Sequence[FoldAnswers]) -> list[FoldAnswers]:
    """Let the answers to the pictures of one session support one another (`leafid.model.sessions`).

    Sessions are made of the pictures of all folds and types with the same seed and
    setting.
    """
    shared = []
    for folds in group_by(answers, lambda fold: (fold.seed, fold.setting)).values():
        held_out = pool_evidence_held_out([fold.held_out for fold in folds])
        shared += [
            replace(fold, held_out=pooled)
            for fold, pooled in zip(folds, held_out, strict=True)
        ]
    return shared
