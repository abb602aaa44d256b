"""Detects the layout of a collection, and reads it."""

import logging
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from leafid.errors import LeafidError, ProblemsError, UsageError, list_first
from leafid.pictures.collection import Collection, Omission
from leafid.pictures.formats import PICTURE_ENDINGS
from leafid.pictures.picture import Picture
from leafid.pictures.readers import imageclef, plantnet300k, records, species_folders, tables
from leafid.pictures.readers.folders import has_file, walk_pictures
from leafid.pictures.readers.leftovers import report_leftovers

#: Paths that a collection is read from.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

PLAIN_PICTURES, TABLE = "pictures", "table"
logger = logging.getLogger(__name__)


class Reader(NamedTuple):
    """The functions that detect and read a layout, and the endings of its files that are no pictures."""

    detect: Callable[[Path], bool]
    read: Callable[[Path], Collection]
    metadata_endings: frozenset[str] = frozenset()


def _has_pictures(path: Path) -> bool:
    if not path.is_dir():
        return path.is_file()
    return has_file(path, PICTURE_ENDINGS) or any(True for _ in walk_pictures(path, []))


def _read_plain_pictures(path: Path) -> Collection:
    """List a file, whatever its name, or the picture files of a folder and of its sub-folders."""
    problems: list[str] = []
    files = list(walk_pictures(path, problems)) if path.is_dir() else [path]
    return Collection(path, PLAIN_PICTURES, tuple(Picture(file) for file in files), tuple(problems))


def _detect_table(path: Path) -> bool:
    return path.is_dir() and any(file.suffix.lower() != ".txt" for file in tables.find_record_files(path))


def _read_table_folder(path: Path) -> Collection:
    if not _detect_table(path):
        raise LeafidError(f"{path}: expected a folder with a table (metadata.csv, labels.csv) of labels, found none")
    return _read_plain_pictures(path)


# Beside XML, packages hold ground truths, lists of species without an ending, and the settings of a drawn sample.
_PACKAGE_ENDINGS = frozenset({".xml", ".txt", ".json", ""})
#: Readers by the name of their layout; detection tries the most specific layout first.
READERS: dict[str, Reader] = {
    plantnet300k.LAYOUT: Reader(plantnet300k.detect, plantnet300k.read, frozenset({".json"})),
    imageclef.LAYOUT: Reader(imageclef.detect, imageclef.read, _PACKAGE_ENDINGS),
    TABLE: Reader(_detect_table, _read_table_folder, frozenset({".csv", ".json", ".txt"})),
    species_folders.LAYOUT: Reader(species_folders.detect, species_folders.read, frozenset({".csv", ".txt"})),
    PLAIN_PICTURES: Reader(_has_pictures, _read_plain_pictures),
}


@dataclass(frozen=True)
class _Sources:
    """What else than the layout tells about pictures; see `read_collection`."""

    metadata: Path | None
    label_from: re.Pattern[str] | None
    plant_column: str | None
    plants_from: re.Pattern[str] | None


def read_collection(
    path: Paths,
    layout: str | None = None,
    *,
    unlabelled: bool = False,
    metadata: str | os.PathLike[str] | None = None,
    label_from: str | None = None,
    plants_from: str | None = None,
) -> Collection:
    """Read a collection: list its pictures with their metadata, without opening any picture.

    Pictures that can't be used are left out and named in the collection's problems. The order of pictures doesn't
    depend on the file system.

    Parameters
    ----------
    path : path-like or sequence of path-like
        A folder or a picture, or several of both, which are read one by one and joined. Among several, a picture that
        doesn't exist is listed like one that can't be read, and a path without pictures is a problem.
    layout : {"imageclef", "plantnet300k", "table", "species-folders", "pictures"}, optional
        Detected by default.
    unlabelled : bool, default False
        In species folders, list also pictures of unknown species, for a caller that needs no labels.
    metadata : path-like, optional
        A CSV table with a column ``file`` and others of ``label``, ``plant``, ``type``, ``author``, ``date``,
        ``latitude``, ``longitude``, ``split``; or a COCO file. It is found by itself where it is in the folder and
        called ``metadata.csv``, ``labels.csv`` or ``annotations.csv`` (``.json``).
    label_from : str, optional
        A regular expression for the paths of pictures below the folder, with groups named after these columns; without
        a group, the match is the label.
    plants_from : str, optional
        A column of the table, or a regular expression like `label_from` whose match is the plant.

    Raises
    ------
    UsageError
        If the layout is unknown, or an expression is none.
    LeafidError
        If nothing exists, no layout fits, a value in the metadata is wrong, or no picture can be used, for all of the
        paths.
    """
    if layout is not None and layout not in READERS:
        raise UsageError(f"expected a layout ({', '.join(READERS)}), found {layout!r}")
    sources = _make_sources(metadata, label_from, plants_from)
    if isinstance(path, (str, os.PathLike)):
        return _read_path(Path(path), layout, unlabelled, sources)
    if len(path) == 1:
        return _read_path(Path(path[0]), layout, unlabelled, sources)
    collections: list[Collection] = []
    problems: list[str] = []
    for item in map(Path, path):
        if not item.exists() and item.suffix.lower() in PICTURE_ENDINGS:
            collections.append(Collection(item, PLAIN_PICTURES, (Picture(item),)))
            continue
        try:
            collections.append(_read_path(item, layout, unlabelled, sources))
        except LeafidError as error:
            first, *others = error.problems if isinstance(error, ProblemsError) else [str(error)]
            problems += [Omission(f"{first}; it is left out"), *others]
    if collections:
        return _join(collections, problems)
    if problems:
        raise ProblemsError(problems)
    raise UsageError("expected at least one picture or collection, found none")


def read_and_warn(path: Paths, layout: str | None = None, **options: Any) -> Collection:
    """Read a collection as `read_collection` does, and log a warning for each of its first problems."""
    collection = read_collection(path, layout, **options)
    for problem in list_first(collection.problems):
        logger.warning("%s", problem)
    return collection


def _make_sources(metadata: str | os.PathLike[str] | None, label_from: str | None, plants_from: str | None) -> _Sources:
    file = Path(metadata) if metadata is not None else None
    if file is not None and not file.is_file():
        raise LeafidError(f"{file}: no such file; expected a table of pictures")
    label_pattern = records.compile_pattern("label_from", label_from, "label") if label_from else None
    is_column = plants_from is not None and file is not None and tables.has_column(file, plants_from)
    if plants_from is None or is_column:
        return _Sources(file, label_pattern, plants_from, None)
    return _Sources(file, label_pattern, None, records.compile_pattern("plants_from", plants_from, "plant"))


def _read_path(path: Path, layout: str | None, unlabelled: bool, sources: _Sources) -> Collection:
    if not path.exists():
        raise LeafidError(f"{path}: no such file or folder")
    try:
        name = layout or _detect_layout(path)
        # What else tells the labels labels pictures anywhere.
        is_free = unlabelled or sources.metadata is not None or sources.label_from is not None
        if is_free and name == species_folders.LAYOUT:
            collection = species_folders.read(path, unlabelled=True)
        else:
            collection = READERS[name].read(path)
        pictures, remarks = _apply_sources(path, name, collection.pictures, sources, unlabelled, layout is None)
    except OSError as error:
        raise LeafidError(f"{error.filename or path}: can't be read: {error.strerror or error}") from error
    collection = replace(collection, layout=name, pictures=tuple(pictures), problems=(*collection.problems, *remarks))
    if path.is_dir():
        leftovers = report_leftovers(collection, READERS[name].metadata_endings)
        collection = replace(collection, problems=(*collection.problems, *leftovers))
    if not collection.pictures:
        hint = f" in the layout {layout}; leave out --layout to have it detected" if layout else ""
        raise ProblemsError([f"{path}: expected pictures, found none that can be used{hint}", *collection.problems])
    return collection


def _apply_sources(
    path: Path, layout: str, pictures: Sequence[Picture], sources: _Sources, unlabelled: bool, is_detected: bool
) -> tuple[Sequence[Picture], list[str]]:
    """Add to pictures what tables, lists and patterns tell, and name them for run files."""
    root = path if path.is_dir() else path.parent
    remarks: list[str] = []
    if sources.label_from is not None:
        pictures, remarks = records.apply_pattern(root, pictures, sources.label_from, "label")
    is_plain = layout in {TABLE, species_folders.LAYOUT, PLAIN_PICTURES}
    files = tables.find_record_files(path) if is_plain and path.is_dir() and (is_detected or layout == TABLE) else []
    if sources.metadata is not None:
        files = [sources.metadata, *(file for file in files if file.suffix.lower() == ".txt")]
    for file in files:
        found = tables.read_records(file, sources.plant_column)
        pictures, more = records.apply_records(root, pictures, found, keeps_unlisted=unlabelled)
        remarks += more
    if sources.plants_from is not None:
        pictures, more = records.apply_pattern(root, pictures, sources.plants_from, "plant")
        remarks += more
    return (records.name_clashing_pictures(root, pictures) if is_plain else pictures), remarks


def _detect_layout(path: Path) -> str:
    for name, reader in READERS.items():
        if reader.detect(path):
            return name
    problems: list[str] = []
    if path.is_dir():
        list(walk_pictures(path, problems))
    message = (
        f"{path}: expected a collection, found no pictures of any known layout ({', '.join(READERS)}); "
        "name a folder that holds pictures itself, or folders of pictures named after their label"
    )
    raise ProblemsError([message, *problems, *report_leftovers(Collection(path, "", ()))])


def _join(collections: Sequence[Collection], problems: Sequence[str]) -> Collection:
    if len(collections) == 1:
        return replace(collections[0], problems=(*collections[0].problems, *problems))
    layouts = {collection.layout for collection in collections}
    by_file = {picture.file: picture for collection in collections for picture in collection.pictures}
    return Collection(
        Path(os.path.commonpath([str(collection.root.absolute()) for collection in collections])),
        layouts.pop() if len(layouts) == 1 else "several",
        tuple(by_file.values()),
        (*(problem for collection in collections for problem in collection.problems), *problems),
    )
