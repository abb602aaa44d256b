"""Plain words for measured traits, for people who don't know those of botanists."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# Shares that people have a word for.
_SHARES = {
    0.1: "a tenth",
    0.2: "a fifth",
    0.25: "a quarter",
    1 / 3: "a third",
    0.5: "half",
    2 / 3: "two thirds",
}
_QUARTERS = ("", " and a quarter", " and a half", " and three-quarter")
# Number of teeth up to which there are a few, and from which there are many.
_FEW_TEETH, _MANY_TEETH = 9, 20


def describe_plainly(
    described: Mapping[str, str], values: Mapping[str, float]
) -> dict[str, str]:
    """Say in words that a pupil knows what `leafid.pages.trait_words.describe_traits` says of values, by trait."""
    return {name: _translate(name, exact, values) for name, exact in described.items()}


@cache
def _read_words() -> list[dict[str, str]]:
    """Read the plain words for botanical ones, of which the first that a description has counts."""
    return list(
        csv.DictReader(
            Path(__file__).with_suffix(".csv").read_text(encoding="utf-8").splitlines()
        )
    )


def _translate(name: str, exact: str, values: Mapping[str, float]) -> str:
    rows = (
        row
        for row in _read_words()
        if row["trait"] == name and row["botanical"] in exact
    )
    words = next((row["plain"] for row in rows), "")
    number = round(values.get(name, 0))
    if name == "leaflets":
        count = f"{number} or more" if "or more" in exact else "several"
        return (
            f"{count} leaflets on one stalk"
            if "compound" in exact
            else "a single blade"
        )
    if name == "length_width":
        return ", ".join(filter(None, [words, _describe_length(values[name])]))
    if name == "lobes":
        return f"about {number} {words}" if "palmately" in exact else words
    if name == "teeth":
        return _describe_edge(exact, number if "or more" in exact else 0)
    return _describe_stalk(values[name]) if name == "petiole" else words


def _describe_length(ratio: float) -> str:
    side, longer, across = (
        ("long", "longer", "wide") if ratio >= 1 else ("wide", "wider", "long")
    )
    times = max(ratio, 1 / ratio)
    if times < 1.05:
        return "as long as wide"
    if times < 1.15:
        return f"a little {longer} than {across}"
    whole, quarters = divmod(round(4 * times), 4)
    number = (
        f"{('one', 'two')[whole - 1]}{_QUARTERS[quarters]} times"
        if times < 2.875
        else f"{times:.0f} times"
    )
    return f"about {'twice' if number == 'two times' else number} as {side} as {across}"


def _describe_edge(exact: str, number: int) -> str:
    if "entire" in exact:
        return "edge smooth, without teeth"
    count = (
        "many "
        if number >= _MANY_TEETH
        else "a few "
        if 0 < number <= _FEW_TEETH
        else ""
    )
    size = "small " if "finely" in exact else "large " if "coarsely" in exact else ""
    return f"edge with {count}{size}teeth"


def _describe_stalk(ratio: float) -> str:
    if ratio < 0.08:
        return "stalk very short"
    if ratio >= 0.8:
        length = (
            "almost as long as"
            if ratio < 0.95
            else "about as long as"
            if ratio < 1.05
            else "longer than"
        )
        return f"stalk {length} the leaf"
    share = min(_SHARES, key=lambda share: abs(ratio / share - 1))
    deviation = ratio / share - 1
    about = (
        "about"
        if abs(deviation) < 0.06
        else "a bit more than"
        if deviation > 0
        else "a bit less than"
    )
    return f"stalk {about} {_SHARES[share]} as long as the leaf"
