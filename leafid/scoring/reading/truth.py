"""The ground truth of runs: columns of what is known of each labelled picture."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError, ProblemsError
from leafid.metrics.averages import Booleans, Indices
from leafid.pictures.names import (
    UNKNOWN_SPECIES,
    parse_label,
    read_families,
)
from leafid.pictures.picture import (
    AcquisitionType,
    Picture,
    Taxon,
)
from leafid.scoring.reading.runs import KnownNames, Run, select_rows

logger = logging.getLogger(__name__)

#: The entry of a column where the collection has none.
UNKNOWN = "unknown"
#: The order of acquisition types in tables.
TYPE_ORDER = (*map(str, AcquisitionType), UNKNOWN)
#: The name of the group of all pictures.
ALL = "all pictures"

#: Text, an object for each picture.
Texts = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """The labelled pictures, sorted by name; columns have an entry for each picture."""

    #: The names that a run may use.
    known: KnownNames
    #: File names, each once.
    pictures: Texts
    #: `species` is the correct answer, `genus` and `family` are the taxa above it.
    species: Texts
    genus: Texts
    family: Texts
    #: ``scan``, ``scan-like``, ``photo``.
    type: Texts
    author: Texts
    #: The plants of S: as in the official scorer, an author's pictures of unknown
    #: plants show one plant, `UNKNOWN`.
    official_plant: Texts
    #: The plants that are counted, resampled and fused: each picture of an unknown
    #: plant shows a plant by itself.
    plant: Texts

    def __len__(self) -> int:
        return len(self.pictures)

    def select_known(self, source: object = "ground truth") -> GroundTruth:
        """Select the pictures that aren't of `UNKNOWN_SPECIES`.

        A `LeafidError` names the source when there is none.
        """
        known = self.select(self.species != UNKNOWN_SPECIES)
        if not len(known):
            raise LeafidError(
                f"{source}: expected pictures of known species, found {len(self)} "
                "unknown ones only"
            )
        return known

    def select(self, mask: Booleans) -> GroundTruth:
        """Select pictures; a run may name the others as well."""
        return select_rows(self, mask)

    def select_type(self, type_: AcquisitionType | None, source: object) -> GroundTruth:
        """Select the pictures of an acquisition type, or all without one.

        A `LeafidError` names the source when there is none.
        """
        if type_ is None:
            return self
        truth = self.select(self.type == str(type_))
        if not len(truth):
            raise LeafidError(
                f"{source}: expected pictures of type {type_}, found none"
            )
        return truth

    def locate(self, run: Run) -> tuple[Run, Indices, Indices]:
        """Find a run's predictions of pictures of this ground truth.

        Also returns the index of each one's picture, and of its species among the
        sorted species, -1 for others: intp (N,) for these N predictions.
        """
        picture = find_indices(run.pictures, self.pictures)[run.picture_index]
        located = run.select(picture >= 0)
        species = find_indices(run.species, np.unique(self.species))
        return located, picture[picture >= 0], species[located.species_index]


def find_indices(names: Iterable[str], known: Iterable[str]) -> Indices:
    """Find each name's index among the known ones, -1 for others."""
    index = {name: position for position, name in enumerate(known)}
    return np.array([index.get(name, -1) for name in names], np.intp)


def make_ground_truth(
    pictures: Iterable[Picture],
    known: KnownNames | None = None,
    *,
    source: str = "collection",
) -> GroundTruth:
    """Make a ground truth of the labelled pictures.

    A warning counts the pictures without a species, type or author. Runs may name the
    other pictures as well, and the species of `known` (by default the species of the
    pictures); `source` is named in messages. A `LeafidError` is raised when no picture
    is labelled, or two have one name.
    """
    everything = tuple(pictures)
    labelled = sorted(
        (picture for picture in everything if picture.species),
        key=lambda picture: picture.name,
    )
    if not labelled:
        raise LeafidError(
            f"{source}: expected pictures with their species, found none; is this a "
            "test set without labels?"
        )
    if clashes := [(a.file, b.file) for a, b in pairwise(labelled) if a.name == b.name]:
        raise ProblemsError(
            f"{source}: expected picture names that differ, found {a} and {b}; score "
            "them apart (--part)"
            for a, b in clashes
        )
    _warn_of_gaps(everything, labelled)
    known = known or collect_known_names(everything)
    names = frozenset(picture.name for picture in everything)
    rows = [_make_row(picture, known.family_of) for picture in labelled]
    return GroundTruth(replace(known, pictures=names), *np.array(rows, object).T)


def _make_row(picture: Picture, family_of: Mapping[str, str]) -> tuple[str, ...]:
    """Make the entries of a picture, in the order of the columns of a ground truth."""
    assert picture.taxon
    genus = _find_genus(picture.taxon) or UNKNOWN
    return (
        picture.name,
        picture.taxon.species,
        genus,
        picture.taxon.family or family_of.get(genus, UNKNOWN),
        str(picture.type or UNKNOWN),
        picture.author or UNKNOWN,
        picture.plant or UNKNOWN,
        picture.group if picture.plant else f"picture {picture.name}",
    )


def _warn_of_gaps(everything: Sequence[Picture], labelled: Sequence[Picture]) -> None:
    for field in ("type", "author", "plant", "species"):
        pictures = labelled
        consequence = f"they count as pictures of one more {field} in S"
        if field == "species":
            # A package has a test picture twice: with and without its label.
            unique = {picture.name: picture for picture in (*everything, *labelled)}
            pictures = [*unique.values()]
            consequence = "they are not scored"
        unknown = [picture for picture in pictures if not getattr(picture, field)]
        # In a collection that never has the field there is only one group, so that no
        # score depends on it.
        if 0 < len(unknown) < len(pictures):
            logger.warning(
                "%s: expected the %s of every picture, found none for %d of %d, this "
                "one first; %s",
                *(unknown[0].file, field, len(unknown), len(pictures), consequence),
            )


def collect_known_names(
    pictures: Iterable[Picture], species: Sequence[str] = ()
) -> KnownNames:
    """Collect the names that runs may use; `species` are the names of more species."""
    everything = tuple(pictures)
    taxa = [p.taxon for p in everything if p.taxon and p.species]
    synonyms = set()
    family_of = dict(read_families())
    for taxon in taxa:
        for name in filter(None, (taxon.full_name, taxon.identifier)):
            synonyms.add((name, taxon.species))
        genus = _find_genus(taxon)
        if taxon.family and genus:
            family_of[genus] = taxon.family
    return KnownNames(
        pictures=frozenset(picture.name for picture in everything),
        species=frozenset([*species, *(taxon.species for taxon in taxa)]),
        names=frozenset(synonyms),
        family_of=family_of,
    )


def _find_genus(taxon: Taxon) -> str | None:
    return taxon.genus or parse_label(taxon.species).genus
