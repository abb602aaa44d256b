"""Reads, checks and writes whole files of the ImageCLEF 2016 annotation task.

A line is ``[subtask] [id] [results]``, in ASCII; a file is about one subtask. A ground truth is written alike, with one
line for each human description in subtasks 2 and 3.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leafid.errors import LeafidError, ProblemsError
from leafid.files import open_output
from leafid.tasks.annotation2016.results import BadResultError, Concept, Result, Subtask, format_result, parse_result

# A file with a systematic fault has it in every line; the first ones tell.
MAX_PROBLEMS = 100
_SUBTASKS = {str(subtask.value): subtask for subtask in Subtask}


@dataclass(frozen=True)
class Known:
    """What a line may be about; None where anything goes.

    Attributes
    ----------
    ids : collection of str, optional
        Of the pictures or documents.
    concepts : collection of str, optional
        Of subtask 1.
    sizes : mapping of str to (width, height), optional
        Of all pictures of subtask 1, in pixels.
    boxes : mapping of str to collection of int, optional
        The ids of the boxes given for each picture of subtask 3.
    illustrations : collection of str, optional
        The pictures that subtask 4 chooses from.
    """

    ids: frozenset[str] | None = None
    concepts: frozenset[str] | None = None
    sizes: Mapping[str, tuple[int, int]] | None = None
    boxes: Mapping[str, frozenset[int]] | None = None
    illustrations: frozenset[str] | None = None


@dataclass(frozen=True)
class AnnotationRun:
    """What a run says.

    Attributes
    ----------
    name : str
        The file's.
    subtask : Subtask
    results : dict of str to Result
        By picture or document.
    """

    name: str
    subtask: Subtask
    results: dict[str, Result]


@dataclass(frozen=True)
class AnnotationTruth:
    """A ground truth: as a run, but with several descriptions of a picture in subtasks 2 and 3."""

    subtask: Subtask
    results: dict[str, tuple[Result, ...]]


def read_annotation_run(
    path: str | os.PathLike[str], subtask: Subtask | None = None, known: Known | None = None
) -> AnnotationRun:
    """Read a run file.

    Parameters
    ----------
    path : path-like
    subtask : Subtask, optional
        The subtask that it has to be about; that of its first line by default.
    known : Known, optional
        What its lines may be about.

    Returns
    -------
    AnnotationRun

    Raises
    ------
    LeafidError
        When the file can't be read.
    ProblemsError
        Names every bad line, see `examine_annotation_run`.
    """
    run, problems = examine_annotation_run(path, subtask, known)
    if problems:
        raise ProblemsError(problems)
    return run


def examine_annotation_run(
    path: str | os.PathLike[str], subtask: Subtask | None = None, known: Known | None = None
) -> tuple[AnnotationRun, list[str]]:
    """Read as much of a run file as can be read, and tell what is wrong with the rest.

    Parameters
    ----------
    path : path-like
    subtask : Subtask, optional
    known : Known, optional

    Returns
    -------
    run : AnnotationRun
    problems : list of str
        A line each, at most 100 and a last one that tells how many more there are: no ASCII, no such line, another
        subtask, an id met before, and what breaks the subtask's own rules or isn't known.

    Raises
    ------
    LeafidError
        When the file can't be read at all.
    """
    reader = _Reader(path, subtask, known or Known())
    results: dict[str, Result] = {}
    first: dict[str, int] = {}
    for number, identity, result in reader:
        if identity in first:
            reader.complain(number, f"expected every id once, found {identity!r}, as in line {first[identity]}")
        first.setdefault(identity, number)
        results[identity] = result
    return AnnotationRun(Path(path).name, reader.subtask or Subtask.CONCEPTS, results), reader.problems()


def read_annotation_truth(path: str | os.PathLike[str], known: Known | None = None) -> AnnotationTruth:
    """Read a ground truth.

    Parameters
    ----------
    path : path-like
        As a run file; subtasks 2 and 3 have a line for every description of a picture.
    known : Known, optional

    Returns
    -------
    AnnotationTruth

    Raises
    ------
    LeafidError, ProblemsError
        As `read_annotation_run`.
    """
    reader = _Reader(path, None, known or Known())
    results: dict[str, list[Result]] = {}
    first: dict[str, int] = {}
    for number, identity, result in reader:
        if identity in first and reader.subtask not in {Subtask.CAPTION, Subtask.SELECTION}:
            reader.complain(number, f"expected every id once, found {identity!r}, as in line {first[identity]}")
        first.setdefault(identity, number)
        results.setdefault(identity, []).append(result)
    if problems := reader.problems():
        raise ProblemsError(problems)
    assert reader.subtask is not None
    return AnnotationTruth(reader.subtask, {identity: tuple(found) for identity, found in results.items()})


def write_annotation_run(path: str | os.PathLike[str], subtask: Subtask, results: Mapping[str, Result]) -> None:
    """Write a run file, a line a picture or document, in the mapping's order.

    Parameters
    ----------
    path : path-like
    subtask : Subtask
    results : mapping of str to Result

    Raises
    ------
    LeafidError
        When an id or a result can't be written in the format.
    """
    with open_output(path) as stream:
        for identity, result in results.items():
            try:
                stream.write(annotation_line(subtask, identity, result))
            except LeafidError as error:
                raise LeafidError(f"{path}: {error}") from None


def annotation_line(subtask: Subtask, identity: str, result: Result) -> str:
    """Write what is said of one picture or document as a line of a run file, with its line end.

    Raises
    ------
    LeafidError
        When the id or the result can't be written in the format.
    """
    try:
        line = f"{subtask.value} {identity} {format_result(subtask, result)}".rstrip()
    except BadResultError as error:
        raise LeafidError(f"{identity}: {error}") from None
    if len(identity.split()) != 1 or not line.isascii() or not line.isprintable():
        raise LeafidError(f"expected an id without blanks and results in ASCII, found {line!r}")
    return f"{line}\n"


@dataclass
class _Reader:
    """Yields the lines that can be read, collecting what is wrong with the others."""

    path: str | os.PathLike[str]
    subtask: Subtask | None
    known: Known
    found: list[tuple[int, str]] = field(default_factory=list)

    def complain(self, number: int, problem: str) -> None:
        self.found.append((number, problem))

    def problems(self) -> list[str]:
        if self.subtask is None and not self.found:
            return [f"{self.path}: expected lines '[subtask] [id] [results]', found none"]
        listed = [f"{self.path}:{number}: {problem}" for number, problem in sorted(self.found)[:MAX_PROBLEMS]]
        more = len(self.found) - len(listed)
        return listed + ([f"{self.path}: and {more} problems more"] if more else [])

    def __iter__(self) -> Iterator[tuple[int, str, Result]]:
        try:
            with Path(self.path).open(encoding="ascii", errors="surrogateescape") as stream:
                for number, line in enumerate(stream, start=1):
                    try:
                        yield number, *self._parse(line)
                    except BadResultError as error:
                        self.complain(number, str(error))
        except OSError as error:
            raise LeafidError(f"{self.path}: can't be read: {error.strerror or error}") from error

    def _parse(self, line: str) -> tuple[str, Result]:
        if not line.isascii():
            strange = next(letter for letter in line if not letter.isascii())
            raise BadResultError(f"expected ASCII text, found byte 0x{ord(strange) - 0xDC00:02x}")
        words = line.rstrip().split(None, 2)
        if len(words) < 2 or words[0] not in _SUBTASKS:
            raise BadResultError(f"expected '[subtask] [id] [results]', subtask 1 to 5, found {line.strip()[:60]!r}")
        subtask, identity = _SUBTASKS[words[0]], words[1]
        self.subtask = self.subtask or subtask
        if subtask is not self.subtask:
            raise BadResultError(f"expected subtask {self.subtask.value}, found subtask {subtask.value}")
        if self.known.ids is not None and identity not in self.known.ids:
            raise BadResultError(f"expected an id of the collection, found {identity!r}")
        result = parse_result(subtask, words[2] if len(words) == 3 else "")
        if subtask in _UNKNOWN:
            for problem in _UNKNOWN[subtask](identity, result, self.known):
                raise BadResultError(problem)
        return identity, result


def _unknown_concepts(identity: str, concepts: Sequence[Concept], known: Known) -> Iterator[str]:
    size = None if known.sizes is None else known.sizes.get(identity)
    if known.sizes is not None and size is None:
        yield f"expected a picture whose size is given, found {identity!r}"
    for name, boxes in concepts:
        if known.concepts is not None and name not in known.concepts:
            yield f"expected a concept of the list, found {name!r}"
        if size is not None:
            problems = (box.problem(size) for box, _ in boxes)
            yield from (problem for problem in problems if problem)


def _unknown_boxes(identity: str, boxes: Sequence[int], known: Known) -> Iterator[str]:
    if known.boxes is not None:
        given = known.boxes.get(identity, frozenset())
        yield from (f"expected a box that is given for {identity}, found {box}" for box in boxes if box not in given)


def _unknown_illustrations(_: str, pictures: Sequence[str], known: Known) -> Iterator[str]:
    if known.illustrations is not None:
        strange = (name for name in pictures if name not in known.illustrations)
        yield from (f"expected a picture of the collection, found {name!r}" for name in strange)


_UNKNOWN: dict[Subtask, Callable[..., Iterator[str]]] = {
    Subtask.CONCEPTS: _unknown_concepts,
    Subtask.SELECTION: _unknown_boxes,
    Subtask.ILLUSTRATION: _unknown_illustrations,
}
