"""Reads tables, COCO files and lists of pictures: a record, the text of some `FIELDS`, for each picture."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.readers import folders
from leafid.pictures.readers.coco import Id, read_coco_content
from leafid.textfiles import LineProblems, read_table, read_text

#: Columns of a table, and groups of a pattern; each with other words for it.
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
_TABLE_NAMES = ("metadata.csv", "labels.csv", "annotations.csv")
_COCO_NAME = re.compile(r"(annotations|labels|metadata|instances).*\.json", re.IGNORECASE)

Record = dict[str, str]


@dataclass(frozen=True)
class Row:
    """A record with the picture that it names and its line in the file, None where lines mean nothing."""

    file: str
    record: Record
    line: int | None = None


@dataclass(frozen=True)
class Records:
    """The rows of a file, and whether it labels pictures, so that those that it lacks are left out."""

    source: Path
    rows: Sequence[Row]
    has_labels: bool


def find_record_files(folder: Path) -> list[Path]:
    """Find the files that describe a folder's pictures: a table or COCO file by its name, and lists of its parts."""
    files = [file for file in folders.list_files(folder, {".csv", ".json"}) if _is_table(file) or _is_coco(file)]
    lists = [file for file in folders.list_files(folder, {".txt"}) if folders.parse_part_name(file.stem)]
    return files[:1] + lists


def _is_table(file: Path) -> bool:
    if file.name.lower() not in _TABLE_NAMES:
        return False
    heading = next((cells for _, cells in read_table(file)), [])
    return {"file", "label"} <= {_FIELD_OF.get(_clean(cell)) for cell in heading}


def _is_coco(file: Path) -> bool:
    return _COCO_NAME.fullmatch(file.name) is not None and '"categories"' in read_text(file)


def read_records(file: Path, plants_from: str | None = None) -> Records:
    """Read a CSV table, a COCO file, or a list of the pictures of a part (``train.txt``).

    `plants_from` is the column of a table that holds the plants. A `LeafidError` is raised if the file is none of
    these.
    """
    if file.suffix.lower() == ".json":
        return Records(file, list(_read_coco(file)), has_labels=True)
    if part := folders.parse_part_name(file.stem) if file.suffix.lower() == ".txt" else None:
        lines = enumerate(read_text(file).splitlines(), 1)
        return Records(file, [Row(line.strip(), {"split": part}, n) for n, line in lines if line.strip()], False)
    return _read_csv(file, plants_from)


def has_column(file: Path, column: str) -> bool:
    """Tell whether a table has a column of this name."""
    heading: list[str] = next((cells for _, cells in read_table(file)), []) if file.suffix.lower() != ".json" else []
    return _clean(column) in map(_clean, heading)


def _clean(word: str) -> str:
    return word.strip().lower().replace(" ", "_")


def _read_csv(file: Path, plants_from: str | None) -> Records:
    rows = read_table(file)
    heading = next((cells for _, cells in rows if cells), [])
    fields: list[str | None] = []
    for word in map(_clean, heading):
        field = "plant" if plants_from and word == _clean(plants_from) else _FIELD_OF.get(word)
        if field == "plant" and plants_from and word != _clean(plants_from):
            field = None
        # Of two words for a field, the first counts.
        fields.append(None if field in fields else field)
    if "file" not in fields:
        raise LeafidError(
            f"{file}:1: expected a heading with the column 'file' (also: {', '.join(FIELDS['file'])}), found "
            f"{', '.join(heading)[:100] or 'nothing'}"
        )
    found: list[Row] = []
    with LineProblems(file) as problems:
        for line, cells in rows:
            record = {field: cell.strip() for field, cell in zip(fields, cells, strict=False) if field and cell.strip()}
            if len(cells) > len(heading):
                problems.add(line, f"expected {len(heading)} cells, found {len(cells)}")
            elif cells and "file" not in record:
                problems.add(line, "expected the name of a picture, found an empty cell")
            elif cells and problems.check_unique(line, "every picture", record["file"]):
                found.append(Row(record.pop("file"), record, line))
    return Records(file, found, "label" in fields)


def _read_coco(file: Path) -> Iterator[Row]:
    """Read the pictures of a COCO file; a picture has the categories of its annotations."""
    content = read_coco_content(file)
    category_names = {category.id: category.name for category in content.categories}
    categories: defaultdict[Id, set[str]] = defaultdict(set)
    for index, annotation in enumerate(content.annotations):
        if annotation.category_id not in category_names:
            found = f"found {annotation.category_id!r}"
            raise LeafidError(f"{file}: annotations[{index}].category_id: expected the id of a category, {found}")
        categories[annotation.image_id].add(category_names[annotation.category_id])
    rows = [(image.file_name, categories[image.id]) for image in content.images]
    several = [name for name, labels in rows if len(labels) > 1]
    if several:
        raise LeafidError(
            f"{file}: expected annotations of one category for every picture, found several for {len(several)}, "
            f"{several[0]!r} first; leafid names one species a picture"
        )
    split = folders.parse_part_name(file.stem)
    for name, labels in rows:
        yield Row(name, dict(zip(("label",), labels, strict=False)) | ({"split": split} if split else {}))
