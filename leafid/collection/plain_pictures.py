"""Reads pictures without metadata: one file, several, or a folder of them and of further folders."""

from __future__ import annotations

from pathlib import Path

from leafid.collection.collection import Collection
from leafid.collection.folders import has_file, walk_pictures
from leafid.collection.picture import Picture
from leafid.images import PICTURE_ENDINGS

LAYOUT = "pictures"


def detect(path: Path) -> bool:
    """Tell whether a path is a file, or a folder with picture files in it or in its sub-folders."""
    if not path.is_dir():
        return path.is_file()
    return has_file(path, PICTURE_ENDINGS) or any(True for _ in walk_pictures(path, []))


def read(path: Path) -> Collection:
    """List a file as it is, whatever its name, or the picture files of a folder and of its sub-folders."""
    problems: list[str] = []
    files = list(walk_pictures(path, problems)) if path.is_dir() else [path]
    return Collection(path, LAYOUT, tuple(Picture(file) for file in files), tuple(problems))
