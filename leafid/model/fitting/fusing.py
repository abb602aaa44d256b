"""Fuses the classifiers of the experts into an identifier, with weights that are fitted on held-out scores."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leafid.features.extractor import FeatureExtractor
from leafid.features.recipe import Recipe
from leafid.features.sampling import weigh_by_plant
from leafid.learning.fusion import fit_fusion_weights, fuse
from leafid.learning.held_out import HeldOutAnswers
from leafid.learning.linear import LinearScorer, sum_scorers
from leafid.learning.row_statistics import ExpertStatistics
from leafid.learning.training_matrix import Vectors
from leafid.model.fitting.rejection import RejectionExamples, gather_examples
from leafid.model.fitting.training_set import TrainingSet
from leafid.model.identifier import Identifier, expert_trust
from leafid.pictures.picture import AcquisitionType


class FittedIdentifier(NamedTuple):
    """An identifier with its answers to training pictures, each given by classifiers that did not see the plant."""

    identifier: Identifier
    held_out: HeldOutAnswers


class FittedClassifier(NamedTuple):
    """A classifier of an expert (by its index), and the scores that it gives to held-out pictures.

    `held_out_scores` are by classifiers that did not see the picture's plant, `unknown_scores` by classifiers that did
    not see its species, and `fewer_plants_scores` by classifiers that saw fewer of the other plants; the last two are
    all -inf if the identifier doesn't learn to reject pictures. `targets` are the scores that stand for a ridge
    regression's -1 and 1.
    """

    expert: int
    scorer: LinearScorer
    targets: tuple[float, float]
    held_out_scores: np.ndarray
    unknown_scores: np.ndarray
    fewer_plants_scores: np.ndarray

    @property
    def all_scores(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The scores by all three kinds of classifiers."""
        return self.held_out_scores, self.unknown_scores, self.fewer_plants_scores


def fuse_classifiers(
    recipe: Recipe,
    type_: AcquisitionType,
    species: tuple[str, ...],
    training_set: TrainingSet,
    held_out_indices: np.ndarray,
    classifiers: Sequence[FittedClassifier],
    vectors: Mapping[str, Vectors],
    extractor: FeatureExtractor,
    seed: int,
    statistics: Mapping[str, ExpertStatistics],
) -> tuple[FittedIdentifier, RejectionExamples | None]:
    """Fit the weight of each classifier on held-out pictures, and sum the classifiers of each expert."""
    pictures = [training_set.pictures[index] for index in held_out_indices]
    labels = np.searchsorted(species, [str(picture.species) for picture in pictures])
    trust_of = expert_trust(recipe, training_set.confidence[held_out_indices])
    trust = [trust_of[classifier.expert] for classifier in classifiers]
    scores = [classifier.held_out_scores for classifier in classifiers]
    is_known = np.isfinite(scores[0][np.arange(len(labels)), labels])
    importance = weigh_by_plant(pictures)[is_known]
    weights = fit_fusion_weights(
        [own[is_known] for own in scores], [own[is_known] for own in trust], labels[is_known], importance
    )
    expert_weights = np.bincount([classifier.expert for classifier in classifiers], weights, len(recipe.experts))
    probabilities = fuse(scores, trust, weights)
    held_out = HeldOutAnswers(pictures, probabilities, species, is_known)
    scorers, targets = {}, {}
    members_of_experts: list[tuple[list[FittedClassifier], np.ndarray]] = []
    for index, name in enumerate(recipe.experts):
        members = np.flatnonzero([classifier.expert == index for classifier in classifiers])
        # An expert of weight 0 keeps its first classifier.
        shares = weights[members] / expert_weights[index] if expert_weights[index] else members == members[0]
        own = [classifiers[member] for member in members.tolist()]
        scorers[name] = sum_scorers([classifier.scorer for classifier in own], shares)
        if statistics:
            off, on = (shares @ np.array([classifier.targets for classifier in own])).tolist()
            targets[name] = (off, on)
        members_of_experts.append((own, shares))
    identifier = Identifier(
        recipe,
        type_,
        species,
        extractor,
        scorers,
        expert_weights,
        seed,
        len(training_set.pictures),
        len({picture.group for picture in training_set.pictures}),
        statistics=statistics,
        targets=targets,
    )
    if not all(np.isfinite(scores).any() for scores in classifiers[0].all_scores) or not is_known.any():
        return FittedIdentifier(identifier, held_out), None
    expert_scores = [
        tuple(
            _sum_scores(scores, shares) for scores in zip(*(classifier.all_scores for classifier in own), strict=True)
        )
        for own, shares in members_of_experts
    ]
    examples = gather_examples(
        identifier,
        expert_scores,
        lambda chosen: np.hstack([vectors[name][held_out_indices[chosen]] for name in recipe.experts]),
        training_set.confidence[held_out_indices],
        pictures,
        labels,
    )
    return FittedIdentifier(identifier, held_out), examples


def _sum_scores(scores: Sequence[np.ndarray], shares: np.ndarray) -> np.ndarray:
    """Sum scores as `sum_scorers` sums the classifiers that give them; impossible species stay so."""
    possible = np.isfinite(scores[0])
    finite = sum(np.where(possible, own, 0) * share for own, share in zip(scores, shares, strict=True))
    return np.where(possible, finite, -np.inf)
