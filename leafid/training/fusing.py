"""Fuses the classifiers of the experts, with weights fitted on held-out scores."""

from collections.abc import Mapping, Sequence

import numpy as np

from leafid.grouping import group_by
from leafid.learning.classifiers.cross_fitting import FittedExpert
from leafid.learning.classifiers.scorers import LinearScorer
from leafid.learning.folds import Folds
from leafid.learning.fusion import fit_fusion_weights, fuse
from leafid.model.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType, Picture, count_plants
from leafid.pictures.splitting.units import weigh_by_plant
from leafid.training.folds import FoldPlan

#: Scores of `FoldPlan.held_out_rows` of a type by each expert, float (n, n_species).
HeldOutScores = Folds[Sequence[np.ndarray]]


def select_scores(
    plan: FoldPlan, type_: AcquisitionType, experts: Mapping[str, FittedExpert]
) -> HeldOutScores:
    """Select the scores of a type's held-out rows from the rows of all types."""
    positions = np.searchsorted(plan.scored_rows, plan.held_out_rows[type_])
    scores = zip(*(fit.held_out_scores for fit in experts.values()), strict=True)
    return Folds(*scores).map(lambda experts: [values[positions] for values in experts])


def fuse_experts(
    plan: FoldPlan,
    type_: AcquisitionType,
    experts: Mapping[str, FittedExpert],
    scores: HeldOutScores,
) -> tuple[Identifier, HeldOutAnswers]:
    """Make the identifier of a type by fitting weights of experts.

    Parameters
    ----------
    plan : FoldPlan
    type_ : AcquisitionType
    experts : mapping of str to FittedExpert
        By name, in the order of the recipe.
    scores : HeldOutScores
        What the experts give to the held-out rows of the type.

    Returns
    -------
    identifier : Identifier
    answers : HeldOutAnswers
        What it answers to the held-out pictures of the type.
    """
    weights, answers = _fit_weights(plan, type_, scores.without_plant)
    training_set = plan.training_set
    domain = training_set.recipe.training_types.index(type_)
    linear = {}
    estimators = {}
    for name, expert in experts.items():
        scorer = expert.make_scorer(domain)
        if isinstance(scorer, LinearScorer):
            linear[name] = scorer
        else:
            estimators[name] = scorer
    statistics = {
        name: expert.statistics
        for name, expert in experts.items()
        if expert.statistics is not None
    }
    # Further species are learned by all experts or by none.
    if len(statistics) < len(experts):
        statistics = {}
    encoders = training_set.extractor.encoders
    identifier = Identifier(
        recipe=training_set.recipe,
        type=type_,
        species=plan.species,
        codebooks={name: encoder.get_state() for name, encoder in encoders.items()},
        scorers=linear,
        weights=weights,
        seed=plan.seed,
        n_pictures=len(plan.pictures),
        n_plants=count_plants(plan.pictures),
        estimators=estimators,
        statistics=statistics,
        targets={name: experts[name].targets for name in statistics},
    )
    return identifier, answers


def _fit_weights(
    plan: FoldPlan, type_: AcquisitionType, scores: Sequence[np.ndarray]
) -> tuple[np.ndarray, HeldOutAnswers]:
    """Fit the weights of the experts on the scores of held-out rows.

    Also returns the answers to the held-out pictures.
    """
    training_set = plan.training_set
    rows = plan.held_out_rows[type_]
    indices = training_set.picture_indices[rows]
    pictures = training_set.select_pictures(indices)
    labels = plan.labels[indices]
    trust = expert_trust(training_set.recipe, training_set.confidence[rows])
    is_known = np.isfinite(scores[0][np.arange(len(labels)), labels])
    # Leaves whose collection has no other plant of the species are far harder.
    is_compared = is_known & _have_another_plant(pictures, plan.pictures)
    if is_compared.any():
        is_known = is_compared
    weights = fit_fusion_weights(
        [expert_scores[is_known] for expert_scores in scores],
        [values[is_known] for values in trust],
        labels[is_known],
        weigh_by_plant(pictures)[is_known],
    )
    n_pictures = len(plan.held_out_pictures[type_])
    answers = HeldOutAnswers(
        pictures=pictures[:n_pictures],
        probabilities=fuse(scores, trust, weights)[:n_pictures],
        species=plan.species,
        is_known=is_known[:n_pictures],
    )
    return weights, answers


def _have_another_plant(
    pictures: Sequence[Picture], all_pictures: Sequence[Picture]
) -> np.ndarray:
    """Tell whether collections have further plants of pictures' species: bool (n,).

    The plants may be of any type, as the experts learn from all types. The operating
    points of rejection ask for another plant in the acquisition type, in any collection
    (`leafid.learning.rejection`). In ImageCLEF 2011, 1,460 scans have another plant in
    the collection, and 1,178 in the type: one rule for both would change a model.
    """
    plants = group_by(all_pictures, lambda p: (p.species, p.collection))
    counts = {key: count_plants(group) for key, group in plants.items()}
    return np.array([counts[p.species, p.collection] > 1 for p in pictures], bool)
