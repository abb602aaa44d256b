"""Reads tables, COCO files and lists of pictures: the text of some `FIELDS` for each picture."""

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
_TABLE_NAMES = {"metadata.csv", "labels.csv", "annotations.csv", "annotations.json"}

Record = dict[str, str]


@dataclass(frozen=True)
class Row:
    """A record with the picture that it names and its line in the file, None where lines mean nothing."""

    file: str
    record: Record
    line: int | None = None


@dataclass(frozen=True)
class Table:
    """The rows of a file, and whether it has labels."""

    source: Path
    rows: Sequence[Row]
    has_labels: bool


def find_tables(folder: Path) -> list[Path]:
    """Find the files that describe a folder's pictures: a table with labels by its name, and lists of its parts."""
    named = [file for file in folders.list_files(folder, {".csv", ".json"}) if file.name.lower() in _TABLE_NAMES]
    tables = [file for file in named if file.suffix.lower() == ".json" or {"file", "label"} <= set(_read_heading(file))]
    return tables[:1] + [file for file in folders.list_files(folder, {".txt"}) if folders.parse_part(file.stem)]


def read_pictures_table(file: Path) -> Table:
    """Read a CSV table, a COCO file, or a list of the pictures of a part (``train.txt``).

    A `LeafidError` is raised if the file is none of these.
    """
    if file.suffix.lower() == ".json":
        return Table(file, list(_read_coco(file)), has_labels=True)
    if part := folders.parse_part(file.stem) if file.suffix.lower() == ".txt" else None:
        lines = enumerate(read_text(file).splitlines(), 1)
        return Table(file, [Row(line.strip(), {"split": part}, n) for n, line in lines if line.strip()], False)
    return _read_csv(file)


def _read_heading(file: Path) -> list[str | None]:
    """Read the field of each column; of two columns for one field, the first counts."""
    heading: list[str] = next((cells for _, cells in read_table(file) if cells), [])
    fields = [_FIELD_OF.get(cell.strip().lower().replace(" ", "_")) for cell in heading]
    return [None if field in fields[:column] else field for column, field in enumerate(fields)]


def _read_csv(file: Path) -> Table:
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
    return Table(file, found, "label" in fields)


def _read_coco(file: Path) -> Iterator[Row]:
    """Read the pictures of a COCO file; a picture has the category of its annotations."""
    content = read_coco_content(file)
    category_names = {category.id: category.name for category in content.categories}
    labels: defaultdict[Id, set[str]] = defaultdict(set)
    for index, annotation in enumerate(content.annotations):
        if annotation.category_id not in category_names:
            found = f"found {annotation.category_id!r}"
            raise LeafidError(f"{file}: annotations[{index}].category_id: expected the id of a category, {found}")
        labels[annotation.image_id].add(category_names[annotation.category_id])
    for image in content.images:
        own = labels[image.id]
        if len(own) > 1:
            raise LeafidError(f"{file}: expected one category for every picture, found several for {image.file_name!r}")
        yield Row(image.file_name, {"label": min(own)} if own else {})
