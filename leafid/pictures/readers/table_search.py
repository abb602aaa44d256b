"""Finds the tables and lists of parts beside pictures, or beside their folders."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.picture import Picture
from leafid.pictures.readers import folders
from leafid.pictures.readers.tables import is_list
from leafid.pictures.records import find_fields
from leafid.textfiles import read_table

#: Names of the tables of a collection that are read without being named.
TABLE_NAMES = {"metadata.csv", "labels.csv", "annotations.csv"}

_IGNORED = (
    "expected a single table with the columns 'file' and 'label'; it is ignored, "
    "unless --metadata names it"
)


def find_tables(
    root: Path, pictures: Sequence[Picture]
) -> tuple[dict[Path, str | None], list[str]]:
    """Find the tables and lists of a folder's pictures, and the parts they name.

    A table counts if it has labels and one of the `TABLE_NAMES`, or if it is called as
    a part (``train.csv``). Also returns a line about each table of a part, and about
    each that is ignored though it names pictures or can't be read.
    """
    names = [name for p in pictures for name in (p.file.name, p.file.stem)]
    known = {*map(_get_name, names)}
    sources: dict[Path, str | None] = {}
    remarks: list[str] = []
    sections = [section for _, section in folders.find_sections(root)]
    places = dict.fromkeys(folders.list_wrappers(root) + sections)
    files = [
        file
        for folder in places
        for file in folders.list_files(folder, {".txt", ".csv", ".tsv"})
    ]
    for file in files:
        is_source, remark = _examine(file, known, None in sources.values())
        if is_source:
            sources[file] = folders.parse_part(file.stem)
        if remark:
            remarks.append(remark)
    return sources, remarks


def _examine(file: Path, known: set[str], has_table: bool) -> tuple[bool, str | None]:
    """Check whether a table or list counts, and write a line about it.

    With `has_table`, another table counts already.
    """
    part = folders.parse_part(file.stem)
    if is_list(file):
        return part is not None, None
    has_name = file.name.lower() in TABLE_NAMES
    try:
        rows = [row for _, row in read_table(file)]
    except LeafidError as error:
        if has_name or part:  # the error is raised where it is read
            return True, None
        return False, f"{error}; it is ignored"
    cells = {_get_name(cell) for row in rows for cell in row}
    if not has_name and known.isdisjoint(cells):
        return False, None
    fields = {*find_fields(rows[0])} if rows else set()
    if part and "file" in fields:
        return True, f"{file}: read as a table of the part {part}"
    if has_name and not has_table and {"file", "label"} <= fields:
        return True, None
    return False, f"{file}: {_IGNORED}"


def _get_name(path: str) -> str:
    return unicodedata.normalize("NFC", path.replace("\\", "/").rpartition("/")[2])
