"""Finds the tables and lists of parts beside pictures, or beside their folders."""

from pathlib import Path

from leafid.pictures.readers import folders
from leafid.pictures.readers.tables import is_list
from leafid.pictures.records import find_fields
from leafid.textfiles import read_table

#: Names of the tables of a collection that are read without being named.
TABLE_NAMES = {"metadata.csv", "labels.csv", "annotations.csv"}
_IGNORED = (
    f"expected {', '.join(sorted(TABLE_NAMES))}, or a name as train.csv, and the "
    "columns 'file' and 'label'; it is ignored, unless --metadata names it"
)


def find_tables(root: Path) -> tuple[dict[Path, str | None], list[str]]:
    """Find the tables and lists of a folder's pictures, and the parts they name.

    A table counts if it has the column ``file`` and is called as a part
    (``train.csv``), or if it has labels, too, and one of the `TABLE_NAMES`. Also
    returns a line about each other table.
    """
    sources: dict[Path, str | None] = {}
    remarks: list[str] = []
    if root.is_file():
        return sources, remarks
    sections = [section for _, section in folders.find_sections(root)]
    for folder in dict.fromkeys(folders.list_wrappers(root) + sections):
        for file in folders.list_files(folder, {".txt", ".csv", ".tsv"}):
            part = folders.parse_part(file.stem)
            if is_list(file):
                if part:
                    sources[file] = part
            elif _is_table(file, part):
                sources[file] = part
            else:
                remarks.append(f"{file}: {_IGNORED}")
    return sources, remarks


def _is_table(file: Path, part: str | None) -> bool:
    """Check the name and the columns of a table."""
    if not part and file.name.lower() not in TABLE_NAMES:
        return False
    _, heading = next(read_table(file), (1, []))
    fields = {*find_fields(heading)}
    return "file" in fields and (part is not None or "label" in fields)
