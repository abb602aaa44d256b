"""Fits identifiers: loads the features of the training pictures, and fits the classifiers of each expert."""

from collections.abc import Sequence

import numpy as np

from leafid.errors import LeafidError
from leafid.features.extractor import FeatureExtractor
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe
from leafid.learning.cross_fitting import cross_fit
from leafid.learning.row_statistics import ExpertStatistics, summarise_rows
from leafid.model.bundled import find_encoders
from leafid.model.fitting.fusing import FittedExpert, FittedIdentifier, fuse_classifiers
from leafid.model.fitting.plan import FitPlan
from leafid.model.fitting.rejection import learn_to_reject
from leafid.model.fitting.training_set import SharedTrainingSet, build_training_set
from leafid.pictures.picture import AcquisitionType, Picture


def fit_identifiers(
    recipe: Recipe,
    types: Sequence[AcquisitionType],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    seed: int = 0,
    *,
    rejection: bool = True,
    shared: SharedTrainingSet | None = None,
) -> list[FittedIdentifier]:
    """Fit an identifier for each of some types that a recipe serves.

    The experts' classifiers are trained once for all of the types. Pictures without a species, and those of types that
    the recipe doesn't train on, are ignored. Without `rejection`, the identifiers don't learn to reject pictures.
    `shared` has encoders, and the features of these and other pictures. A `LeafidError` is raised when there is no
    readable labelled picture of one of the types.
    """
    trainable = select_trainable(pictures, recipe)
    extractor = shared.extractor if shared else make_extractor(recipe, trainable, loader, seed)
    source = shared if shared and shared.holds(trainable) else None
    training_set = source.training_set if source else build_training_set(trainable, recipe, loader, extractor)
    files = {picture.file for picture in trainable}
    chosen = np.flatnonzero([picture.file in files for picture in training_set.pictures])
    plan = FitPlan(recipe, types, training_set, chosen, extractor, seed, rejection)
    if missing := set(types) - {picture.type for picture in plan.pictures}:
        raise LeafidError(f"no labelled picture of type {min(missing)} could be read; nothing to train on")
    experts: dict[str, FittedExpert] = {}
    statistics: dict[str, ExpertStatistics] = {}
    row_labels = plan.labels[training_set.picture_indices]
    partitions = [[training_set.find_rows(fold) for fold in folds] for folds in plan.partitions]
    # A cross-validation, which has no use for statistics, shares features or learns no rejection.
    keeps_statistics = rejection and not shared and all(own.classifier == "ridge" for own in recipe.experts.values())
    for name in loader.show_progress(recipe.experts, len(recipe.experts), "fit"):
        settings = recipe.experts[name]
        weights = plan.weigh(settings)
        rows = (source or training_set).make_rows(name)
        fits, weighted = cross_fit(rows, row_labels, weights, partitions, plan.scored, settings)
        experts[name] = FittedExpert(weighted.preparation, fits)
        if keeps_statistics:
            unit = plan.compute_unit(settings, weights[0])
            statistics[name] = ExpertStatistics(summarise_rows(weighted), weighted.preparation, unit)
    fitted = []
    for index in loader.show_progress(range(len(types)), len(types), "learn to reject"):
        identifier, held_out, examples = fuse_classifiers(plan, index, experts, statistics)
        if examples:
            identifier = learn_to_reject(identifier, examples, pictures, loader)
        fitted.append(FittedIdentifier(identifier, held_out))
    return fitted


def select_trainable(pictures: Sequence[Picture], recipe: Recipe) -> list[Picture]:
    """Select the labelled pictures of the types that a recipe trains on."""
    return [p for p in pictures if p.type in recipe.training_types and p.species is not None]


def make_extractor(recipe: Recipe, pictures: Sequence[Picture], loader: FeatureLoader, seed: int) -> FeatureExtractor:
    """Make the extractor of a recipe, with encoders that are learned from pictures unless they are those bundled."""
    return FeatureExtractor(recipe.experts, find_encoders(recipe, pictures, loader, seed), recipe.longest_side)
