"""What a model has learned of one acquisition type.

It is a classifier for each expert, their fusion, and thresholds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from msgspec import Meta

from leafid.features.extractor import FeatureExtractor, Features
from leafid.features.recipe import Recipe
from leafid.learning.classifiers.row_statistics import RowStatistics
from leafid.learning.classifiers.scorers import EstimatorScorer, LinearScorer
from leafid.learning.fusion import fuse
from leafid.learning.knownness import compute_evidence
from leafid.learning.leafness import POSSIBLE_LEAF
from leafid.learning.rejection import Rejection
from leafid.model.answer import Answer
from leafid.model.judgement import rank_species
from leafid.model.reasons import explain_doubt
from leafid.model.thresholds import Thresholds
from leafid.pictures.picture import AcquisitionType, Picture


@dataclass(frozen=True, eq=False, repr=False)
class Identifier:
    """Gives species probabilities for the features of pictures of one acquisition type.

    `leafid.training.identifiers.train_identifiers` makes one from pictures.
    """

    recipe: Recipe
    #: The acquisition type that it is for, one that the recipe serves.
    type: AcquisitionType
    #: Sorted; the columns of all probabilities.
    species: tuple[str, ...]
    #: What the encoder of each expert has learned (`get_state`), by the expert's name.
    codebooks: Mapping[str, Mapping[str, np.ndarray]]
    #: By the expert's name: its classifier, if that is linear.
    scorers: Mapping[str, LinearScorer]
    #: float64 (n_experts,): fusion weights in the recipe's order of experts.
    weights: np.ndarray
    #: `seed`, `n_pictures`, `n_plants`: seed of the training, and the numbers of its
    #: pictures and plants.
    seed: int = 0
    n_pictures: int = 0
    n_plants: int = 0
    #: By the expert's name: classifiers that are not linear.
    estimators: Mapping[str, EstimatorScorer] = field(default_factory=dict)
    #: Tells known species from unknown ones, and leaves from other pictures; None where
    #: there were too few species to learn that from.
    rejection: Rejection | None = None
    #: `statistics`, `targets`: for `leafid.training.extending`, by the expert's name,
    #: the statistics of its training rows, which identifiers that were trained together
    #: share, and the scores that it aims at for wrong species and for the right one.
    #: Empty where a classifier isn't ridge regression.
    statistics: Mapping[str, RowStatistics] = field(default_factory=dict)
    targets: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    #: Species that were added later: the scores and thresholds of the model are from
    #: before.
    added: tuple[str, ...] = ()

    def __repr__(self) -> str:
        experts = ", ".join(self.recipe.experts)
        return (
            f"<Identifier of {len(self.species)} species in a {self.type}: {experts}>"
        )

    @cached_property
    def extractor(self) -> FeatureExtractor:
        """What extracts the features of pictures for it."""
        experts = self.recipe.experts
        encoders = {
            name: experts[name].make_encoder(self.seed).set_state(dict(state))
            for name, state in self.codebooks.items()
        }
        return FeatureExtractor.from_recipe(self.recipe, encoders)

    def list_large_arrays(self) -> Iterator[np.ndarray]:
        """List the arrays that a model file holds in half precision."""
        yield from (scorer.coefficients for scorer in self.scorers.values())
        if self.rejection:
            scorers = self.rejection.leafness.scorers.values()
            yield from (scorer.coefficients for scorer in scorers)
        for statistics in self.statistics.values():
            yield from (statistics.components, statistics.remainder)
            # Means of measures, which have different units, are few.
            if statistics.transform.scale is None:
                yield from statistics.transform.means.values()

    def predict_proba(
        self, features: Sequence[Features], scores: Sequence[np.ndarray] | None = None
    ) -> np.ndarray:
        """Give each picture the probability of every species.

        Parameters
        ----------
        features : sequence of Features
        scores : sequence of (n, n_species), optional
            What `score` returned, if at hand.

        Returns
        -------
        (n, n_species), float64
            Rows sum to 1. All species are equally likely in a picture without a leaf.
        """
        confidence = np.array([item.confidence for item in features])
        probabilities = fuse(
            scores or self.score(features),
            expert_trust(self.recipe, confidence),
            self.weights,
        )
        probabilities[confidence == 0] = 1 / len(self.species)
        return probabilities

    def assess(
        self, features: Sequence[Features], scores: Sequence[np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Give the probabilities of a leaf, and of a known species.

        Parameters
        ----------
        features : sequence of Features
        scores : sequence of (n, n_species), optional
            What `score` returned, if at hand.

        Returns
        -------
        tuple of two (n,), float64, or None
            The first is 0 in a picture without a leaf; the second holds if there is
            one. None without a `rejection`, or without pictures.
        """
        if self.rejection is None or not features:
            return None
        confidence = np.array([item.confidence for item in features])
        trust = expert_trust(self.recipe, confidence)
        evidence = compute_evidence(
            scores or self.score(features), trust, self.weights, confidence
        )
        names = self.rejection.leafness.vector_names
        vectors = {name: stack(features, name) for name in names}
        p_leaf, p_known = self.rejection.assess(vectors, evidence)
        return np.where(confidence > 0, p_leaf, 0.0), p_known

    def score(self, features: Sequence[Features]) -> list[np.ndarray]:
        """Give each expert's scores of the species, float (n, n_species)."""
        classifiers: dict[str, LinearScorer | EstimatorScorer] = {
            **self.scorers,
            **self.estimators,
        }
        return [
            classifiers[name].scores(stack(features, name).astype(np.float32))
            for name in self.recipe.experts
        ]


def stack(features: Sequence[Features], name: str) -> np.ndarray:
    """Stack the vectors with a name: float (n, n_values)."""
    return np.array([item.vectors[name] for item in features])


def expert_trust(recipe: Recipe, confidence: np.ndarray) -> list[np.ndarray]:
    """Give each expert's trust in each picture.

    Parameters
    ----------
    recipe : Recipe
    confidence : (n,), float
        Confidence of the segmentation of each picture, from 0 to 1.

    Returns
    -------
    list of (n,), float
        For each expert, from 0 to 1: the confidence where the expert goes by it, else
        1.
    """
    return [
        confidence if expert.trust == "segmentation" else np.ones(len(confidence))
        for expert in recipe.experts.values()
    ]


@dataclass(frozen=True, eq=False)
class TypeModel:
    """All that is needed to identify pictures of one acquisition type."""

    identifier: Identifier
    #: `leafid.model.held_out.held_out_scores` of the training.
    scores: Mapping[str, float]
    #: How pictures of a plant depend on each other (`leafid.learning.plant_fusion`).
    plant_exponent: Annotated[float, Meta(ge=0, le=1)]
    #: For sets of species, and for backing off; None where no species had two plants to
    #: learn from.
    thresholds: Thresholds | None = field(default=None, repr=False)

    def answer(
        self,
        picture: Picture,
        features: Features,
        reject_at: float,
        common_names: Mapping[str, Sequence[str]],
    ) -> Answer:
        """Answer a picture by its features.

        `reject_at` of the leaves of known species may be rejected.
        """
        identifier = self.identifier
        rejection = self.identifier.rejection
        scores = identifier.score([features])
        [probabilities] = identifier.predict_proba([features], scores)
        answer = Answer(
            picture,
            rank_species(probabilities, identifier.species),
            features.confidence,
            decision="species" if features.confidence else "no-leaf",
            common_names=common_names,
            n_leaves=int(features.condition.n_leaves),
        )
        doubts = explain_doubt(features.condition)
        assessed = identifier.assess([features], scores)
        if assessed and rejection:
            leaf, known = assessed
            decision = rejection.judge(leaf, known, reject_at)[0].item()
            if decision != "species" and leaf[0] >= POSSIBLE_LEAF and doubts:
                decision = "unclear"
            answer = replace(
                answer,
                p_leaf=round(float(leaf[0]), 9),
                p_known=round(float(known[0]), 9),
                decision=decision,
                calibration=tuple(rejection.calibration.tolist()),
            )
        if answer.decision == "no-leaf":
            doubts = explain_doubt(features.condition, "no-leaf")
        return replace(answer, reasons=doubts)
