"""Reads what tables, lists and patterns say about the pictures of a collection: labels, plants, types, parts.

Every source gives a record, the text of some `FIELDS`, for each picture; `RecordIndex` finds the picture of a record.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from leafid.collection import folders, names
from leafid.collection.picture import AcquisitionType, Picture, Place
from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.grouping import group_by
from leafid.textfiles import LineProblems, read_json, read_table, read_text

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
    """Read the ``images``, ``annotations`` and ``categories`` of COCO; a picture has the categories of its annotations.

    References
    ----------
    .. [1] T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014; https://cocodataset.org/#format-data
    """
    content = read_json(file, json.loads)
    try:
        assert isinstance(content, dict)
        images = {image["id"]: image for image in content["images"]}
        category_names = {category["id"]: str(category["name"]) for category in content["categories"]}
        categories: defaultdict[Any, set[str]] = defaultdict(set)
        for annotation in content["annotations"]:
            categories[annotation["image_id"]].add(category_names[annotation["category_id"]])
        rows = [(str(image["file_name"]), categories[identifier]) for identifier, image in images.items()]
    except (AssertionError, KeyError, TypeError) as error:
        raise LeafidError(
            f"{file}: expected images with id and file_name, annotations with image_id and category_id, and categories "
            f"with id and name, as COCO has them; found none or something else at {error!s:.80}"
        ) from None
    several = [name for name, labels in rows if len(labels) > 1]
    if several:
        raise LeafidError(
            f"{file}: expected annotations of one category for every picture, found several for {len(several)}, "
            f"{several[0]!r} first; leafid names one species a picture"
        )
    split = folders.parse_part_name(file.stem)
    for name, labels in rows:
        yield Row(name, dict(zip(("label",), labels, strict=False)) | ({"split": split} if split else {}))


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
        path = PurePosixPath(word.replace("\\", "/").removeprefix("./"))
        below = get_relative_path(source.parent / path, self.root)
        for key in dict.fromkeys((str(below), str(path), path.name)):
            if len(found := self._indices.get(key, ())) == 1:
                return next(iter(found))
        return None


def get_relative_path(file: Path, root: Path) -> PurePosixPath:
    """Return the path of a file below a folder; of a file elsewhere its absolute path."""
    for path, base in ((file, root), (file.absolute(), root.absolute()), (file.resolve(), root.resolve())):
        if path.is_relative_to(base):
            return PurePosixPath(path.relative_to(base).as_posix())
    return PurePosixPath(file.absolute().as_posix())


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
    place = picture.place or Place()
    for field, word in record.items():
        try:
            if field == "label":
                picture = replace(picture, taxon=names.parse_label(word))
            elif field == "type":
                picture = replace(picture, type=AcquisitionType.parse(word))
            elif field == "date":
                picture = replace(picture, date=names.parse_date(word))
            elif field == "latitude":
                place = replace(place, latitude=names.parse_bounded_number(word, 90))
            elif field == "longitude":
                place = replace(place, longitude=names.parse_bounded_number(word, 180))
            elif field == "split":
                picture = replace(picture, part=_parse_part(word))
            elif field == "plant":
                picture = replace(picture, plant=word)
            elif field == "author":
                picture = replace(picture, author=word)
        except LeafidError as error:
            raise LeafidError(f"{field}: {error}") from None
    return picture if place == Place() else replace(picture, place=place)


def _parse_part(word: str) -> str:
    part = folders.parse_part_name(word)
    if part is None:
        raise LeafidError(f"expected train, val or test, found {word!r}")
    return part


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
