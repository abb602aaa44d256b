"""Reads files of the ImageCLEF 2016 annotation task.

A line is ``[subtask] [id] [results]``, in ASCII; a file has one subtask. A ground truth has the same format, with one
line per human description in subtasks 2 and 3.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leafid.errors import LeafidError
from leafid.tasks.annotation2016.results import Concept, Result, Subtask, format_concepts, parse_result
from leafid.textfiles import LineProblems, read_lines, read_text

#: 100 concepts with 100 boxes each have fewer characters.
_MAX_LINE_LENGTH = 1 << 20
_SUBTASKS = {str(subtask.value): subtask for subtask in Subtask}
#: Subtasks whose ground truth has several lines per picture.
_REPEATED = frozenset({Subtask.CAPTION, Subtask.SELECTION})


@dataclass(frozen=True)
class Known:
    """What lines may name: ids, the concepts of subtask 1, the pictures of subtask 4; None allows everything."""

    ids: frozenset[str] | None = None
    concepts: frozenset[str] | None = None
    illustrations: frozenset[str] | None = None


@dataclass(frozen=True)
class AnnotationRun:
    """A run: the name of its file, and its result for each picture or document."""

    name: str
    subtask: Subtask
    results: dict[str, Result]


@dataclass(frozen=True)
class AnnotationTruth:
    """A ground truth: for each picture or document one result, or several in subtasks 2 and 3."""

    subtask: Subtask
    results: dict[str, tuple[Result, ...]]


def read_annotation_run(
    path: str | os.PathLike[str], subtask: Subtask | None = None, known: Known | None = None
) -> AnnotationRun:
    """Read a run file; a `ProblemsError` names the bad lines. By default the subtask is that of the first line."""
    subtask, results = _read_lines(path, subtask, known or Known(), repeated=frozenset())
    return AnnotationRun(Path(path).name, subtask, {identity: listed[0] for identity, listed in results.items()})


def read_annotation_truth(path: str | os.PathLike[str], known: Known | None = None) -> AnnotationTruth:
    """Read a ground truth; errors as for `read_annotation_run`."""
    subtask, results = _read_lines(path, None, known or Known(), repeated=_REPEATED)
    return AnnotationTruth(subtask, {identity: tuple(listed) for identity, listed in results.items()})


def read_list(path: str | os.PathLike[str]) -> frozenset[str]:
    """Read ids or concepts, one per line."""
    words = frozenset(line.strip() for line in read_text(path).splitlines()) - {""}
    if not words:
        raise LeafidError(f"{path}: expected one name per line, found none")
    return words


def format_line(identity: str, concepts: Sequence[Concept]) -> str:
    """Format a line of subtask 1; an id or a concept that the format can't hold raises a `LeafidError`."""
    line = f"1 {identity} {format_concepts(concepts)}".rstrip()
    if identity.split() != [identity] or not line.isascii() or not line.isprintable():
        raise LeafidError(f"expected an id without blanks and results in ASCII, found {line!r}")
    return f"{line}\n"


def _read_lines(
    path: str | os.PathLike[str], subtask: Subtask | None, known: Known, *, repeated: frozenset[Subtask]
) -> tuple[Subtask, dict[str, list[Result]]]:
    results: dict[str, list[Result]] = {}
    with LineProblems(path) as problems:
        # Bytes that aren't ASCII become lone surrogates, which `_split_line` reports.
        for number, line in enumerate(read_lines(path, "ascii", _MAX_LINE_LENGTH), start=1):
            try:
                found, identity, text = _split_line(line)
                subtask = subtask or found
                if found is not subtask:
                    raise LeafidError(f"expected subtask {subtask.value}, found subtask {found.value}")
                result = parse_result(subtask, text)
                _check_names(identity, result, subtask, known)
            except LeafidError as error:
                problems.add(number, str(error))
                continue
            if subtask not in repeated:
                problems.check_unique(number, "every id", identity)
            elif result == ():
                problems.add(number, "expected a description that mentions at least one box, found none")
            results.setdefault(identity, []).append(result)
        if not results and not problems:
            problems.add(None, "expected lines '[subtask] [id] [results]', found none")
    return subtask or Subtask.CONCEPTS, results


def _split_line(line: str) -> tuple[Subtask, str, str]:
    if not line.isascii():
        surrogate = next(character for character in line if not character.isascii())
        raise LeafidError(f"expected ASCII text, found byte 0x{ord(surrogate) - 0xDC00:02x}")
    words = line.rstrip().split(None, 2)
    if len(words) < 2 or words[0] not in _SUBTASKS:
        raise LeafidError(f"expected '[subtask] [id] [results]', subtask 1 to 5, found {line.strip()[:60]!r}")
    return _SUBTASKS[words[0]], words[1], words[2] if len(words) == 3 else ""


def _check_names(identity: str, result: Any, subtask: Subtask, known: Known) -> None:
    checks: list[tuple[str, frozenset[str] | None, Iterable[str]]] = [
        ("an id of the collection", known.ids, [identity])
    ]
    if subtask is Subtask.CONCEPTS:
        checks.append(("a concept of the list", known.concepts, (name for name, _ in result)))
    if subtask is Subtask.ILLUSTRATION:
        checks.append(("a picture of the collection", known.illustrations, result))
    for expected, names, found in checks:
        if names is not None and (unknown := next((name for name in found if name not in names), None)):
            raise LeafidError(f"expected {expected}, found {unknown!r}")
