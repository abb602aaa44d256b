"""Fuses the classifiers of the experts into an identifier, with weights that are fitted on held-out scores."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leafid.features.sampling import weigh_by_plant
from leafid.learning.cross_fitting import LinearFit
from leafid.learning.fusion import fit_fusion_weights, fuse
from leafid.learning.held_out import HeldOutAnswers
from leafid.learning.linear import sum_scorers
from leafid.learning.row_statistics import ExpertStatistics
from leafid.learning.rows import RowPreparation
from leafid.model.fitting.plan import FitPlan
from leafid.model.fitting.rejection import RejectionExamples, gather_examples
from leafid.model.identifier import Identifier, expert_trust


class FittedIdentifier(NamedTuple):
    """An identifier with its answers to training pictures, each given by classifiers that did not see the plant."""

    identifier: Identifier
    held_out: HeldOutAnswers


class FittedClassifier(NamedTuple):
    """A classifier of an expert, with the first one of the same expert."""

    expert: str
    preparation: RowPreparation
    fit: LinearFit
    first: LinearFit

    @property
    def targets(self) -> tuple[float, float]:
        """The scores that correspond to the first classifier's targets, -1 and 1, by least squares over both scores."""
        scores, first_scores = self.fit.held_out_scores[0], self.first.held_out_scores[0]
        possible = np.isfinite(first_scores)
        if self.fit is self.first or not possible.any() or np.ptp(first_scores[possible]) == 0:
            return -1.0, 1.0
        slope, offset = np.polyfit(first_scores[possible].astype(np.float64), scores[possible], 1).tolist()
        return offset - slope, offset + slope


def fuse_classifiers(
    plan: FitPlan, index: int, classifiers: Sequence[FittedClassifier], statistics: Mapping[str, ExpertStatistics]
) -> tuple[Identifier, HeldOutAnswers, RejectionExamples | None]:
    """Fit the weight of each classifier on held-out pictures, and sum the classifiers of each expert.

    The identifier is that of a type by its index. Examples to learn to reject pictures from are there where the plan
    has folds for it.
    """
    recipe, type_, held_out = plan.recipe, plan.types[index], plan.held_out[index]
    pictures = [plan.training_set.pictures[own] for own in held_out.tolist()]
    labels = plan.labels[held_out]
    confidence = plan.training_set.confidence[held_out]
    trust_of = dict(zip(recipe.experts, expert_trust(recipe, confidence), strict=True))
    trust = [trust_of[own.expert] for own in classifiers]
    positions = np.searchsorted(plan.scored, held_out)
    # By classifiers without a fold of plants, without a fold of species, and without a larger fold of plants.
    scores = [[own.fit.held_out_scores[kind][positions] for own in classifiers] for kind in range(3)]
    is_known = np.isfinite(scores[0][0][np.arange(len(labels)), labels])
    weights = fit_fusion_weights(
        [own[is_known] for own in scores[0]],
        [own[is_known] for own in trust],
        labels[is_known],
        weigh_by_plant(pictures)[is_known],
    )
    answers = HeldOutAnswers(pictures, fuse(scores[0], trust, weights), plan.species, is_known)
    scorers, targets, expert_weights = {}, {}, []
    expert_scores: list[list[np.ndarray]] = [[] for _ in scores]
    for name in recipe.experts:
        members = np.flatnonzero([own.expert == name for own in classifiers])
        total = weights[members].sum()
        # An expert of weight 0 keeps its first classifier.
        shares: np.ndarray = weights[members] / total if total else (members == members[0]).astype(np.float64)
        own = [classifiers[member] for member in members.tolist()]
        domain = recipe.training_types.index(type_)
        scorers[name] = sum_scorers(
            [o.preparation.make_scorer(o.fit.coefficients, o.fit.intercepts, domain) for o in own], shares.tolist()
        )
        if statistics:
            off, on = (shares @ np.array([classifier.targets for classifier in own])).tolist()
            targets[name] = (off, on)
        expert_weights.append(total)
        for found, kind in zip(expert_scores, scores, strict=True):
            found.append(_sum_scores([kind[member] for member in members.tolist()], shares))
    n_plants = len({picture.group for picture in plan.pictures})
    identifier = Identifier(
        recipe,
        type_,
        plan.species,
        plan.extractor,
        scorers,
        np.array(expert_weights),
        plan.seed,
        len(plan.pictures),
        n_plants,
        statistics=statistics,
        targets=targets,
    )
    if not is_known.any() or not all(np.isfinite(kind[0]).any() for kind in scores):
        return identifier, answers, None
    return identifier, answers, gather_examples(identifier, plan.training_set, held_out, labels, expert_scores)


def _sum_scores(scores: Sequence[np.ndarray], shares: np.ndarray) -> np.ndarray:
    """Sum scores as `sum_scorers` sums the classifiers that give them; impossible species stay so."""
    possible = np.isfinite(scores[0])
    finite = sum(np.where(possible, own, 0) * share for own, share in zip(scores, shares, strict=True))
    return np.where(possible, finite, -np.inf)
