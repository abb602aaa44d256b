"""What the lines of the five subtasks hold behind subtask and id, as text and as values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple

from leafid.tasks.interpretation.box import Box
from leafid.textfiles import parse_finite_number

MAX_CONCEPTS = MAX_BOXES = MAX_ILLUSTRATIONS = 100


class Subtask(IntEnum):
    """The number that a line begins with."""

    CONCEPTS = 1
    CAPTION = 2
    SELECTION = 3
    ILLUSTRATION = 4
    LOCATION = 5


class ScoredBox(NamedTuple):
    """Where a concept is seen, and how sure the system is of it (higher is surer; 1 where a line says nothing)."""

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


Result = tuple[Concept, ...] | str | tuple[int, ...] | tuple[str, ...] | Place
"""Of subtask 1: concepts; 2: a sentence; 3: ids of boxes; 4: ids of pictures, best first; 5: a place."""

# The number of digits is bounded so that a damaged line can't cost the time of converting a huge number.
_BOX = re.compile(r"(?:([^:]*):)?(\d{1,9})x(\d{1,9})\+(\d{1,9})\+(\d{1,9})", re.ASCII)


class BadResultError(ValueError):
    """A result that can't be read: "expected …, found …"."""


def parse_result(subtask: Subtask, text: str) -> Result:
    """Read what stands behind subtask and id.

    Parameters
    ----------
    subtask : Subtask
    text : str

    Returns
    -------
    Result

    Raises
    ------
    BadResultError
        Tells what was expected and what was found.
    """
    return _PARSERS[subtask](text)


def format_result(subtask: Subtask, result: Result) -> str:
    """Write what stands behind subtask and id, so that `parse_result` reads it.

    Parameters
    ----------
    subtask : Subtask
    result : Result
        Blanks in names of concepts become underscores.

    Returns
    -------
    str

    Raises
    ------
    BadResultError
        When the result breaks a rule of the format.
    """
    text = _FORMATTERS[subtask](result)
    parse_result(subtask, text)
    return text


def _concepts(text: str) -> tuple[Concept, ...]:
    words = text.split()
    if len(words) % 2:
        raise BadResultError(f"expected pairs of a concept and its boxes, found nothing behind {_short(words[-1])}")
    if len(words) > 2 * MAX_CONCEPTS:
        raise BadResultError(f"expected at most {MAX_CONCEPTS} concepts, found {len(words) // 2}")
    names, places = words[::2], words[1::2]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadResultError(f"expected every concept once in a line, found {_short(twice)} again")
    return tuple(Concept(name, _boxes(name, place)) for name, place in zip(names, places, strict=True))


def _boxes(name: str, text: str) -> tuple[ScoredBox, ...]:
    parts = text.split(",")
    if len(parts) > MAX_BOXES:
        raise BadResultError(f"expected at most {MAX_BOXES} boxes of a concept, found {len(parts)} of {_short(name)}")
    return tuple(_box(part) for part in parts)


def _box(text: str) -> ScoredBox:
    match = _BOX.fullmatch(text)
    if match is None:
        raise BadResultError(f"expected a box [confidence:]WIDTHxHEIGHT+LEFT+TOP in whole pixels, found {_short(text)}")
    word, width, height, left, top = match.groups()
    confidence = 1.0 if word is None else _number(word, "a confidence")
    box = Box(int(left), int(top), int(width), int(height))
    if problem := box.problem():
        raise BadResultError(problem)
    return ScoredBox(box, confidence)


def _sentence(text: str) -> str:
    sentence = " ".join(text.split())
    if not sentence:
        raise BadResultError("expected a sentence, found none")
    return sentence


def _selection(text: str) -> tuple[int, ...]:
    words = _listed(text, "ids of boxes")
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise BadResultError(f"expected ids of boxes as whole numbers from 0 up, found {_short(word)}")
    return tuple(_once([int(word) for word in words], "box"))


def _illustrations(text: str) -> tuple[str, ...]:
    words = _listed(text, "ids of pictures, the best first")
    if len(words) > MAX_ILLUSTRATIONS:
        raise BadResultError(f"expected at most {MAX_ILLUSTRATIONS} pictures, found {len(words)}")
    return tuple(_once(words, "picture"))


def _place(text: str) -> Place:
    words = text.split()
    if len(words) != 2:
        raise BadResultError(f"expected a latitude and a longitude, found {_short(text)}")
    latitude, longitude = _number(words[0], "a latitude"), _number(words[1], "a longitude")
    if not -90 <= latitude <= 90:
        raise BadResultError(f"expected a latitude from -90 to 90, found {words[0]}")
    if not -180 <= longitude <= 180:
        raise BadResultError(f"expected a longitude from -180 to 180, found {words[1]}")
    return Place(latitude, longitude)


def _listed(text: str, what: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words) or any(len(word.split()) > 1 for word in words):
        raise BadResultError(f"expected {what}, separated by commas, found {_short(text)}")
    return words


def _once(found: list, what: str) -> list:
    if len(set(found)) != len(found):
        twice = next(one for one in found if found.count(one) > 1)
        raise BadResultError(f"expected every {what} once in a line, found {twice} again")
    return found


def _number(word: str, what: str) -> float:
    number = parse_finite_number(word)
    if number is None:
        raise BadResultError(f"expected {what} as a finite number, found {_short(word)}")
    return number


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _format_concepts(concepts: Sequence[Concept]) -> str:
    return " ".join(
        f"{'_'.join(name.split())} {','.join(_format_box(box, confidence) for box, confidence in boxes)}"
        for name, boxes in concepts
    )


def _format_box(box: Box, confidence: float) -> str:
    return f"{float(confidence)!r}:{box.width:.0f}x{box.height:.0f}+{box.left:.0f}+{box.top:.0f}"


def _format_list(words: Sequence[object]) -> str:
    return ",".join(map(str, words))


def _format_place(place: Sequence[float]) -> str:
    return " ".join(repr(float(degrees)) for degrees in place)


_PARSERS: dict[Subtask, Callable[[str], Result]] = {
    Subtask.CONCEPTS: _concepts,
    Subtask.CAPTION: _sentence,
    Subtask.SELECTION: _selection,
    Subtask.ILLUSTRATION: _illustrations,
    Subtask.LOCATION: _place,
}
_FORMATTERS: dict[Subtask, Callable] = {
    Subtask.CONCEPTS: _format_concepts,
    Subtask.CAPTION: lambda sentence: " ".join(sentence.split()),
    Subtask.SELECTION: _format_list,
    Subtask.ILLUSTRATION: _format_list,
    Subtask.LOCATION: _format_place,
}
