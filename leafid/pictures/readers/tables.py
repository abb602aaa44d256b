"""Reads pictures from a table, and applies tables, lists of parts and path patterns."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path, PurePosixPath

from leafid.errors import LeafidError, UsageError, naming_place
from leafid.files import is_file_name
from leafid.grouping import count_noun
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.name_index import NameIndex
from leafid.pictures.picture import Picture
from leafid.pictures.readers import folders
from leafid.pictures.records import FIELDS, apply_record, drop_unreadable, find_fields
from leafid.textfiles import LineProblems, read_table, read_text

LAYOUT = "table"

#: Number of a line, name of the picture, and record.
Row = tuple[int, str, dict[str, str]]
# A line break in a quoted cell; and one before the name of a picture, where a quote
# isn't closed and a row begins.
_LINE_BREAK = re.compile(r"[\r\n]")
_NEXT_ROW = re.compile(
    rf"[\r\n][^\r\n]*(?:{'|'.join(map(re.escape, sorted(PICTURE_ENDINGS)))})",
    re.IGNORECASE,
)


def detect(path: Path) -> bool:
    """Tell by its ending whether a file is a table."""
    return path.is_file() and path.suffix.lower() in {".csv", ".tsv"}


def read(path: Path) -> tuple[list[Picture], list[str]]:
    """Read the pictures that a table lists.

    The files of the pictures, in the folder of the table, need not exist.
    """
    rows, remarks = read_rows(path)
    return make_pictures(path, rows), remarks


def make_pictures(
    source: Path, rows: Iterable[Row], *, anywhere: bool = False
) -> list[Picture]:
    """Make pictures of the rows of a table, in its folder, or `anywhere`.

    A `ProblemsError` has all values that are wrong.
    """
    matches: list[tuple[Row, Path]] = []
    for row in rows:
        path = PurePosixPath(row[1].replace("\\", "/"))
        # No name in a file leads out of the folder.
        if not anywhere and (path.is_absolute() or ".." in path.parts):
            path = PurePosixPath(path.name)
        matches.append((row, source.parent / path))
    pictures = {file: Picture(file) for _, file in matches}
    _change_pictures(pictures, source, matches, None)
    return [*pictures.values()]


def read_rows(file: Path) -> tuple[list[Row], list[str]]:
    """Read a CSV table, or a list of a part: line number, picture name and record.

    Also returns lines on columns that aren't used, and NA.
    """
    part = folders.parse_part(file.stem)
    if not part or file.suffix.lower() != ".txt":
        return parse_rows(file, read_table(file))
    rows: list[Row] = []
    for number, line in enumerate(read_text(file).splitlines(), 1):
        if name := line.strip():
            rows.append((number, name, {"split": part}))
    return rows, []


def parse_rows(
    file: Path, lines: Iterable[tuple[int, list[str]]]
) -> tuple[list[Row], list[str]]:
    """Parse a table, of which each line has its number and cells, as `read_rows` does.

    `file` is named in messages. Dates and coordinates that can't be read are left out,
    with a line about each column that has some.
    """
    table = iter(lines)
    first_line, heading = next(table, (1, []))
    fields = find_fields(heading)
    if "file" not in fields:
        words = ", ".join(FIELDS["file"])
        raise LeafidError(
            f"{file}:{first_line}: expected a heading with the column 'file' "
            f"({words}), found {heading}"
        )
    rows: list[Row] = []
    unreadable: dict[str, str] = {}
    with LineProblems(file) as problems:
        for line, cells in table:
            columns = zip(fields, map(str.strip, cells), strict=False)
            record = {field: word for field, word in columns if field and word}
            name = record.pop("file", None)
            for field, error in drop_unreadable(record).items():
                unreadable.setdefault(field, f"{error} in line {line}")
            if problem := _find_problem(fields, cells):
                problems.add(line, problem)
            elif name is None:
                problems.add(
                    line, "expected the name of a picture, found an empty cell"
                )
            else:
                rows.append((line, name, record))
    remarks: list[str] = []
    columns = zip(fields, map(str.strip, heading), strict=True)
    if unused := [cell for field, cell in columns if cell and not field]:
        remarks.append(f"{file}: columns that are not used: {', '.join(unused)}")
    for field, first in sorted(unreadable.items()):
        number = sum(field not in record for _, _, record in rows)
        count = f"{number} of {len(rows)} rows have no {field}"
        remarks.append(f"{file}: {count} ({first}, for example)")
    return rows, remarks


def _find_problem(fields: Sequence[str | None], cells: Sequence[str]) -> str | None:
    """Find out whether a quote isn't closed, or cells are missing."""
    for field, cell in zip(fields, cells, strict=False):
        if (_LINE_BREAK if field else _NEXT_ROW).search(cell):
            return (
                "expected a quote at the end of the cell, found several lines: "
                f"{cell!r}"
            )
    if len(cells) != len(fields):
        return f"expected {count_noun(len(fields), 'cell')}, found {len(cells)}"
    return None


def apply_tables(
    root: Path,
    pictures: Sequence[Picture],
    sources: Mapping[Path, str | None],
    *,
    only_named: bool = False,
) -> tuple[list[Picture], list[str]]:
    """Add to pictures what tables and lists of a part say.

    Return them, and lines about rows and pictures left out. A row names a picture by
    its path below the root or the table's folder, or by a name that is unique; the
    ending may be missing. Labels of tables replace all others, and pictures in folders
    that no table of all parts names are left out; with `only_named`, all pictures that
    the first table doesn't name. A `ProblemsError` is raised with all values that are
    wrong.
    """
    changed = {picture.file: picture for picture in pictures}
    if not sources:
        return [*changed.values()], []
    tables = {source: read_rows(source) for source in sources}
    has_labels = any(_have_labels(rows) for rows, _ in tables.values())
    if has_labels:
        for picture in pictures:
            changed[picture.file] = replace(picture, taxon=None)
    paths = ((file, get_relative_path(file, root)) for file in changed)
    index = NameIndex((file, [path, path.name]) for file, path in paths)
    remarks: list[str] = []
    named: set[Path] = set()
    for source, (rows, lines) in tables.items():
        matches, unmatched = _find_files(root, index, source, rows)
        _change_pictures(changed, source, matches, sources[source])
        remarks += lines + unmatched
        if not sources[source]:
            named |= {file for _, file in matches}
    if only_named or (has_labels and named):
        remarks += _leave_out_others(changed, named, next(iter(sources)), only_named)
    return [*changed.values()], remarks


def _leave_out_others(
    pictures: dict[Path, Picture], named: Set[Path], source: Path, only_named: bool
) -> Iterator[str]:
    """Leave out pictures, or folders unless `only_named`, without a named picture."""
    place = "in folders "
    parents = {file.parent for file in named}
    others = [file for file in pictures if file.parent not in parents]
    if only_named:
        place = ""
        others = [file for file in pictures if file not in named]
    for file in others:
        del pictures[file]
    if others:
        count = count_noun(len(others), "picture")
        yield f"{source}: {count} {place}that it lacks are left out, {others[0]} first"


def _have_labels(rows: Iterable[Row]) -> bool:
    return any("label" in record for _, _, record in rows)


def _find_files(
    root: Path, index: NameIndex[Path], source: Path, rows: Sequence[Row]
) -> tuple[list[tuple[Row, Path]], list[str]]:
    """Find the picture that each row names.

    Also return a line about the names without a picture.
    """
    matches: list[tuple[Row, Path]] = []
    names: list[str] = []

    def find(name: str) -> Path | None:
        path = source.parent / name.replace("\\", "/")
        return index.find(str(get_relative_path(path, root)))

    for row in rows:
        name = row[1]
        file = find(name) if is_file_name(name) else None
        if file is None and is_list(source):
            # In many lists, a number of the label stands behind each picture.
            file = find(name.rpartition(" ")[0])
        if file is None:
            names.append(name)
        else:
            matches.append((row, file))
    if not names:
        return matches, []
    return matches, [
        f"{source}: expected a picture below {root} for every row, found none for "
        f"{len(names)} of {len(rows)} ({names[0]!r}, first); they are ignored"
    ]


def is_list(source: Path) -> bool:
    """Tell whether a file is a list of a part rather than a table."""
    return source.suffix.lower() == ".txt"


def _change_pictures(
    changed: dict[Path, Picture],
    source: Path,
    matches: Iterable[tuple[Row, Path]],
    part: str | None,
) -> None:
    """Change pictures as rows say; a `ProblemsError` has all values that are wrong."""
    with LineProblems(source) as problems:
        for (line, name, record), file in matches:
            picture = changed[file]
            if not is_list(source):
                problems.check_unique(line, "every picture", str(file))
            if part and picture.part not in {None, part}:
                problems.add(
                    line,
                    f"{name}: expected a picture of one part, found it in part "
                    f"{picture.part} as well",
                )
            try:
                fields = {"split": part, **record} if part else record
                changed[file] = apply_record(picture, fields)
            except LeafidError as error:
                problems.add(line, f"{name}: {error}")


def get_relative_path(file: Path, root: Path) -> PurePosixPath:
    """Return the path of a file below a folder; of a file elsewhere its absolute path.

    It is in Unicode form NFC.
    """
    # Path.resolve raises an error for a link to itself.
    relative = file.absolute()
    for convert in (os.fspath, os.path.abspath, os.path.realpath):
        path = Path(convert(file))
        base = Path(convert(root))
        if path.is_relative_to(base):
            relative = path.relative_to(base)
            break
    return PurePosixPath(unicodedata.normalize("NFC", relative.as_posix()))


def compile_pattern(field: str, pattern: str) -> re.Pattern[str]:
    """Compile a pattern.

    A `UsageError` is raised if it is no regular expression, or has more than one group.
    """
    try:
        compiled = re.compile(pattern)
        if compiled.groups <= 1:
            return compiled
        problem = f"at most one group for the {field}, found {pattern!r}"
    except re.error as error:
        problem = f"a regular expression for the {field}, found {pattern!r}: {error}"
    raise UsageError(f"expected {problem}")


def apply_pattern(
    root: Path, pictures: Sequence[Picture], pattern: re.Pattern[str], field: str
) -> tuple[list[Picture], list[str]]:
    """Set one of `FIELDS` to what a pattern, or its group, finds in a picture's path.

    The path is relative to the root. Also returns a line about the pictures without a
    match. A `LeafidError` is raised with the first value that is wrong.
    """
    changed: list[Picture] = []
    unmatched: list[Path] = []
    for picture in pictures:
        match = pattern.search(str(get_relative_path(picture.file, root)))
        if match is None:
            unmatched.append(picture.file)
        elif word := match[pattern.groups]:
            with naming_place(picture.file):
                picture = apply_record(picture, {field: word})
        changed.append(picture)
    if not unmatched:
        return changed, []
    n_matches = len(pictures) - len(unmatched)
    return changed, [
        f"{root}: expected the pattern {pattern.pattern!r} in every path, found it in "
        f"{n_matches} of {len(pictures)}; {unmatched[0]} has no {field}"
    ]
