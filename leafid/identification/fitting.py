"""Fits identifiers: features of the training pictures, a classifier for each expert, and the weights of the fusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from leafid.classifiers.cross_fitting import cross_fit
from leafid.classifiers.disk_backed_array import DiskBackedArray
from leafid.classifiers.fusion import fit_fusion_weights, fuse
from leafid.classifiers.held_out import HeldOutAnswers
from leafid.classifiers.linear import LinearScorer, compute_sample_weights, sum_scorers
from leafid.classifiers.training_matrix import TrainingMatrix
from leafid.collection import split_by_plant
from leafid.collection.picture import AcquisitionType, Picture
from leafid.encoding import Encoder
from leafid.errors import LeafidError
from leafid.features.codebooks import learn_encoders
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.sampling import sample_by_plant
from leafid.identification.identifier import Identifier, expert_trust
from leafid.identification.training_set import TrainingSet, build_training_set
from leafid.recipes.recipe import ClassifierSettings, Recipe

N_FOLDS = 5
#: Maximum number of held-out pictures that fusion weights, thresholds and scores are learned from.
HELD_OUT_PICTURES = 20_000
# Maximum number of held-out probabilities (pictures times species) of all identifiers that are fitted together ...
_HELD_OUT_PROBABILITIES = 2**25
# ... which does not reduce the held-out pictures of one identifier below this number.
_MIN_HELD_OUT_PICTURES = 2_000


class FittedIdentifier(NamedTuple):
    """An identifier with its answers to training pictures, each given by classifiers that did not see the plant."""

    identifier: Identifier
    held_out: HeldOutAnswers


class _FittedClassifier(NamedTuple):
    """A classifier of an expert (by its index), and the scores that it gives to held-out pictures."""

    expert: int
    scorer: LinearScorer
    held_out_scores: np.ndarray


def fit_identifiers(
    recipes: Sequence[Recipe],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    seed: int = 0,
    encoders: dict[str, Encoder] | None = None,
) -> list[FittedIdentifier]:
    """Fit an identifier for each of some recipes that differ in nothing but their type.

    The experts' classifiers are trained once for all of the recipes (see `Recipe.shares_training_with`).

    Parameters
    ----------
    recipes : sequence of Recipe
        At least one.
    pictures : sequence of Picture
        Those without a species, and those of types that the recipes don't train on, are ignored.
    loader : FeatureLoader
    seed : int, default 0
    encoders : dict of str to Encoder, optional
        Encoders of the experts on local features; learned from `pictures` by default.

    Raises
    ------
    LeafidError
        When there is no readable labelled picture of a recipe's own type.
    """
    recipe = recipes[0]
    chosen = select_trainable(pictures, recipe)
    _check_types(recipes, chosen, "no labelled picture of type {} to train on")
    if encoders is None:
        encoders = learn_encoders(chosen, recipe, loader, seed)
    extractor = FeatureExtractor(recipe.experts, encoders, recipe.longest_side)
    with ExitStack() as stack:
        vectors = {name: stack.enter_context(DiskBackedArray(folder=loader.folder)) for name in recipe.experts}
        training_set = build_training_set(chosen, recipe, loader, extractor, vectors)
        _check_types(recipes, training_set.pictures, "no picture of type {} could be read; nothing to train on")
        return _fit_on_vectors(recipes, training_set, vectors, extractor, seed, loader.folder)


def select_trainable(pictures: Sequence[Picture], recipe: Recipe) -> list[Picture]:
    """Select the labelled pictures of the types that a recipe trains on."""
    return [p for p in pictures if p.type in recipe.training_types and p.species is not None]


def _check_types(recipes: Sequence[Recipe], pictures: Sequence[Picture], message: str) -> None:
    present = {picture.type for picture in pictures}
    for recipe in recipes:
        if recipe.type not in present:
            raise LeafidError(message.format(recipe.type))


def _fit_on_vectors(
    recipes: Sequence[Recipe],
    training_set: TrainingSet,
    vectors: Mapping[str, DiskBackedArray],
    extractor: FeatureExtractor,
    seed: int,
    folder: Path | None,
) -> list[FittedIdentifier]:
    recipe, pictures = recipes[0], training_set.pictures
    names = [str(picture.species) for picture in pictures]
    species = tuple(sorted(set(names)))
    labels = np.searchsorted(species, names)
    types = np.array([recipe.training_types.index(p.type) for p in pictures if p.type is not None])
    # The mean is taken off for each type and augmentation: augmented pictures of a type resemble each other.
    domains = types[training_set.picture_indices] + len(recipe.training_types) * training_set.augmentations
    folds = _split_into_folds(pictures, seed)
    limit = _limit_held_out(len(species), len(recipes))
    held_out_indices = [_sample_held_out(pictures, own.type, limit, seed) for own in recipes]
    scored = np.unique(np.concatenate(held_out_indices))
    classifiers: list[list[_FittedClassifier]] = [[] for _ in recipes]
    for index, (name, expert) in enumerate(recipe.experts.items()):
        settings = expert.classifier
        matrix = TrainingMatrix(
            vectors[name],
            settings.feature_map,
            standardise=not expert.is_local,
            domains=domains if settings.centre_types else None,
        )
        weights, *fold_weights = (
            training_set.weigh_rows(own) for own in weigh_pictures(pictures, labels, folds, settings)
        )
        row_folds = [training_set.find_rows(fold) for fold in folds]
        for scorer, held_out_scores in cross_fit(
            matrix, labels[training_set.picture_indices], weights, row_folds, scored, settings, folder, fold_weights
        ):
            for own, indices, fitted in zip(recipes, held_out_indices, classifiers, strict=True):
                scorer_of_type = matrix.adapt_to_domain(scorer, recipe.training_types.index(own.type))
                fitted.append(
                    _FittedClassifier(index, scorer_of_type, held_out_scores[np.searchsorted(scored, indices)])
                )
    return [
        _fuse_classifiers(own, species, training_set, indices, fitted, extractor, seed)
        for own, indices, fitted in zip(recipes, held_out_indices, classifiers, strict=True)
    ]


def _fuse_classifiers(
    recipe: Recipe,
    species: tuple[str, ...],
    training_set: TrainingSet,
    held_out_indices: np.ndarray,
    classifiers: Sequence[_FittedClassifier],
    extractor: FeatureExtractor,
    seed: int,
) -> FittedIdentifier:
    """Fit the weight of each classifier on held-out pictures, and sum the classifiers of each expert."""
    pictures = [training_set.pictures[index] for index in held_out_indices]
    labels = np.searchsorted(species, [str(picture.species) for picture in pictures])
    trust_of = expert_trust(recipe, training_set.confidence[held_out_indices])
    trust = [trust_of[classifier.expert] for classifier in classifiers]
    scores = [classifier.held_out_scores for classifier in classifiers]
    is_known = np.isfinite(scores[0][np.arange(len(labels)), labels])
    weights = fit_fusion_weights(
        [own[is_known] for own in scores],
        [own[is_known] for own in trust],
        labels[is_known],
        weigh_by_plant(pictures)[is_known],
    )
    held_out = HeldOutAnswers(pictures, fuse(scores, trust, weights), species, is_known)
    expert_weights = np.bincount([classifier.expert for classifier in classifiers], weights, len(recipe.experts))
    scorers = {}
    for index, name in enumerate(recipe.experts):
        members = np.flatnonzero([classifier.expert == index for classifier in classifiers])
        # An expert of weight 0 keeps its first classifier.
        shares = weights[members] / expert_weights[index] if expert_weights[index] else members == members[0]
        scorers[name] = sum_scorers([classifiers[member].scorer for member in members.tolist()], shares)
    identifier = Identifier(
        recipe,
        species,
        extractor,
        scorers,
        expert_weights,
        seed,
        len(training_set.pictures),
        len({picture.group for picture in training_set.pictures}),
    )
    return FittedIdentifier(identifier, held_out)


def _split_into_folds(pictures: list[Picture], seed: int) -> list[np.ndarray]:
    n_plants = len({picture.group for picture in pictures})
    return split_by_plant(pictures, min(N_FOLDS, n_plants), seed) if n_plants > 1 else []


def _limit_held_out(n_species: int, n_identifiers: int) -> int:
    n_probabilities = _HELD_OUT_PROBABILITIES // n_identifiers
    return min(HELD_OUT_PICTURES, max(_MIN_HELD_OUT_PICTURES, n_probabilities // n_species))


def _sample_held_out(pictures: Sequence[Picture], type_: AcquisitionType, limit: int, seed: int) -> np.ndarray:
    """Choose the pictures of a type that get held-out answers, whole plants, by their indices."""
    own = np.flatnonzero([picture.type == type_ for picture in pictures])
    return own[sample_by_plant([pictures[index] for index in own.tolist()], limit, seed)]


def weigh_pictures(
    pictures: Sequence[Picture], labels: np.ndarray, folds: Sequence[np.ndarray], settings: ClassifierSettings
) -> list[np.ndarray]:
    """Give the training weight of each picture: in training on all of them, then in training without each fold.

    A fold's own pictures weigh 0 and are not counted: they would make their species seem more frequent than it is
    among those that are trained on. Scans and photos of one plant count as two plants: they don't resemble each other.
    """
    plants = np.array([f"{picture.group} {picture.type}" for picture in pictures])
    weights = []
    for fold in (np.array([], int), *folds):
        rest = np.setdiff1d(np.arange(len(labels)), fold)
        own = np.zeros(len(labels))
        if len(rest):
            own[rest] = compute_sample_weights(
                labels[rest], plants[rest], settings.species_balance, settings.plant_balance
            )
        weights.append(own)
    return weights


def weigh_by_plant(pictures: Sequence[Picture]) -> np.ndarray:
    """Weigh pictures so that each plant counts once, as in the official score: one over its number of pictures."""
    groups = [picture.group for picture in pictures]
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / counts[inverse]
