"""What a model says about a picture, and its record for JSON, CSV and the web page."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from leafid.learning.rejection import apply_calibration
from leafid.notebook import NotebookMixin
from leafid.pictures.names import find_accepted_name
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from leafid.pictures.taxonomy import WILDCARD
from leafid.translation import format_number, join_clauses, translate

# Probabilities in answers are multiples of one over this number.
_STEPS = 10**9
# The lowest probabilities of an answer that is called sure, probable, possible; that is
# not uncertain; of a second species; and of a higher taxon that is called sure. Of
# other people's pictures, lower ones are often wrong.
_SURE = 0.98
_PROBABLE = 0.6
_POSSIBLE = 0.2
_CERTAIN = 0.5
_WORTH_NAMING = 0.05
_SURE_TAXON = 0.95
#: How sure an answer is, by its lowest probability.
LEVELS = {
    _SURE: "Sure: {name}",
    _PROBABLE: "Probably {name}",
    _POSSIBLE: "Perhaps {name}",
    0.0: "Unsure, but most like {name}",
}
#: What is sure where a species is not.
SURE_TAXA = {
    "genus": "surely the genus {name}, {share}",
    "family": "surely the family {name}, {share}",
}
#: The verdicts without the name of a species.
NO_NAMES = {
    "unreadable": "This file can't be read",
    "no-leaf": "No leaf: leafid sees none in this picture",
    "unclear": "Unclear: this picture can't be judged",
}
_HIGHER = frozenset({"genus", "family", "order"})
Decision = Literal[
    "species", "genus", "family", "order", "unclear", "unknown", "no-leaf"
]
Verdict = Decision | Literal["uncertain", "unreadable"]


@dataclass(frozen=True, repr=False)
class Answer(NotebookMixin):
    """What a model says about a picture."""

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
    common_names: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    taxa: Mapping[str, Taxon] = field(default_factory=dict, repr=False)
    #: The answers to the pictures of a plant that this one was made from; `picture` is
    #: that with the surest leaf.
    parts: tuple[Answer, ...] = ()
    #: The answer to all pictures of the plant, if this is the answer to one of them.
    whole: Answer | None = field(default=None, repr=False)
    #: Number of leaves in the picture; the largest is answered.
    n_leaves: int = 1

    def __repr__(self) -> str:
        pictures = ", ".join(part.picture.title for part in self.parts or [self])
        type_, words = self.type or "unreadable", self.problem or self.verdict_text
        return f"<Answer to {pictures} ({type_}): {words}>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the first five species as bars.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default the current axes.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from matplotlib import pyplot  # takes a second to import

        axes = ax or pyplot.gca()
        names, shares, labels = (
            zip(*self.shares[::-1], strict=True) if self.ranking else ((), (), ())
        )
        axes.bar_label(axes.barh(names, shares), labels, padding=3)
        axes.set(
            xlim=(0, 1.15), xlabel=translate("probability"), title=self.picture.title
        )
        return axes

    @property
    def shares(self) -> list[tuple[str, float, str]]:
        """The first five species, with `calibrate` of each as a number and in words."""
        first = [
            (self._describe_species(name), self.calibrate(p))
            for name, p in self.ranking[:5]
        ]
        return [(name, p, format_probability(p, 1)) for name, p in first]

    @property
    def verdict(self) -> Verdict:
        """The decision, or "uncertain".

        It is uncertain where a species is named that is not probable enough to rely on.
        """
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

    @property
    def verdict_text(self) -> str:
        """The verdict in words, as a person is told it wherever it is shown."""
        if self.whole is not None:
            return self.whole.verdict_text
        verdict = self.verdict
        if verdict in {"unknown", "unclear"}:
            clauses = self._say_unknown()
        elif verdict in NO_NAMES:
            clauses = [translate(NO_NAMES[verdict])]
        elif verdict in _HIGHER:
            clauses = self._say_taxon()
        else:
            clauses = self._say_species()
        return join_clauses([*clauses, *self.doubts])

    def _say_unknown(self) -> list[str]:
        head = translate(
            "Unknown: probably none of the {number} species that the model knows",
            number=len(self.ranking),
        )
        if self.verdict == "unclear":
            head = translate(NO_NAMES["unclear"])
        elif self.backed_off and self.backed_off[0] == WILDCARD:
            head = translate("Unknown: not even an order is probable enough")
        name = self._describe_species(self.ranking[0][0])
        return [head, translate("the most similar species is {name}", name=name)]

    def _say_taxon(self) -> list[str]:
        share = format_probability(self.calibrate(self._first[1]))
        single = translate(
            "no single species is probable enough, the most probable is {name}",
            name=self._describe_share(0),
        )
        return [self._say_how_sure(f"{self.name}, {share}"), single]

    def _say_species(self) -> list[str]:
        names = self._describe_share(0)
        second = sum(p for _, p in self.ranking[1:2])
        if second and self.calibrate(second) >= _WORTH_NAMING:
            names = translate(
                "{first}, or {second}", first=names, second=self._describe_share(1)
            )
        clauses = [self._say_how_sure(names)]
        if not self.is_sure:
            clauses += self._list_what_is_sure()
        return clauses

    def _describe_share(self, index: int) -> str:
        name, probability = self.ranking[index]
        share = format_probability(self.calibrate(probability))
        return f"{self._describe_species(name)}, {share}"

    @property
    def is_sure(self) -> bool:
        """Whether a name is probable enough to stand without the reasons for doubt."""
        return self.name is not None and self.calibrate(self._first[1]) >= _PROBABLE

    @property
    def doubts(self) -> tuple[str, ...]:
        """The reasons that the verdict has in words, where it is not sure."""
        answer = self.whole or self
        if answer.problem or answer.verdict in _HIGHER or answer.is_sure:
            return ()
        return answer.reasons

    def _say_how_sure(self, name: str) -> str:
        probability = self.calibrate(self._first[1])
        message = next(text for least, text in LEVELS.items() if probability >= least)
        return translate(message, name=name)

    @property
    def details(self) -> str:
        """The probabilities of which the product is the probability of the answer.

        "" where the model has not learned to distinguish leaves.
        """
        if self.p_leaf is None or self.p_known is None:
            return ""
        return translate(
            "Leaf {leaf}, of a known species {known}; if both are true, {species}",
            leaf=format_probability(self.p_leaf),
            known=format_probability(self.p_known),
            species=", ".join(
                f"{name} {format_probability(p)}" for name, p in self.ranking[:3]
            ),
        )

    def calibrate(self, probability: float) -> float:
        """Turn the probability of a species or taxon into one of any picture.

        In the ranking, the picture is known to show a leaf of a known species. Here it
        may show anything: the probability is multiplied by `p_leaf` and
        `p_known`, and corrected by what held-out pictures taught. A species that is not
        the first gets at most what the first one leaves.
        """
        answer = self.whole or self
        share = apply_calibration(probability * answer.known_leaf, answer.calibration)
        first = self.ranking[0][1]
        if probability > first - 0.5 / _STEPS:
            return share
        return min(share, 1 - self.calibrate(first))

    @property
    def known_leaf(self) -> float:
        """`p_leaf` times `p_known`; 1 where the model has not learned to tell."""
        if self.p_leaf is None or self.p_known is None:
            return 1.0
        return self.p_leaf * self.p_known

    @property
    def _first(self) -> tuple[str, float]:
        """What is named, or else the first species, with its probability.

        It holds if the picture shows a known leaf.
        """
        if self.backed_off and self.decision in _HIGHER:
            return self.backed_off
        return self.ranking[0]

    def _list_what_is_sure(self) -> list[str]:
        """Say what is sure, if anything is.

        It is the genus or family of the first species, or that it is one of the first
        two.
        """
        for rank, message in SURE_TAXA.items():
            shares: dict[str | None, float] = defaultdict(float)
            for name, probability in self.ranking:
                shares[getattr(self.taxa.get(name), rank, None)] += probability
            # That of the first species is the first one.
            taxon, total = next(iter(shares.items()))
            share = self.calibrate(total)
            if taxon and share >= _SURE_TAXON:
                text = format_probability(share)
                return [translate(message, name=taxon, share=text)]
        both = self.calibrate(sum(p for _, p in self.ranking[:2]))
        if both < _SURE_TAXON:
            return []
        share_of_both = format_probability(both)
        return [translate("surely one of the two, {share}", share=share_of_both)]

    def _describe_species(self, name: str) -> str:
        names = self.common_names.get(name, ())
        if not names:
            return name
        return f"{name} ({names[0]})"

    @property
    def note(self) -> str:
        """Which of several leaves is answered; "" where there is one, or none."""
        if self.n_leaves == 1 or self.verdict == "no-leaf":
            return ""
        return translate(
            "{number} leaves; the largest is answered", number=self.n_leaves
        )

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

    def expand(self) -> list[Answer]:
        """List the answers to the pictures of a plant, with its ranking and verdict.

        Returns
        -------
        list of Answer
            The answer alone, where it isn't one to a plant.
        """
        names = ("ranking", "p_known", "decision", "reasons", "backed_off")
        shared = {name: getattr(self, name) for name in names} | {"whole": self}
        return [
            part if part.problem else replace(part, **shared) for part in self.parts
        ] or [self]

    def to_dict(
        self, ranking: Sequence[tuple[str, float]] | None = None
    ) -> dict[str, Any]:
        """Make the record of the answer, which JSON can hold.

        Docs/formats.md describes its keys.

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


def format_probability(probability: float, digits: int = 0) -> str:
    """Format a probability as a percentage for a sentence, or with digits for a table.

    It never rounds to certainty.

    Examples
    --------
    >>> [format_probability(p) for p in (0.84, 0.9996, 0.0004)]
    ['84%', 'over 99%', 'under 1%']
    >>> [format_probability(p, 1) for p in (0.84, 0.9996, 0.0004)]
    ['84.0%', '>99.9%', '<0.1%']
    """
    least = 10.0 ** -(digits + 2)
    spec = f".{digits}%"
    text = format_number(probability, spec)
    if text == format_number(1.0, spec):
        most = format_number(1 - least, spec)
        if digits:
            return f">{most}"
        return translate("over {share}", share=most)
    if text == format_number(0.0, spec):
        least_share = format_number(least, spec)
        if digits:
            return f"<{least_share}"
        return translate("under {share}", share=least_share)
    return text


def rank_species(
    probabilities: np.ndarray, species: Sequence[str]
) -> list[tuple[str, float]]:
    """Sort species by falling probability, equally probable ones by name.

    They are given in alphabetical order.

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
