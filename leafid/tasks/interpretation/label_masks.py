r"""Label masks: pictures whose pixels hold 0 for the background and a number for each object.

The classes of the objects are in ``objects.csv`` of the same folder: ``mask,label,class,confidence``, the confidence (0
to 1) being optional. Without that file all objects have one class.
"""

import os
from collections.abc import Collection, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from leafid.errors import LeafidError
from leafid.pictures.decoding import read_image_size
from leafid.tasks.interpretation.contours import fill_contours
from leafid.textfiles import LineProblems, parse_finite_number, parse_whole_number, read_table

OBJECTS_FILE = "objects.csv"


class ObjectName(NamedTuple):
    """The class of an object and the confidence of the class (0 to 1)."""

    name: str = ""
    confidence: float = 1.0


#: By label, the objects of a mask.
ObjectNames = dict[int, ObjectName]


def read_label_mask(path: str | os.PathLike[str], size: tuple[int, ...] | None = None) -> np.ndarray:
    """Read a label mask, int32 (H, W), from a PNG of one channel with 1, 8 or 16 bits, or with a palette (its indices).

    Another file, or a mask that is not of `size` (rows, cols), raises a `LeafidError`.
    """
    from PIL import Image

    found = read_image_size(path)
    if size is not None and found != size:
        raise LeafidError(f"{path}: expected a mask of {size[1]}x{size[0]} pixels, found {found[1]}x{found[0]}")
    try:
        with Image.open(path, formats=["PNG"]) as picture:
            if picture.mode not in {"1", "L", "P", "I", "I;16", "I;16B"}:
                raise LeafidError(
                    f"{path}: expected a label mask (PNG of one channel), found one of mode {picture.mode}"
                )
            return np.asarray(picture).astype(np.int32)
    except LeafidError:
        raise
    except Exception as error:  # Pillow raises errors of any class for damaged files.
        raise LeafidError(f"{path}: expected a label mask (PNG of one channel), found: {error}") from None


def list_masks(path: str | os.PathLike[str]) -> dict[str, Path]:
    """List the label masks of a folder, or a single one, by file name."""
    source = Path(path)
    if not source.exists():
        raise LeafidError(f"{path}: expected a label mask or a folder of them, found nothing")
    files = [source] if source.is_file() else sorted(source.glob("*.png"))
    if not files:
        raise LeafidError(f"{path}: expected label masks (*.png) in the folder, found none")
    return {file.name: file for file in files}


class MaskPair(NamedTuple):
    """The true and the found label mask of a picture, int32 (H, W), and the objects in each, if known."""

    picture: str
    truth: np.ndarray
    result: np.ndarray
    true_objects: ObjectNames | None
    objects: ObjectNames | None


def read_mask_pairs(
    truth: str | os.PathLike[str], result: str | os.PathLike[str], *, contours: Collection[str] = ()
) -> Iterator[MaskPair]:
    """Read the label masks of a ground truth and of a result side by side, sorted by name.

    They are two PNG files, or two folders whose PNG files have the same names; a mask that the result lacks is empty.
    `contours` says which of "truth" and "result" show contours, to be filled (`fill_contours`). A `LeafidError` is
    raised when the result has a mask that the truth lacks, two masks differ in size, a file is no mask, or a label has
    no class although there is an `OBJECTS_FILE`.
    """
    true_files, files = list_masks(truth), list_masks(result)
    if Path(truth).is_file() and Path(result).is_file():
        files = dict(zip(true_files, files.values(), strict=True))
    if unknown := sorted(set(files) - set(true_files)):
        raise LeafidError(f"{files[unknown[0]]}: expected a mask of the ground truth, found no {unknown[0]} in {truth}")
    true_names, names = _read_objects_beside(true_files), _read_objects_beside(files)
    if (true_names is None) != (names is None):
        bare = (truth, result)[names is None]
        raise LeafidError(f"{bare}: expected {OBJECTS_FILE} beside both or neither of truth and result, found none")
    for picture, true_file in true_files.items():
        mask = _read_regions(true_file, None, are_contours="truth" in contours)
        found = np.zeros_like(mask)
        if picture in files:
            found = _read_regions(files[picture], mask.shape, are_contours="result" in contours)
        true_objects = _select_objects(true_names, true_file, mask)
        yield MaskPair(picture, mask, found, true_objects, _select_objects(names, files.get(picture), found))


def read_objects(path: str | os.PathLike[str]) -> dict[str, ObjectNames]:
    """Read the objects of label masks, by file name of the mask and label.

    The file is CSV in UTF-8 with the columns ``mask`` (file name), ``label`` (pixel value, from 1), ``class``, and
    optionally ``confidence``. A `ProblemsError` names every line with a bad value, and every repeated object.
    """
    objects: dict[str, ObjectNames] = {}
    rows = read_table(path)
    _, columns = next(rows, (1, []))
    if missing := {"mask", "label", "class"} - set(columns):
        raise LeafidError(
            f"{path}:1: expected the columns mask, label and class, found no {', '.join(sorted(missing))}"
        )
    with LineProblems(path) as problems:
        for line, cells in rows:
            if not cells:
                continue
            # Missing cells at the end of a row are empty.
            row = dict(zip_longest(columns, cells[: len(columns)], fillvalue=""))
            mask, name, word = row["mask"], row["class"], row.get("confidence") or "1"
            label, confidence = parse_whole_number(row["label"]), parse_finite_number(word)
            if not mask:
                problems.add(line, "expected the file name of a mask, found nothing")
            elif not label:
                problems.add(line, f"expected a label from 1 up, found {row['label']!r}")
            elif not name:
                problems.add(line, "expected a class, found nothing")
            elif confidence is None or not 0 <= confidence <= 1:
                problems.add(line, f"expected a confidence from 0 to 1, found {word!r}")
            elif problems.check_unique(line, "every object", (mask, label), f"label {label} of {mask}"):
                objects.setdefault(mask, {})[label] = ObjectName(name, confidence)
    return objects


def _read_regions(file: Path, size: tuple[int, ...] | None, *, are_contours: bool) -> np.ndarray:
    mask = read_label_mask(file, size)
    if not are_contours:
        return mask
    try:
        return fill_contours(mask)
    except LeafidError as error:
        raise LeafidError(f"{file}: {error}") from None


def _read_objects_beside(files: dict[str, Path]) -> dict[str, ObjectNames] | None:
    objects_file = next(iter(files.values())).parent / OBJECTS_FILE
    return read_objects(objects_file) if objects_file.exists() else None


def _select_objects(names: dict[str, ObjectNames] | None, file: Path | None, mask: np.ndarray) -> ObjectNames | None:
    if names is None or file is None:
        return None
    objects = names.get(file.name, {})
    for label in np.unique(mask[mask != 0]):
        if int(label) not in objects:
            raise LeafidError(
                f"{file.parent / OBJECTS_FILE}: expected a class of label {label} of {file.name}, found none"
            )
    return objects
