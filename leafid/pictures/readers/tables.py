"""Adds to pictures what tables, lists of parts and patterns of paths say: labels, plants, types, parts."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from leafid.errors import LeafidError, UsageError
from leafid.files import is_file_name
from leafid.grouping import count_noun
from leafid.pictures import names
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.readers import folders
from leafid.textfiles import LineProblems, read_table, read_text

#: Columns of a table, each with other words for it.
FIELDS: dict[str, tuple[str, ...]] = {
    "file": ("filename", "file_name", "image", "image_path", "picture", "path"),
    "label": ("species", "class", "class_name", "category", "taxon", "scientific_name"),
    "plant": ("individual", "plant_id", "tree", "individualplantid"),
    "type": ("acquisition_type",),
    "author": ("photographer", "user"),
    "date": ("day",),
    "latitude": ("lat",),
    "longitude": ("lon", "lng", "long"),
    "split": ("part", "subset", "fold_name"),
}
_FIELD_OF = {word: field for field, words in FIELDS.items() for word in (field, *words)}
_TABLE_NAMES = {"metadata.csv", "labels.csv", "annotations.csv"}


class Row(NamedTuple):
    """What a line of a table, or of a list, says about the picture that it names."""

    file: str
    record: dict[str, str]
    line: int


def find_tables(folder: Path) -> list[Path]:
    """Find the files that describe a folder's pictures: a table with labels by its name, and lists of its parts."""
    named = [file for file in folders.list_files(folder, {".csv"}) if file.name.lower() in _TABLE_NAMES]
    tables = [file for file in named if {"file", "label"} <= set(_read_heading(file))]
    return tables[:1] + [file for file in folders.list_files(folder, {".txt"}) if folders.parse_part(file.stem)]


def _read_heading(file: Path) -> list[str | None]:
    """Read the field of each column; of two columns for one field, the first counts."""
    heading: list[str] = next((cells for _, cells in read_table(file) if cells), [])
    fields = [_FIELD_OF.get(cell.strip().lower().replace(" ", "_")) for cell in heading]
    return [None if field in fields[:column] else field for column, field in enumerate(fields)]


def read_rows(file: Path) -> list[Row]:
    """Read a CSV table, or a list of the pictures of a part (``train.txt``); another file raises a `LeafidError`."""
    if part := folders.parse_part(file.stem) if file.suffix.lower() == ".txt" else None:
        lines = enumerate(read_text(file).splitlines(), 1)
        return [Row(line.strip(), {"split": part}, number) for number, line in lines if line.strip()]
    fields = _read_heading(file)
    if "file" not in fields:
        raise LeafidError(f"{file}:1: expected a heading with the column 'file' ({', '.join(FIELDS['file'])})")
    found: list[Row] = []
    with LineProblems(file) as problems:
        for line, cells in [row for row in read_table(file) if row[1]][1:]:
            record = {field: cell.strip() for field, cell in zip(fields, cells, strict=False) if field and cell.strip()}
            if len(cells) > len(fields):
                problems.add(line, f"expected {len(fields)} cells, found {len(cells)}")
            elif "file" not in record:
                problems.add(line, "expected the name of a picture, found an empty cell")
            elif problems.check_unique(line, "every picture", record["file"]):
                found.append(Row(record.pop("file"), record, line))
    return found


def apply_table(root: Path, pictures: Sequence[Picture], source: Path) -> tuple[list[Picture], list[str]]:
    """Add what a table says to pictures; return the pictures, and lines about rows and pictures without the other.

    A row names a picture by its path below the root or the table's folder, or by a name that is unique; the ending may
    be missing. Labels of the table replace all others, and pictures in folders without any of its pictures are left
    out. A `ProblemsError` is raised with all values that are wrong.
    """
    indices: dict[str, int | None] = {}
    for position, picture in enumerate(pictures):
        path = get_relative_path(picture.file, root)
        for key in {str(path), str(path.with_suffix("")), path.name, path.stem}:
            indices[key] = None if key in indices else position

    def find(word: str) -> int | None:
        path = PurePosixPath(word.replace("\\", "/").removeprefix("./"))
        keys = str(get_relative_path(source.parent / path, root)), str(path), path.name
        return next((index for key in keys if (index := indices.get(key)) is not None), None)

    rows = read_rows(source)
    has_labels = any("label" in row.record for row in rows)
    changed = [replace(picture, taxon=None) if has_labels else picture for picture in pictures]
    used = set() if has_labels else {picture.file.parent for picture in pictures}
    lost: list[str] = []
    with LineProblems(source) as problems:
        for row in rows:
            index = find(row.file) if is_file_name(row.file) else None
            if index is None and source.suffix.lower() == ".txt":
                # In many lists, a number of the label stands behind each picture.
                index = find(row.file.rpartition(" ")[0])
            if index is None:
                lost.append(row.file)
                continue
            used.add(pictures[index].file.parent)
            try:
                changed[index] = _apply_record(changed[index], row.record)
            except LeafidError as error:
                problems.add(row.line, f"{row.file}: {error}")
    remarks = []
    if lost:
        found = f"found none for {len(lost)} of {len(rows)} ({lost[0]!r}, first); they are ignored"
        remarks.append(f"{source}: expected a picture below {root} for every row, {found}")
    if left := [picture for picture in pictures if picture.file.parent not in used]:
        found = f"{count_noun(len(left), 'picture')} in folders that it lacks are left out, {left[0].file} first"
        remarks.append(f"{source}: {found}")
    return [picture for picture in changed if picture.file.parent in used], remarks


def get_relative_path(file: Path, root: Path) -> PurePosixPath:
    """Return the path of a file below a folder; of a file elsewhere its absolute path."""
    # Path.resolve raises an error for a link to itself.
    for convert in (os.fspath, os.path.abspath, os.path.realpath):
        own, base = Path(convert(file)), Path(convert(root))
        if own.is_relative_to(base):
            return PurePosixPath(own.relative_to(base).as_posix())
    return PurePosixPath(file.absolute().as_posix())


def _apply_record(picture: Picture, record: dict[str, str]) -> Picture:
    """Add the fields of a record to a picture; a `LeafidError` is raised if a value is wrong."""
    changes: dict[str, Any] = {}
    for field, word in record.items():
        try:
            if field in _ATTRIBUTES:
                attribute, parse = _ATTRIBUTES[field]
                changes[attribute] = parse(word)
            elif field == "longitude" and "latitude" in record:
                changes["coordinates"] = names.parse_coordinates(record["latitude"], word)
        except LeafidError as error:
            raise LeafidError(f"{field}: {error}") from None
    return replace(picture, **changes)


def _parse_split(word: str) -> str:
    if part := folders.parse_part(word):
        return part
    raise LeafidError(f"expected train, val or test, found {word!r}")


# The attribute of a picture that a field tells, and the function that parses it.
_ATTRIBUTES: dict[str, tuple[str, Callable[[str], object]]] = {
    "label": ("taxon", names.parse_label),
    "plant": ("plant", str),
    "type": ("type", AcquisitionType.parse),
    "author": ("author", str),
    "date": ("date", names.parse_date),
    "split": ("part", _parse_split),
}


def compile_pattern(field: str, pattern: str) -> re.Pattern[str]:
    """Compile a pattern; a `UsageError` is raised if it is no regular expression, or has more than one group."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"expected a regular expression for the {field}, found {pattern!r}: {error}") from None
    if compiled.groups > 1:
        raise UsageError(f"expected at most one group for the {field}, found {pattern!r}")
    return compiled


def apply_pattern(
    root: Path, pictures: Sequence[Picture], pattern: re.Pattern[str], field: str
) -> tuple[list[Picture], list[str]]:
    """Add what a pattern, or its group, finds in the paths of pictures below the root, as one of `FIELDS`.

    Also returns a line about those without a match. A `LeafidError` is raised with the first value that is wrong.
    """
    changed: list[Picture] = []
    unmatched: list[Path] = []
    for picture in pictures:
        match = pattern.search(str(get_relative_path(picture.file, root)))
        if match is None:
            unmatched.append(picture.file)
        try:
            word = match[pattern.groups] if match else None
            changed.append(_apply_record(picture, {field: word} if word else {}))
        except LeafidError as error:
            raise LeafidError(f"{picture.file}: {error}") from None
    if not unmatched:
        return changed, []
    found = f"found it in {len(pictures) - len(unmatched)} of {len(pictures)}; {unmatched[0]} has no {field}"
    return changed, [f"{root}: expected the pattern {pattern.pattern!r} in every path, {found}"]
