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
        self, picture: Picture, features: Features, reject_at: float, common_names: Mapping[str, Sequence[str]]
    ) -> Answer:
        """Answer a picture by its features; `reject_at` of the leaves of known species may be rejected."""
        scores = self.identifier.score([features])
        (probabilities,) = self.identifier.predict_proba([features], scores)
        ranking = rank_species(probabilities, self.identifier.species)
        assessed, rejection = self.identifier.assess([features], scores), self.identifier.rejection
        if assessed is None or rejection is None:
            decision: Decision = "species" if features.confidence else "no-leaf"
            return Answer(picture, ranking, features.confidence, decision=decision, common_names=common_names)
        leaf, known = (round(float(own), 9) for (own,) in assessed)
        is_no_leaf, is_unknown = rejection.reject(*assessed, reject_at)
        decision = "no-leaf" if is_no_leaf else "unknown" if is_unknown else "species"
        return Answer(picture, ranking, features.confidence, leaf, known, decision, common_names=common_names)
