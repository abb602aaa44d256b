"""What a model says about a picture, in the current language."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from leafid.model.judgement import HIGHER, Judgement
from leafid.notebook import NotebookMixin, get_axes
from leafid.pictures.taxonomy import WILDCARD
from leafid.translation import format_number, join_clauses, translate

# The lowest probabilities of an answer that is called sure, probable and possible, of a
# second species, and of a higher taxon that is called sure. Of other people's pictures,
# answers with lower probabilities are often wrong.
_SURE = 0.98
_PROBABLE = 0.6
_POSSIBLE = 0.2
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


@dataclass(frozen=True, repr=False)
class Answer(Judgement, NotebookMixin):
    """What a model says about a picture: a judgement in words."""

    #: The answers to the pictures of a plant that this one was made from; `picture` is
    #: the one with the surest leaf.
    parts: tuple[Answer, ...] = ()
    #: The answer to all pictures of the plant, if this is the answer to one of them.
    whole: Answer | None = None

    def __repr__(self) -> str:
        pictures = ", ".join(part.picture.title for part in self.parts or [self])
        type_ = self.type or "unreadable"
        words = self.problem or self.verdict_text
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
        axes = get_axes(ax)
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
    def verdict_text(self) -> str:
        """The verdict in words, as every page and command shows it."""
        if self.whole is not None:
            return self.whole.verdict_text
        verdict = self.verdict
        if verdict in {"unknown", "unclear"}:
            clauses = self._say_unknown()
        elif verdict in NO_NAMES:
            clauses = [translate(NO_NAMES[verdict])]
        elif verdict in HIGHER:
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
        if answer.problem or answer.verdict in HIGHER or answer.is_sure:
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

    def _list_what_is_sure(self) -> list[str]:
        """Say that the first species' genus or family, or the first two, are sure."""
        for rank, message in SURE_TAXA.items():
            shares: dict[str | None, float] = defaultdict(float)
            for name, probability in self.ranking:
                shares[getattr(self.taxa.get(name), rank, None)] += probability
            # The taxon of the first species comes first.
            taxon, total = next(iter(shares.items()))
            share = self.calibrate(total)
            text = format_probability(share)
            if taxon and share >= _SURE_TAXON:
                return [translate(message, name=taxon, share=text)]
        share = self.calibrate(sum(p for _, p in self.ranking[:2]))
        if share < _SURE_TAXON:
            return []
        text = format_probability(share)
        return [translate("surely one of the two, {share}", share=text)]

    def _describe_species(self, name: str) -> str:
        names = self.common_names.get(name, ())
        if not names:
            return name
        return f"{name} ({names[0]})"

    @property
    def note(self) -> str:
        """Which of several leaves is answered; "" where there is one, or none is."""
        if self.n_leaves == 1 or self.verdict in {"no-leaf", "unclear"}:
            return ""
        return translate(
            "{number} leaves; the largest is answered", number=self.n_leaves
        )

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
