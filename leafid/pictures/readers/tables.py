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
        "imagename",
        "picture",
        "path",
        "filepath",
        "imageid",
        "id",
    ),
    "label": (
        "species",
        "class",
        "classname",
        "category",
        "taxon",
        "scientificname",
        "speciesname",
        "labels",
    ),
    "plant": (
        "individual",
        "plantid",
        "individualid",
        "individualplantid",
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
_EMPTY_WORDS |= {"#value!", "#div/0!", "#num!", "#null!", "#error!"}
# A line break in a quoted cell; and one before the name of a picture, where a quote isn't closed and a row begins.
_LINE_BREAK = re.compile(r"[\r\n]")
_NEXT_ROW = re.compile(
    rf"[\r\n][^\r\n]*(?:{'|'.join(map(re.escape, sorted(PICTURE_ENDINGS)))})",
    re.IGNORECASE,
)


def find_fields(
    heading: Sequence[str], known: Mapping[str, Sequence[str]] = FIELDS
) -> list[str | None]:
    """Find the field of each column; of two columns for one, that of the word that `known` has first."""
    words = [re.sub(r"[\W_]", "", cell).lower() for cell in heading]
    field_of: dict[int, str] = {}
    for field, others in known.items():
        if present := [word for word in (field, *others) if word in words]:
            field_of[words.index(present[0])] = field
    return [field_of.get(column) for column in range(len(words))]


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


def apply_tables(
    root: Path,
    pictures: Sequence[Picture],
    sources: Mapping[Path, str | None],
    *,
    only_named: bool = False,
) -> tuple[list[Picture], list[str]]:
    """Add to pictures what tables and lists of a part say; return them, and lines about rows and pictures left out.

    A row names a picture by its path below the root or the table's folder, or by a name that is unique; the ending may
    be missing. Labels of tables replace all others, and pictures in folders that no table of all parts names are left
    out; with `only_named`, all pictures that the first table doesn't name. A `ProblemsError` is raised with all values
    that are wrong.
    """
    tables = {source: read_rows(source) for source in sources}
    has_labels = any(
        "label" in record for rows, _ in tables.values() for _, _, record in rows
    )
    changed = [
        replace(picture, taxon=None) if has_labels else picture for picture in pictures
    ]
    remarks: list[str] = []
    used: set[Path] = set()

    def get_place(file: Path) -> Path:
        return file if only_named else file.parent

    for source, (rows, lines) in tables.items():
        named, lost = _apply_rows(root, changed, source, rows, sources[source])
        remarks += [*lines, *lost]
        if not sources[source]:
            used |= {*map(get_place, named)}
    if only_named or (has_labels and used):
        left = [p.file for p in changed if get_place(p.file) not in used]
        changed = [p for p in changed if get_place(p.file) in used]
        if left:
            place = "" if only_named else "in folders "
            count = count_noun(len(left), "picture")
            remarks.append(
                f"{next(iter(sources))}: {count} {place}that it lacks are left out, {left[0]} first"
            )
    return changed, remarks


def _apply_rows(
    root: Path,
    changed: list[Picture],
    source: Path,
    rows: Sequence[Row],
    part: str | None,
) -> tuple[list[Path], list[str]]:
    """Change pictures as rows say; return the files that are named, and a line about rows without a picture."""
    paths = [get_relative_path(picture.file, root) for picture in changed]
    indices = NameIndex(enumerate([path, path.name] for path in paths))
    is_list = source.suffix.lower() == ".txt"

    def find(word: str) -> int | None:
        file = source.parent / word.replace("\\", "/")
        return indices.find(str(get_relative_path(file, root)))

    used: list[Path] = []
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
            picture = changed[index]
            used.append(picture.file)
            if not is_list:
                problems.check_unique(line, "every picture", str(picture.file))
            if part and picture.part not in {None, part}:
                problems.add(
                    line,
                    f"{file}: expected a picture of one part, found it in part {picture.part} as well",
                )
            try:
                fields = {"split": part, **record} if part else record
                changed[index] = _apply_record(picture, fields)
            except LeafidError as error:
                problems.add(line, f"{file}: {error}")
    if not lost:
        return used, []
    first = indices.describe(lost[0])
    ignored = (
        f"found none for {len(lost)} of {len(rows)} ({first}, first); they are ignored"
    )
    return used, [f"{source}: expected a picture below {root} for every row, {ignored}"]


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
