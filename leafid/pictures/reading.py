"""Detects the layout of a collection, and reads it."""

import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from leafid.errors import InputError, LeafidError, ProblemsError, UsageError
from leafid.files import StrPath
from leafid.grouping import count_noun
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.labels import make_labels
from leafid.pictures.picture import Collection, EmptyClass, Omission, Picture
from leafid.pictures.readers import (
    folders,
    imageclef,
    plantnet300k,
    species_folders,
    table_search,
    tables,
)

#: Paths that a collection is read from.
Paths = StrPath | Sequence[StrPath]

PLAIN_PICTURES = "pictures"
# How the names of files end that describe the pictures beside them; SpeciesIDList is of
# ImageCLEF.
_METADATA = {".xml", ".txt", ".json", ".csv", ".tsv", "speciesidlist"}
logger = logging.getLogger(__name__)


def _read_plain_pictures(path: Path) -> tuple[list[Picture], list[str]]:
    """List a file, whatever its name, or the picture files in a folder and below it."""
    files = [path] if path.is_file() else folders.walk_pictures(path)
    return [*map(Picture, files)], []


#: Lists the pictures of a folder or file, and what is wrong with their metadata.
Reader = Callable[[Path], tuple[list[Picture], list[str]]]
#: By the name of a layout, functions that detect it and read it. Detection tries the
#: most specific layout first.
READERS: dict[str, tuple[Callable[[Path], bool], Reader]] = {
    plantnet300k.LAYOUT: (plantnet300k.detect, plantnet300k.read),
    imageclef.LAYOUT: (imageclef.detect, imageclef.read),
    species_folders.LAYOUT: (species_folders.detect, species_folders.read),
    tables.LAYOUT: (tables.detect, tables.read),
    PLAIN_PICTURES: (Path.exists, _read_plain_pictures),
}


def read_collection(
    path: Paths,
    layout: str | None = None,
    *,
    metadata: StrPath | None = None,
    label_from: str | None = None,
    plants_from: str | None = None,
    only_named: bool = False,
) -> Collection:
    """Read a collection: its pictures with their metadata; no picture is opened.

    Pictures that can't be used are left out and named in the collection's problems. The
    order of pictures doesn't depend on the file system.

    Parameters
    ----------
    path : path-like or sequence of path-like
        A folder or a picture, or several of both, which are read one by one and joined.
        Among several, a picture that doesn't exist is listed like one that can't be
        read, and a path without pictures is a problem. Folders and tables are several
        collections, called by their names, or by their paths where names are the same.
    layout : str, optional
        "imageclef", "plantnet300k", "species-folders", "table" or "pictures"; by
        default it is detected.
    metadata : path-like, optional
        A CSV table with a column ``file`` and others of ``label``, ``plant``, ``type``,
        ``author``, ``date``, ``latitude``, ``longitude``, ``collection``, ``split``. By
        default a table in the folder that has labels and is called ``metadata.csv``,
        ``labels.csv`` or ``annotations.csv``, or another that names the pictures, such
        as ``train.csv``.
    label_from : str, optional
        A regular expression for the paths of pictures below the folder, whose group, or
        match, is the label.
    plants_from : str, optional
        A regular expression like `label_from` whose group, or match, is the plant.
    only_named : bool, optional
        Leave out the pictures that `metadata` doesn't name.

    Returns
    -------
    Collection

    Raises
    ------
    UsageError
        If there is no such layout, or an expression is no regular expression.
    LeafidError
        If a value in the metadata is wrong, or no path has a picture.
    """
    if layout is not None and layout not in READERS:
        raise UsageError(f"expected a layout ({', '.join(READERS)}), found {layout!r}")
    patterns: dict[str, re.Pattern[str]] = {}
    for field, pattern in {"label": label_from, "plant": plants_from}.items():
        if pattern:
            patterns[field] = tables.compile_pattern(field, pattern)
    paths = _list_paths(path)
    sources: dict[Path, str | None] = {}
    if metadata:
        sources[Path(metadata)] = None
    collections: list[Collection] = []
    problems: list[str] = []
    for item in map(Path, paths):
        try:
            collection = _read_path(item, layout, is_single=len(paths) == 1)
            beside, remarks = table_search.find_tables(collection.root)
            if not metadata:
                collection = _add_metadata(collection, beside, patterns, remarks)
        except LeafidError as error:
            if len(paths) == 1:
                raise
            first, *more = getattr(error, "problems", [str(error)])
            problems += [Omission(f"{first}; it is left out"), *more]
            continue
        collections.append(collection)
        for file in filter(tables.is_list, beside):
            sources[file] = beside[file]
    if not collections:
        raise ProblemsError(problems)
    collection = _join(collections, problems)
    if metadata:
        collection = _add_metadata(collection, sources, patterns, only_named=only_named)
    return make_labels(collection)


def _list_paths(path: Paths) -> Sequence[StrPath]:
    if isinstance(path, (str, os.PathLike)):
        path = [path]
    if "" in path:  # which would mean the current folder
        raise InputError(
            "expected the paths of pictures or collections, found an empty one"
        )
    if not path:
        raise UsageError("expected at least one picture or collection, found none")
    return path


def _join(collections: Sequence[Collection], problems: Sequence[str]) -> Collection:
    if len(collections) == 1 and not problems:
        return collections[0]
    roots = [collection.root.absolute() for collection in collections]
    root = Path(os.path.commonpath(roots))
    sets = [path for path in roots if path.suffix.lower() not in PICTURE_ENDINGS]
    names = {path: path.name for path in sets}
    if len({*names.values()}) < len(names):
        names = {path: os.path.relpath(path, root) for path in names}
    pictures: dict[Path, Picture] = {}
    remarks: list[str] = []
    for collection, path in zip(collections, roots, strict=True):
        name = names.get(path)
        for picture in collection.pictures:
            pictures[picture.file] = replace(
                picture, collection=picture.collection or name
            )
        remarks += collection.problems
    layout, *others = {collection.layout for collection in collections}
    if others:
        layout = "several"
    return Collection(root, layout, (*pictures.values(),), (*remarks, *problems))


def read_and_warn(
    path: Paths, refused: tuple[type[str], ...] = (), /, **options: Any
) -> Collection:
    """Read a collection; raise problems of the classes `refused`, warn of others."""
    collection = read_collection(path, **options)
    problems = collection.problems
    if errors := [problem for problem in problems if isinstance(problem, refused)]:
        raise ProblemsError(errors)
    for problem in collection.problems:
        logger.warning("%s", problem)
    return collection


def _read_path(path: Path, layout: str | None, *, is_single: bool) -> Collection:
    if not path.exists():
        if is_single or path.suffix.lower() not in PICTURE_ENDINGS:
            raise LeafidError(f"{path}: no such file or folder")
        return Collection(path, PLAIN_PICTURES, (Picture(path),))
    # A layout may stand below folders that hold nothing else, as in archives.
    layouts = product([layout] if layout else READERS, folders.list_wrappers(path))
    name, base = next(
        ((name, folder) for name, folder in layouts if READERS[name][0](folder)),
        (layout or PLAIN_PICTURES, path),
    )
    pictures, problems = READERS[name][1](base)
    if path.is_dir():
        problems = [*problems, *_list_leftovers(path, pictures)]
    if not pictures:
        expected = "pictures, or folders of pictures"
        if layout:
            expected = f"pictures in the layout {layout}"
        problem = f"{path}: expected {expected}, found none that can be used"
        raise ProblemsError([problem, *problems])
    return Collection(path, name, tuple(pictures), tuple(problems))


def _add_metadata(
    collection: Collection,
    sources: Mapping[Path, str | None],
    patterns: Mapping[str, re.Pattern[str]],
    problems: Sequence[str] = (),
    *,
    only_named: bool = False,
) -> Collection:
    """Add what tables, lists of parts and patterns say."""
    root = collection.root
    if not root.is_dir():
        root = root.parent
    labels = {picture.file: picture.taxon for picture in collection.pictures}
    pictures, remarks = tables.apply_tables(
        root, collection.pictures, sources, only_named=only_named
    )
    lines = [*collection.problems, *problems, *remarks]
    for field, pattern in patterns.items():
        pictures, remarks = tables.apply_pattern(root, pictures, pattern, field)
        lines += remarks
    if any(labels[picture.file] is not picture.taxon for picture in pictures):
        lines = [line for line in lines if not isinstance(line, EmptyClass)]
    if not pictures:
        names = ", ".join(map(str, sources))
        problem = f"{names}: expected rows of pictures of {root}, found none"
        raise ProblemsError([problem, *lines])
    unique = tuple(name_clashing_pictures(root, pictures))
    return replace(collection, pictures=unique, problems=tuple(lines))


def _list_leftovers(root: Path, pictures: Sequence[Picture]) -> Iterator[str]:
    """List unreadable folders, and the remarks about other files, a line each.

    These are system files, and files outside of the layout.
    """
    errors: list[OSError] = []
    used = {picture.file.parent for picture in pictures}
    left: list[Path] = []
    for folder, names in folders.walk_folders(root, errors.append):
        known = {*_METADATA}
        if folder in used:
            known |= {*PICTURE_ENDINGS}
        others = {*names} - {*folders.filter_names(names, known)}
        left += folders.sort_paths(folder, folders.filter_names(others))
    for error in errors:
        reason = f"can't be read: {error.strerror}"
        yield Omission(f"{error.filename}: {reason}; its pictures are left out")
    kind = str
    if any(file.suffix.lower() in PICTURE_ENDINGS for file in left):
        kind = Omission
    every_picture = {*folders.walk_pictures(root, with_system=True)}
    left += sorted(every_picture - {*folders.walk_pictures(root)})
    if left:
        count = f"{count_noun(len(left), 'file')} left out ({left[0]} first)"
        yield kind(f"{root}: {count}: hidden, no pictures, or outside of the layout")


def name_clashing_pictures(
    root: Path, pictures: Sequence[Picture]
) -> Iterator[Picture]:
    """Name pictures by their paths below their part where file names are repeated."""
    counts = Counter((picture.part, picture.name) for picture in pictures)
    clashing = {part for (part, _), count in counts.items() if count > 1}
    for picture in pictures:
        if picture.part not in clashing:
            yield picture
            continue
        words = tables.get_relative_path(picture.file, root).parts
        parts = [*map(folders.parse_part, words[:-2])]
        start = 0
        if picture.part in parts:
            start = parts.index(picture.part) + 1
        yield replace(picture, path_name="/".join(words[start:]))
