"""Words for what is said of traits, for botanists and for pupils.

The table of the same name has them.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from math import inf
from typing import Literal

from leafid.pages.trait_statements import Statement, read_rows
from leafid.translation import translate


def describe(
    statements: Iterable[Statement], words: Literal["botanical", "plain"]
) -> dict[str, str]:
    """Describe a leaf by trait, in the words of botanists or of pupils.

    Such as "apex acute, acuminate, 39°", or "drawn out into a thin tip".
    """
    return {
        statement.trait: translate(
            _find_words(statement)[words], number=statement.number
        )
        for statement in statements
    }


def list_drawings(statements: Iterable[Statement]) -> set[str]:
    """List the drawings of ``terms.html`` that explain the words of botanists."""
    names = [_find_words(statement)["drawings"] for statement in statements]
    return set(" ".join(names).split())


@cache
def read_marks() -> dict[str, dict[str, Statement | None]]:
    """Read what is known of species and measures miss: by species and trait.

    None where nothing is to be said.
    """
    marks: dict[str, dict[str, Statement | None]] = defaultdict(dict)
    for row in read_rows("marks.csv"):
        statement = Statement(row["trait"], row["term"], row["detail"])
        marks[row["species"]][row["trait"]] = statement if row["term"] else None
    return marks


def get_place(statement: Statement) -> int:
    """Return the place of a statement in a description: the whole leaf comes first."""
    return read_rows("trait_words.csv").index(_find_words(statement))


def _find_words(statement: Statement) -> dict[str, str]:
    """Find the row of a statement's trait, term and detail.

    Of several, it is the first that the number is below.
    """
    number = statement.number or 0
    return next(
        row
        for row in read_rows("trait_words.csv")
        if (row["trait"], row["term"], row["detail"]) == statement[:3]
        and number < float(row["below"] or inf)
    )
