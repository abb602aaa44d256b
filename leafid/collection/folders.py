"""Lists folders, always in the same order."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from leafid.collection.collection import Omission
from leafid.collection.names import natural_sort_key
from leafid.errors import LeafidError
from leafid.images import PICTURE_ENDINGS

_PARTS = {"train": "train", "val": "val", "validation": "val", "test": "test"}


def list_files(folder: Path, endings: Iterable[str]) -> list[Path]:
    """List the files of a folder that have one of the endings (lower case), hidden ones left out."""
    wanted = frozenset(endings)
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if not entry.name.startswith(".") and not _is_folder(entry)]
    return [folder / name for name in sorted(names, key=natural_sort_key) if _ending(name) in wanted]


def list_pictures(folder: Path) -> list[Path]:
    """List the picture files of a folder."""
    return list_files(folder, PICTURE_ENDINGS)


def has_file(folder: Path, endings: Iterable[str]) -> bool:
    """Tell whether a folder has a file of one of the endings, reading no further than the first."""
    wanted = frozenset(endings)
    with os.scandir(folder) as entries:
        return any(_ending(e.name) in wanted and not e.name.startswith(".") and not _is_folder(e) for e in entries)


def list_folders(folder: Path) -> list[Path]:
    """List the folders of a folder, hidden ones left out."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if _is_folder(entry) and not entry.name.startswith(".")]
    return [folder / name for name in sorted(names, key=natural_sort_key)]


def walk_pictures(folder: Path, problems: list[str], *, descend: bool = True) -> Iterator[Path]:
    """Yield the picture files of a folder, then those of its sub-folders, hidden ones left out.

    A folder that can't be read becomes a problem when its turn comes.
    """
    try:
        found, folders = list_pictures(folder), _folders_below(folder)
    except OSError as error:
        problems.append(Omission(f"{folder}: can't be read: {error.strerror or error}; what it holds is left out"))
        return
    yield from found
    for sub in folders if descend else ():
        # Linked folders are not followed further down, so that links in a circle have an end.
        yield from walk_pictures(sub, problems, descend=not sub.is_symlink())


def report_omissions(root: Path, read: Collection[Path], expected: str) -> Iterator[str]:
    """Name the places below a folder whose pictures a layout has no use for, with how many there are.

    Parameters
    ----------
    root : Path
    read : collection of Path
        The folders whose own pictures were listed, or are the matter of a problem already.
    expected : str
        Where pictures should be.

    Yields
    ------
    str
        A line for each folder with loose pictures, and for each uppermost folder of which nothing was read.
    """
    on_the_way = {parent for folder in read for parent in folder.parents}

    def look(folder: Path) -> Iterator[str]:
        if folder not in read:
            yield from _unexpected(folder, len(list_pictures(folder)), expected)
        for sub in _folders_below(folder):
            if sub in read or sub in on_the_way:
                yield from look(sub)
            else:
                problems: list[str] = []
                number = sum(1 for _ in walk_pictures(sub, problems, descend=not sub.is_symlink()))
                yield from _unexpected(sub, number, expected)
                yield from problems

    yield from look(root)


def _folders_below(folder: Path) -> list[Path]:
    """List the folders of a folder without links to itself or to what it is in."""
    above = {folder.resolve(), *folder.resolve().parents}
    return [sub for sub in list_folders(folder) if not sub.is_symlink() or sub.resolve() not in above]


def _unexpected(folder: Path, number: int, expected: str) -> Iterator[str]:
    if number:
        found = "1 picture here; it is" if number == 1 else f"{number} pictures here; they are"
        yield Omission(f"{folder}: expected pictures {expected}, found {found} left out")


def find_part_folders(folder: Path) -> list[tuple[str, Path]]:
    """Find the folders named after a part (``train``, ``val``, ``test``, upper or lower case), in that order."""
    found = [(_PARTS[sub.name.lower()], sub) for sub in list_folders(folder) if sub.name.lower() in _PARTS]
    return sorted(found, key=lambda entry: ("train", "val", "test").index(entry[0]))


def refuse_repeated_parts(folders: Iterable[Path]) -> None:
    """Refuse folders of which two mean one part: whether to join them, only a person can tell.

    Raises
    ------
    LeafidError
        Names the two.
    """
    seen: dict[str, Path] = {}
    for folder in folders:
        part = _PARTS.get(folder.name.lower())
        if part is not None and seen.setdefault(part, folder) != folder:
            raise LeafidError(
                f"{folder.parent}: expected one folder of part {part}, found {seen[part].name} and {folder.name}; "
                "join them, or move one away"
            )


def parse_part(folder: Path) -> str | None:
    """Tell which part a folder is by its name."""
    return _PARTS.get(folder.resolve().name.lower())


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # A link that leads to itself: listed as a file, and whoever reads it will say why he can't.
        return False


def _ending(name: str) -> str:
    return os.path.splitext(name)[1].lower()  # noqa: PTH122  # a Path for each of 300,000 names takes seconds
