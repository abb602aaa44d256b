"""The results of the five subtasks: their values, and their text after the subtask and the id of a line."""

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, TypeVar

from leafid.errors import LeafidError
from leafid.tasks.interpretation.regions import Box
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


def parse_result(subtask: Subtask, text: str) -> Result:
    """Parse the text after the subtask and the id; a `LeafidError` says what was expected and what was found."""
    match subtask:
        case Subtask.CONCEPTS:
            return _parse_concepts(text)
        case Subtask.CAPTION:
            if not text.strip():
                raise LeafidError("expected a sentence, found none")
            return " ".join(text.split())
        case Subtask.SELECTION:
            words = _split_commas(text, "boxes") if text.strip() else []
            return _check_unique([*map(_parse_box_id, words)], "box")
        case Subtask.ILLUSTRATION:
            pictures = _check_unique(_split_commas(text, "pictures, the best first"), "picture")
            return _check_number(pictures, MAX_ILLUSTRATIONS, "pictures")
        case Subtask.LOCATION:
            return _parse_place(text)


def format_concepts(concepts: Sequence[Concept]) -> str:
    """Format a result of subtask 1 as `parse_result` reads it, blanks as underscores, or raise a `LeafidError`."""
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
        raise LeafidError(f"expected pairs of a concept and its boxes, found nothing behind {_quote(words[-1])}")
    names = _check_unique(_check_number(words[::2], MAX_CONCEPTS, "concepts"), "concept")
    return tuple(Concept(name, _parse_boxes(name, boxes)) for name, boxes in zip(names, words[1::2], strict=True))


def _parse_boxes(name: str, text: str) -> tuple[ScoredBox, ...]:
    items = text.split(",")
    if len(items) > MAX_BOXES:
        raise LeafidError(f"expected at most {MAX_BOXES} boxes of a concept, found {len(items)} of {_quote(name)}")
    return tuple(map(_parse_box, items))


def _parse_box(text: str) -> ScoredBox:
    match = _BOX.fullmatch(text)
    if match is None:
        raise LeafidError(f"expected a box [confidence:]WIDTHxHEIGHT+LEFT+TOP in whole pixels, found {_quote(text)}")
    word, *numbers = match.groups()
    width, height, left, top = map(int, numbers)
    box = Box(left, top, width, height)
    if problem := box.find_problem():
        raise LeafidError(problem)
    return ScoredBox(box, 1.0 if word is None else _parse_number(word, "a confidence"))


def _parse_box_id(word: str) -> int:
    if (number := parse_whole_number(word)) is None:
        raise LeafidError(f"expected ids of boxes as whole numbers from 0 up, found {_quote(word)}")
    return number


def _parse_place(text: str) -> Place:
    words = text.split()
    if len(words) != 2:
        raise LeafidError(f"expected a latitude and a longitude, found {_quote(text)}")
    place = Place(_parse_number(words[0], "a latitude"), _parse_number(words[1], "a longitude"))
    for name, value, limit, word in zip(("latitude", "longitude"), place, (90, 180), words, strict=True):
        if abs(value) > limit:
            raise LeafidError(f"expected a {name} from -{limit} to {limit}, found {word}")
    return place


def _split_commas(text: str, items: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if any(len(word.split()) != 1 for word in words):
        raise LeafidError(f"expected ids of {items}, separated by commas, found {_quote(text)}")
    return words


def _check_number(items: Sequence[T], maximum: int, kinds: str) -> tuple[T, ...]:
    if len(items) > maximum:
        raise LeafidError(f"expected at most {maximum} {kinds}, found {len(items)}")
    return tuple(items)


def _check_unique(items: Sequence[T], kind: str) -> tuple[T, ...]:
    for position, item in enumerate(items):
        if item in items[:position]:
            raise LeafidError(f"expected every {kind} once in a line, found {_quote(str(item))} again")
    return tuple(items)


def _parse_number(word: str, expected: str) -> float:
    number = parse_finite_number(word)
    if number is None:
        raise LeafidError(f"expected {expected} as a finite number, found {_quote(word)}")
    return number


def _quote(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _format_box(box: Box, confidence: float) -> str:
    return f"{float(confidence)!r}:{box.width:.0f}x{box.height:.0f}+{box.left:.0f}+{box.top:.0f}"
