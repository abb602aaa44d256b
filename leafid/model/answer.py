"""What a model says about a picture, and the record of it that JSON, CSV and the web page hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.taxonomy import WILDCARD

# Probabilities in answers are multiples of one over this number.
_DIGITS = 10**9
# An answer is uncertain below this probability of a leaf of the species; a second one is named from `_WORTH_NAMING`.
_CERTAIN, _WORTH_NAMING = 0.5, 0.05
Decision = Literal["species", "genus", "family", "order", "unknown", "no-leaf"]
Verdict = Decision | Literal["uncertain", "unreadable"]


@dataclass(frozen=True)
class Answer:
    """What a model says about a picture."""

    #: The picture, with the acquisition type that it was identified as.
    picture: Picture
    #: All species with their probabilities, rounded down to nine digits: the most probable first,
    #: equally probable ones in alphabetical order.
    ranking: list[tuple[str, float]]
    #: Confidence of the segmentation, from 0 to 1. 0: no leaf was found, and all species are equally probable.
    confidence: float
    #: `p_leaf`, `p_known`: probability that the picture shows a leaf, and that a leaf is of a species that the model
    #: knows; those of the ranking hold if it is. None where the model has not learned to tell.
    p_leaf: float | None = None
    p_known: float | None = None
    #: The rank of the taxon that the thresholds let the model name, or why it names none: probably a leaf of an unknown
    #: species, or no leaf. A genus, family or order is named with back-off only; "unknown" also where not even an order
    #: is probable enough.
    decision: Decision = "species"
    #: Why the picture can't be read; its ranking is empty then.
    problem: str | None = None
    #: Probability of the type; None where it was given.
    type_probability: float | None = None
    #: The answer with back-off and its probability: a species, "Quercus *", "Fagaceae *", "Fagales *" or "*".
    backed_off: tuple[str, float] | None = None
    #: The common names of each species.
    common_names: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    #: The answers to the pictures of a plant that this one was made from; `picture` is that with the surest leaf.
    parts: tuple[Answer, ...] = ()
    #: The answer to all pictures of the plant, if this is the answer to one of them.
    whole: Answer | None = field(default=None, repr=False)
    #: Number of leaves in the picture; the largest is answered.
    n_leaves: int = 1
    #: Why the picture is hard to judge, and what to do: `leafid.model.reasons.explain_doubt`.
    reasons: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The decision, or "uncertain" where a species is named that is not probable enough to rely on."""
        if self.whole is not None:
            return self.whole.verdict
        if self.problem is not None:
            return "unreadable"
        if not self.has_leaf:
            return "no-leaf"
        if self.decision == "species" and self.ranking[0][1] * self.known_leaf < _CERTAIN:
            return "uncertain"
        return self.decision

    @property
    def verdict_text(self) -> str:
        """The verdict in words, as a person is told it wherever it is shown."""
        if self.whole is not None:
            return self.whole.verdict_text
        verdict = self.verdict
        if verdict == "unreadable":
            return "This file can't be read"
        if verdict == "no-leaf":
            return "No leaf: the picture probably shows none"
        (first, probability), *less_probable = [(self._describe_species(name), p) for name, p in self.ranking[:2]]
        if verdict == "unknown" and self.backed_off and self.backed_off[0] == WILDCARD:
            return f"Unknown: not even an order is probable enough; the most similar species is {first}"
        if verdict == "unknown":
            known = f"none of the {len(self.ranking)} species that the model knows"
            return f"Unknown: probably {known}; the most similar is {first}"
        first += f", {format_probability(probability)}"
        if self.backed_off and verdict in {"genus", "family", "order"}:
            higher = f"{self.name}, {format_probability(self.backed_off[1])}"
            return f"{higher}: no single species is probable enough; the most probable is {first}"
        second = [f"or {name}, {format_probability(p)}" for name, p in less_probable if p >= _WORTH_NAMING]
        condition = [self.condition] if self.condition and probability >= _CERTAIN else []
        return ", ".join([first if verdict == "species" else f"Uncertain: perhaps {first}", *second, *condition])

    @property
    def condition(self) -> str:
        """What the probabilities of the ranking presuppose, in words, where it is in doubt; "" elsewhere."""
        if self.verdict not in {"unknown", "uncertain", "no-leaf"}:
            return ""
        is_leaf = self.verdict != "no-leaf" and self.p_leaf is not None and self.p_leaf >= _CERTAIN
        return "if it is of a known species" if is_leaf else "if it is a leaf of a known species"

    @property
    def evidence(self) -> str:
        """How probable a leaf and a known species are, in words; "" where the model has not learned to tell."""
        if self.p_leaf is None or self.p_known is None:
            return ""
        return f"leaf {format_probability(self.p_leaf)}, of a known species {format_probability(self.p_known)}"

    def _describe_species(self, name: str) -> str:
        names = self.common_names.get(name, ())
        return f"{name} ({names[0]})" if names else name

    @property
    def note(self) -> str:
        """Which of several leaves is answered; "" where there is one."""
        return f"{self.n_leaves} leaves; the largest is answered" if self.n_leaves > 1 else ""

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
        return (self.backed_off or self.ranking[0])[0].removesuffix(WILDCARD).rstrip()

    @property
    def known_leaf(self) -> float:
        """The probability that the picture shows a leaf of a known species; 1 where the model has not learned to tell.

        The probabilities of the ranking times this are those of a picture of which nothing is known before.
        """
        return 1.0 if self.p_leaf is None or self.p_known is None else self.p_leaf * self.p_known

    def expand(self) -> list[Answer]:
        """List the answers to the pictures: those of a plant get its ranking and verdict."""
        names = ("ranking", "p_known", "decision", "backed_off")
        shared = {name: getattr(self, name) for name in names} | {"whole": self}
        return [part if part.problem else replace(part, **shared) for part in self.parts] or [self]

    def to_dict(self, ranking: Sequence[tuple[str, float]] | None = None) -> dict[str, Any]:
        """Make the record of the answer, which JSON can hold; docs/formats.md describes its keys.

        `ranking` is reported in place of the whole ranking, such as its beginning.
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
            "ranking": [
                {"species": species, "common_names": list(self.common_names.get(species, ())), "probability": value}
                for species, value in (self.ranking if ranking is None else ranking)
            ],
            "problem": self.problem,
        }


def format_probability(probability: float, digits: int = 0) -> str:
    """Format a probability as a percentage for a sentence, or with digits for a table; it never rounds to certainty.

    Examples
    --------
    >>> [format_probability(p) for p in (0.84, 0.9996, 0.0004)]
    ['84%', 'over 99%', 'under 1%']
    >>> [format_probability(p, 1) for p in (0.84, 0.9996, 0.0004)]
    ['84.0%', '>99.9%', '<0.1%']
    """
    step = 10.0 ** -(digits + 2)
    over, under = (">", "<") if digits else ("over ", "under ")
    text = f"{probability:.{digits}%}"
    if text == f"{1:.{digits}%}":
        return f"{over}{1 - step:.{digits}%}"
    return f"{under}{step:.{digits}%}" if text == f"{0:.{digits}%}" else text


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
