r"""IRMA code tables, and files of IRMA labels and codes.

A code table has one code per line: ``A 463 what it means``. A ground truth or a run has one picture per line, its name
and one answer per year: ``1234 18 * 1121-120-463-700 1121-***-46*-700``. Lines that begin with ``#`` are comments.
"""

import os
import re
from collections import defaultdict
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
_LABEL = re.compile(r"0|[1-9][0-9]*")
_CODE = re.compile(r"[0-9a-z]+")

#: One answer per year.
Answers = tuple[str, ...]


@dataclass(frozen=True)
class CodeTable:
    """The full-length codes that exist on each axis of `AXES`."""

    codes: Mapping[str, frozenset[str]]

    @cached_property
    def _children(self) -> dict[tuple[str, str], set[str]]:
        """By axis and prefix, the characters that can follow the prefix."""
        children: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for axis, codes in self.codes.items():
            for code in codes:
                for depth, character in enumerate(code):
                    children[axis, code[:depth]].add(character)
        return dict(children)

    def count_children(self, axis: str, code: str) -> tuple[int, ...]:
        """Count, for each position of a code, the characters (and "0") that can follow the positions before it.

        A code that the table lacks raises a `LeafidError`.
        """
        if code not in self.codes.get(axis, ()):
            raise LeafidError(f"axis {axis}: expected a code of the table, found {code!r}")
        return tuple(len(self._children[axis, code[:depth]]) for depth in range(len(code)))

    def find_problem(self, axis: str, code: str, others: str) -> str | None:
        """Return what is wrong with the code of an axis ("expected …, found …"), or None.

        `others` are the characters besides 0-9 and a-z that it may have: `WILDCARD`, `CLUTTER`.
        """
        for character in code:
            if not _CODE.fullmatch(character) and character not in others:
                kinds = ", ".join(["0-9, a-z", *others])
                return f"axis {axis}: expected positions of {kinds}, found {character!r} in {code!r}"
        known = code.partition(WILDCARD)[0]
        if not known or set(known) == {CLUTTER} or known[-1] in self._children.get((axis, known[:-1]), ()):
            return None
        return f"axis {axis}: expected a code of the table, found {code!r}"


def read_code_table(path: str | os.PathLike[str]) -> CodeTable:
    """Read a code table; a `ProblemsError` names the bad lines."""
    codes: dict[str, set[str]] = {axis: set() for axis in AXES}
    with LineProblems(path) as problems:
        for line, words in _split_lines(path):
            if len(words) < 2 or words[0] not in AXES:
                problems.add(line, f"expected an axis (T, D, A or B) and a code, found {' '.join(words)!r}")
                continue
            axis, code = words[:2]
            if len(code) != AXES[axis] or not _CODE.fullmatch(code):
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
    pictures: Iterable[str] | None = None,
) -> dict[str, Answers]:
    """Read a ground truth, or, with its `pictures`, a run: by picture, the answers in the order of `years`.

    Only a run may have wildcards. `table` is required if `years` has one from 2007 on. A `ProblemsError` names the
    lines with a wrong number of columns, a repeated or unknown picture, or an answer that is no label or code.
    """
    wildcard = "" if pictures is None else WILDCARD
    known = None if pictures is None else set(pictures)
    labels: dict[str, Answers] = {}
    # Many pictures share a code, so each code is checked once per year.
    checked: dict[tuple[int, str], list[str]] = {}
    with LineProblems(path) as problems:
        for line, (picture, *answers) in _split_lines(path):
            if len(answers) != len(years):
                expected = f"a picture and {len(years)} answers ({', '.join(map(str, years))})"
                problems.add(line, f"expected {expected}, found {' '.join([picture, *answers])!r}")
                continue
            if problems.check_unique(line, "every picture", picture) and known is not None and picture not in known:
                problems.add(line, f"expected a picture of the ground truth, found {picture!r}")
            for year, answer in zip(years, answers, strict=True):
                if (year, answer) not in checked:
                    checked[year, answer] = _find_problems(answer, year, table, wildcard)
                for problem in checked[year, answer]:
                    problems.add(line, f"{year}: {problem}")
            labels[picture] = tuple(answers)
        if not labels and not problems:
            problems.add(None, "expected one line per picture, found none")
    return labels


def _find_problems(answer: str, year: int, table: CodeTable | None, wildcard: str) -> list[str]:
    if year in FLAT_YEARS:
        if _LABEL.fullmatch(answer) or answer in {CLUTTER, wildcard}:
            return []
        return [f"expected a label (a whole number or C{wildcard and ', or *'}), found {answer!r}"]
    if table is None:
        return ["expected a code table for codes, found none"]
    codes = answer.split("-")
    if [len(code) for code in codes] != [*AXES.values()]:
        return [f"expected a code TTTT-DDD-AAA-BBB, found {answer!r}"]
    others = wildcard + CLUTTER * (year in CLUTTER_YEARS)
    found = (table.find_problem(axis, code, others) for axis, code in zip(AXES, codes, strict=True))
    return [problem for problem in found if problem]


def _split_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words
