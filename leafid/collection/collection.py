"""What a reader of any layout hands back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from leafid.collection.picture import AcquisitionType, Picture


class Omission(str):
    """The line of a problem that pictures were left out for."""


@dataclass(frozen=True)
class Collection:
    """Pictures, and what went wrong while they were listed.

    Attributes
    ----------
    root : Path
        The folder (or single file) that was read.
    layout : str
        The name of the layout that it was read as.
    pictures : tuple of Picture
        By part (train, val, test), then by name with numbers in their order. A picture's file may be missing where
        the collection holds only metadata, see `find_missing`.
    problems : tuple of str
        A line each for what was left out, and why; `Omission` where that is pictures.
    """

    root: Path
    layout: str
    pictures: tuple[Picture, ...]
    problems: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pictures)

    @property
    def species(self) -> tuple[str, ...]:
        """The species names, sorted."""
        return tuple(sorted({picture.species for picture in self.pictures if picture.species is not None}))

    @property
    def types(self) -> tuple[AcquisitionType, ...]:
        """The acquisition types that there are, in the order scan, scan-like, photo."""
        present = {picture.type for picture in self.pictures}
        return tuple(type_ for type_ in AcquisitionType if type_ in present)

    @property
    def is_incomplete(self) -> bool:
        """Whether pictures were left out."""
        return any(isinstance(problem, Omission) for problem in self.problems)

    def select_type(self, type_: AcquisitionType | str | None) -> Collection:
        """Keep the pictures of one acquisition type (None: those of which it isn't known)."""
        return self._keep(picture for picture in self.pictures if picture.type == type_)

    def part(self, part: str | None) -> Collection:
        """Keep the pictures of one part: ``train``, ``val``, ``test``, or None."""
        return self._keep(picture for picture in self.pictures if picture.part == part)

    def select_labelled(self) -> Collection:
        """Keep the pictures of which the species is known."""
        return self._keep(picture for picture in self.pictures if picture.species is not None)

    def fill_type(self, type_: AcquisitionType | str) -> Collection:
        """Fill in the acquisition type where the collection doesn't say."""
        filled = AcquisitionType(type_)
        return self._keep(picture if picture.type else replace(picture, type=filled) for picture in self.pictures)

    def find_missing(self) -> tuple[Picture, ...]:
        """Return the pictures of which there is metadata, but no file."""
        return tuple(picture for picture in self.pictures if not picture.file.is_file())

    def _keep(self, pictures: Iterable[Picture]) -> Collection:
        return replace(self, pictures=tuple(pictures))


def find_name_clashes(pictures: Iterable[Picture]) -> dict[str, tuple[Picture, ...]]:
    """Find the file names that several pictures bear, which makes lines of a run file ambiguous.

    Parameters
    ----------
    pictures : iterable of Picture

    Returns
    -------
    dict of str to tuple of Picture
        Names in the order in which they first come; empty where every name is used once.
    """
    by_name: dict[str, list[Picture]] = {}
    for picture in pictures:
        by_name.setdefault(picture.name, []).append(picture)
    return {name: tuple(bearers) for name, bearers in by_name.items() if len(bearers) > 1}
