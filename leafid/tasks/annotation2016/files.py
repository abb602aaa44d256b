"""Reads files of the ImageCLEF 2016 annotation task.

A line is ``[subtask] [id] [results]``, in ASCII; a file has one subtask. A ground truth
has the same format, with one line per human description in subtasks 2 and 3.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.tasks.interpretation.regions import Box, BoxedObject
from leafid.textfiles import (
    LineProblems,
    parse_finite_number,
    parse_whole_number,
    read_lines,
    read_text,
)

#: Maximum number of concepts per picture, of boxes per concept, and of pictures per
#: document.
_MAX_ENTRIES = 100
#: 100 concepts with 100 boxes each have fewer characters.
_MAX_LINE_LENGTH = 1 << 20
# The number of digits is bounded because converting a huge number takes long.
_BOX = re.compile(r"(?:([^:]*):)?(\d{1,9})x(\d{1,9})\+(\d{1,9})\+(\d{1,9})", re.ASCII)


class Subtask(IntEnum):
    """The number at the beginning of a line."""

    CONCEPTS = 1
    CAPTION = 2
    SELECTION = 3
    ILLUSTRATION = 4
    LOCATION = 5


#: Latitude and longitude of a point on the earth, in degrees: -90 to 90 north, -180 to
#: 180 east.
Place = tuple[float, float]


@dataclass(frozen=True)
class AllowedNames:
    """What lines may name; None allows everything."""

    ids: frozenset[str] | None = None
    #: The concepts of subtask 1.
    concepts: frozenset[str] | None = None
    #: The pictures of subtask 4.
    illustrations: frozenset[str] | None = None


@dataclass(frozen=True)
class Annotations:
    """A run or a ground truth: by picture or document, one result.

    A ground truth of subtasks 2 and 3 may have several. A result of subtasks 1 to 5 is
    a tuple of `BoxedObject`, of any confidence; a sentence; a tuple of ids of boxes,
    maybe none; a tuple of ids of pictures, the best first; a `Place`.
    """

    subtask: Subtask
    results: dict[str, list[Any]]


def read_annotations(
    path: StrPath,
    allowed: AllowedNames = AllowedNames(),
    *,
    subtask: Subtask | None = None,
    is_truth: bool = False,
) -> Annotations:
    """Read a run or a ground truth, by default of the first line's subtask.

    A `ProblemsError` names the bad lines.
    """
    results: dict[str, list[Any]] = {}
    with LineProblems(path) as problems:
        # Bytes that aren't ASCII become lone surrogates, which `_split_line` reports.
        lines = read_lines(path, "ascii", _MAX_LINE_LENGTH)
        for number, line in enumerate(lines, start=1):
            try:
                number_read, identity, text = _split_line(line)
                subtask = subtask or number_read
                if number_read is not subtask:
                    raise LeafidError(
                        f"expected subtask {subtask.value}, found subtask "
                        f"{number_read.value}"
                    )
                result = _PARSERS[subtask](text)
                _check_result(subtask, identity, result, allowed)
                if is_truth and result == () and subtask is Subtask.SELECTION:
                    raise LeafidError(
                        "expected a description that mentions at least one box, found "
                        "none"
                    )
            except LeafidError as error:
                problems.add(number, str(error))
                continue
            has_several = is_truth and subtask in (Subtask.CAPTION, Subtask.SELECTION)
            if not has_several:
                problems.check_unique(number, "every id", identity)
            results.setdefault(identity, []).append(result)
        if not results and not problems:
            problems.add(None, "expected lines '[subtask] [id] [results]', found none")
    assert subtask is not None
    return Annotations(subtask, results)


def _check_result(
    subtask: Subtask, identity: str, result: Any, allowed: AllowedNames
) -> None:
    """Check that all that a line names is allowed."""
    checks = [("an id of the collection", [identity], allowed.ids)]
    if subtask is Subtask.CONCEPTS:
        names = [item.name for item in result]
        checks.append(("a concept of the list", names, allowed.concepts))
    if subtask is Subtask.ILLUSTRATION:
        checks.append(("a picture of the collection", result, allowed.illustrations))
    for kind, names, known in checks:
        for name in names:
            if known is not None and name not in known:
                raise LeafidError(f"expected {kind}, found {name!r}")


def read_list(path: StrPath) -> frozenset[str]:
    """Read ids or concepts, one per line."""
    words = frozenset(line.strip() for line in read_text(path).splitlines()) - {""}
    if not words:
        raise LeafidError(f"{path}: expected one name per line, found none")
    return words


def _split_line(line: str) -> tuple[Subtask, str, str]:
    if not line.isascii():
        raise LeafidError(f"expected ASCII text, found {line.strip()!r}")
    words = [*line.rstrip().split(None, 2), ""]
    if len(words) < 3 or words[0] not in {"1", "2", "3", "4", "5"}:
        raise LeafidError(
            "expected '[subtask] [id] [results]', subtask 1 to 5, found "
            f"{line.strip()!r}"
        )
    return Subtask(int(words[0])), words[1], words[2]


def _parse_concepts(text: str) -> tuple[BoxedObject, ...]:
    words = text.split()
    if len(words) % 2:
        raise LeafidError(
            "expected pairs of a concept and its boxes, found nothing behind "
            f"{words[-1]!r}"
        )
    objects: list[BoxedObject] = []
    for name, entries in zip(words[::2], words[1::2], strict=True):
        boxes = entries.split(",")
        if len(boxes) > _MAX_ENTRIES:
            raise LeafidError(
                f"expected at most {_MAX_ENTRIES} boxes of a concept, found "
                f"{len(boxes)} of {name!r}"
            )
        objects += [_parse_box(name, box) for box in boxes]
    _check_names_differ(words[::2], _MAX_ENTRIES, "concepts")
    return tuple(objects)


def _parse_box(name: str, text: str) -> BoxedObject:
    match = _BOX.fullmatch(text)
    confidence = parse_finite_number(match[1] or "1") if match else None
    if match is None or confidence is None:
        raise LeafidError(
            "expected a box [confidence:]WIDTHxHEIGHT+LEFT+TOP in whole pixels, found "
            f"{text!r}"
        )
    width, height, left, top = map(int, match.groups()[1:])
    return BoxedObject(name, Box(left, top, width, height).check(), confidence)


def _parse_caption(text: str) -> str:
    if not text.strip():
        raise LeafidError("expected a sentence, found none")
    return " ".join(text.split())


def _parse_selection(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    boxes = [parse_whole_number(word) for word in words]
    if None in boxes:
        raise LeafidError(
            "expected ids of boxes as whole numbers from 0 up, found "
            f"{words[boxes.index(None)]!r}"
        )
    _check_names_differ(words, len(words), "boxes")
    return tuple(map(int, words))


def _parse_illustrations(text: str) -> tuple[str, ...]:
    pictures = [word.strip() for word in text.split(",")]
    if any(len(word.split()) != 1 for word in pictures):
        raise LeafidError(
            "expected ids of pictures, the best first, separated by commas, found "
            f"{text!r}"
        )
    _check_names_differ(pictures, _MAX_ENTRIES, "pictures")
    return tuple(pictures)


def _parse_place(text: str) -> Place:
    words = text.split()
    numbers = [n for n in map(parse_finite_number, words) if n is not None]
    if len(words) == len(numbers) == 2:
        latitude, longitude = numbers
        if abs(latitude) <= 90 and abs(longitude) <= 180:
            return latitude, longitude
    raise LeafidError(
        "expected a latitude from -90 to 90 and a longitude from -180 to 180, found "
        f"{text!r}"
    )


_PARSERS: dict[Subtask, Callable[[str], Any]] = {
    Subtask.CONCEPTS: _parse_concepts,
    Subtask.CAPTION: _parse_caption,
    Subtask.SELECTION: _parse_selection,
    Subtask.ILLUSTRATION: _parse_illustrations,
    Subtask.LOCATION: _parse_place,
}


def _check_names_differ(names: Sequence[str], maximum: int, kinds: str) -> None:
    if len(names) > maximum or len(set(names)) < len(names):
        raise LeafidError(
            f"expected at most {maximum} {kinds}, each once, found {', '.join(names)}"
        )
