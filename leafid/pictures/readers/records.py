"""Adds what records say to pictures: labels, plants, types, parts.

Records come from tables, COCO files and lists (`leafid.pictures.readers.tables`), or from patterns of paths.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.files import is_file_name
from leafid.grouping import count_noun, group_by
from leafid.pictures import names
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.readers import folders
from leafid.pictures.readers.tables import FIELDS, Record, Row, Table
from leafid.textfiles import LineProblems


def get_relative_path(file: Path, root: Path) -> PurePosixPath:
    """Return the path of a file below a folder; of a file elsewhere its absolute path."""
    # Path.resolve raises an error for a link to itself.
    for convert in (os.fspath, os.path.abspath, os.path.realpath):
        own, base = Path(convert(file)), Path(convert(root))
        if own.is_relative_to(base):
            return PurePosixPath(own.relative_to(base).as_posix())
    return PurePosixPath(file.absolute().as_posix())


def apply_table(root: Path, pictures: Sequence[Picture], table: Table) -> tuple[list[Picture], list[str]]:
    """Add what a table says to pictures; return the pictures, and lines about rows and pictures without the other.

    A row names a picture by its path below the root or the table's folder, or by a name that is unique; the ending may
    be missing. Labels of the table replace all others, and pictures in folders without any of its pictures are left
    out. A `ProblemsError` is raised with all values that are wrong.
    """
    indices: defaultdict[str, set[int]] = defaultdict(set)
    for index, picture in enumerate(pictures):
        path = get_relative_path(picture.file, root)
        for key in {path, path.with_suffix(""), PurePosixPath(path.name), PurePosixPath(path.stem)}:
            indices[str(key)].add(index)

    def find(word: str) -> int | None:
        path = PurePosixPath(word.replace("\\", "/").removeprefix("./"))
        below = get_relative_path(table.source.parent / path, root)
        named = (indices.get(str(key), set()) for key in (below, path, path.name))
        return next((next(iter(own)) for own in named if len(own) == 1), None)

    rows: dict[int, Row] = {}
    lost: list[Row] = []
    for row in table.rows:
        found = find(row.file) if is_file_name(row.file) else None
        if found is None and table.source.suffix.lower() == ".txt":
            # In many lists, a number of the label stands behind each picture.
            found = find(row.file.rpartition(" ")[0])
        if found is None:
            lost.append(row)
        else:
            rows[found] = row
    changed: dict[int, Picture] = {}
    with LineProblems(table.source) as problems:
        for index, picture in enumerate(pictures):
            try:
                own = rows[index].record if index in rows else {}
                changed[index] = _apply_record(replace(picture, taxon=None) if table.has_labels else picture, own)
            except LeafidError as error:
                problems.add(rows[index].line, f"{rows[index].file}: {error}")
    remarks = []
    if lost:
        remarks.append(
            f"{table.source}: expected a picture below {root} for every row, found none for {len(lost)} of "
            f"{len(table.rows)} ({lost[0].file!r}, first); they are ignored"
        )
    used = {picture.file.parent for index, picture in changed.items() if index in rows or not table.has_labels}
    kept = [picture for picture in changed.values() if picture.file.parent in used]
    if left := [picture for picture in changed.values() if picture.file.parent not in used]:
        problem = f"{count_noun(len(left), 'picture')} in folders that it lacks are left out, {left[0].file} first"
        remarks.append(f"{table.source}: {problem}")
    return kept, remarks


def _apply_record(picture: Picture, record: Record) -> Picture:
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
    """Compile a pattern with groups named after `FIELDS`; without a group, the match is the value of the field.

    A `UsageError` is raised if it is no regular expression, or has other groups.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"expected a regular expression for the {field}, found {pattern!r}: {error}") from None
    if compiled.groupindex.keys() - FIELDS.keys() or compiled.groups > max(1, len(compiled.groupindex)):
        known = ", ".join(FIELDS)
        raise UsageError(f"expected a single group for the {field}, or groups called {known}, found {pattern!r}")
    return compiled


def apply_pattern(
    root: Path, pictures: Sequence[Picture], pattern: re.Pattern[str], field: str
) -> tuple[list[Picture], list[str]]:
    """Add what a pattern finds in the paths of pictures below the root; also return a line about those without a match.

    A `ProblemsError` is raised with all values that are wrong.
    """
    changed: list[Picture] = []
    unmatched: list[Picture] = []
    problems: list[str] = []
    for picture in pictures:
        match = pattern.search(str(get_relative_path(picture.file, root)))
        if match is None:
            unmatched.append(picture)
        record = (match.groupdict() or {field: match[pattern.groups]}) if match else {}
        try:
            changed.append(_apply_record(picture, {field: word for field, word in record.items() if word}))
        except LeafidError as error:
            problems.append(f"{picture.file}: {error}")
    if problems:
        raise ProblemsError(problems)
    if not unmatched:
        return changed, []
    return changed, [
        f"{root}: expected the pattern {pattern.pattern!r} in every path, found it in "
        f"{len(changed) - len(unmatched)} of {len(changed)}; {unmatched[0].file} has no {field}"
    ]


def name_clashing_pictures(root: Path, pictures: Sequence[Picture]) -> list[Picture]:
    """Name pictures by their paths below their part in each part in which file names are repeated."""
    by_part = group_by(pictures, lambda picture: picture.part)
    clashing = {part for part, own in by_part.items() if len({picture.file.name for picture in own}) < len(own)}
    return [_name_by_path(root, picture) if picture.part in clashing else picture for picture in pictures]


def _name_by_path(root: Path, picture: Picture) -> Picture:
    path = get_relative_path(picture.file, root)
    if len(path.parts) > 2 and folders.parse_part(path.parts[0]) == picture.part:
        path = path.relative_to(path.parts[0])
    return replace(picture, run_name=re.sub(r"\s", "_", str(path)))
