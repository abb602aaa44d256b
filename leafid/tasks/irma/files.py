r"""IRMA code tables, and files of IRMA labels and codes.

A code table lists, a line each, the codes that an axis can have: ``A 463 what it means``. A file of labels (a ground
truth or a run) has a line a picture: its name, then one answer a year, ``1234 18 * 1121-120-463-700 1121-***-46*-700``.
In both, a line that begins with ``#`` is a comment.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from leafid.errors import LeafidError, ProblemsError
from leafid.files import open_output
from leafid.textfiles import read_text

AXES = {"T": 4, "D": 3, "A": 3, "B": 3}
"""The axes of a code in their order, with their number of positions."""

YEARS = (2005, 2006, 2007, 2008)
FLAT_YEARS = frozenset({2005, 2006})
CLUTTER_YEARS = frozenset({2005, 2006, 2007})
WILDCARD, UNSPECIFIED, CLUTTER = "*", "0", "C"
_POSITIONS = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")

Answers = tuple[str, ...]
"""One answer a year."""


@dataclass(frozen=True)
class CodeTable:
    """The codes that exist, axis by axis.

    Parameters
    ----------
    codes : mapping of str to collection of str
        The full-length codes of each axis of `AXES`.
    """

    codes: Mapping[str, frozenset[str]]
    _children: dict[str, dict[str, set[str]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        children: dict[str, dict[str, set[str]]] = {axis: {} for axis in AXES}
        for axis, codes in self.codes.items():
            for code in codes:
                for depth, label in enumerate(code):
                    children[axis].setdefault(code[:depth], set()).add(label)
        object.__setattr__(self, "_children", children)

    def branching(self, axis: str, code: str) -> tuple[int, ...]:
        """Count the possible labels at every position of a code.

        Parameters
        ----------
        axis : {"T", "D", "A", "B"}
        code : str
            A full-length code of the table.

        Returns
        -------
        tuple of int
            For each position, the number of children of the node that the positions before it lead to;
            the label "0" counts where the table has it.

        Raises
        ------
        LeafidError
            When the table has no such code.
        """
        if code not in self.codes.get(axis, ()):
            raise LeafidError(f"axis {axis}: expected a code of the table, found {code!r}{self._nearest(axis, code)}")
        return tuple(len(self._children[axis][code[:depth]]) for depth in range(len(code)))

    def problem(self, axis: str, code: str, *, answer: bool, clutter: bool) -> str | None:
        """Tell what is wrong with the code of one axis.

        Parameters
        ----------
        axis : str
        code : str
        answer : bool
            Whether wildcards are allowed.
        clutter : bool
            Whether the clutter class is allowed.

        Returns
        -------
        str or None
            "expected …, found …", or None when nothing is wrong.
        """
        if len(code) != AXES[axis]:
            return f"axis {axis}: expected {AXES[axis]} positions, found {code!r}"
        allowed = _POSITIONS | ({WILDCARD} if answer else set()) | ({CLUTTER} if clutter else set())
        if strange := sorted(set(code) - allowed):
            kinds = "0-9, a-z" + (", *" if answer else "") + (", C" if clutter else "")
            return f"axis {axis}: expected positions of {kinds}, found {strange[0]!r} in {code!r}"
        known = code.partition(WILDCARD)[0]
        if set(known) == {CLUTTER}:
            return None
        node = self._children[axis]
        if all(label in node.get(known[:depth], ()) for depth, label in enumerate(known)):
            return None
        return f"axis {axis}: expected a code of the table, found {code!r}{self._nearest(axis, code)}"

    def _nearest(self, axis: str, code: str) -> str:
        close = difflib.get_close_matches(code, sorted(self.codes.get(axis, ())), n=1)
        return f" (nearest: {close[0]})" if close else ""


def read_code_table(path: str | os.PathLike[str]) -> CodeTable:
    """Read a code table.

    Parameters
    ----------
    path : path-like
        UTF-8 text; a line holds an axis (T, D, A, B), a full-length code, and maybe words that say what it means.

    Returns
    -------
    CodeTable

    Raises
    ------
    ProblemsError
        Names every line with an unknown axis, a code of another length or with other characters, or one listed twice.
    """
    codes: dict[str, dict[str, int]] = {axis: {} for axis in AXES}
    problems = []
    for number, words in _lines(path):
        place = f"{path}:{number}"
        if len(words) < 2 or words[0] not in AXES:
            problems.append(f"{place}: expected an axis (T, D, A or B) and a code, found {' '.join(words)!r}")
            continue
        axis, code = words[:2]
        if len(code) != AXES[axis] or not set(code) <= _POSITIONS:
            problems.append(f"{place}: axis {axis}: expected {AXES[axis]} positions of 0-9, a-z, found {code!r}")
        elif code in codes[axis]:
            problems.append(
                f"{place}: axis {axis}: expected every code once, found {code!r}, as in line {codes[axis][code]}"
            )
        else:
            codes[axis][code] = number
    if not problems:
        absent = [axis for axis, known in codes.items() if not known]
        problems = [f"{path}: expected codes of every axis (T, D, A, B), found none of {axis}" for axis in absent]
    if problems:
        raise ProblemsError(problems)
    return CodeTable({axis: frozenset(known) for axis, known in codes.items()})


def read_labels(
    path: str | os.PathLike[str],
    table: CodeTable | None,
    *,
    years: Sequence[int] = YEARS,
    answers: bool = True,
    pictures: Iterable[str] | None = None,
) -> dict[str, Answers]:
    """Read a run, or a ground truth.

    Parameters
    ----------
    path : path-like
    table : CodeTable or None
        Needed when a year from 2007 on is among `years`.
    years : sequence of int
        The years of the columns behind the picture's name: 2005 and 2006 hold labels, 2007 and 2008 codes.
    answers : bool, default True
        Whether wildcards are allowed: True for a run, False for a ground truth.
    pictures : iterable of str, optional
        The pictures that a line may be about; by default any.

    Returns
    -------
    dict of str to tuple of str
        The answers of each picture, in the order of `years`.

    Raises
    ------
    ProblemsError
        Names every bad line: another number of columns, a picture unknown or met before, a code that the table lacks.
    """
    known = None if pictures is None else set(pictures)
    labels: dict[str, Answers] = {}
    first: dict[str, int] = {}
    # Many pictures have the same code: each is looked at once a year.
    seen: dict[tuple[int, str], list[str]] = {}
    problems = []
    for number, words in _lines(path):
        place = f"{path}:{number}"
        if len(words) != 1 + len(years):
            columns = ", ".join(map(str, years))
            problems.append(
                f"{place}: expected a picture and {len(years)} answers ({columns}), found {' '.join(words)!r}"
            )
            continue
        picture, *found = words
        if picture in first:
            problems.append(f"{place}: expected every picture once, found {picture!r}, as in line {first[picture]}")
        elif known is not None and picture not in known:
            problems.append(f"{place}: expected a picture of the ground truth, found {picture!r}")
        first.setdefault(picture, number)
        for year, answer in zip(years, found, strict=True):
            if year in FLAT_YEARS:
                if answer == WILDCARD and not answers:
                    problems.append(f"{place}: {year}: expected a label, found '*'")
                continue
            if (year, answer) not in seen:
                seen[year, answer] = _code_problems(answer, year, table, answers)
            problems += [f"{place}: {year}: {problem}" for problem in seen[year, answer]]
        labels[picture] = tuple(found)
    if not labels and not problems:
        problems.append(f"{path}: expected a line a picture, found none")
    if problems:
        raise ProblemsError(problems)
    return labels


def write_labels(path: str | os.PathLike[str], labels: Mapping[str, Answers]) -> None:
    """Write a run or a ground truth, a line a picture, in the mapping's order."""
    with open_output(path) as stream:
        stream.writelines(f"{picture} {' '.join(answers)}\n" for picture, answers in labels.items())


def _code_problems(answer: str, year: int, table: CodeTable | None, wildcards: bool) -> list[str]:
    if table is None:
        return ["expected a code table for codes, found none"]
    parts = answer.split("-")
    if len(parts) != len(AXES):
        return [f"expected a code TTTT-DDD-AAA-BBB, found {answer!r}"]
    clutter = year in CLUTTER_YEARS
    found = (
        table.problem(axis, part, answer=wildcards, clutter=clutter) for axis, part in zip(AXES, parts, strict=True)
    )
    return [problem for problem in found if problem]


def _lines(path: str | os.PathLike[str]) -> list[tuple[int, list[str]]]:
    numbered = ((number, line.split()) for number, line in enumerate(read_text(path).split("\n"), start=1))
    return [(number, words) for number, words in numbered if words and not words[0].startswith("#")]
