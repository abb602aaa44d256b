"""Words for what is said of traits, for botanists and for pupils, from the table of the same name."""

import csv
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from leafid.pages.trait_statements import Statement
from leafid.translation import translate


def describe(statements: Iterable[Statement]) -> dict[str, str]:
    """Describe a leaf in the words of botanists with their numbers, such as "apex acute, acuminate, 39°", by trait."""
    return _describe(statements, "botanical")


def describe_plainly(statements: Iterable[Statement]) -> dict[str, str]:
    """Describe a leaf in words that a pupil knows, such as "drawn out into a thin tip", by trait."""
    return _describe(statements, "plain")


def list_drawings(statements: Iterable[Statement]) -> set[str]:
    """List the drawings of ``terms.html`` that explain the words of botanists."""
    names = [_read_words()[statement[:3]]["drawings"] for statement in statements]
    return set(" ".join(names).split())


@cache
def read_marks() -> dict[str, dict[str, Statement | None]]:
    """Read what is known of species and measures miss: by species and trait; None where nothing is to be said."""
    marks: dict[str, dict[str, Statement | None]] = defaultdict(dict)
    for row in _read_rows("marks.csv"):
        statement = Statement(row["trait"], row["term"], row["detail"])
        marks[row["species"]][row["trait"]] = statement if row["term"] else None
    return marks


def _describe(statements: Iterable[Statement], words: str) -> dict[str, str]:
    rows = _read_words()
    return {
        statement.trait: translate(rows[statement[:3]][words], number=statement.number)
        for statement in statements
    }


@cache
def _read_words() -> dict[tuple[str, str, str], dict[str, str]]:
    """Read the words by trait, term and detail."""
    rows = _read_rows("trait_words.csv")
    return {(row["trait"], row["term"], row["detail"]): row for row in rows}


def _read_rows(name: str) -> list[dict[str, str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
