"""Cross-validation: models of the splits of a collection answer the test pictures."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from leafid.errors import UsageError
from leafid.features.loader import FeatureLoader
from leafid.features.non_leaves import ALL_KINDS
from leafid.features.recipe import Recipe, group_by_training
from leafid.grouping import group_by
from leafid.learning.plant_fusion import DEFAULT_EXPONENT
from leafid.learning.rejection import REJECTED_SHARE
from leafid.model.answer import Answer
from leafid.model.groups import pool_held_out
from leafid.model.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier, TypeModel
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splitting.protocol import Split
from leafid.training.identifiers import train_identifiers
from leafid.training.model import train
from leafid.training.rejection import load_non_leaves
from leafid.training.training_set import TrainingSet, build_training_set

#: Share of the species that each fold of an open world holds out: 20 of 71.
HELD_OUT_SPECIES_SHARE = 0.28
#: Number of pictures without a leaf that are tested in each fold of an open world.
N_TESTED_NON_LEAVES = 140


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FoldAnswers:
    """Answers to the test pictures of a fold and type."""

    type: AcquisitionType
    seed: int
    fold: int
    held_out: HeldOutAnswers
    #: What the split varies, such as the number of training pictures.
    setting: str = ""
    #: The recipe and the collection, in an experiment.
    recipe: str = ""
    collection: str = ""
    #: The model of the fold, if models are kept.
    model: Model | None = None


@dataclass(frozen=True)
class OpenWorldFold:
    """Answers in an open world to the test pictures of a fold and type."""

    type: AcquisitionType
    seed: int
    fold: int
    #: What the split varies, such as the number of training pictures.
    setting: str
    #: Answers to leaves of known and of unknown species.
    known: list[Answer]
    unknown: list[Answer]
    #: By kind (`leafid.features.non_leaves`), answers to pictures without a leaf in
    #: which the segmentation finds one.
    non_leaves: Mapping[str, list[Answer]]


def cross_validate(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    splits: Iterable[Split],
    shared_codebooks: bool = False,
    *,
    test_type: AcquisitionType | None = None,
    keep_models: bool = False,
) -> Iterator[FoldAnswers]:
    """Identify the test pictures of splits with models of the training pictures.

    The pictures have a label and a type. Codebooks, classifiers, calibration and fusion
    are learned from each training part alone.

    Parameters
    ----------
    pictures : sequence of Picture
        Labelled pictures of known acquisition types.
    recipes : mapping of AcquisitionType to Recipe
    loader : FeatureLoader
    splits : iterable of Split
    shared_codebooks : bool
        Learn the codebooks once, from all pictures without their labels. Features are
        then extracted, and kernel matrices computed, once instead of once a split.
    test_type : AcquisitionType, optional
        The type that the recipes answer for, whatever type the pictures have.
    keep_models : bool
        Train complete models, which takes longer, and hand them out. They have
        codebooks of their own.

    Yields
    ------
    FoldAnswers
        The answers of every split and type that has test and training pictures there.

    Raises
    ------
    UsageError
        When models are to be kept that share codebooks.
    """
    if keep_models and shared_codebooks:
        raise UsageError("expected models without shared_codebooks, found both")
    trainer = _SplitTrainer(pictures, recipes, loader, shared_codebooks)
    for split in splits:
        queries = group_by(split.test, lambda index: pictures[index].type)
        query_types = {type_: test_type or type_ for type_ in recipes}
        usable = {
            t: recipe for t, recipe in recipes.items() if query_types[t] in queries
        }
        training_types = {pictures[index].type for index in split.training}
        for type_ in usable.keys() - training_types:
            n_left = len(queries[query_types[type_]])
            _log.warning(
                "fold %d: no picture of type %s to learn from; %d are not tested",
                split.fold + 1,
                type_,
                n_left,
            )
        model = None
        identifiers = trainer.train(split, usable)
        if keep_models:
            model = trainer.train_model(split, usable)
            identifiers = ((t, m.identifier) for t, m in model.types.items())
        for type_, identifier in identifiers:
            query_type = query_types[type_]
            test = [pictures[index] for index in queries[query_type]]
            yield FoldAnswers(
                type=query_type,
                seed=split.seed,
                fold=split.fold,
                setting=split.setting,
                held_out=_identify(test, identifier, loader),
                model=model,
            )


def cross_validate_open_world(
    pictures: Sequence[Picture],
    recipes: Mapping[AcquisitionType, Recipe],
    loader: FeatureLoader,
    splits: Iterable[Split],
    shared_codebooks: bool = False,
) -> Iterator[OpenWorldFold]:
    """Train on each split without some random species, and answer pictures.

    These are of the species that were left out, of the test part, and without a leaf.
    `shared_codebooks` does the same as in `cross_validate`. Identifiers that can't
    learn to reject pictures, as there are too few species, are left out.
    """
    trainer = _SplitTrainer(
        pictures, recipes, loader, shared_codebooks, learn_rejection=True
    )
    for split in splits:
        held_out = _hold_out_species(pictures, split)
        test = [pictures[index] for index in split.test]
        unknown = [picture for picture in pictures if picture.species in held_out]
        for type_, identifier in trainer.train(split, recipes, held_out):
            if identifier.rejection is None:
                continue
            model = TypeModel(identifier, {}, DEFAULT_EXPONENT)
            yield OpenWorldFold(
                type=type_,
                seed=split.seed,
                fold=split.fold,
                setting=split.setting,
                known=_answer(test, identifier.species, model, loader),
                unknown=_answer(unknown, held_out, model, loader),
                non_leaves=_answer_non_leaves(test, model, loader),
            )


def _hold_out_species(pictures: Sequence[Picture], split: Split) -> set[str]:
    """Choose the species that a split holds out in an open world, at random."""
    names = sorted({str(picture.species) for picture in pictures})
    order = np.random.default_rng([split.seed, split.fold]).permutation(len(names))
    number = round(HELD_OUT_SPECIES_SHARE * len(names))
    return {names[index] for index in order[:number]}


class _SplitTrainer:
    """Trains identifiers on the training parts of splits.

    With shared codebooks, the training sets of all pictures are made first, which
    compute their kernel matrices once for the fits of all splits.
    """

    def __init__(
        self,
        pictures: Sequence[Picture],
        recipes: Mapping[AcquisitionType, Recipe],
        loader: FeatureLoader,
        shared_codebooks: bool,
        *,
        learn_rejection: bool = False,
    ) -> None:
        self._pictures = pictures
        self._loader = loader
        self._learn_rejection = learn_rejection
        self._shared: dict[AcquisitionType, TrainingSet] = {}
        if shared_codebooks:
            for types in group_by_training(recipes):
                step = loader.with_step(", ".join(types))
                training_set = build_training_set(pictures, recipes[types[0]], step, 0)
                training_set = replace(training_set, rows={})
                self._shared |= dict.fromkeys(types, training_set)

    def train(
        self,
        split: Split,
        recipes: Mapping[AcquisitionType, Recipe],
        held_out_species: Collection[str] = (),
    ) -> Iterator[tuple[AcquisitionType, Identifier]]:
        """Train an identifier for each recipe with training pictures of its type."""
        training = [self._pictures[index] for index in split.training]
        pictures = [p for p in training if p.species not in held_out_species]
        trainable = _select_trainable(recipes, pictures)
        for types in group_by_training(trainable):
            step = self._loader.with_step(
                f"seed {split.seed}, fold {split.fold + 1}, {', '.join(types)}"
            )
            training_set = self._shared.get(types[0]) or build_training_set(
                pictures, recipes[types[0]], step, split.seed
            )
            trained = train_identifiers(
                training_set=training_set,
                types=types,
                pictures=pictures,
                loader=step,
                seed=split.seed,
                learn_rejection=self._learn_rejection,
            )
            for type_, (identifier, _) in trained.items():
                yield type_, identifier

    def train_model(
        self, split: Split, recipes: Mapping[AcquisitionType, Recipe]
    ) -> Model:
        """Train a model of the recipes with training pictures of their types."""
        pictures = [self._pictures[index] for index in split.training]
        step = self._loader.with_step(f"seed {split.seed}, fold {split.fold + 1}")
        trainable = _select_trainable(recipes, pictures)
        return train(pictures, trainable, step, split.seed, thumbnails=False)


def _select_trainable(
    recipes: Mapping[AcquisitionType, Recipe], pictures: Sequence[Picture]
) -> dict[AcquisitionType, Recipe]:
    present = {picture.type for picture in pictures}
    return {type_: r for type_, r in recipes.items() if type_ in present}


def _identify(
    queries: Sequence[Picture], identifier: Identifier, loader: FeatureLoader
) -> HeldOutAnswers:
    """Identify the pictures that can be read.

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


def _answer(
    pictures: Sequence[Picture],
    species: Collection[str],
    model: TypeModel,
    loader: FeatureLoader,
) -> list[Answer]:
    """Answer the readable pictures of some species and the model's type."""
    identifier = model.identifier
    queries = [
        picture
        for picture in pictures
        if picture.type == identifier.type and picture.species in species
    ]
    stream = loader.stream(queries, identifier.extractor)
    answers = []
    for picture, features in zip(queries, stream, strict=True):
        if features is not None:
            answers.append(model.answer(picture, features, REJECTED_SHARE, {}))
    return answers


def _answer_non_leaves(
    pictures: Sequence[Picture], model: TypeModel, loader: FeatureLoader
) -> dict[str, list[Answer]]:
    """Answer pictures without a leaf, by kind, with the background of pictures."""
    answers: dict[str, list[Answer]] = {}
    identifier = model.identifier
    for kind, _, views in load_non_leaves(
        identifier.extractor,
        identifier.type,
        pictures,
        loader=loader,
        number=N_TESTED_NON_LEAVES,
        kinds=[*ALL_KINDS],
    ):
        picture = Picture(Path(kind))
        answers.setdefault(kind, []).extend(
            model.answer(picture, features, REJECTED_SHARE, {}) for features in views
        )
    return answers


def pool_evidence_of_folds(answers: Sequence[FoldAnswers]) -> list[FoldAnswers]:
    """Let the answers to pictures of one session support each other.

    Sessions are made of the pictures of all folds and types with the same seed and
    setting.
    """
    by_split = group_by(answers, lambda fold: (fold.seed, fold.setting))
    pooled = []
    for folds in by_split.values():
        held_out = pool_held_out([fold.held_out for fold in folds])
        for fold, of_fold in zip(folds, held_out, strict=True):
            pooled.append(replace(fold, held_out=of_fold))
    return pooled
