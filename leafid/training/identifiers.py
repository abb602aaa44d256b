"""Fits identifiers: the classifiers of each expert on all pictures and without each fold, and their fusion."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.learning.cross_fitting import cross_fit
from leafid.learning.row_statistics import RowStatistics, summarise_rows
from leafid.parallel.mapping import get_blas_controller
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.training.fusing import FittedExpert, FittedIdentifier, fuse_classifiers
from leafid.training.plan import FitPlan
from leafid.training.rejection import learn_to_reject
from leafid.training.training_set import TrainingSet


def fit_identifiers(
    training_set: TrainingSet,
    types: Sequence[AcquisitionType],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    seed: int = 0,
    *,
    rejection: bool = True,
) -> list[FittedIdentifier]:
    """Fit an identifier for each of some types that the recipe of a training set serves.

    The experts' classifiers are trained once for all of the types, on those of the pictures that are in the training
    set. Without `rejection`, the identifiers don't learn to reject pictures. A `LeafidError` is raised when there is no
    readable labelled picture of one of the types.
    """
    import scipy.linalg  # noqa: F401  # so that its library is there to be limited

    recipe = training_set.recipe
    files = {picture.file for picture in pictures}
    chosen = np.flatnonzero([picture.file in files for picture in training_set.pictures])
    plan = FitPlan(training_set, types, chosen, seed, rejection)
    if missing := set(types) - {picture.type for picture in plan.pictures}:
        raise LeafidError(f"no labelled picture of type {min(missing)} could be read; nothing to train on")
    # A cross-validation, which has no use for statistics, keeps rows or learns no rejection.
    is_single = rejection and training_set.rows is None
    keeps_statistics = is_single and all(own.classifier == "ridge" for own in recipe.experts.values())
    experts: dict[str, FittedExpert] = {}
    statistics: dict[str, RowStatistics] = {}
    fitted = []
    # Two threads of linear algebra take twice the processor's time, as they spin while they wait for each other.
    with get_blas_controller().limit(limits=1):
        for name in loader.show_progress(recipe.experts, len(recipe.experts), "fit"):
            experts[name], own = _fit_expert(plan, name, keeps_statistics)
            if own:
                statistics[name] = own
        for index in loader.show_progress(range(len(types)), len(types), "learn to reject"):
            identifier, held_out, examples = fuse_classifiers(plan, index, experts, statistics)
            if examples:
                identifier = learn_to_reject(identifier, examples, pictures, loader)
            fitted.append(FittedIdentifier(identifier, held_out))
    return fitted


def _fit_expert(plan: FitPlan, name: str, keeps_statistics: bool) -> tuple[FittedExpert, RowStatistics | None]:
    """Fit the classifiers of an expert, whose rows and kernel matrix are not needed afterwards."""
    training_set, settings = plan.training_set, plan.training_set.recipe.experts[name]
    labels = plan.labels[training_set.picture_indices]
    partitions = [[training_set.find_rows(fold) for fold in folds] for folds in plan.partitions]
    weights = plan.weigh(settings)
    fits, rows = cross_fit(training_set.make_rows(name), labels, weights, partitions, plan.scored, settings)
    expert = FittedExpert(rows.preparation, fits)
    if not keeps_statistics:
        return expert, None
    return expert, replace(summarise_rows(rows), unit=plan.compute_unit(settings, weights[0]))
