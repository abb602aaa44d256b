"""Reads objects from files in the COCO format.

References
----------
.. [1] T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014;
   https://cocodataset.org/#format-data
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
from skimage.draw import polygon

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.schema import read_json
from leafid.segmentation.result import find_bounding_box
from leafid.tasks.interpretation.regions import Box, BoxedObject, Region
from leafid.textfiles import LineProblems

#: Maximum number of pixels of a picture whose segmentations are read.
MAX_PIXELS = 100_000_000
# Each character of a compressed count has five bits; no count of pixels needs more than
# these.
_MAX_CHARACTERS = 7
Id = int | str
_Side = Annotated[int, msgspec.Meta(gt=0)]


class CocoImage(msgspec.Struct):
    """A picture, with its size in pixels if that is known."""

    id: Id
    file_name: str
    width: _Side | None = None
    height: _Side | None = None


class Category(msgspec.Struct):
    """A class of objects."""

    id: Id
    name: str


class RunLengths(msgspec.Struct):
    """A mask of `size` (height, width) as lengths of runs.

    They go column by column, alternately outside and inside.
    """

    size: tuple[int, int]
    #: A list, or the compressed text of the COCO API.
    counts: list[Annotated[int, msgspec.Meta(ge=0)]] | str


class Annotation(msgspec.Struct):
    """An object: its box [left, top, width, height], and its pixels.

    These are polygons [x1, y1, x2, y2, …] or runs.
    """

    image_id: Id
    category_id: Id
    bbox: tuple[float, float, float, float] | None = None
    segmentation: list[list[float]] | RunLengths | None = None
    score: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    iscrowd: int = 0


class _Content(msgspec.Struct):
    """A ground truth, or a result, which may be a plain list of annotations."""

    annotations: list[Annotation]
    images: list[CocoImage] = []
    categories: list[Category] = []


@dataclass(frozen=True)
class CocoFile:
    """The content of a COCO file."""

    #: The objects of each picture by its file name, none for a picture without objects.
    objects: dict[str, list[BoxedObject]]
    images: dict[Id, CocoImage]
    #: The names of classes by category id.
    classes: dict[Id, str]


def read_coco(path: StrPath, truth: CocoFile | None = None) -> CocoFile:
    """Read a COCO ground truth, or, with its `truth`, COCO results.

    Results may be a plain list of annotations. An annotation has a ``bbox``, a
    ``segmentation``, or both. A `LeafidError` names the entries that aren't as
    expected: an unknown picture or class, an object that is there twice, a box outside
    the picture, a bad segmentation, or a crowd, which the metrics have no place for.
    """
    content: _Content | list[Annotation] = read_json(path, _Content | list[Annotation])  # type: ignore[arg-type]  # a union
    if isinstance(content, list):
        content = _Content(content)
    images = {image.id: image for image in content.images}
    classes = {category.id: category.name for category in content.categories}
    if len(images) < len(content.images) or len(classes) < len(content.categories):
        raise LeafidError(
            f"{path}: expected every id of images and of categories once, found one "
            "twice"
        )
    if truth is not None:
        _check_against(truth, images, classes, path)
        images = truth.images
        classes = truth.classes
    objects: dict[str, list[BoxedObject]] = {
        image.file_name: [] for image in images.values()
    }
    if not images or len(objects) < len(images):
        raise LeafidError(
            f"{path}: images: expected at least one, and every file_name once"
        )
    first: dict[tuple[object, ...], int] = {}
    with LineProblems(path) as problems:
        for index, entry in enumerate(content.annotations):
            place = f"annotations[{index}]"
            try:
                item = _make_object(entry, images, classes)
            except LeafidError as error:
                problems.add(None, f"{place}: {error}")
                continue
            name = images[entry.image_id].file_name
            key = (name, entry.category_id, entry.bbox, repr(entry.segmentation))
            if first.setdefault(key, index) != index:
                problems.add(
                    None,
                    f"{place}: expected every object once, found the object of "
                    f"annotations[{first[key]}]",
                )
            objects[name].append(item)
    return CocoFile(objects, images, classes)


def _check_against(
    truth: CocoFile,
    images: Mapping[Id, CocoImage],
    classes: Mapping[Id, str],
    path: StrPath,
) -> None:
    """Check that a result has the images and categories of the ground truth."""
    for id_, image in images.items():
        if id_ not in truth.images or truth.images[id_].file_name != image.file_name:
            raise LeafidError(
                f"{path}: images: expected images of the ground truth, found others"
            )
    if not classes.items() <= truth.classes.items():
        raise LeafidError(
            f"{path}: categories: expected the ground truth's, found others"
        )


def _make_object(
    entry: Annotation, images: dict[Id, CocoImage], classes: dict[Id, str]
) -> BoxedObject:
    if entry.image_id not in images:
        raise LeafidError(f"expected a known image_id, found {entry.image_id!r}")
    if entry.category_id not in classes:
        raise LeafidError(f"expected a known category_id, found {entry.category_id!r}")
    if entry.iscrowd:
        raise LeafidError(
            "expected a single object, found a crowd (iscrowd 1); remove it"
        )
    image = images[entry.image_id]
    # An empty list stands for no segmentation in many files.
    region = None
    if entry.segmentation:
        region = read_segmentation(entry.segmentation, image)
    if entry.bbox is not None:
        box = Box(*entry.bbox).check(image.width, image.height)
    elif region:
        box = region.box
    else:
        raise LeafidError("expected a bbox or a segmentation, found neither")
    return BoxedObject(classes[entry.category_id], box, entry.score, region)


def read_segmentation(
    segmentation: list[list[float]] | RunLengths, image: CocoImage
) -> Region:
    """Read the segmentation of an object in a picture of known width and height.

    It is the union of polygons, or runs of pixels. A region outside the picture or
    without a pixel, or one that can't be read, raises a `LeafidError`.
    """
    width = image.width
    height = image.height
    if not width or not height or width * height > MAX_PIXELS:
        size = f"{width}x{height}".replace("None", "?")
        raise LeafidError(
            f"expected an image of at most {MAX_PIXELS} pixels, found a width and "
            f"height of {size}"
        )
    if isinstance(segmentation, RunLengths):
        mask = _decode_runs(segmentation, width, height)
    else:
        mask = _fill_polygons(segmentation, width, height)
    row0, row1, col0, col1 = find_bounding_box(mask)
    if row0 == row1:
        raise LeafidError("expected a segmentation of some area, found an empty one")
    return Region(mask[row0:row1, col0:col1].copy(), row0, col0)


def _fill_polygons(polygons: list[list[float]], width: int, height: int) -> np.ndarray:
    if any(len(points) < 6 or len(points) % 2 for points in polygons):
        raise LeafidError(
            "expected polygons [x1, y1, x2, y2, …] of at least three points"
        )
    mask = np.zeros((height, width), bool)
    for points in polygons:
        columns, rows = np.reshape(points, (-1, 2)).T
        if min(points) < 0 or columns.max() > width or rows.max() > height:
            raise LeafidError(
                f"expected a polygon inside the picture of {width}x{height}, found one "
                "that leaves it"
            )
        # A pixel belongs to the polygon if its centre does.
        mask[polygon(rows - 0.5, columns - 0.5, mask.shape)] = True
    return mask


def _decode_runs(runs: RunLengths, width: int, height: int) -> np.ndarray:
    counts = runs.counts
    if isinstance(counts, str):
        counts = _decompress(counts)
    if runs.size != (height, width) or sum(counts) != width * height or min(counts) < 0:
        raise LeafidError(
            f"expected runs of size [{height}, {width}] that add up to "
            f"{width * height} pixels"
        )
    return np.repeat(np.arange(len(counts)) % 2 == 1, counts).reshape(width, height).T


def _decompress(text: str) -> list[int]:
    """Decode the text of the COCO API: five bits a character, as differences of runs.

    A difference is from the run before the last.
    """
    counts: list[int] = []
    value = n_characters = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64 or n_characters == _MAX_CHARACTERS:
            raise LeafidError("expected compressed runs of the COCO API as counts")
        value |= (code & 0x1F) << (5 * n_characters)
        n_characters += 1
        if not code & 0x20:
            value -= (code & 0x10) << (5 * n_characters - 4)
            if len(counts) > 2:
                value += counts[-2]
            counts.append(value)
            value = n_characters = 0
    # Counts that end in the middle of a number don't add up.
    return counts
