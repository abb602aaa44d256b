"""What a model says about a picture, and the record of it that JSON, CSV and the web page hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from leafid.metrics.path_error import WILDCARD
from leafid.pictures.picture import AcquisitionType, Picture

# Probabilities in answers are multiples of one over this number.
_DIGITS = 10**9
Verdict = Literal["species", "genus", "family", "order", "unknown", "no-leaf", "unreadable"]


@dataclass(frozen=True)
class Answer:
    """What a model says about a picture."""

    #: With the acquisition type that it was identified as.
    picture: Picture
    #: All species with their probabilities, rounded down to nine digits: the most probable first,
    #: equally probable ones in alphabetical order.
    ranking: list[tuple[str, float]]
    #: Confidence of the segmentation, from 0 to 1. 0: no leaf was found, and all species are equally probable.
    confidence: float
    #: `leaf`, `known`: probability that the picture shows a leaf, and that a leaf is of a species that the model knows;
    #: those of the ranking hold if it is. None where the model has not learned to tell.
    leaf: float | None = None
    known: float | None = None
    #: The rank of the taxon that the model names, or why it names none: probably a leaf of an unknown species, or no
    #: leaf. A genus, family or order is named with back-off only; "unknown" also where not even an order is probable
    #: enough.
    verdict: Verdict = "species"
    #: Why the picture can't be read; its ranking is empty then.
    problem: str | None = None
    #: Probability of the type; None where it was given.
    type_probability: float | None = None
    #: The answer with back-off and its probability: a species, "Quercus *", "Fagaceae *", "Fagales *" or "*".
    backed_off: tuple[str, float] | None = None
    #: By species.
    common_names: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    #: The answers to the pictures of a plant that this one was made from; `picture` is that with the surest leaf.
    parts: tuple[Answer, ...] = ()

    @property
    def type(self) -> AcquisitionType | None:
        """The acquisition type that the picture was identified as; None where it could not be read."""
        return self.picture.type

    @property
    def has_leaf(self) -> bool:
        """Whether a leaf was found in the picture."""
        return self.confidence > 0

    @property
    def name(self) -> str | None:
        """The species or higher taxon that the model names; None where it names none."""
        if self.verdict in {"unknown", "no-leaf", "unreadable"}:
            return None
        named = self.ranking[0] if self.backed_off is None else self.backed_off
        return named[0].removesuffix(WILDCARD).rstrip()

    @property
    def known_leaf(self) -> float:
        """The probability that the picture shows a leaf of a known species; 1 where the model has not learned to tell.

        The probabilities of the ranking times this are those of a picture of which nothing is known before.
        """
        return 1.0 if self.leaf is None or self.known is None else self.leaf * self.known

    @property
    def evidence(self) -> str:
        """How probable a leaf and a known species are, in words; "" where the model has not learned to tell."""
        if self.leaf is None or self.known is None:
            return ""
        return f"leaf {self.leaf:.0%}, of a known species {self.known:.0%}"

    def expand(self) -> list[Answer]:
        """List the answers to the pictures: those of a plant get its ranking and verdict."""
        shared = {name: getattr(self, name) for name in ("ranking", "known", "verdict", "backed_off")}
        return [part if part.problem else replace(part, **shared) for part in self.parts] or [self]

    def to_dict(self, ranking: Sequence[tuple[str, float]] | None = None) -> dict[str, Any]:
        """Make the record of the answer, which JSON can hold; docs/formats.md describes its keys.

        `ranking` is reported in place of the whole ranking, such as its beginning.
        """
        return {
            "picture": str(self.picture.file),
            "type": None if self.type is None else str(self.type),
            "type_probability": self.type_probability,
            "leaf": self.leaf,
            "known": self.known,
            "verdict": self.verdict,
            "name": self.name,
            "ranking": [
                {"species": species, "common_names": list(self.common_names.get(species, ())), "probability": value}
                for species, value in (self.ranking if ranking is None else ranking)
            ],
            "problem": self.problem,
        }


def rank_species(probabilities: np.ndarray, species: Sequence[str]) -> list[tuple[str, float]]:
    """Sort species, which are given in alphabetical order, by falling probability, equally probable ones by name.

    Examples
    --------
    >>> rank_species(np.array([0.25, 0.5, 0.25]), ["Acer campestre", "Olea europaea", "Salix alba"])
    [('Olea europaea', 0.5), ('Acer campestre', 0.25), ('Salix alba', 0.25)]
    """
    order = np.argsort(-probabilities, kind="stable")
    # Rounded down, so that the probabilities of a picture never sum to more than 1.
    return [(species[column], math.floor(probabilities[column] * _DIGITS) / _DIGITS) for column in order]
