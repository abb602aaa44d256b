"""What a model has learned of one acquisition type: its identifier, and what that does on held-out pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leafid.features.extractor import Features
from leafid.learning.thresholds import Thresholds
from leafid.model.answer import Answer, Decision, rank_species
from leafid.model.identifier import Identifier
from leafid.pictures.picture import Picture


@dataclass(frozen=True, eq=False)
class TypeModel:
    """All that is needed to identify pictures of one acquisition type."""

    identifier: Identifier
    #: `leafid.learning.held_out.held_out_scores` of the training.
    scores: Mapping[str, float]
    #: How pictures of a plant depend on each other (`leafid.model.plant_fusion`).
    plant_exponent: float
    #: For sets of species, and for backing off; None where no species had two plants to learn from.
    thresholds: Thresholds | None = None

    def answer(
        self,
        pictures: Sequence[tuple[Picture, float | None]],
        features: Sequence[Features],
        common_names: Mapping[str, Sequence[str]],
        reject_at: float,
    ) -> list[Answer]:
        """Answer pictures, given with the probability of their type where it was recognised, by their features.

        `reject_at` is the share of the leaves of known species that may be rejected.
        """
        if not features:
            return []
        scores = self.identifier.score(features)
        probabilities = self.identifier.predict_proba(features, scores)
        decisions: list[Decision] = ["species" if item.confidence else "no-leaf" for item in features]
        evidence: list[tuple[float | None, float | None]] = [(None, None)] * len(features)
        assessed, rejection = self.identifier.assess(features, scores), self.identifier.rejection
        if assessed is not None and rejection is not None:
            evidence = [(round(float(leaf), 9), round(float(known), 9)) for leaf, known in zip(*assessed, strict=True)]
            decisions = [
                "no-leaf" if is_no_leaf else "unknown" if is_unknown else "species"
                for is_no_leaf, is_unknown in zip(*rejection.reject(*assessed, reject_at), strict=True)
            ]
        return [
            Answer(
                picture,
                rank_species(row, self.identifier.species),
                item.confidence,
                *own_evidence,
                decision,
                type_probability=type_probability,
                common_names=common_names,
            )
            for (picture, type_probability), row, item, own_evidence, decision in zip(
                pictures, probabilities, features, evidence, decisions, strict=True
            )
        ]
