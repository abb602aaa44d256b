"""Lists folders in an order that doesn't depend on the file system, without hidden files."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from leafid.errors import LeafidError
from leafid.pictures.header import PICTURE_ENDINGS
from leafid.pictures.names import natural_sort_key

#: Maximum depth of folders; Python 3.11 lists deeper ones by calls inside calls, of which there is a maximum, too.
MAX_DEPTH = 500
_PARTS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
}
_PART_ORDER = ("train", "val", "test")


def list_files(folder: Path, endings: Collection[str] = PICTURE_ENDINGS) -> list[Path]:
    """List the files with one of the endings (lower case); none if the folder can't be read."""
    _, _, names = next(os.walk(folder), ("", [], []))
    return _sort_paths(
        folder, (name for name in names if name.lower().endswith(tuple(endings)))
    )


def list_folders(folder: Path) -> list[Path]:
    """List the sub-folders of a folder; none if it can't be read."""
    return _sort_paths(folder, next(os.walk(folder), ("", [], []))[1])


def walk_folders(
    root: Path, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[Path, list[Path]]]:
    """Yield a folder and those below it, each with its files; `onerror` is called for those that can't be read.

    Links are followed, but no folder is visited twice, so that circular ones end.
    """
    visited: set[tuple[int, int]] = set()
    for path, folders, files in os.walk(root, onerror=onerror, followlinks=True):
        folder, status = Path(path), os.stat(path)  # noqa: PTH116  # faster
        if len(folder.parts) > MAX_DEPTH:
            raise LeafidError(
                f"{root}: expected folders of at most {MAX_DEPTH} levels, found more"
            )
        if (status.st_dev, status.st_ino) in visited:
            folders.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        folders[:] = [sub_folder.name for sub_folder in _sort_paths(folder, folders)]
        yield folder, _sort_paths(folder, files)


def _sort_paths(folder: Path, names: Iterable[str]) -> list[Path]:
    return [
        folder / name
        for name in sorted(names, key=natural_sort_key)
        if not name.startswith(".")
    ]


def walk_pictures(root: Path) -> Iterator[Path]:
    """Yield the picture files of a folder and of those below it."""
    for _, files in walk_folders(root):
        yield from (file for file in files if file.suffix.lower() in PICTURE_ENDINGS)


def find_sections(folder: Path) -> list[tuple[str | None, Path]]:
    """Return the folders called train, val and test with their parts, or the folder itself if it has none."""
    parts = [
        (part, path) for path in list_folders(folder) if (part := parse_part(path.name))
    ]
    return sorted(parts, key=lambda entry: _PART_ORDER.index(entry[0])) or [
        (parse_part(folder.resolve().name), folder)
    ]


def parse_part(word: str) -> str | None:
    """Return the part that a word stands for."""
    return _PARTS.get(word.lower())
