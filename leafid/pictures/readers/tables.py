"""Reads pictures from a table, and adds to pictures what tables, lists of parts and patterns of their paths say."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from leafid.errors import LeafidError, UsageError
from leafid.files import is_file_name
from leafid.grouping import count_noun
from leafid.pictures import names
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.name_index import NameIndex
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.readers import folders
from leafid.textfiles import LineProblems, read_table, read_text

LAYOUT = "table"

#: Columns of a table, each with other words for it, among them those of Darwin Core, without blanks, signs, capitals.
FIELDS: dict[str, tuple[str, ...]] = {
    "file": (
        "filename",
        "image",
        "imagepath",
        "picture",
        "path",
        "filepath",
        "imagename",
    ),
    "label": (
        "species",
        "class",
        "classname",
        "category",
        "taxon",
        "scientificname",
        "speciesname",
    ),
    "plant": (
        "individual",
        "plantid",
        "individualplantid",
        "individualid",
        "tree",
        "treeid",
        "observationid",
    ),
    "type": ("acquisitiontype",),
    "author": ("photographer", "user", "recordedby", "observer"),
    "date": ("day", "eventdate"),
    "latitude": ("lat", "decimallatitude"),
    "longitude": ("lon", "lng", "long", "decimallongitude"),
    "split": ("part", "subset", "foldname"),
    # Which folds a picture is in is read by leafid.pictures.fold_files.
    "fold": (),
    "repeat": (),
}
_PLANT_WORDS = (
    r".*(plant|tree|individual|specimen|organism|observation|occurrence)s?[\W_]*"
)
_LIKE_PLANTS = re.compile(
    _PLANT_WORDS + "(id|nos?|nr|num|number|code|name|key|tag)?", re.IGNORECASE
)
#: Number of a line, name of the picture, and record.
Row = tuple[int, str, dict[str, str]]
# What programs write for an empty cell, in small letters.
_EMPTY_WORDS = {"-", "--", "?", "na", "n.a.", "n/a", "#n/a", "#ref!", "#name?"}
_EMPTY_WORDS |= {"<na>", "nan", "nat", "none", "null", r"\n"}
# A line break in a quoted cell; and one before the name of a picture, where a quote isn't closed and a row begins.
_LINE_BREAK = re.compile(r"[\r\n]")
_NEXT_ROW = re.compile(
    rf"[\r\n][^\r\n]*(?:{'|'.join(map(re.escape, sorted(PICTURE_ENDINGS)))})",
    re.IGNORECASE,
)
#: Names of the tables of a collection that are read without being named.
TABLE_NAMES = {"metadata.csv", "labels.csv", "annotations.csv"}


def find_tables(folder: Path) -> tuple[list[Path], list[str]]:
    """Find a table of labels by its name, and lists of parts; also return a line about each table that is ignored."""
    named = [
        file
        for file in folders.list_files(folder, {".csv"})
        if file.name.lower() in TABLE_NAMES
    ]
    tables = [
        file
        for file in named
        if {"file", "label"} <= set(find_fields(next(read_table(file), (1, []))[1]))
    ][:1]
    expected = "expected a single table with the columns 'file' and 'label'; it is ignored, unless --metadata names it"
    lists = [
        file
        for file in folders.list_files(folder, {".txt"})
        if folders.parse_part(file.stem)
    ]
    return tables + lists, [
        f"{file}: {expected}" for file in named if file not in tables
    ]


def find_fields(
    heading: Sequence[str], known: Mapping[str, Sequence[str]] = FIELDS
) -> list[str | None]:
    """Find the field of each column; of two columns for one, that of its name counts, otherwise the first."""
    words = [re.sub(r"[\W_]", "", cell).lower() for cell in heading]
    fields: list[str | None] = [None] * len(words)
    for field, others in known.items():
        columns = [i for i, word in enumerate(words) if word in (field, *others)]
        if columns:
            fields[min(columns, key=lambda column: words[column] != field)] = field
    return fields


def detect(path: Path) -> bool:
    """Tell by its ending whether a file is a table."""
    return path.is_file() and path.suffix.lower() in {".csv", ".tsv"}


def read(path: Path) -> tuple[list[Picture], list[str]]:
    """Read the pictures that a table lists; their files, in its folder, need not exist."""
    rows, remarks = read_rows(path)
    return make_pictures(path, rows), remarks


def make_pictures(source: Path, rows: Iterable[Row]) -> list[Picture]:
    """Make pictures of the rows of a table, in its folder; a `ProblemsError` has all values that are wrong."""
    pictures = []
    with LineProblems(source) as problems:
        for line, name, record in rows:
            path = PurePosixPath(name.replace("\\", "/"))
            # No name leads out of the folder.
            file = source.parent / (
                path.name if path.is_absolute() or ".." in path.parts else path
            )
            try:
                if problems.check_unique(line, "every picture", str(file)):
                    pictures.append(_apply_record(Picture(file), record))
            except LeafidError as error:
                problems.add(line, f"{name}: {error}")
    return pictures


def read_rows(file: Path) -> tuple[list[Row], list[str]]:
    """Read a CSV table, or a list of a part (``train.txt``): number of each line, name of the picture, and record.

    Also returns lines on columns that aren't used, and NA.
    """
    if part := folders.parse_part(file.stem) if file.suffix.lower() == ".txt" else None:
        lines = enumerate(read_text(file).splitlines(), 1)
        return [
            (number, line.strip(), {"split": part})
            for number, line in lines
            if line.strip()
        ], []
    return parse_rows(file, read_table(file))


def parse_rows(
    file: Path, lines: Iterable[tuple[int, list[str]]]
) -> tuple[list[Row], list[str]]:
    """Parse a table, of which each line has its number and cells, as `read_rows` does; `file` is named in messages.

    Dates and coordinates that can't be read are left out, with a line about each column that has some.
    """
    table = iter(lines)
    first_line, heading = next(table, (1, []))
    fields = find_fields(heading)
    if "file" not in fields:
        expected = (
            f"expected a heading with the column 'file' ({', '.join(FIELDS['file'])})"
        )
        raise LeafidError(f"{file}:{first_line}: {expected}, found {heading}")
    rows: list[Row] = []
    empty: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    with LineProblems(file) as problems:
        for line, cells in table:
            record = {
                field: cell.strip()
                for field, cell in zip(fields, cells, strict=False)
                if field and cell.strip()
            }
            for field in [
                field
                for field in record
                if field != "file" and record[field].lower() in _EMPTY_WORDS
            ]:
                word = record.pop(field)
                empty.setdefault(field, f"{word!r} in line {line}")
            for field in _PARSERS.keys() & record:
                try:
                    _PARSERS[field](record[field])
                except LeafidError as error:
                    del record[field]
                    unreadable.setdefault(field, f"{error} in line {line}")
            pairs = zip(fields, cells, strict=False)
            if joined := [
                cell
                for field, cell in pairs
                if (_LINE_BREAK if field else _NEXT_ROW).search(cell)
            ]:
                problems.add(
                    line,
                    f"expected a quote at the end of the cell, found several lines: {joined[0]!r}",
                )
            elif len(cells) != len(fields):
                problems.add(line, f"expected {len(fields)} cells, found {len(cells)}")
            elif "file" not in record:
                problems.add(
                    line, "expected the name of a picture, found an empty cell"
                )
            else:
                rows.append((line, record.pop("file"), record))
    remarks = []
    if unused := [
        cell.strip()
        for cell, field in zip(heading, fields, strict=True)
        if cell.strip() and not field
    ]:
        remarks.append(f"{file}: columns that are not used: {', '.join(unused)}")
    if like := [
        cell
        for cell in unused
        if "plant" not in fields and _LIKE_PLANTS.fullmatch(cell)
    ]:
        remarks.append(
            f"{file}: the column {like[0]!r} looks like plants; call it 'plant', or scores may be too high"
        )
    for field, first in sorted({**empty, **unreadable}.items()):
        number = sum(field not in record for _, _, record in rows)
        remarks.append(
            f"{file}: {number} of {len(rows)} rows have no {field} ({first}, for example)"
        )
    return rows, remarks


def apply_table(
    root: Path, pictures: Sequence[Picture], source: Path
) -> tuple[list[Picture], list[str]]:
    """Add what a table says to pictures; return the pictures, and lines about rows and pictures without the other.

    A row names a picture by its path below the root or the table's folder, or by a name that is unique; the ending may
    be missing. Labels of the table replace all others, and pictures in folders without any of its pictures are left
    out. A `ProblemsError` is raised with all values that are wrong.
    """
    paths = [get_relative_path(picture.file, root) for picture in pictures]
    indices = NameIndex(enumerate([path, path.name] for path in paths))

    def find(word: str) -> int | None:
        file = source.parent / word.replace("\\", "/")
        return indices.find(str(get_relative_path(file, root)))

    rows, remarks = read_rows(source)
    is_list = source.suffix.lower() == ".txt"
    has_labels = any("label" in record for _, _, record in rows)
    changed = [
        replace(picture, taxon=None) if has_labels else picture for picture in pictures
    ]
    used = set() if has_labels else {picture.file.parent for picture in pictures}
    lost: list[str] = []
    with LineProblems(source) as problems:
        for line, file, record in rows:
            index = find(file) if is_file_name(file) else None
            if index is None and is_list:
                # In many lists, a number of the label stands behind each picture.
                index = find(file.rpartition(" ")[0])
            if index is None:
                lost.append(file)
                continue
            used.add(pictures[index].file.parent)
            part = changed[index].part
            if not is_list:
                problems.check_unique(line, "every picture", str(pictures[index].file))
            elif part not in {None, record.get("split", part)}:
                problems.add(
                    line,
                    f"{file}: expected a picture of one part, found it in part {part} as well",
                )
            try:
                changed[index] = _apply_record(changed[index], record)
            except LeafidError as error:
                problems.add(line, f"{file}: {error}")
    if lost:
        first = indices.describe(lost[0])
        ignored = f"found none for {len(lost)} of {len(rows)} ({first}, first); they are ignored"
        remarks.append(
            f"{source}: expected a picture below {root} for every row, {ignored}"
        )
    if left := [picture for picture in pictures if picture.file.parent not in used]:
        count = count_noun(len(left), "picture")
        remarks.append(
            f"{source}: {count} in folders that it lacks are left out, {left[0].file} first"
        )
    return [picture for picture in changed if picture.file.parent in used], remarks


def get_relative_path(file: Path, root: Path) -> PurePosixPath:
    """Return the path of a file below a folder; of a file elsewhere its absolute path. It is in Unicode form NFC."""
    # Path.resolve raises an error for a link to itself.
    for convert in (os.fspath, os.path.abspath, os.path.realpath):
        path, base = Path(convert(file)), Path(convert(root))
        if path.is_relative_to(base):
            return PurePosixPath(
                unicodedata.normalize("NFC", path.relative_to(base).as_posix())
            )
    return PurePosixPath(unicodedata.normalize("NFC", file.absolute().as_posix()))


def _apply_record(picture: Picture, record: dict[str, str]) -> Picture:
    """Add the fields of a record to a picture; a `LeafidError` is raised if a value is wrong."""
    changes: dict[str, Any] = {}
    for field, word in record.items():
        try:
            if field in _ATTRIBUTES:
                attribute, parse = _ATTRIBUTES[field]
                changes[attribute] = parse(word)
            elif field == "longitude" and "latitude" in record:
                changes["coordinates"] = names.parse_coordinates(
                    record["latitude"], word
                )
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


# What only sessions and places need: where it can't be parsed, it is unknown.
_PARSERS: dict[str, Callable[[str], object]] = {
    "date": names.parse_date,
    "latitude": partial(names.parse_coordinates, longitude="0"),
    "longitude": partial(names.parse_coordinates, "0"),
}


def compile_pattern(field: str, pattern: str) -> re.Pattern[str]:
    """Compile a pattern; a `UsageError` is raised if it is no regular expression, or has more than one group."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"expected a regular expression for the {field}, found {pattern!r}: {error}"
        ) from None
    if compiled.groups > 1:
        raise UsageError(
            f"expected at most one group for the {field}, found {pattern!r}"
        )
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
    matches = f"found it in {len(pictures) - len(unmatched)} of {len(pictures)}; {unmatched[0]} has no {field}"
    return changed, [
        f"{root}: expected the pattern {pattern.pattern!r} in every path, {matches}"
    ]
