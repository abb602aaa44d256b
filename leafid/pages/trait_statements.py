"""What is said of measured traits, in the terms of botanists, by the rules of a table.

Words and thresholds come from the Manual of Leaf Architecture
(`leafid.descriptors.traits`) where it has them: the position of the greatest width
(elliptic: in the middle fifth), the angles of apex and base (acute: below 90°), lobes
and teeth (divided by sinuses of more or less than a quarter of the way to the midvein),
acuminate, straight and convex ends, cordate bases. It compares curves by eye, and
has no thresholds of bulges. By the width of the petiole, a base bulges more
than an apex.
"""

import operator
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from leafid.descriptors.profile import is_fan
from leafid.textfiles import read_records

# Details that are sizes.
_SIZES = {"fine", "coarse"}
# Measures that are counts.
_COUNTS = {"leaflets", "lobes", "teeth"}
_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Statement(NamedTuple):
    """What is said of a trait: margin = toothed, detail = fine, sure = 0.9."""

    trait: str
    #: "" where the number says all.
    term: str = ""
    #: A size, or the sides of an end; "" where nothing more is said.
    detail: str = ""
    #: What was measured or counted; None where the term says all.
    number: float | None = None
    #: The lowest confidence of the measures that it rests on, from 0 to 1; None where
    #: these aren't of one leaf.
    sure: float | None = None

    @property
    def kind(self) -> tuple[str, str]:
        """Term and detail without sizes, which differ between leaves of a species."""
        return self.term, "" if self.detail in _SIZES else self.detail


class TraitTitle(NamedTuple):
    """How a trait is called in tables."""

    title: str
    unit: str
    #: The smallest difference between two species that is worth mentioning.
    noticeable: float
    #: Turns a measured value into one in the unit.
    scale: float

    def to_unit(self, value: float) -> float:
        """Turn a measured value into one in the unit, rounded as people read it.

        What they compare is what they see.
        """
        value *= self.scale
        if self.unit == "°" or abs(value) >= 10:
            return float(round(value))
        if self.unit:
            return round(value, 1)
        return float(f"{value:.2g}")


@cache
def read_rows(name: str) -> list[dict[str, str]]:
    """Read a table of this folder."""
    return read_records(Path(__file__).with_name(name))


@cache
def read_titles() -> dict[str, TraitTitle]:
    """Read the traits that species are compared by."""
    return {
        row["trait"]: TraitTitle(
            row["title"], row["unit"], float(row["noticeable"]), float(row["scale"])
        )
        for row in read_rows("trait_titles.csv")
    }


def state_traits(
    values: Mapping[str, float], confidence: Mapping[str, float] | None = None
) -> list[Statement]:
    """State measured traits by the rules of ``trait_rules.csv``.

    Of the rows for a trait, the first whose conditions hold is stated, or nothing where
    it has neither term nor number. A condition on what wasn't measured doesn't hold.

    Parameters
    ----------
    values : mapping of str to float
        As of `leafid.descriptors.traits.measure_reliable_traits`.
    confidence : mapping of str to float, optional
        The confidence of each value, from 0 to 1, which makes a statement sure.

    Returns
    -------
    list of Statement
        From the whole leaf to its details.
    """
    numbers = _complete(values)
    statements: dict[str, Statement] = {}
    for row in read_rows("trait_rules.csv"):
        conditions = [text.split() for text in row["conditions"].split(";")]
        if row["trait"] in statements:
            continue
        if not all(_holds(numbers, *condition) for condition in conditions):
            continue
        sure = [
            round(confidence[name], 2)
            for name, _, _ in conditions
            if confidence and name in confidence
        ]
        statements[row["trait"]] = Statement(
            trait=row["trait"],
            term=row["term"],
            detail=row["detail"],
            number=numbers.get(row["number"]),
            sure=min(sure, default=None),
        )
    return [each for each in statements.values() if each.term or each.number]


def _complete(values: Mapping[str, float]) -> dict[str, float]:
    """Round counts, and add what follows from the values, for conditions."""
    counts = {name: round(values[name]) for name in _COUNTS & values.keys()}
    numbers = {"lobes": 0} | dict(values) | counts
    if "length_width" in values:
        numbers["width_length"] = 1 / values["length_width"]
        numbers["fan"] = is_fan(values)
    return numbers


def _holds(values: Mapping[str, float], name: str, sign: str, bound: str) -> bool:
    return name in values and _SIGNS[sign](values[name], float(bound))
