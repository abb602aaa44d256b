"""The collection that a reader of any layout returns."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from leafid.grouping import group_by
from leafid.pictures.picture import AcquisitionType, Picture

logger = logging.getLogger(__name__)


class Omission(str):
    """A problem because of which pictures were left out."""


class XmlOmission(Omission):
    """A problem because of which an XML file was left out, whose picture a ground truth then lacks."""


class EmptyClass(str):
    """A problem of a folder of a label that holds no picture: a model would lack the label."""


@dataclass(frozen=True)
class Collection:
    """Pictures, and the problems that were found while listing them."""

    #: The folder or file that was read.
    root: Path
    #: Name of the layout, as in `READERS`.
    layout: str
    #: Pictures, sorted by part (train, val, test), then by name in natural order. Where a collection holds only
    #: metadata, the file of a picture may be missing, see `find_missing`.
    pictures: tuple[Picture, ...]
    #: A line for each problem; those that cost pictures are `Omission`.
    problems: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pictures)

    @property
    def species(self) -> tuple[str, ...]:
        """The species names, sorted."""
        return tuple(group_by_species(self.pictures))

    @property
    def types(self) -> tuple[AcquisitionType, ...]:
        """The acquisition types that occur, in the order scan, scan-like, photo."""
        return tuple(type_ for type_ in AcquisitionType if any(picture.type == type_ for picture in self.pictures))

    @property
    def is_incomplete(self) -> bool:
        """Whether pictures were left out."""
        return any(isinstance(problem, Omission) for problem in self.problems)

    def select_type(self, type_: AcquisitionType | str | None) -> Collection:
        """Keep the pictures of one acquisition type; None selects those of unknown type."""
        return replace(self, pictures=tuple(picture for picture in self.pictures if picture.type == type_))

    def part(self, part: str | None) -> Collection:
        """Keep the pictures of one part: ``train``, ``val``, ``test``, or None."""
        return replace(self, pictures=tuple(picture for picture in self.pictures if picture.part == part))

    def select_labelled(self) -> Collection:
        """Keep the pictures of known species."""
        return replace(self, pictures=tuple(picture for picture in self.pictures if picture.species is not None))

    def find_missing(self) -> tuple[Picture, ...]:
        """Return the pictures with metadata but no file."""
        return tuple(picture for picture in self.pictures if not picture.file.is_file())


def find_name_clashes(pictures: Iterable[Picture]) -> dict[str, list[Picture]]:
    """Return the names that several pictures share, which makes lines of a run file ambiguous."""
    by_name = group_by(pictures, lambda picture: picture.name)
    return {name: clashing for name, clashing in by_name.items() if len(clashing) > 1}


def group_by_species(pictures: Iterable[Picture]) -> dict[str, list[Picture]]:
    """Group labelled pictures by species, sorted by name; others are left out."""
    groups = group_by((picture for picture in pictures if picture.species is not None), lambda p: str(p.species))
    return dict(sorted(groups.items()))


def warn_of_lost_species(pictures: Iterable[Picture], readable: Iterable[Picture]) -> None:
    """Log a warning of species of which no picture is readable, so that a model lacks them."""
    if lost := {picture.species for picture in pictures} - {picture.species for picture in readable} - {None}:
        logger.warning("no picture could be read of %s; the model doesn't know it", ", ".join(sorted(map(str, lost))))
