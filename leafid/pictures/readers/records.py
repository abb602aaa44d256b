"""Adds what records say to pictures: labels, plants, types, parts.

Records come from tables, COCO files and lists (`leafid.pictures.readers.tables`), or from patterns of paths.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.files import is_file_name
from leafid.grouping import group_by
from leafid.pictures import names
from leafid.pictures.picture import AcquisitionType, Picture, Place
from leafid.pictures.readers import folders
from leafid.pictures.readers.tables import FIELDS, Record, Records, Row
from leafid.textfiles import LineProblems


class RecordIndex:
    """Finds pictures by what records call them: a path below the root or the record's file, or a name that is unique.

    The ending of the picture may be missing.
    """

    def __init__(self, root: Path, pictures: Sequence[Picture]) -> None:
        self.root = root
        self._indices: defaultdict[str, set[int]] = defaultdict(set)
        for index, picture in enumerate(pictures):
            path = get_relative_path(picture.file, root)
            for key in {path, path.with_suffix(""), PurePosixPath(path.name), PurePosixPath(path.stem)}:
                self._indices[str(key)].add(index)

    def find(self, word: str, source: Path) -> int | None:
        """Find the index of a picture; None if there is none, or several."""
        if not is_file_name(word):
            return None
        path = PurePosixPath(word.replace("\\", "/").removeprefix("./"))
        try:
            below = get_relative_path(source.parent / path, self.root)
        except (OSError, RuntimeError, ValueError):  # A loop of links, U+0000 or a lone surrogate names no file.
            return None
        for key in dict.fromkeys((str(below), str(path), path.name)):
            if len(found := self._indices.get(key, ())) == 1:
                return next(iter(found))
        return None


def get_relative_path(file: Path, root: Path) -> PurePosixPath:
    """Return the path of a file below a folder; of a file elsewhere its absolute path."""
    for path, base in ((file, root), (file.absolute(), root.absolute()), (_resolve(file), _resolve(root))):
        if path.is_relative_to(base):
            return PurePosixPath(path.relative_to(base).as_posix())
    return PurePosixPath(file.absolute().as_posix())


def _resolve(path: Path) -> Path:
    # Path.resolve raises an error for a link to itself.
    return Path(os.path.realpath(path))


def apply_records(
    root: Path, pictures: Sequence[Picture], records: Records, *, keeps_unlisted: bool = False
) -> tuple[list[Picture], list[str]]:
    """Add what records say to pictures; return the pictures, and lines about rows and pictures without the other.

    Labels of rows replace others. Where the records have labels, pictures that they lack are left out; with
    `keeps_unlisted`, only those in folders without any listed picture are. A `ProblemsError` is raised with all
    values that are wrong.
    """
    index = RecordIndex(root, pictures)
    changed = dict(enumerate(pictures))
    listed: set[int] = set()
    lost: list[Row] = []
    with LineProblems(records.source) as problems:
        for row in records.rows:
            position = index.find(row.file, records.source)
            record = row.record
            if position is None and " " in row.file and not records.has_labels:
                # A list may have labels behind the pictures; that of a folder is preferred.
                name, _, label = row.file.rpartition(" ")
                position = index.find(name.strip().rstrip(","), records.source)
                if position is not None and changed[position].taxon is None:
                    record = {**record, "label": label}
            if position is None:
                lost.append(row)
                continue
            listed.add(position)
            try:
                changed[position] = apply_record(changed[position], record)
            except LeafidError as error:
                problems.add(row.line, f"{row.file}: {error}")
    if not listed and records.source.stem in {"train", "val", "test"}:
        # Some other text of this name.
        return list(pictures), []
    remarks = []
    if lost:
        place = f", line {lost[0].line}" if lost[0].line else ""
        remarks.append(
            f"{records.source}: expected a picture below {root} for every row, found none for {len(lost)} of "
            f"{len(records.rows)} ({lost[0].file!r}{place}, first); they are ignored"
        )
    if not records.has_labels:
        return list(changed.values()), remarks
    kept_folders = {pictures[position].file.parent for position in listed} if keeps_unlisted else set()
    kept = [p for position, p in changed.items() if position in listed or p.file.parent in kept_folders]
    if len(kept) < len(changed):
        remarks.append(f"{records.source}: {len(changed) - len(kept)} other pictures are not in it and are left out")
    return kept, remarks


def apply_record(picture: Picture, record: Record) -> Picture:
    """Add the fields of a record to a picture.

    A `LeafidError` is raised if a value is wrong.
    """
    changes: dict[str, Any] = {}
    for field, word in record.items():
        attribute, parse = _ATTRIBUTES[field]
        try:
            changes[attribute] = parse(word)
        except LeafidError as error:
            raise LeafidError(f"{field}: {error}") from None
    coordinates = {name: changes.pop(name) for name in ("latitude", "longitude") if name in changes}
    if coordinates:
        changes["place"] = replace(picture.place or Place(), **coordinates)
    return replace(picture, **changes)


def _parse_part(word: str) -> str:
    part = folders.parse_part_name(word)
    if part is None:
        raise LeafidError(f"expected train, val or test, found {word!r}")
    return part


# The attribute of a picture, or of its place, that each of `FIELDS` tells, and the function that parses it.
_ATTRIBUTES: dict[str, tuple[str, Callable[[str], object]]] = {
    "label": ("taxon", names.parse_label),
    "plant": ("plant", str),
    "type": ("type", AcquisitionType.parse),
    "author": ("author", str),
    "date": ("date", names.parse_date),
    "latitude": ("latitude", partial(names.parse_bounded_number, limit=90)),
    "longitude": ("longitude", partial(names.parse_bounded_number, limit=180)),
    "split": ("part", _parse_part),
}


def compile_pattern(option: str, pattern: str, default_field: str) -> re.Pattern[str]:
    """Compile a pattern with groups named after `FIELDS`; without a group, the match is the value of the default field.

    A `UsageError` is raised if it is no regular expression, or has another group.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{option}: expected a regular expression, found {pattern!r}: {error}") from None
    known = FIELDS.keys() - {"file"}
    if unknown := compiled.groupindex.keys() - known:
        raise UsageError(f"{option}: expected groups called {', '.join(known)}, found {', '.join(sorted(unknown))}")
    if compiled.groups > 1 and not compiled.groupindex:
        raise UsageError(f"{option}: expected a group (?P<{default_field}>…), found {compiled.groups} without a name")
    return compiled


def apply_pattern(
    root: Path, pictures: Iterable[Picture], pattern: re.Pattern[str], default_field: str
) -> tuple[list[Picture], list[str]]:
    """Add what a pattern finds in the paths of pictures below the root; also return a line about those without a match.

    A `ProblemsError` is raised with all values that are wrong.
    """
    changed, unmatched, problems = [], [], []
    for picture in pictures:
        match = pattern.search(str(get_relative_path(picture.file, root)))
        if match is None:
            unmatched.append(picture)
            changed.append(picture)
            continue
        record = match.groupdict() or {default_field: match[pattern.groups]}
        try:
            changed.append(apply_record(picture, {field: word for field, word in record.items() if word}))
        except LeafidError as error:
            problems.append(f"{picture.file}: {error}")
    if problems:
        raise ProblemsError(problems)
    if not unmatched:
        return changed, []
    return changed, [
        f"{root}: expected the pattern {pattern.pattern!r} in every path, found it in "
        f"{len(changed) - len(unmatched)} of {len(changed)}; {unmatched[0].file} has no {default_field}"
    ]


def name_clashing_pictures(root: Path, pictures: Sequence[Picture]) -> list[Picture]:
    """Name pictures by their paths below their part in each part in which file names are repeated."""
    by_part = group_by(pictures, lambda picture: picture.part)
    clashing = {part for part, own in by_part.items() if len({picture.file.name for picture in own}) < len(own)}
    return [_name_by_path(root, picture) if picture.part in clashing else picture for picture in pictures]


def _name_by_path(root: Path, picture: Picture) -> Picture:
    path = get_relative_path(picture.file, root)
    if len(path.parts) > 2 and folders.parse_part_name(path.parts[0]) == picture.part:
        path = path.relative_to(path.parts[0])
    return replace(picture, run_name=re.sub(r"\s", "_", str(path)))
