"""Finds pictures by the names that tables and runs have for them."""

from collections.abc import Container, Iterable, Sequence
from pathlib import PurePath
from typing import Generic, TypeVar

T = TypeVar("T")

# Ends of paths that are looked for have no more folders.
_MAX_FOLDERS = 20


class NameIndex(Generic[T]):
    """Values by all their names, but not by a name that several values have.

    A name counts with and without its ending.
    """

    def __init__(self, names: Iterable[tuple[T, Sequence[str | PurePath]]]) -> None:
        self.value_of: dict[str, T | None] = {}
        for value, paths in names:
            without_ending = (path.parent / path.stem for path in map(PurePath, paths))
            for name in {*map(str, paths), *map(str, without_ending)}:
                self.value_of[name] = None if name in self.value_of else value

    def find(self, path: str) -> T | None:
        """Find the value that a path, or its longest end that is a name, means."""
        name = find_end(path, self.value_of)
        return None if name is None else self.value_of[name]


def find_end(path: str, names: Container[str]) -> str | None:
    """Find a path, or its longest end, among names.

    Folders end with slashes or backslashes.
    """
    parts = path.replace("\\", "/").rsplit("/", _MAX_FOLDERS)
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in (path, *ends) if end in names), None)
