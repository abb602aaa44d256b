"""Label masks: pictures with 0 for the background, and a number for each object.

The classes of the objects are in ``objects.csv`` of the same folder, in UTF-8:
``mask,label,class,confidence``, the confidence (0 to 1) being optional. Without that
file all objects have one class.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import find_objects

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.grouping import count_noun
from leafid.pictures.header import read_header, read_picture_bytes
from leafid.tasks.interpretation.regions import BoxedObject, ObjectPair, Region
from leafid.textfiles import (
    LineProblems,
    parse_finite_number,
    parse_whole_number,
    read_table,
)

OBJECTS_FILE = "objects.csv"

logger = logging.getLogger(__name__)

#: The class of each object, and the confidence of the class (0 to 1), by the file name
#: of its mask and its label.
ObjectNames = dict[tuple[str, int], tuple[str, float]]


def read_label_mask(path: StrPath) -> np.ndarray:
    """Read a label mask, int32 (H, W), from a PNG of one channel.

    It has 1, 8 or 16 bits, or a palette, of which the indices count. Another file
    raises a `LeafidError`.
    """
    data = read_picture_bytes(path)
    expected = f"{path}: expected a label mask (PNG of one channel), found"
    try:
        read_header(data)  # Refuses a picture that is too large.
        with Image.open(path, formats=["PNG"]) as picture:
            mode = picture.mode
            mask = np.asarray(picture)
    except Exception as error:  # Pillow raises errors of any class for damaged files.
        raise LeafidError(f"{expected}: {error}") from None
    if mask.ndim != 2:
        raise LeafidError(f"{expected} one of mode {mode}")
    return mask.astype(np.int32)


def read_mask_pairs(truth: StrPath, result: StrPath) -> Iterator[ObjectPair]:
    """Read the label masks of a ground truth and a result in pairs, sorted by name.

    They are two PNG files, or two folders whose PNG files have the same names; a mask
    that the result lacks is empty. A `LeafidError` is raised when the result has a mask
    that the truth lacks, two masks differ in size, a file is no mask, or a label has no
    class although there is an `OBJECTS_FILE`.
    """
    true_files = list_masks(truth)
    files = list_masks(result)
    if Path(truth).is_file() and Path(result).is_file():
        files = dict(zip(true_files, files.values(), strict=True))
    for name in files.keys() - true_files.keys():
        raise LeafidError(
            f"{files[name]}: expected a mask of the ground truth, found no {name} in "
            f"{truth}"
        )
    if missing := sorted(true_files.keys() - files.keys()):
        logger.warning(
            "%s: lacks %s (%s first), whose objects are missed",
            result,
            count_noun(len(missing), "mask"),
            missing[0],
        )
    true_names = _read_objects_beside(true_files)
    names = _read_objects_beside(files)
    if bool(true_names) != bool(names):
        raise LeafidError(
            f"{result}: expected {OBJECTS_FILE} beside both or neither of truth and "
            "result, found one"
        )
    for picture, true_file in true_files.items():
        mask = read_label_mask(true_file)
        result_mask = np.zeros_like(mask)
        if picture in files:
            result_mask = read_label_mask(files[picture])
        if result_mask.shape != mask.shape:
            raise LeafidError(
                f"{files[picture]}: expected a mask of {mask.shape[1]}x{mask.shape[0]} "
                f"pixels, found {result_mask.shape[1]}x{result_mask.shape[0]}"
            )
        objects = make_objects(result_mask, files.get(picture, true_file), names)
        yield ObjectPair(picture, make_objects(mask, true_file, true_names), objects)


def list_masks(path: StrPath) -> dict[str, Path]:
    """List the label masks of a folder, or a single one, by file name."""
    source = Path(path)
    files = [source] if source.is_file() else sorted(source.glob("*.png"))
    if not files:
        raise LeafidError(
            f"{path}: expected a label mask or a folder of them (*.png), found none"
        )
    return {file.name: file for file in files}


def make_objects(mask: np.ndarray, file: Path, names: ObjectNames) -> list[BoxedObject]:
    """Make an object of each label above 0 of an int (H, W) mask, in rising order.

    If `names` is empty, all objects have one class; otherwise a label of the file
    without a name raises a `LeafidError`.
    """
    objects = []
    for label, slices in enumerate(find_objects(mask), start=1):
        if slices is None:
            continue
        if names and (file.name, label) not in names:
            place = file.parent / OBJECTS_FILE
            raise LeafidError(
                f"{place}: expected a class of label {label} of {file.name}, found none"
            )
        name, confidence = names.get((file.name, label), ("", 1.0))
        region = Region(mask[slices] == label, slices[0].start, slices[1].start)
        objects.append(BoxedObject(name, region.box, confidence, region))
    return objects


def read_objects(path: StrPath) -> ObjectNames:
    """Read an `OBJECTS_FILE`.

    A `ProblemsError` names the lines with a bad value, and repeated objects.
    """
    objects: ObjectNames = {}
    rows = read_table(path)
    _, columns = next(rows, (1, []))
    if not {"mask", "label", "class"} <= set(columns):
        raise LeafidError(
            f"{path}:1: expected the columns mask, label and class, found {columns}"
        )
    with LineProblems(path) as problems:
        for line, cells in rows:
            row = dict(zip(columns, cells, strict=False))
            mask = row.get("mask")
            name = row.get("class")
            label = parse_whole_number(row.get("label", ""))
            confidence = parse_finite_number(row.get("confidence") or "1")
            if (
                not mask
                or not name
                or not label
                or confidence is None
                or not 0 <= confidence <= 1
            ):
                problems.add(
                    line,
                    "expected a mask, a label from 1 up, a class, and a confidence "
                    f"from 0 to 1, found {cells}",
                )
            elif problems.check_unique(line, "every object", (mask, label)):
                objects[mask, label] = name, confidence
    return objects


def _read_objects_beside(files: dict[str, Path]) -> ObjectNames:
    file = next(iter(files.values())).parent / OBJECTS_FILE
    return read_objects(file) if file.exists() else {}
