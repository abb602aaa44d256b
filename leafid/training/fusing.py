"""Fuses the classifiers of the experts into an identifier, with weights that are fitted on held-out scores."""

from collections.abc import Mapping, Sequence

import numpy as np

from leafid.learning.cross_fitting import FittedExpert
from leafid.learning.fusion import fit_fusion_weights, fuse
from leafid.learning.scorers import EstimatorScorer, LinearScorer
from leafid.model.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.splits import weigh_by_plant
from leafid.training.folds import WITHOUT_PLANT, FoldPlan

#: Scores of pictures by experts, float (n, n_species), by the name of the folds without which they were trained.
FoldScores = Mapping[str, Sequence[np.ndarray]]


def fuse_experts(
    plan: FoldPlan, type_: AcquisitionType, experts: Mapping[str, FittedExpert]
) -> tuple[Identifier, HeldOutAnswers, FoldScores | None]:
    """Make the identifier of a type: fit the weight of each expert.

    Returns it with its answers to held-out pictures, and with the scores of `FoldPlan.held_out_rows` by each expert,
    which are None where there is nothing to learn to reject pictures from.
    """
    positions = np.searchsorted(plan.scored, plan.held_out_rows[type_])
    scores = {
        name: [expert.held_out_scores[name][positions] for expert in experts.values()]
        for name in plan.folds
    }
    weights, answers = _fit_weights(plan, type_, scores[WITHOUT_PLANT])
    domain = plan.training_set.recipe.training_types.index(type_)
    scorers = {name: expert.make_scorer(domain) for name, expert in experts.items()}
    # Further species are learned by all experts or by none.
    kept = experts if all(expert.statistics for expert in experts.values()) else {}
    identifier = Identifier(
        plan.training_set.recipe,
        type_,
        plan.species,
        {
            name: encoder.get_state()
            for name, encoder in plan.training_set.extractor.encoders.items()
        },
        {
            name: scorer
            for name, scorer in scorers.items()
            if isinstance(scorer, LinearScorer)
        },
        weights,
        plan.seed,
        len(plan.pictures),
        len({picture.group for picture in plan.pictures}),
        estimators={
            name: scorer
            for name, scorer in scorers.items()
            if isinstance(scorer, EstimatorScorer)
        },
        statistics={
            name: expert.statistics
            for name, expert in kept.items()
            if expert.statistics
        },
        targets={name: expert.targets for name, expert in kept.items()},
    )
    can_learn = (
        len(scores) > 1
        and answers.is_known.any()
        and all(np.isfinite(kind[0]).any() for kind in scores.values())
    )
    return identifier, answers, scores if can_learn else None


def _fit_weights(
    plan: FoldPlan, type_: AcquisitionType, scores: Sequence[np.ndarray]
) -> tuple[np.ndarray, HeldOutAnswers]:
    """Fit the weights of the experts on the scores of held-out rows, and give the answers to held-out pictures."""
    training_set, rows = plan.training_set, plan.held_out_rows[type_]
    indices = training_set.picture_indices[rows]
    pictures, labels = training_set.select_pictures(indices), plan.labels[indices]
    trust = expert_trust(training_set.recipe, training_set.confidence[rows])
    is_known = np.isfinite(scores[0][np.arange(len(labels)), labels])
    weights = fit_fusion_weights(
        [expert_scores[is_known] for expert_scores in scores],
        [trusted[is_known] for trusted in trust],
        labels[is_known],
        weigh_by_plant(pictures)[is_known],
    )
    n_pictures = len(plan.held_out[type_])
    probabilities = fuse(scores, trust, weights)[:n_pictures]
    return weights, HeldOutAnswers(
        pictures[:n_pictures], probabilities, plan.species, is_known[:n_pictures]
    )
