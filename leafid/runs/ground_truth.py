"""The ground truth that runs are scored against: what is known of each labelled picture, in columns."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError, ProblemsError
from leafid.pictures.names import parse_label
from leafid.pictures.picture import Picture
from leafid.runs.checks import KnownNames

logger = logging.getLogger(__name__)

#: The entry of a column where the collection has none.
UNKNOWN = "unknown"
#: The species of pictures that show none of the species that a system can know, whatever they show.
UNKNOWN_SPECIES = "Unknown species"


@dataclass(frozen=True)
class GroundTruth:
    """The labelled pictures, sorted by name; every column has one entry for each picture."""

    #: File names, each once.
    pictures: tuple[str, ...]
    #: `species`, `genus`, `family`: the correct answer and the taxa above it.
    species: tuple[str, ...]
    genus: tuple[str, ...]
    family: tuple[str, ...]
    #: ``scan``, ``scan-like``, ``photo``.
    type: tuple[str, ...]
    author: tuple[str, ...]
    #: Of S: as in the official scorer, an author's pictures of unknown plants are of one plant, `UNKNOWN`.
    plant: tuple[str, ...]
    #: What is counted, resampled and fused as a plant: a picture of an unknown plant is one of its own.
    unit: tuple[str, ...]
    content: tuple[str, ...]
    #: The names that a run may use.
    known: KnownNames
    #: The family of each known genus.
    family_of: Mapping[str, str]

    def __len__(self) -> int:
        """Count the pictures."""
        return len(self.pictures)

    def split_known(self) -> tuple[GroundTruth | None, int]:
        """Split off the pictures of `UNKNOWN_SPECIES`: return the others, None without any, and the number of these."""
        kept = [index for index, name in enumerate(self.species) if name != UNKNOWN_SPECIES]
        if len(kept) == len(self):
            return self, 0
        columns = ("pictures", "species", "genus", "family", "type", "author", "plant", "unit", "content")
        selected: dict[str, Any] = {name: tuple(getattr(self, name)[index] for index in kept) for name in columns}
        return replace(self, **selected) if kept else None, len(self) - len(kept)

    def encode(self, field: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """Encode a column, such as ``species``: its distinct entries, sorted, and the index of each picture's, intp."""
        if field not in self._encoded:
            entries = getattr(self, field)
            names = tuple(sorted(set(entries)))
            position = {name: index for index, name in enumerate(names)}
            self._encoded[field] = names, np.fromiter(map(position.__getitem__, entries), np.intp, len(entries))
        return self._encoded[field]

    @cached_property
    def _encoded(self) -> dict[str, tuple[tuple[str, ...], NDArray[np.intp]]]:
        """The columns encoded so far: every run uses the same."""
        return {}


def make_ground_truth(
    pictures: Iterable[Picture],
    other_species: Iterable[str] = (),
    *,
    identifiers: Mapping[str, str] | None = None,
    complete: bool = False,
    source: str = "collection",
) -> GroundTruth:
    """Make a ground truth of the labelled pictures, with warnings where the species, type or author of some is unknown.

    Runs may name the other pictures, and `other_species`, as well. `identifiers` are the species of each identifier
    that runs may use, by default those of the pictures; `complete` says that there can be no other species; `source` is
    named in messages. A `LeafidError` is raised when no picture is labelled, or two have one name.
    """
    listed = tuple(pictures)
    labelled = sorted((picture for picture in listed if picture.species), key=lambda picture: picture.name)
    if not labelled:
        raise LeafidError(
            f"{source}: expected pictures with their species, found none; is this a test set without labels?"
        )
    clashes = [
        f"{source}: expected picture names that differ, found {first.file} and {second.file}; score them apart (--part)"
        for first, second in pairwise(labelled)
        if first.name == second.name
    ]
    if clashes:
        raise ProblemsError(clashes)
    _warn_of_unknown(labelled, "type", "acquisition type", "they count as a type of their own in the mean of types")
    _warn_of_unknown(labelled, "author", "author", "S counts them as pictures of one more author")
    _warn_of_unknown(
        labelled, "plant", "plant", "S counts those of an author as one plant, as the official scorer does"
    )
    taxa = [picture.taxon for picture in labelled if picture.taxon is not None]
    genus = tuple(taxon.genus or parse_label(taxon.species).genus or UNKNOWN for taxon in taxa)
    family = tuple(taxon.family or UNKNOWN for taxon in taxa)
    species = tuple(taxon.species for taxon in taxa)
    names = tuple(picture.name for picture in labelled)
    # A package has a test picture twice: with and without its label.
    unlabelled = {picture.name: picture for picture in listed}.keys() - set(names)
    if unlabelled:
        first = next(picture for picture in listed if picture.name in unlabelled)
        logger.warning(
            "%s: expected the species of every picture, found none for %d of %d, this one first; they are not scored",
            *(first.file, len(unlabelled), len(unlabelled) + len(names)),
        )
    return GroundTruth(
        pictures=names,
        species=species,
        genus=genus,
        family=family,
        type=tuple(str(picture.type or UNKNOWN) for picture in labelled),
        author=tuple(picture.author or UNKNOWN for picture in labelled),
        plant=tuple(picture.plant or UNKNOWN for picture in labelled),
        unit=tuple(picture.group if picture.plant else f"picture {picture.name}" for picture in labelled),
        content=tuple(str(picture.content or UNKNOWN) for picture in labelled),
        known=KnownNames(
            frozenset(names) | unlabelled,
            frozenset(species) | frozenset(other_species),
            complete,
            find_identifiers(listed) if identifiers is None else identifiers,
        ),
        family_of=dict(zip(genus, family, strict=True)),
    )


def find_identifiers(pictures: Iterable[Picture]) -> dict[str, str]:
    """Find the species of each identifier that the pictures' taxa have."""
    taxa = {picture.taxon for picture in pictures if picture.taxon}
    return {taxon.identifier: taxon.species for taxon in taxa if taxon.identifier}


def _warn_of_unknown(pictures: Sequence[Picture], field: str, title: str, consequence: str) -> None:
    unknown = [picture for picture in pictures if not getattr(picture, field)]
    # In a collection that never has the field there is only one group, so that no score depends on it.
    if 0 < len(unknown) < len(pictures):
        logger.warning(
            "%s: expected the %s of every picture, found none for %d of %d, this one first; %s",
            unknown[0].file,
            title,
            len(unknown),
            len(pictures),
            consequence,
        )
