r"""Pictures whose pixels say which object they belong to: 0 is the ground, every other value is one object.

What the objects are stands beside them, in ``objects.csv`` of the same folder: ``mask,label,class,confidence``,
the confidence (0 to 1) being optional; without that file, the objects are of one class.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from leafid.errors import LeafidError, ProblemsError
from leafid.images import read_image_size
from leafid.textfiles import parse_finite_number, read_table

OBJECTS_FILE = "objects.csv"
# More than any pixel value has; converting a number of very many takes long.
_MOST_DIGITS = 9
UNNAMED = ""
"""The class of objects that nothing is said of."""


class ObjectName(NamedTuple):
    """What an object is, and how sure the system is of it (0 to 1)."""

    name: str = UNNAMED
    confidence: float = 1.0


def read_label_mask(path: str | os.PathLike[str], size: tuple[int, ...] | None = None) -> np.ndarray:
    """Read a label mask.

    Parameters
    ----------
    path : path-like
        PNG of one channel, of 1, 8 or 16 bits, or with a palette (whose indices count, not its colours).
    size : (rows, cols), optional
        What the mask has to measure.

    Returns
    -------
    int32 array (H, W)

    Raises
    ------
    LeafidError
        When it is no such picture, or has another size.
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
    except (OSError, SyntaxError, ValueError) as error:
        raise LeafidError(f"{path}: expected a label mask (PNG of one channel), found: {error}") from None


def mask_files(path: str | os.PathLike[str]) -> dict[str, Path]:
    """List the label masks of a folder by name, or the one file that the path names under its name."""
    source = Path(path)
    if not source.exists():
        raise LeafidError(f"{path}: expected a label mask or a folder of them, found nothing")
    files = [source] if source.is_file() else sorted(source.glob("*.png"))
    if not files:
        raise LeafidError(f"{path}: expected label masks (*.png) in the folder, found none")
    return {file.name: file for file in files}


class MaskPair(NamedTuple):
    """A picture's true label mask and the one found for it, int32 (H, W), and what their objects are, where told."""

    picture: str
    truth: np.ndarray
    result: np.ndarray
    true_objects: dict[int, ObjectName] | None
    objects: dict[int, ObjectName] | None


def read_mask_pairs(truth: str | os.PathLike[str], result: str | os.PathLike[str]) -> Iterator[MaskPair]:
    """Read the label masks of a ground truth and of a result side by side.

    Parameters
    ----------
    truth, result : path-like
        Two PNG files, or two folders whose PNG files have the same names.

    Yields
    ------
    MaskPair
        By name; a mask that the result lacks is empty.

    Raises
    ------
    LeafidError
        When the result has a mask that the truth lacks, a mask has another size or is none, or a label has no class
        where others have one.
    """
    true_files, files = mask_files(truth), mask_files(result)
    if Path(truth).is_file() and Path(result).is_file():
        files = dict(zip(true_files, files.values(), strict=True))
    if unknown := sorted(set(files) - set(true_files)):
        raise LeafidError(f"{files[unknown[0]]}: expected a mask of the ground truth, found no {unknown[0]} in {truth}")
    true_names, names = _objects_beside(true_files), _objects_beside(files)
    if (true_names is None) != (names is None):
        bare = (truth, result)[names is None]
        raise LeafidError(f"{bare}: expected {OBJECTS_FILE} beside both or neither of truth and result, found none")
    for picture, true_file in true_files.items():
        mask = read_label_mask(true_file)
        found = read_label_mask(files[picture], mask.shape) if picture in files else np.zeros_like(mask)
        true_objects = _of_mask(true_names, true_file, mask)
        yield MaskPair(picture, mask, found, true_objects, _of_mask(names, files.get(picture), found))


def _objects_beside(files: dict[str, Path]) -> dict[str, dict[int, ObjectName]] | None:
    beside = next(iter(files.values())).parent / OBJECTS_FILE
    return read_objects(beside) if beside.exists() else None


def _of_mask(
    names: dict[str, dict[int, ObjectName]] | None, file: Path | None, mask: np.ndarray
) -> dict[int, ObjectName] | None:
    if names is None or file is None:
        return None
    named = names.get(file.name, {})
    for label in np.unique(mask[mask != 0]):
        if int(label) not in named:
            raise LeafidError(
                f"{file.parent / OBJECTS_FILE}: expected a class of label {label} of {file.name}, found none"
            )
    return named


def read_objects(path: str | os.PathLike[str]) -> dict[str, dict[int, ObjectName]]:
    """Read what the objects of label masks are.

    Parameters
    ----------
    path : path-like
        CSV in UTF-8 with the columns ``mask`` (file name), ``label`` (pixel value, from 1), ``class``, and maybe
        ``confidence``.

    Returns
    -------
    dict of str to dict of int to ObjectName
        By mask and label.

    Raises
    ------
    ProblemsError
        Names every line whose label, class or confidence can't be, and every object named twice.
    """
    objects: dict[str, dict[int, ObjectName]] = {}
    lines: dict[tuple[str, int], int] = {}
    problems = []
    rows = read_table(path)
    _, columns = next(rows, (1, []))
    if missing := {"mask", "label", "class"} - set(columns):
        raise LeafidError(
            f"{path}:1: expected the columns mask, label and class, found no {', '.join(sorted(missing))}"
        )
    for line, cells in rows:
        if not cells:
            continue
        # In a row that is too short, the cells that lack are empty.
        place, row = f"{path}:{line}", dict(zip_longest(columns, cells[: len(columns)], fillvalue=""))
        mask, label, name, word = row["mask"], row["label"], row["class"], row.get("confidence") or "1"
        confidence = parse_finite_number(word)
        if not mask:
            problems.append(f"{place}: expected the file name of a mask, found nothing")
        elif not (label.isascii() and label.isdigit() and len(label) <= _MOST_DIGITS) or int(label) == 0:
            problems.append(f"{place}: expected a label from 1 up, found {label!r}")
        elif not name:
            problems.append(f"{place}: expected a class, found nothing")
        elif confidence is None or not 0 <= confidence <= 1:
            problems.append(f"{place}: expected a confidence from 0 to 1, found {word!r}")
        elif (key := (mask, int(label))) in lines:
            problems.append(
                f"{place}: expected every object once, found label {label} of {key[0]} as in line {lines[key]}"
            )
        else:
            lines[key] = line
            objects.setdefault(key[0], {})[key[1]] = ObjectName(name, confidence)
    if problems:
        raise ProblemsError(problems)
    return objects
