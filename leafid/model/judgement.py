"""What a model finds in a picture, and its record for JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from leafid.learning.rejection import apply_calibration
from leafid.pictures.names import find_accepted_name
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.taxonomy import WILDCARD

# Probabilities in answers are multiples of one over this number.
_STEPS = 10**9
# The lowest probability of an answer that is not uncertain: of other people's pictures,
# answers with a lower probability are often wrong.
_CERTAIN = 0.5
#: The ranks above the species that may be named.
HIGHER = frozenset({"genus", "family", "order"})
Decision = Literal[
    "species", "genus", "family", "order", "unclear", "unknown", "no-leaf"
]
Verdict = Decision | Literal["uncertain", "unreadable"]


@dataclass(frozen=True, repr=False)
class Judgement:
    """What a model finds in a picture; an `Answer` puts it into words."""

    #: The picture, with the acquisition type that it was identified as.
    picture: Picture
    #: All species with their probabilities, rounded down to nine digits: the most
    #: probable first, equally probable ones in alphabetical order.
    ranking: list[tuple[str, float]]
    #: Confidence of the segmentation, from 0 to 1. 0: it shows no leaf, and all
    #: species are equally probable.
    confidence: float
    #: `p_leaf`, `p_known`: probability that the picture shows a leaf, and that a leaf
    #: is of a species that the model knows. The ranking holds if both are true. None
    #: where the model has not learned to distinguish leaves.
    p_leaf: float | None = None
    p_known: float | None = None
    #: The rank of the taxon that the thresholds let the model name, or why it names
    #: none: probably a leaf of an unknown species, no leaf, or a picture that can't be
    #: judged ("unclear"). A genus, family or order is named with back-off only;
    #: "unknown" also where not even an order is probable enough.
    decision: Decision = "species"
    #: Slope and offset of `leafid.learning.rejection.apply_calibration`, which makes
    #: `answer_probability`.
    calibration: tuple[float, float] = (1.0, 0.0)
    #: Why the picture is hard to judge, and what to do:
    #: `leafid.model.reasons.explain_doubt`.
    reasons: tuple[str, ...] = ()
    #: Why the picture can't be read; its ranking is empty then.
    problem: str | None = None
    #: Probability of the type; None where it was given.
    type_probability: float | None = None
    #: The answer with back-off and its probability: a species, "Quercus *", "Fagaceae
    #: *", "Fagales *" or "*".
    backed_off: tuple[str, float] | None = None
    #: `common_names`, `taxa`: the common names of each species, and its higher taxa.
    common_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    taxa: Mapping[str, Taxon] = field(default_factory=dict)
    #: The judgement on all pictures of the plant, if this is the judgement on one.
    whole: Judgement | None = None
    #: Number of leaves in the picture; the largest is answered.
    n_leaves: int = 1

    @property
    def verdict(self) -> Verdict:
        """The decision; "uncertain" for a species that is too improbable to rely on."""
        if self.whole is not None:
            return self.whole.verdict
        if self.problem is not None:
            return "unreadable"
        if not self.has_leaf and self.decision != "unclear":
            return "no-leaf"
        if self.decision == "species" and self.calibrate(self.ranking[0][1]) < _CERTAIN:
            return "uncertain"
        return self.decision

    @property
    def answer_probability(self) -> float | None:
        """The probability that the picture shows a leaf of what `name` says.

        It is calibrated on held-out pictures. Where the model names nothing, the first
        species of the ranking counts; it is None for a picture that can't be read.
        """
        if self.problem is not None:
            return None
        return round(self.calibrate(self._first[1]), 9)

    def calibrate(self, probability: float) -> float:
        """Turn the probability of a species or taxon into one of any picture.

        In the ranking, the picture is known to show a leaf of a known species. Here it
        may show anything: the probability is multiplied by `p_leaf` and `p_known`, and
        calibrated on held-out pictures. A species that is not the first gets at most
        what the first one leaves.
        """
        answer = self.whole or self
        share = apply_calibration(probability * answer.p_known_leaf, answer.calibration)
        first = self.ranking[0][1]
        if probability > first - 0.5 / _STEPS:
            return share
        return min(share, 1 - self.calibrate(first))

    @property
    def p_known_leaf(self) -> float:
        """`p_leaf` times `p_known`; 1 where the model gives neither."""
        if self.p_leaf is None or self.p_known is None:
            return 1.0
        return self.p_leaf * self.p_known

    @property
    def _first(self) -> tuple[str, float]:
        """What is named, or else the first species, with its probability.

        The probability holds if the picture shows a leaf of a known species.
        """
        if self.backed_off and self.decision in HIGHER:
            return self.backed_off
        return self.ranking[0]

    @property
    def type(self) -> AcquisitionType | None:
        """The acquisition type that the picture was identified as.

        None where it could not be read.
        """
        return self.picture.type

    @property
    def has_leaf(self) -> bool:
        """Whether the segmentation of the picture has a leaf."""
        return self.confidence > 0

    @property
    def name(self) -> str | None:
        """The species or higher taxon that the model names.

        None where it names none.
        """
        if self.verdict in {"unclear", "unknown", "no-leaf", "unreadable"}:
            return None
        return self._first[0].removesuffix(WILDCARD).rstrip()

    def to_dict(
        self, ranking: Sequence[tuple[str, float]] | None = None
    ) -> dict[str, Any]:
        """Make the record of the answer, which JSON can hold.

        docs/formats.md describes its keys. `ranking` takes the place of the whole
        ranking, such as its beginning.
        """
        return {
            "picture": str(self.picture.file),
            "type": None if self.type is None else str(self.type),
            "type_probability": self.type_probability,
            "leaf": self.p_leaf,
            "known": self.p_known,
            "n_leaves": None if self.problem else self.n_leaves,
            "verdict": self.verdict,
            "name": self.name,
            "answer_probability": self.answer_probability,
            "ranking": [
                {
                    "species": species,
                    "accepted_name": find_accepted_name(species),
                    "common_names": list(self.common_names.get(species, ())),
                    "probability": value,
                }
                for species, value in (self.ranking if ranking is None else ranking)
            ],
            "reasons": list(self.reasons),
            "problem": self.problem,
        }


def rank_species(
    probabilities: np.ndarray, species: Sequence[str]
) -> list[tuple[str, float]]:
    """Sort species, which are in alphabetical order, by falling probability.

    Equally probable ones stay in alphabetical order.

    Examples
    --------
    >>> names = ["Acer campestre", "Olea europaea", "Salix alba"]
    >>> rank_species(np.array([0.25, 0.5, 0.25]), names)
    [('Olea europaea', 0.5), ('Acer campestre', 0.25), ('Salix alba', 0.25)]
    """
    order = np.argsort(-probabilities, kind="stable")
    # Rounded down, so that the probabilities of a picture never sum to more than 1.
    return [
        (species[column], math.floor(probabilities[column] * _STEPS) / _STEPS)
        for column in order
    ]
