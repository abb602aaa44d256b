"""Trains identifiers: the classifiers of each expert on all pictures and without each fold, and their fusion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from leafid.errors import LeafidError
from leafid.features.loader import FeatureLoader
from leafid.learning.cross_fitting import FittedExpert, cross_fit
from leafid.learning.fusion import fit_fusion_weights, fuse
from leafid.learning.linear import LinearScorer, sum_scorers
from leafid.learning.nonlinear import EstimatorScorer
from leafid.metrics.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier, expert_trust
from leafid.parallel.threads import get_blas_controller
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.splits import weigh_by_plant
from leafid.training.folds import WITHOUT_PLANT, FoldPlan
from leafid.training.rejection import train_rejection
from leafid.training.training_set import TrainingSet

#: Scores of pictures by experts, float (n, n_species), by the name of the folds without which they were trained.
FoldScores = Mapping[str, Sequence[np.ndarray]]


def train_identifiers(
    training_set: TrainingSet,
    types: Sequence[AcquisitionType],
    pictures: Sequence[Picture],
    loader: FeatureLoader,
    seed: int = 0,
    *,
    learn_rejection: bool = True,
) -> dict[AcquisitionType, tuple[Identifier, HeldOutAnswers]]:
    """Train an identifier for each of some types that the recipe of a training set serves.

    The experts' classifiers are trained once for all of the types, on those of the pictures that are in the training
    set. With each identifier come its answers to training pictures, each given by classifiers that did not see the
    plant. Without `learn_rejection`, the identifiers don't learn to reject pictures. A `LeafidError` is raised when
    there is no readable labelled picture of one of the types.
    """
    import scipy.linalg  # noqa: F401  # so that its library is there to be limited

    recipe = training_set.recipe
    files = {picture.file for picture in pictures}
    chosen = np.flatnonzero([picture.file in files for picture in training_set.pictures])
    plan = FoldPlan(training_set, types, chosen, seed, learn_rejection)
    if missing := set(types) - {picture.type for picture in plan.pictures}:
        raise LeafidError(f"no labelled picture of type {min(missing)} could be read; nothing to train on")
    # A cross-validation, which has no use for statistics, keeps rows or learns no rejection.
    is_single = learn_rejection and training_set.rows is None
    keep_statistics = is_single and all(expert.classifier == "ridge" for expert in recipe.experts.values())
    trained = {}
    # Two threads of linear algebra take twice the processor's time, as they spin while they wait for each other.
    with get_blas_controller().limit(limits=1):
        names = loader.show_progress(recipe.experts, len(recipe.experts), "fit")
        experts = {name: _train_expert(plan, name, keep_statistics) for name in names}
        for type_ in loader.show_progress(types, len(types), "learn to reject"):
            identifier, answers, scores = _fuse_experts(plan, type_, experts)
            if scores:
                rejection = train_rejection(identifier, plan, scores, pictures, loader)
                identifier = replace(identifier, rejection=rejection)
            trained[type_] = identifier, answers
    return trained


def _train_expert(plan: FoldPlan, name: str, keep_statistics: bool) -> FittedExpert:
    """Train the classifiers of an expert, whose rows and kernel matrix are not needed afterwards."""
    training_set, settings = plan.training_set, plan.training_set.recipe.experts[name]
    weights = plan.weigh_rows(settings)
    expert = cross_fit(
        training_set.make_rows(name),
        plan.labels[training_set.picture_indices],
        weights,
        {
            kind: [
                (np.flatnonzero(np.isin(training_set.picture_indices, fold)), plan.weigh_rows(settings, fold))
                for fold in folds
            ]
            for kind, folds in plan.folds.items()
        },
        plan.scored,
        settings,
        keep_statistics=keep_statistics,
    )
    if expert.statistics is None:
        return expert
    return replace(expert, statistics=replace(expert.statistics, base_weight=plan.base_weight(settings, weights)))


def _fuse_experts(
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
    # An expert of weight 0 keeps its first classifier.
    shares = {name: part / part.sum() if part.sum() else np.eye(len(part))[0] for name, part in parts.items()}
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
