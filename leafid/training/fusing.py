"""Fuses the classifiers of the experts into an identifier, with weights that are fitted on held-out scores."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leafid.learning.cross_fitting import LinearFit
from leafid.learning.fusion import fit_fusion_weights, fuse
from leafid.learning.linear import sum_scorers
from leafid.learning.row_statistics import RowStatistics
from leafid.learning.rows import RowPreparation
from leafid.metrics.held_out import HeldOutAnswers
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.splits import weigh_by_plant
from leafid.training.plan import FitPlan
from leafid.training.rejection import RejectionExamples, gather_examples


class FittedIdentifier(NamedTuple):
    """An identifier with its answers to training pictures, each given by classifiers that did not see the plant."""

    identifier: Identifier
    held_out: HeldOutAnswers


class FittedExpert(NamedTuple):
    """The classifiers of an expert, which see the same rows."""

    preparation: RowPreparation
    fits: Sequence[LinearFit]

    @property
    def targets(self) -> list[tuple[float, float]]:
        """The scores of each that correspond to the targets of the first, -1 and 1, by least squares over both."""
        first = self.fits[0].held_out_scores[0]
        possible = np.isfinite(first)
        found = [(-1.0, 1.0)] * len(self.fits)
        if possible.any() and np.ptp(first[possible]):
            for number, fit in enumerate(self.fits[1:], 1):
                scores = fit.held_out_scores[0][possible]
                slope, offset = np.polyfit(first[possible].astype(np.float64), scores, 1).tolist()
                found[number] = offset - slope, offset + slope
        return found


def fuse_classifiers(
    plan: FitPlan, index: int, experts: Mapping[str, FittedExpert], statistics: Mapping[str, RowStatistics]
) -> tuple[Identifier, HeldOutAnswers, RejectionExamples | None]:
    """Fit the weight of each classifier on held-out pictures, and sum the classifiers of each expert.

    The identifier is that of a type by its index. Examples to learn to reject pictures from are there where the plan
    has folds for it.
    """
    recipe, type_, held_out = plan.training_set.recipe, plan.types[index], plan.held_out[index]
    pictures = [plan.training_set.pictures[own] for own in held_out.tolist()]
    labels = plan.labels[held_out]
    trust_of = dict(zip(experts, expert_trust(recipe, plan.training_set.confidence[held_out]), strict=True))
    classifiers = [(name, fit) for name, own in experts.items() for fit in own.fits]
    trust = [trust_of[name] for name, _ in classifiers]
    positions = np.searchsorted(plan.scored, held_out)
    # By classifiers without a fold of plants, without a fold of species, and without a larger fold of plants.
    scores = [[fit.held_out_scores[kind][positions] for _, fit in classifiers] for kind in range(3)]
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
    domain = recipe.training_types.index(type_)
    start = 0
    for name, expert in experts.items():
        members = slice(start, start := start + len(expert.fits))
        total = weights[members].sum()
        # An expert of weight 0 keeps its first classifier.
        shares: np.ndarray = weights[members] / total if total else np.eye(len(expert.fits))[0]
        own = [expert.preparation.make_scorer(fit.coefficients, fit.intercepts, domain) for fit in expert.fits]
        scorers[name] = sum_scorers(own, shares.tolist())
        if statistics:
            off, on = (shares @ np.array(expert.targets)).tolist()
            targets[name] = (off, on)
        expert_weights.append(total)
        for found, kind in zip(expert_scores, scores, strict=True):
            found.append(_sum_scores(kind[members], shares))
    n_plants = len({picture.group for picture in plan.pictures})
    identifier = Identifier(
        recipe,
        type_,
        plan.species,
        {name: own.get_state() for name, own in plan.training_set.extractor.encoders.items()},
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
