"""IRMA code tables, and files of IRMA labels and codes.

A code table has one code per line: ``A 463 what it means``. A ground truth or a run has one picture per line, its name
and one answer per year: ``1234 18 * 1121-120-463-700 1121-***-46*-700``. Lines that begin with ``#`` are comments.
"""

import os
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from leafid.errors import LeafidError
from leafid.pictures.taxonomy import WILDCARD
from leafid.textfiles import LineProblems, read_text

#: The axes of a code in their order, and their numbers of positions.
AXES = {"T": 4, "D": 3, "A": 3, "B": 3}

YEARS = (2005, 2006, 2007, 2008)
#: The years that have labels, and those with a clutter class.
FLAT_YEARS, CLUTTER_YEARS = frozenset({2005, 2006}), frozenset({2005, 2006, 2007})
UNSPECIFIED, CLUTTER = "0", "C"

#: One answer per year.
Answers = tuple[str, ...]


@dataclass(frozen=True)
class CodeTable:
    """The full-length codes that exist on each axis of `AXES`."""

    codes: Mapping[str, frozenset[str]]

    @cached_property
    def _children(self) -> dict[tuple[str, str], set[str]]:
        """The characters that can follow a prefix, by axis and prefix."""
        children: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for axis, codes in self.codes.items():
            for code in codes:
                for depth, character in enumerate(code):
                    children[axis, code[:depth]].add(character)
        return dict(children)

    def count_children(self, axis: str, code: str) -> tuple[int, ...]:
        """Count, for each position of a code, the characters that can follow the positions before it in the table."""
        return tuple(len(self._children.get((axis, code[:depth]), ())) for depth in range(len(code)))

    def has_prefix(self, axis: str, prefix: str) -> bool:
        """Tell whether a code of the axis begins like this."""
        return not prefix or prefix[-1] in self._children.get((axis, prefix[:-1]), ())


def read_code_table(path: str | os.PathLike[str]) -> CodeTable:
    """Read a code table; a `ProblemsError` names the bad lines."""
    codes: dict[str, set[str]] = {axis: set() for axis in AXES}
    with LineProblems(path) as problems:
        for line, (axis, *words) in _split_lines(path):
            code = words[0] if words else ""
            if len(code) != AXES.get(axis) or not re.fullmatch("[0-9a-z]+", code):
                expected = "an axis (T, D, A or B) and its code of 4, 3, 3 or 3 positions of 0-9, a-z"
                problems.add(line, f"expected {expected}, found {' '.join([axis, *words])!r}")
            elif problems.check_unique(line, f"every code of axis {axis}", code):
                codes[axis].add(code)
        if not problems and not all(codes.values()):
            problems.add(None, "expected codes of every axis (T, D, A, B), found none of some")
    return CodeTable({axis: frozenset(known) for axis, known in codes.items()})


def read_labels(
    path: str | os.PathLike[str],
    table: CodeTable,
    *,
    years: Sequence[int] = YEARS,
    pictures: Container[str] | None = None,
) -> dict[str, Answers]:
    """Read a ground truth, or, with its `pictures`, a run: by picture, the answers in the order of `years`.

    Only a run may have wildcards. `table` has the codes of years from 2007 on. A `ProblemsError` names the
    lines with a wrong number of columns, a repeated or unknown picture, or an answer that is no label or code.
    """
    labels: dict[str, Answers] = {}
    with LineProblems(path) as problems:
        for line, (picture, *answers) in _split_lines(path):
            if len(answers) != len(years):
                expected = f"a picture and {len(years)} answers ({', '.join(map(str, years))})"
                problems.add(line, f"expected {expected}, found {' '.join([picture, *answers])!r}")
                continue
            problems.check_unique(line, "every picture", picture)
            if pictures is not None and picture not in pictures:
                problems.add(line, f"expected a picture of the ground truth, found {picture!r}")
            for year, answer in zip(years, answers, strict=True):
                try:
                    _check_answer(answer, year, table, wildcard="" if pictures is None else WILDCARD)
                except LeafidError as error:
                    problems.add(line, f"{year}: {error}")
            labels[picture] = tuple(answers)
        if not labels and not problems:
            problems.add(None, "expected one line per picture, found none")
    return labels


def _check_answer(answer: str, year: int, table: CodeTable, wildcard: str) -> None:
    if year in FLAT_YEARS:
        if not re.fullmatch("0|[1-9][0-9]*", answer) and answer not in {CLUTTER, wildcard}:
            raise LeafidError(f"expected a label (a whole number or C{wildcard and ', or *'}), found {answer!r}")
        return
    codes = answer.split("-")
    if [len(code) for code in codes] != [*AXES.values()]:
        raise LeafidError(f"expected a code TTTT-DDD-AAA-BBB, found {answer!r}")
    others = wildcard + CLUTTER * (year in CLUTTER_YEARS)
    for axis, code in zip(AXES, codes, strict=True):
        if not re.fullmatch(f"[0-9a-z{others}]+", code):
            raise LeafidError(f"axis {axis}: expected positions of {', '.join(['0-9, a-z', *others])}, found {code!r}")
        prefix = code.partition(WILDCARD)[0]
        if set(prefix) != {CLUTTER} and not table.has_prefix(axis, prefix):
            raise LeafidError(f"axis {axis}: expected a code of the table, found {code!r}")


def _split_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words
