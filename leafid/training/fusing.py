"""Fuses the classifiers of the experts into an identifier, with weights that are fitted on held-out scores."""

from collections.abc import Mapping, Sequence

import numpy as np

from leafid.learning.cross_fitting import FittedExpert
from leafid.learning.fusion import fit_fusion_weights, fuse
from leafid.learning.linear import LinearScorer, sum_scorers
from leafid.learning.nonlinear import EstimatorScorer
from leafid.metrics.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.splits import weigh_by_plant
from leafid.training.folds import WITHOUT_PLANT, FoldPlan

#: Scores of pictures by experts, float (n, n_species), by the name of the folds without which they were trained.
FoldScores = Mapping[str, Sequence[np.ndarray]]


def fuse_experts(
    plan: FoldPlan, type_: AcquisitionType, experts: Mapping[str, FittedExpert]
) -> tuple[Identifier, HeldOutAnswers, FoldScores | None]:
    """Make the identifier of a type: fit the weight of each classifier, and sum the classifiers of each expert.

    With it come its answers to held-out pictures, and the scores of these by each expert; None where there is nothing
    to learn to reject pictures from.
    """
    positions = np.searchsorted(plan.scored, plan.held_out[type_])
    scores = {
        name: [scores[positions] for expert in experts.values() for scores in expert.held_out_scores[name]]
        for name in plan.folds
    }
    weights, answers = _fit_weights(plan, type_, experts, scores[WITHOUT_PLANT])
    sizes = [len(expert.classifiers) for expert in experts.values()]
    parts = dict(zip(experts, np.split(weights, np.cumsum(sizes)[:-1]), strict=True))
    shares = {name: _divide_by_sum(part) for name, part in parts.items()}
    domain = plan.training_set.number_domain(type_)
    scorers = {name: _make_scorer(expert, shares[name], domain) for name, expert in experts.items()}
    statistics = {name: expert.statistics for name, expert in experts.items() if expert.statistics}
    identifier = Identifier(
        plan.training_set.recipe,
        type_,
        plan.species,
        {name: encoder.get_state() for name, encoder in plan.training_set.extractor.encoders.items()},
        {name: scorer for name, scorer in scorers.items() if isinstance(scorer, LinearScorer)},
        np.array([part.sum() for part in parts.values()]),
        plan.seed,
        len(plan.pictures),
        len({picture.group for picture in plan.pictures}),
        estimators={name: scorer for name, scorer in scorers.items() if isinstance(scorer, EstimatorScorer)},
        statistics=statistics,
        targets={name: _find_targets(experts[name], shares[name]) for name in statistics},
    )
    can_learn = (
        len(scores) > 1 and answers.is_known.any() and all(np.isfinite(kind[0]).any() for kind in scores.values())
    )
    return identifier, answers, _sum_scores(scores, shares) if can_learn else None


def _fit_weights(
    plan: FoldPlan, type_: AcquisitionType, experts: Mapping[str, FittedExpert], scores: Sequence[np.ndarray]
) -> tuple[np.ndarray, HeldOutAnswers]:
    """Fit the weights of all classifiers on the scores of held-out pictures, and give the answers to these."""
    held_out = plan.held_out[type_]
    pictures, labels = plan.training_set.select_pictures(held_out), plan.labels[held_out]
    trust_of_experts = expert_trust(plan.training_set.recipe, plan.training_set.confidence[held_out])
    trust = [
        expert_trust_
        for expert, expert_trust_ in zip(experts.values(), trust_of_experts, strict=True)
        for _ in expert.classifiers
    ]
    is_known = np.isfinite(scores[0][np.arange(len(labels)), labels])
    weights = fit_fusion_weights(
        [classifier_scores[is_known] for classifier_scores in scores],
        [classifier_trust[is_known] for classifier_trust in trust],
        labels[is_known],
        weigh_by_plant(pictures)[is_known],
    )
    return weights, HeldOutAnswers(pictures, fuse(scores, trust, weights), plan.species, is_known)


def _divide_by_sum(weights: np.ndarray) -> np.ndarray:
    """Turn the weights of an expert's classifiers into shares; an expert of weight 0 keeps its first classifier."""
    total = weights.sum()
    return weights / total if total else np.eye(len(weights))[0]


def _make_scorer(expert: FittedExpert, shares: np.ndarray, domain: int) -> LinearScorer | EstimatorScorer:
    """Sum the classifiers of an expert to one of vectors of a domain; one that is not linear is alone."""
    scorers = []
    for classifier in expert.classifiers:
        if isinstance(classifier, bytes):
            return EstimatorScorer(expert.transform.select_domain(domain), classifier)
        scorers.append(expert.transform.make_scorer(*classifier, domain))
    return sum_scorers(scorers, shares.tolist())


def _find_targets(expert: FittedExpert, shares: np.ndarray) -> tuple[float, float]:
    """Find what an expert scores, by least squares, where its ridge regression would score its targets, -1 and 1."""
    first, *further = expert.held_out_scores[WITHOUT_PLANT]
    possible = np.isfinite(first)
    targets = [(-1.0, 1.0)] * len(shares)
    if possible.any() and np.ptp(first[possible]):
        for number, scores in enumerate(further, 1):
            slope, offset = np.polyfit(first[possible].astype(np.float64), scores[possible], 1).tolist()
            targets[number] = offset - slope, offset + slope
    off, on = (shares @ np.array(targets)).tolist()
    return off, on


def _sum_scores(scores: FoldScores, shares: Mapping[str, np.ndarray]) -> FoldScores:
    """Sum the scores of each expert's classifiers as `sum_scorers` sums these; impossible species stay so."""
    summed: dict[str, list[np.ndarray]] = {}
    for name, classifier_scores in scores.items():
        remaining = iter(classifier_scores)
        summed[name] = []
        for expert_shares in shares.values():
            members = [next(remaining) for _ in expert_shares]
            possible = np.isfinite(members[0])
            finite = [np.where(possible, member, 0) for member in members]
            total = sum(member * share for member, share in zip(finite, expert_shares, strict=True))
            summed[name].append(np.where(possible, total, -np.inf))
    return summed
