"""Reads objects from files in the COCO format."""

import json
import math
import os
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from leafid.errors import LeafidError
from leafid.tasks.interpretation.box import Box
from leafid.tasks.interpretation.coco_segmentation import SegmentationError, is_integer, is_number, read_segmentation
from leafid.tasks.interpretation.region import BoxedObject, Region
from leafid.textfiles import LineProblems, build_object, read_json


@dataclass(frozen=True)
class CocoFile:
    """The content of a COCO file."""

    #: By file name of the picture; empty for a picture without objects.
    objects: dict[str, list[BoxedObject]]
    #: (width, height) in pixels, of the pictures whose size the file gives.
    sizes: dict[str, tuple[float, float]] = field(default_factory=dict)
    #: Names by category id.
    classes: dict[int, str] = field(default_factory=dict)
    #: File names by image id.
    pictures: dict[int, str] = field(default_factory=dict)
    #: By picture, the annotations with ``iscrowd`` 1, which are no objects of their own.
    crowds: dict[str, list[BoxedObject]] = field(default_factory=dict)

    @property
    def has_regions(self) -> bool:
        """Whether any object has a segmentation."""
        return any(item.region for items in self.objects.values() for item in items)


def read_coco(path: str | os.PathLike[str], truth: CocoFile | None = None) -> CocoFile:
    """Read a COCO ground truth, or, with its `truth`, COCO results, which may be a plain list of annotations.

    An annotation may lack ``bbox`` if it has a ``segmentation``, and the reverse. A `ProblemsError` names every entry
    with a missing or bad field, an unknown or repeated id, a box without area or outside the picture, a bad
    segmentation, or a score outside 0 to 1.
    """
    content = read_json(path, lambda text: _LineDecoder(text).decode(text))
    with LineProblems(path) as problems:
        reader = _Reader(problems)
        if isinstance(content, dict):
            pictures, sizes = reader.read_images(content.get("images"), truth)
            classes = reader.read_categories(content.get("categories"), truth)
            annotations = content.get("annotations")
        elif isinstance(content, list) and truth is not None:
            pictures, sizes, classes, annotations = truth.pictures, truth.sizes, truth.classes, content
        elif isinstance(content, list):
            raise LeafidError(f"{path}:1: expected an object with images, categories and annotations, found a list")
        else:
            raise LeafidError(f"{path}:1: expected a COCO object or list, found {type(content).__name__}")
        if not pictures and not problems:
            problems.add(1, "expected at least one image, found none")
        objects: dict[str, list[BoxedObject]] = {name: [] for name in pictures.values()}
        crowds: dict[str, list[BoxedObject]] = {}
        for entry in reader.check_entries(annotations, "annotations"):
            reader.check_annotation_id(entry)
            picture = reader.look_up(entry, "image_id", pictures)
            name = reader.look_up(entry, "category_id", classes)
            size = sizes.get(picture or "")
            region = reader.read_region(entry, size)
            if "bbox" in entry or not entry.get("segmentation"):
                box = reader.read_box(entry, size)
            else:
                box = region.box if region else None
            score, is_crowd = reader.read_score(entry), reader.read_crowd(entry)
            if picture is None or name is None or box is None or score is None:
                continue
            shape = json.dumps([entry.get("bbox"), entry.get("segmentation")], default=str)
            shown = f"{name} of {picture} with the same place"
            problems.check_unique(entry[_LINE], "every object", (picture, name, shape), shown)
            if is_crowd and truth is None:
                crowds.setdefault(picture, []).append(BoxedObject(name, box, score, region))
            else:
                objects[picture].append(BoxedObject(name, box, score, region))
    return CocoFile(objects, sizes, classes, pictures, crowds)


_LINE = "\0line"
Entry = dict[str, Any]


class _LineDecoder(json.JSONDecoder):
    """Stores in every object the line on which it begins."""

    def __init__(self, text: str) -> None:
        super().__init__(object_pairs_hook=build_object)
        line_ends = [index for index, character in enumerate(text) if character == "\n"]

        def parse_object(text_and_end: tuple[str, int], *rest: object) -> tuple[object, int]:
            # Public in the source of json, but missing from its type stubs, as is py_make_scanner below.
            found, end = json.decoder.JSONObject(text_and_end, *rest)  # type: ignore[attr-defined]
            found[_LINE] = bisect_left(line_ends, text_and_end[1]) + 1
            return found, end

        self.parse_object = parse_object
        # The scanner written in C doesn't call parse_object.
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]


class _Reader:
    """Reads the entries of a file and collects their problems."""

    def __init__(self, problems: LineProblems) -> None:
        self.problems = problems

    def add_problem(self, entry: Entry, problem: str) -> None:
        self.problems.add(entry.get(_LINE, 1), problem)

    def check_entries(self, found: object, kind: str) -> list[Entry]:
        if not isinstance(found, list):
            self.problems.add(1, f"expected a list of {kind}, found {type(found).__name__}")
            return []
        if strange := [entry for entry in found if not isinstance(entry, dict)]:
            self.problems.add(1, f"expected objects in {kind}, found {strange[0]!r}")
        return [entry for entry in found if isinstance(entry, dict)]

    def read_images(
        self, found: object, truth: CocoFile | None
    ) -> tuple[dict[int, str], dict[str, tuple[float, float]]]:
        sizes: dict[str, tuple[float, float]] = {}
        images = self._read_names(found, "images", "file_name")
        for number, (name, entry) in images.items():
            self.problems.check_unique(entry[_LINE], "every file_name", name)
            if not name.isprintable():
                self.add_problem(entry, f"expected a file_name without invisible characters, found {name!r}")
            if truth is not None and truth.pictures.get(number) != name:
                self.add_problem(entry, f"expected an image of the ground truth, found {name!r} as number {number}")
            width, height = entry.get("width"), entry.get("height")
            if width is None and height is None:
                continue
            if _is_side(width) and _is_side(height):
                sizes[name] = (float(width), float(height))
            else:
                self.add_problem(entry, f"expected a width and a height above 0, found {width!r} and {height!r}")
        if truth is not None:
            return truth.pictures, {**sizes, **truth.sizes}
        return {number: name for number, (name, _) in images.items()}, sizes

    def read_categories(self, found: object, truth: CocoFile | None) -> dict[int, str]:
        classes = self._read_names(found, "categories", "name")
        for number, (name, entry) in classes.items():
            if truth is not None and (known := truth.classes.get(number, name)) != name:
                self.add_problem(
                    entry, f"expected class {known!r} as number {number}, as in the ground truth, found {name!r}"
                )
        return {number: name for number, (name, _) in classes.items()}

    def _read_names(self, found: object, kind: str, key: str) -> dict[int, tuple[str, Entry]]:
        names: dict[int, tuple[str, Entry]] = {}
        for entry in self.check_entries(found, kind):
            number, name = entry.get("id"), entry.get(key)
            if not is_integer(number) or not isinstance(name, str) or not name:
                self.add_problem(
                    entry, f"expected a whole number as id and a text as {key}, found {number!r} and {name!r}"
                )
            elif self.problems.check_unique(entry[_LINE], f"every id of {kind}", number):
                names[number] = (name, entry)
        return names

    def check_annotation_id(self, entry: Entry) -> None:
        number = entry.get("id")
        if is_integer(number):
            self.problems.check_unique(entry[_LINE], "every id of annotations", number)
        elif number is not None:
            self.add_problem(entry, f"expected a whole number as id, found {number!r}")

    def look_up(self, entry: Entry, key: str, names: Mapping[int, str]) -> str | None:
        number = entry.get(key)
        if is_integer(number) and number in names:
            return names[number]
        self.add_problem(entry, f"expected a known {key}, found {number!r}")
        return None

    def read_box(self, entry: Entry, size: tuple[float, float] | None) -> Box | None:
        found = entry.get("bbox")
        if not isinstance(found, list) or len(found) != 4 or not all(map(is_number, found)):
            self.add_problem(entry, f"expected bbox as [left, top, width, height], found {found!r}")
            return None
        box = Box(*found)
        if problem := box.find_problem(size):
            self.add_problem(entry, problem)
        return box

    def read_region(self, entry: Entry, size: tuple[float, float] | None) -> Region | None:
        # An empty list stands for no segmentation in many files.
        if not (segmentation := entry.get("segmentation")):
            return None
        if size is None or not all(side.is_integer() for side in size):
            self.add_problem(entry, "expected a whole width and height of the image of a segmentation, found none")
            return None
        try:
            return read_segmentation(segmentation, int(size[0]), int(size[1]))
        except SegmentationError as error:
            self.add_problem(entry, str(error))
            return None

    def read_crowd(self, entry: Entry) -> bool:
        found = entry.get("iscrowd", 0)
        if found not in (0, 1):
            self.add_problem(entry, f"expected iscrowd of 0 or 1, found {found!r}")
        return found == 1

    def read_score(self, entry: Entry) -> float | None:
        found = entry.get("score", 1.0)
        if is_number(found) and 0 <= found <= 1:  # False for NaN.
            return float(found)
        self.add_problem(entry, f"expected a score from 0 to 1, found {found!r}")
        return None


def _is_side(value: object) -> TypeGuard[float]:
    # Python parses NaN and Infinity in JSON.
    return is_number(value) and 0 < value < math.inf
