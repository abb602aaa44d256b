"""The results of the five subtasks: their values, and their text after the subtask and the id of a line."""

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeVar

from leafid.tasks.interpretation.box import Box
from leafid.textfiles import parse_finite_number, parse_whole_number

T = TypeVar("T")

#: Maximum numbers of concepts per picture, boxes per concept and pictures per document.
MAX_CONCEPTS = MAX_BOXES = MAX_ILLUSTRATIONS = 100


class Subtask(IntEnum):
    """The number at the beginning of a line."""

    CONCEPTS = 1
    CAPTION = 2
    SELECTION = 3
    ILLUSTRATION = 4
    LOCATION = 5


class ScoredBox(NamedTuple):
    """A box and the confidence that it shows its concept (higher is better)."""

    box: Box
    confidence: float = 1.0


class Concept(NamedTuple):
    """A concept and its boxes, at least one."""

    name: str
    boxes: tuple[ScoredBox, ...]


class Place(NamedTuple):
    """A point on the earth, in degrees: -90 to 90 north, -180 to 180 east."""

    latitude: float
    longitude: float


#: Of subtask 1: concepts; 2: a sentence; 3: ids of boxes, maybe none; 4: ids of pictures, best first; 5: a place.
Result = tuple[Concept, ...] | str | tuple[int, ...] | tuple[str, ...] | Place

# The number of digits is bounded because converting a huge number takes long.
_BOX = re.compile(r"(?:([^:]*):)?(\d{1,9})x(\d{1,9})\+(\d{1,9})\+(\d{1,9})", re.ASCII)


class BadResultError(ValueError):
    """A result that can't be read: "expected …, found …"."""


def parse_result(subtask: Subtask, text: str) -> Result:
    """Parse the text after the subtask and the id; a `BadResultError` says what was expected and what was found."""
    return _PARSERS[subtask](text)


def format_concepts(concepts: Sequence[Concept]) -> str:
    """Format a result of subtask 1 as `parse_result` reads it, blanks as underscores, or raise a `BadResultError`."""
    text = " ".join(
        f"{'_'.join(name.split())} {','.join(_format_box(box, confidence) for box, confidence in boxes)}"
        for name, boxes in concepts
    )
    _parse_concepts(text)
    return text


def localise_ranking(ranking: Sequence[tuple[str, float]], leaf: tuple[int, int, int, int]) -> tuple[Concept, ...]:
    """Make concepts of the species that a leaf may be, at most `MAX_CONCEPTS`, all with the leaf's box.

    `leaf` is ``(row0, row1, col0, col1)``, ends exclusive, in pixels.

    Examples
    --------
    >>> [concept] = localise_ranking([("Acer campestre", 0.75)], (10, 40, 20, 60))
    >>> concept.name, concept.boxes[0].box
    ('Acer_campestre', Box(left=20, top=10, width=40, height=30))
    """
    row0, row1, col0, col1 = leaf
    box = Box(col0, row0, col1 - col0, row1 - row0)
    return tuple(
        Concept("_".join(species.split()), (ScoredBox(box, probability),))
        for species, probability in ranking[:MAX_CONCEPTS]
    )


def _parse_concepts(text: str) -> tuple[Concept, ...]:
    words = text.split()
    if len(words) % 2:
        raise BadResultError(f"expected pairs of a concept and its boxes, found nothing behind {_quote(words[-1])}")
    if len(words) > 2 * MAX_CONCEPTS:
        raise BadResultError(f"expected at most {MAX_CONCEPTS} concepts, found {len(words) // 2}")
    names = _check_unique(words[::2], "concept")
    return tuple(Concept(name, _parse_boxes(name, boxes)) for name, boxes in zip(names, words[1::2], strict=True))


def _parse_boxes(name: str, text: str) -> tuple[ScoredBox, ...]:
    items = text.split(",")
    if len(items) > MAX_BOXES:
        raise BadResultError(f"expected at most {MAX_BOXES} boxes of a concept, found {len(items)} of {_quote(name)}")
    return tuple(map(_parse_box, items))


def _parse_box(text: str) -> ScoredBox:
    match = _BOX.fullmatch(text)
    if match is None:
        raise BadResultError(f"expected a box [confidence:]WIDTHxHEIGHT+LEFT+TOP in whole pixels, found {_quote(text)}")
    word, width, height, left, top = match.groups()
    confidence = 1.0 if word is None else _parse_number(word, "a confidence")
    box = Box(int(left), int(top), int(width), int(height))
    if problem := box.find_problem():
        raise BadResultError(problem)
    return ScoredBox(box, confidence)


def _parse_sentence(text: str) -> str:
    sentence = " ".join(text.split())
    if not sentence:
        raise BadResultError("expected a sentence, found none")
    return sentence


def _parse_selection(text: str) -> tuple[int, ...]:
    words = _split_commas(text, "ids of boxes") if text.strip() else []
    boxes: list[int] = []
    for word in words:
        if (box := parse_whole_number(word)) is None:
            raise BadResultError(f"expected ids of boxes as whole numbers from 0 up, found {_quote(word)}")
        boxes.append(box)
    return tuple(_check_unique(boxes, "box"))


def _parse_illustrations(text: str) -> tuple[str, ...]:
    words = _split_commas(text, "ids of pictures, the best first")
    if len(words) > MAX_ILLUSTRATIONS:
        raise BadResultError(f"expected at most {MAX_ILLUSTRATIONS} pictures, found {len(words)}")
    return tuple(_check_unique(words, "picture"))


def _parse_place(text: str) -> Place:
    words = text.split()
    if len(words) != 2:
        raise BadResultError(f"expected a latitude and a longitude, found {_quote(text)}")
    latitude, longitude = _parse_number(words[0], "a latitude"), _parse_number(words[1], "a longitude")
    if not -90 <= latitude <= 90:
        raise BadResultError(f"expected a latitude from -90 to 90, found {words[0]}")
    if not -180 <= longitude <= 180:
        raise BadResultError(f"expected a longitude from -180 to 180, found {words[1]}")
    return Place(latitude, longitude)


def _split_commas(text: str, expected: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words) or any(len(word.split()) > 1 for word in words):
        raise BadResultError(f"expected {expected}, separated by commas, found {_quote(text)}")
    return words


def _check_unique(items: list[T], kind: str) -> list[T]:
    if len(set(items)) != len(items):
        repeated = next(item for item in items if items.count(item) > 1)
        raise BadResultError(f"expected every {kind} once in a line, found {_quote(str(repeated))} again")
    return items


def _parse_number(word: str, expected: str) -> float:
    number = parse_finite_number(word)
    if number is None:
        raise BadResultError(f"expected {expected} as a finite number, found {_quote(word)}")
    return number


def _quote(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _format_box(box: Box, confidence: float) -> str:
    return f"{float(confidence)!r}:{box.width:.0f}x{box.height:.0f}+{box.left:.0f}+{box.top:.0f}"


_PARSERS: dict[Subtask, Callable[[str], Result]] = {
    Subtask.CONCEPTS: _parse_concepts,
    Subtask.CAPTION: _parse_sentence,
    Subtask.SELECTION: _parse_selection,
    Subtask.ILLUSTRATION: _parse_illustrations,
    Subtask.LOCATION: _parse_place,
}
