"""Trains identifiers: the classifiers of each expert, and their fusion."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.learning.classifiers.cross_fitting import FittedExpert, Fold, cross_fit
from leafid.model.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier
from leafid.parallel.mapping import using_one_thread
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.training.folds import FoldPlan
from leafid.training.fusing import fuse_experts, select_scores
from leafid.training.rejection import train_leafness, train_rejection
from leafid.training.training_set import TrainingSet


def train_identifiers(
    training_set: TrainingSet,
    types: Sequence[AcquisitionType],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    seed: int = 0,
    *,
    learn_rejection: bool = True,
    unknown: Sequence[Picture] = (),
) -> dict[AcquisitionType, tuple[Identifier, HeldOutAnswers]]:
    """Train an identifier for each of some types that the training set's recipe serves.

    The experts' classifiers are trained once for all of the types.

    Parameters
    ----------
    training_set : TrainingSet
    types : sequence of AcquisitionType
    pictures : sequence of Picture
        Of the training set, the pictures that are among these are learned from.
    loader : FeatureLoader
    seed : int
        It decides about folds and samples.
    learn_rejection : bool
        Learn to reject pictures, too.
    unknown : sequence of Picture
        Leaves of further species, to be rejected.

    Returns
    -------
    dict
        By type, the identifier with its answers to training pictures, each given by
        classifiers that did not see the plant.

    Raises
    ------
    LeafidError
        When there is no readable labelled picture of one of the types.
    """
    recipe = training_set.recipe
    files = {picture.file for picture in pictures}
    is_used = [picture.file in files for picture in training_set.pictures]
    plan = FoldPlan(
        training_set=training_set,
        types=types,
        training_pictures=np.flatnonzero(is_used),
        seed=seed,
        learn_rejection=learn_rejection,
    )
    if missing := set(types) - {picture.type for picture in plan.pictures}:
        raise LeafidError(
            f"no labelled picture of type {min(missing)} could be read; nothing to "
            "train on"
        )
    # A cross-validation, which has no use for statistics, keeps rows or learns no
    # rejection.
    keep_statistics = learn_rejection and training_set.rows is None
    trained = {}
    # Two threads of linear algebra take twice the processor's time, as they spin while
    # they wait for each other.
    with using_one_thread():
        names = loader.show_progress(recipe.experts, len(recipe.experts), "fit")
        experts = {name: train_expert(plan, name, keep_statistics) for name in names}
        leafness = None
        if plan.folds.without_species:
            leafness = train_leafness(plan, pictures, loader)
        for type_ in loader.show_progress(types, len(types), "learn to reject"):
            scores = select_scores(plan, type_, experts)
            identifier, answers = fuse_experts(plan, type_, experts, scores)
            if leafness and answers.is_known.any():
                rejection = train_rejection(
                    identifier,
                    plan,
                    scores=scores,
                    leafness=leafness,
                    unknown=unknown,
                    loader=loader,
                )
                identifier = replace(identifier, rejection=rejection)
            trained[type_] = identifier, answers
    return trained


def train_expert(plan: FoldPlan, name: str, keep_statistics: bool) -> FittedExpert:
    """Train the classifier of an expert on all rows, and without each fold.

    Parameters
    ----------
    plan : FoldPlan
    name : str
        The expert, a key of the recipe's experts.
    keep_statistics : bool
        Keep the statistics of rows that further species are learned with.

    Returns
    -------
    FittedExpert
    """
    training_set = plan.training_set
    settings = training_set.recipe.experts[name]
    weights = plan.weigh_rows(settings)

    def make_folds(folds: Sequence[np.ndarray]) -> list[Fold]:
        return [
            Fold(training_set.find_rows(f), plan.weigh_rows(settings, f)) for f in folds
        ]

    expert = cross_fit(
        rows=training_set.make_rows(name),
        labels=plan.labels[training_set.picture_indices],
        weights=weights,
        folds=plan.folds.map(make_folds),
        scored=plan.scored_rows,
        settings=settings,
        keep_statistics=keep_statistics,
    )
    if expert.statistics is None:
        return expert
    relative = training_set.balance_pictures(plan.training_pictures, settings)
    base_weight = float(weights[plan.training_pictures[0]] / relative[0])
    return replace(
        expert, statistics=replace(expert.statistics, base_weight=base_weight)
    )
