"""Lists folders in an order that doesn't depend on the file system."""

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.collection import Omission
from leafid.pictures.formats import PICTURE_ENDINGS
from leafid.pictures.names import natural_sort_key

#: Maximum depth of folders; the paths of deeper ones are longer than systems allow.
MAX_DEPTH = 100
_PARTS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
_PART_ORDER = ("train", "val", "test")


def list_files(folder: Path, endings: Collection[str] | None) -> list[Path]:
    """List the files of a folder, or those with one of the endings (lower case), except hidden ones."""
    return _sort_paths(folder, _scan_files(folder, endings))


def list_pictures(folder: Path) -> list[Path]:
    """List the picture files of a folder."""
    return list_files(folder, PICTURE_ENDINGS)


def has_file(folder: Path, endings: Collection[str]) -> bool:
    """Tell whether a folder has a file with one of the endings, reading no further than the first."""
    return any(True for _ in _scan_files(folder, endings))


def list_folders(folder: Path) -> list[Path]:
    """List the sub-folders of a folder, except hidden ones."""
    return _sort_paths(folder, (entry.name for entry in _scan(folder) if _is_folder(entry)))


def _scan(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from (entry for entry in entries if not entry.name.startswith("."))


def _scan_files(folder: Path, endings: Collection[str] | None) -> Iterator[str]:
    for entry in _scan(folder):
        ending = os.path.splitext(entry.name)[1]  # noqa: PTH122  # creating 300,000 Path objects takes seconds
        if (endings is None or ending.lower() in endings) and not _is_folder(entry):
            yield entry.name


def _sort_paths(folder: Path, names: Iterable[str]) -> list[Path]:
    return [folder / name for name in sorted(names, key=natural_sort_key)]


def walk_files(
    folder: Path, endings: Collection[str] | None = None, problems: list[str] | None = None, *, descend: bool = True
) -> Iterator[list[Path]]:
    """Yield the files of a folder, or those with one of the endings, then those of each folder below it, except hidden.

    A folder that can't be read, or is more than `MAX_DEPTH` folders deep, is added to the problems.
    """
    waiting = [(folder, descend, 0)]
    while waiting:
        current, descends, depth = waiting.pop()
        try:
            if depth > MAX_DEPTH:
                raise OSError(f"it is more than {MAX_DEPTH} folders deep")
            files, sub_folders = list_files(current, endings), _list_folders_without_cycles(current)
        except OSError as error:
            if problems is not None:
                reason = error.strerror or error
                problems.append(Omission(f"{current}: can't be read: {reason}; its pictures are left out"))
            continue
        yield files
        if descends:
            # The sub-folders of a linked folder are not visited, so that circular links end.
            waiting += [(sub, not sub.is_symlink(), depth + 1) for sub in reversed(sub_folders)]


def walk_pictures(folder: Path, problems: list[str], *, descend: bool = True) -> Iterator[Path]:
    """Yield the picture files of a folder and of those below it as `walk_files` does."""
    return chain.from_iterable(walk_files(folder, PICTURE_ENDINGS, problems, descend=descend))


def _list_folders_without_cycles(folder: Path) -> list[Path]:
    """List the sub-folders of a folder without links to itself or to a folder above it."""
    folders = list_folders(folder)
    if not any(sub.is_symlink() for sub in folders):
        return folders
    cycles = {folder.resolve(), *folder.resolve().parents}
    return [sub for sub in folders if not sub.is_symlink() or sub.resolve() not in cycles]


def find_part_folders(folder: Path) -> list[tuple[str, Path]]:
    """Return the folders named after a part, upper or lower case, in the order train, val, test."""
    found = [(part, sub) for sub in list_folders(folder) if (part := parse_part_name(sub.name))]
    return sorted(found, key=lambda entry: _PART_ORDER.index(entry[0]))


def find_sections(folder: Path) -> list[tuple[str | None, Path]]:
    """Return the part folders of a folder, or the folder itself if it has none, each with its part."""
    return [*find_part_folders(folder)] or [(parse_part(folder), folder)]


def refuse_repeated_parts(folders: Iterable[Path]) -> None:
    """Raise an error if two folders are the same part, because only the user can tell whether to join them."""
    seen: dict[str, Path] = {}
    for folder in folders:
        part = parse_part_name(folder.name)
        if part is not None and seen.setdefault(part, folder) != folder:
            raise LeafidError(
                f"{folder.parent}: expected one folder of part {part}, found {seen[part].name} and {folder.name}; "
                "join them, or move one away"
            )


def parse_part(folder: Path) -> str | None:
    """Return the part that a folder's name stands for."""
    return parse_part_name(folder.resolve().name)


def parse_part_name(word: str) -> str | None:
    """Return the part that a word stands for."""
    return _PARTS.get(word.lower())


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # A link to itself is listed as a file; reading it will report the error.
        return False
