"""Reads files of the ImageCLEF 2016 annotation task.

A line is ``[subtask] [id] [results]``, in ASCII; a file has one subtask. A ground truth has the same format, with one
line per human description in subtasks 2 and 3.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leafid.errors import LeafidError, ProblemsError
from leafid.tasks.annotation2016.known import Known
from leafid.tasks.annotation2016.results import BadResultError, Concept, Result, Subtask, format_concepts, parse_result
from leafid.textfiles import LineProblems, read_lines

#: 100 concepts with 100 boxes each have fewer characters.
_MAX_LINE_LENGTH = 1 << 20
_SUBTASKS = {str(subtask.value): subtask for subtask in Subtask}
#: Subtasks whose ground truth has several lines per picture.
_REPEATED = frozenset({Subtask.CAPTION, Subtask.SELECTION})


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
    """Read a run file; a `ProblemsError` names every bad line, see `examine_annotation_run`."""
    run, problems = examine_annotation_run(path, subtask, known)
    if problems:
        raise ProblemsError(problems)
    return run


def examine_annotation_run(
    path: str | os.PathLike[str], subtask: Subtask | None = None, known: Known | None = None
) -> tuple[AnnotationRun, list[str]]:
    """Read the good lines of a run file, and list what is wrong with the others, one message per bad line.

    By default the expected subtask is that of the first line. A file that can't be read at all raises a `LeafidError`.
    """
    found, results, problems = _read_lines(path, subtask, known or Known(), repeated=frozenset())
    run = AnnotationRun(
        Path(path).name, found or Subtask.CONCEPTS, {identity: listed[-1] for identity, listed in results.items()}
    )
    return run, problems.list_messages()


def read_annotation_truth(path: str | os.PathLike[str], known: Known | None = None) -> AnnotationTruth:
    """Read a ground truth; errors as for `read_annotation_run`."""
    subtask, results, problems = _read_lines(path, None, known or Known(), repeated=_REPEATED)
    if problems or subtask is None:
        raise ProblemsError(problems.list_messages())
    return AnnotationTruth(subtask, {identity: tuple(listed) for identity, listed in results.items()})


def format_line(identity: str, concepts: Sequence[Concept]) -> str:
    """Format a line of subtask 1; an id or a concept that the format can't hold raises a `LeafidError`."""
    try:
        line = f"{Subtask.CONCEPTS.value} {identity} {format_concepts(concepts)}".rstrip()
    except BadResultError as error:
        raise LeafidError(f"{identity}: {error}") from None
    if identity.split() != [identity] or not line.isascii() or not line.isprintable():
        raise LeafidError(f"expected an id without blanks and results in ASCII, found {line!r}")
    return f"{line}\n"


def _read_lines(
    path: str | os.PathLike[str], subtask: Subtask | None, known: Known, *, repeated: frozenset[Subtask]
) -> tuple[Subtask | None, dict[str, list[Result]], LineProblems]:
    problems = LineProblems(path)
    results: dict[str, list[Result]] = {}
    # Bytes that aren't ASCII become lone surrogates, which `_split_line` reports.
    for number, line in enumerate(read_lines(path, "ascii", _MAX_LINE_LENGTH), start=1):
        try:
            found, identity, text = _split_line(line)
            subtask = subtask or found
            if found is not subtask:
                raise BadResultError(f"expected subtask {subtask.value}, found subtask {found.value}")
            result = _parse_known(subtask, identity, text, known)
        except BadResultError as error:
            problems.add(number, str(error))
            continue
        if subtask not in repeated:
            problems.check_unique(number, "every id", identity)
        elif result == ():
            problems.add(number, "expected a description that mentions at least one box, found none")
        results.setdefault(identity, []).append(result)
    if not results and not problems:
        problems.add(None, "expected lines '[subtask] [id] [results]', found none")
    return subtask, results, problems


def _split_line(line: str) -> tuple[Subtask, str, str]:
    if not line.isascii():
        surrogate = next(character for character in line if not character.isascii())
        raise BadResultError(f"expected ASCII text, found byte 0x{ord(surrogate) - 0xDC00:02x}")
    words = line.rstrip().split(None, 2)
    if len(words) < 2 or words[0] not in _SUBTASKS:
        raise BadResultError(f"expected '[subtask] [id] [results]', subtask 1 to 5, found {line.strip()[:60]!r}")
    return _SUBTASKS[words[0]], words[1], words[2] if len(words) == 3 else ""


def _parse_known(subtask: Subtask, identity: str, text: str, known: Known) -> Result:
    if known.ids is not None and identity not in known.ids:
        raise BadResultError(f"expected an id of the collection, found {identity!r}")
    result = parse_result(subtask, text)
    for problem in known.find_problems(subtask, identity, result):
        raise BadResultError(problem)
    return result
