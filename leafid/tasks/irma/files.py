r"""IRMA code tables, and files of IRMA labels and codes.

A code table has one code per line: ``A 463 what it means``. A ground truth or a run has one picture per line, its name
and one answer per year: ``1234 18 * 1121-120-463-700 1121-***-46*-700``. Lines that begin with ``#`` are comments.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from leafid.errors import LeafidError
from leafid.textfiles import LineProblems, read_text

#: The axes of a code in their order, and their numbers of positions.
AXES = {"T": 4, "D": 3, "A": 3, "B": 3}

YEARS = (2005, 2006, 2007, 2008)
FLAT_YEARS = frozenset({2005, 2006})
CLUTTER_YEARS = frozenset({2005, 2006, 2007})
WILDCARD, UNSPECIFIED, CLUTTER = "*", "0", "C"
# Stands in malformed answers where no correct code can agree with it.
_NO_CHARACTER = "?"
_LABEL = re.compile(r"0|[1-9][0-9]*")
_CHARACTERS = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")

#: One answer per year.
Answers = tuple[str, ...]


@dataclass(frozen=True)
class CodeTable:
    """The full-length codes that exist on each axis of `AXES`."""

    codes: Mapping[str, frozenset[str]]

    @cached_property
    def _children(self) -> dict[str, dict[str, set[str]]]:
        """By axis and prefix, the characters that can follow the prefix."""
        children: dict[str, dict[str, set[str]]] = {axis: {} for axis in AXES}
        for axis, codes in self.codes.items():
            for code in codes:
                for depth, character in enumerate(code):
                    children[axis].setdefault(code[:depth], set()).add(character)
        return children

    def count_children(self, axis: str, code: str) -> tuple[int, ...]:
        """Count, for each position of a code, the characters (and "0") that can follow the positions before it.

        A code that the table lacks raises a `LeafidError`.
        """
        if code not in self.codes.get(axis, ()):
            raise LeafidError(self._describe_unknown(axis, code))
        return tuple(len(self._children[axis][code[:depth]]) for depth in range(len(code)))

    def find_problem(self, axis: str, code: str, *, allow_wildcards: bool, allow_clutter: bool) -> str | None:
        """Return what is wrong with the code of one axis ("expected …, found …"), or None."""
        if len(code) != AXES[axis]:
            return f"axis {axis}: expected {AXES[axis]} positions, found {code!r}"
        allowed = _CHARACTERS | ({WILDCARD} if allow_wildcards else set()) | ({CLUTTER} if allow_clutter else set())
        if unexpected := sorted(set(code) - allowed):
            kinds = "0-9, a-z" + (", *" if allow_wildcards else "") + (", C" if allow_clutter else "")
            return f"axis {axis}: expected positions of {kinds}, found {unexpected[0]!r} in {code!r}"
        known = code.partition(WILDCARD)[0]
        children = self._children[axis]
        if set(known) == {CLUTTER} or all(
            character in children.get(known[:depth], ()) for depth, character in enumerate(known)
        ):
            return None
        return self._describe_unknown(axis, code)

    def _describe_unknown(self, axis: str, code: str) -> str:
        return f"axis {axis}: expected a code of the table, found {code!r}"


def read_code_table(path: str | os.PathLike[str]) -> CodeTable:
    """Read a code table; a `ProblemsError` names every bad line."""
    codes: dict[str, set[str]] = {axis: set() for axis in AXES}
    with LineProblems(path) as problems:
        for line, words in _split_lines(path):
            if len(words) < 2 or words[0] not in AXES:
                problems.add(line, f"expected an axis (T, D, A or B) and a code, found {' '.join(words)!r}")
                continue
            axis, code = words[:2]
            if len(code) != AXES[axis] or not set(code) <= _CHARACTERS:
                problems.add(line, f"axis {axis}: expected {AXES[axis]} positions of 0-9, a-z, found {code!r}")
            elif problems.check_unique(line, f"every code of axis {axis}", code):
                codes[axis].add(code)
        missing = [] if problems else [axis for axis in AXES if not codes[axis]]
        for axis in missing:
            problems.add(None, f"expected codes of every axis (T, D, A, B), found none of {axis}")
    return CodeTable({axis: frozenset(known) for axis, known in codes.items()})


def read_labels(
    path: str | os.PathLike[str],
    table: CodeTable | None,
    *,
    years: Sequence[int] = YEARS,
    allow_wildcards: bool = True,
    pictures: Iterable[str] | None = None,
    tolerated: LineProblems | None = None,
) -> dict[str, Answers]:
    """Read a run, or a ground truth, which has no wildcards: by picture, the answers in the order of `years`.

    `table` is required if `years` has one from 2007 on. `tolerated` collects the problems of codes, which are then
    accepted: a code counts as wrong from its first unknown position on, or entirely if it has not the shape of a code.
    A `ProblemsError` names every line with a wrong number of columns, a repeated picture or one that is not in
    `pictures`, and otherwise every code not in the table.
    """
    known = None if pictures is None else set(pictures)
    labels: dict[str, Answers] = {}
    # Many pictures share a code, so each code is checked once per year.
    checked: dict[tuple[int, str], tuple[str, list[str]]] = {}
    with LineProblems(path) as problems:
        for line, words in _split_lines(path):
            if len(words) != 1 + len(years):
                columns = ", ".join(map(str, years))
                problems.add(
                    line, f"expected a picture and {len(years)} answers ({columns}), found {' '.join(words)!r}"
                )
                continue
            picture, *answers = words
            if problems.check_unique(line, "every picture", picture) and known is not None and picture not in known:
                problems.add(line, f"expected a picture of the ground truth, found {picture!r}")
            for column, (year, answer) in enumerate(zip(years, answers, strict=True)):
                if (year, answer) not in checked:
                    found = _find_problems(answer, year, table, allow_wildcards)
                    checked[year, answer] = _fit_shape(answer) if found else answer, found
                answers[column], found = checked[year, answer]
                for problem in found:
                    (problems if tolerated is None else tolerated).add(line, f"{year}: {problem}")
            labels[picture] = tuple(answers)
        if not labels and not problems:
            problems.add(None, "expected one line per picture, found none")
    return labels


def _find_problems(answer: str, year: int, table: CodeTable | None, allow_wildcards: bool) -> list[str]:
    if year in FLAT_YEARS:
        if _LABEL.fullmatch(answer) or answer == CLUTTER or (answer == WILDCARD and allow_wildcards):
            return []
        return [f"expected a label (a whole number or C{', or *' if allow_wildcards else ''}), found {answer!r}"]
    if table is None:
        return ["expected a code table for codes, found none"]
    parts = answer.split("-")
    if len(parts) != len(AXES):
        return [f"expected a code TTTT-DDD-AAA-BBB, found {answer!r}"]
    allow_clutter = year in CLUTTER_YEARS
    found = (
        table.find_problem(axis, part, allow_wildcards=allow_wildcards, allow_clutter=allow_clutter)
        for axis, part in zip(AXES, parts, strict=True)
    )
    return [problem for problem in found if problem]


def _fit_shape(answer: str) -> str:
    """Replace the axes of a bad code that have no code's length by ones that are wrong everywhere."""
    parts = answer.split("-")
    if len(parts) != len(AXES):
        parts = [""] * len(AXES)
    return "-".join(
        part if len(part) == length else _NO_CHARACTER * length
        for part, length in zip(parts, AXES.values(), strict=True)
    )


def _split_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words
