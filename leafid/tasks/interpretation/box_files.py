"""Files of boxes in the COCO style."""

from __future__ import annotations

import json
import math
import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from leafid.errors import LeafidError, ProblemsError
from leafid.files import open_output
from leafid.tasks.interpretation.box import Box, BoxedObject
from leafid.textfiles import read_json


@dataclass(frozen=True)
class BoxFile:
    """What a file of boxes says.

    Attributes
    ----------
    objects : dict of str to list of BoxedObject
        The objects of each picture, by its file name; an empty list for a picture without any.
    sizes : dict of str to (width, height)
        In pixels; only of pictures that the file gives a size for.
    classes : dict of int to str
        Category numbers and names.
    ids : dict of int to str
        Picture numbers and file names.
    """

    objects: dict[str, list[BoxedObject]]
    sizes: dict[str, tuple[float, float]] = field(default_factory=dict)
    classes: dict[int, str] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)


def read_boxes(path: str | os.PathLike[str], truth: BoxFile | None = None) -> BoxFile:
    """Read a file of boxes: a COCO ground truth, or COCO results.

    Parameters
    ----------
    path : path-like
        JSON: an object with ``images`` (``id``, ``file_name``, ``width``, ``height``), ``categories`` (``id``,
        ``name``) and ``annotations`` (``image_id``, ``category_id``, ``bbox`` as [left, top, width, height], maybe
        ``score``); or, where `truth` is given, just the list of annotations.
    truth : BoxFile, optional
        The ground truth of a result: names its pictures and classes, and the only ones there are.

    Returns
    -------
    BoxFile

    Raises
    ------
    ProblemsError
        Names every entry with a missing or unusable field, an unknown or repeated id, a box of no area or outside the
        picture, or a score that is not from 0 to 1.
    """
    reader = _Reader(Path(path), _load(path))
    if isinstance(reader.content, list):
        if truth is None:
            raise LeafidError(f"{path}:1: expected an object with images, categories and annotations, found a list")
        images, classes, sizes = truth.ids, truth.classes, truth.sizes
        annotations = reader.entries(reader.content, "annotations")
    else:
        images, sizes = reader.images(truth)
        classes = reader.classes(truth)
        annotations = reader.entries(reader.content.get("annotations"), "annotations")
    if not images and not reader.problems:
        reader.problems.append(f"{path}:1: expected at least one image, found none")
    objects: dict[str, list[BoxedObject]] = {name: [] for name in images.values()}
    seen: dict[int, int] = {}
    for entry in annotations:
        reader.unrepeated(entry, seen)
        image, name = reader.known(entry, "image_id", images), reader.known(entry, "category_id", classes)
        box, score = reader.box(entry, sizes.get(image or "")), reader.score(entry)
        if image is not None and name is not None and box is not None and score is not None:
            objects[image].append(BoxedObject(name, box, score))
    if reader.problems:
        raise ProblemsError(reader.problems)
    return BoxFile(objects, sizes, classes, images)


def write_boxes(
    path: str | os.PathLike[str],
    objects: Mapping[str, Iterable[BoxedObject]],
    sizes: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Write objects as a COCO file that `read_boxes` reads, pictures and classes numbered from 1.

    Parameters
    ----------
    path : path-like
    objects : mapping of str to iterable of BoxedObject
        By picture.
    sizes : mapping of str to (width, height), optional
        Of the pictures, in pixels.
    """
    listed = {picture: list(found) for picture, found in objects.items()}
    names = sorted({thing.name for found in listed.values() for thing in found})
    sizes = sizes or {}
    images = [
        {"id": number, "file_name": picture}
        | ({"width": sizes[picture][0], "height": sizes[picture][1]} if picture in sizes else {})
        for number, picture in enumerate(listed, start=1)
    ]
    pairs = [(number, thing) for number, found in enumerate(listed.values(), start=1) for thing in found]
    annotations = [
        {"id": place, "image_id": number, "category_id": names.index(name) + 1, "bbox": list(box), "score": confidence}
        for place, (number, (name, box, confidence)) in enumerate(pairs, start=1)
    ]
    categories = [{"id": number, "name": name} for number, name in enumerate(names, start=1)]
    with open_output(path) as stream:
        json.dump({"images": images, "categories": categories, "annotations": annotations}, stream, indent=1)
        stream.write("\n")


_LINE = "\0line"


class _LineDecoder(json.JSONDecoder):
    """Notes in every object the line on which it begins."""

    def __init__(self, text: str) -> None:
        super().__init__()
        breaks = [place for place, letter in enumerate(text) if letter == "\n"]

        def parse(text_and_end: tuple[str, int], *rest: object) -> tuple[object, int]:
            # Public in the json package's source, and missing from its type stubs, as is py_make_scanner below.
            found, end = json.decoder.JSONObject(text_and_end, *rest)  # type: ignore[attr-defined]
            found[_LINE] = bisect_left(breaks, text_and_end[1]) + 1
            return found, end

        # Only the scanner written in Python calls parse_object.
        self.parse_object = parse
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def _load(path: str | os.PathLike[str]) -> dict | list:
    content = read_json(path, lambda text: _LineDecoder(text).decode(text))
    if not isinstance(content, dict | list):
        raise LeafidError(f"{path}:1: expected a COCO object or list, found {type(content).__name__}")
    return content


class _Reader:
    """Takes the entries of a file apart, collecting what is wrong with them."""

    def __init__(self, path: Path, content: dict | list) -> None:
        self.path, self.content, self.problems = path, content, list[str]()

    def complain(self, entry: dict, problem: str) -> None:
        self.problems.append(f"{self.path}:{entry.get(_LINE, 1)}: {problem}")

    def entries(self, found: object, what: str) -> list[dict]:
        if not isinstance(found, list):
            self.problems.append(f"{self.path}:1: expected a list of {what}, found {type(found).__name__}")
            return []
        strange = [entry for entry in found if not isinstance(entry, dict)]
        if strange:
            self.problems.append(f"{self.path}:1: expected objects in {what}, found {strange[0]!r}")
        return [entry for entry in found if isinstance(entry, dict)]

    def images(self, truth: BoxFile | None) -> tuple[dict[int, str], dict[str, tuple[float, float]]]:
        images, sizes = self._named("images", "file_name"), dict[str, tuple[float, float]]()
        for number, (name, entry) in images.items():
            if truth is not None and truth.ids.get(number) != name:
                self.complain(entry, f"expected an image of the ground truth, found {name!r} as number {number}")
            width, height = entry.get("width"), entry.get("height")
            if width is None and height is None:
                continue
            if _is_side(width) and _is_side(height):
                sizes[name] = (float(width), float(height))
            else:
                self.complain(entry, f"expected a width and a height above 0, found {width!r} and {height!r}")
        first: dict[str, int] = {}
        for name, entry in images.values():
            # Not told apart by their lines: a file may be all in one.
            if name in first:
                self.complain(entry, f"expected every file_name once, found {name!r}, as in line {first[name]}")
            first.setdefault(name, entry[_LINE])
        if truth is not None:
            return truth.ids, {**sizes, **truth.sizes}
        return {number: name for number, (name, _) in images.items()}, sizes

    def classes(self, truth: BoxFile | None) -> dict[int, str]:
        classes = self._named("categories", "name")
        for number, (name, entry) in classes.items():
            if truth is not None and truth.classes.get(number, name) != name:
                known = truth.classes[number]
                self.complain(
                    entry, f"expected class {known!r} as number {number}, as in the ground truth, found {name!r}"
                )
        return {number: name for number, (name, _) in classes.items()}

    def _named(self, what: str, key: str) -> dict[int, tuple[str, dict]]:
        assert isinstance(self.content, dict)
        named: dict[int, tuple[str, dict]] = {}
        for entry in self.entries(self.content.get(what), what):
            number, name = entry.get("id"), entry.get(key)
            if not _is_whole(number) or not isinstance(name, str) or not name:
                self.complain(
                    entry, f"expected a whole number as id and a text as {key}, found {number!r} and {name!r}"
                )
            elif number in named:
                line = named[number][1].get(_LINE)
                self.complain(entry, f"expected every id of {what} once, found {number}, as in line {line}")
            else:
                named[number] = (name, entry)
        return named

    def unrepeated(self, entry: dict, seen: dict[int, int]) -> None:
        number = entry.get("id")
        if number is None:
            return
        if not _is_whole(number):
            self.complain(entry, f"expected a whole number as id, found {number!r}")
        elif number in seen:
            self.complain(entry, f"expected every id of annotations once, found {number}, as in line {seen[number]}")
        else:
            seen[number] = entry[_LINE]

    def known(self, entry: dict, key: str, names: Mapping[int, str]) -> str | None:
        number = entry.get(key)
        if _is_whole(number) and number in names:
            return names[number]
        self.complain(entry, f"expected a known {key}, found {number!r}")
        return None

    def box(self, entry: dict, size: tuple[float, float] | None) -> Box | None:
        found = entry.get("bbox")
        if not isinstance(found, list) or len(found) != 4 or not all(map(_is_number, found)):
            self.complain(entry, f"expected bbox as [left, top, width, height], found {found!r}")
            return None
        box = Box(*found)
        if problem := box.find_problem(size):
            self.complain(entry, problem)
        return box

    def score(self, entry: dict) -> float | None:
        found = entry.get("score", 1.0)
        # Written so that NaN fails it.
        if _is_number(found) and 0 <= found <= 1:
            return float(found)
        self.complain(entry, f"expected a score from 0 to 1, found {found!r}")
        return None


def _is_side(value: object) -> TypeGuard[float]:
    # Python reads NaN and Infinity in JSON.
    return _is_number(value) and 0 < value < math.inf


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> TypeGuard[float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:  # A whole number beyond what a float can be.
        return False
    return True
