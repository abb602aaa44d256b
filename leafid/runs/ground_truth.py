"""The ground truth that runs are scored against: what is known of each labelled picture, in columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from leafid.collection.names import parse_genus
from leafid.collection.picture import Picture
from leafid.errors import LeafidError, ProblemsError
from leafid.runs.checks import KnownNames

#: What stands in a column where the collection doesn't say.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class GroundTruth:
    """The labelled pictures, sorted by name; every column has one entry a picture.

    Attributes
    ----------
    pictures : tuple of str
        File names, each once.
    species, genus, family : tuple of str
        The right answer and what it belongs to.
    type : tuple of str
        ``scan``, ``scan-like``, ``photo``.
    author, plant, content : tuple of str
        A picture without plant is a plant of its own.
    known : Known
        The names that a run may use.
    family_of : mapping of str to str
        The family of each known genus.
    """

    pictures: tuple[str, ...]
    species: tuple[str, ...]
    genus: tuple[str, ...]
    family: tuple[str, ...]
    type: tuple[str, ...]
    author: tuple[str, ...]
    plant: tuple[str, ...]
    content: tuple[str, ...]
    known: KnownNames
    family_of: Mapping[str, str]

    def __len__(self) -> int:
        """Count the pictures."""
        return len(self.pictures)

    def column(self, name: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """Get a column as numbers.

        Parameters
        ----------
        name : str
            ``species``, ``genus``, ``family``, ``type``, ``author``, ``plant`` or ``content``.

        Returns
        -------
        names : tuple of str
            The distinct entries, sorted.
        index : intp (number of pictures,)
            Each picture's entry, as index into `names`.
        """
        return encode_labels(getattr(self, name))


def encode_labels(entries: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Give numbers to the distinct entries of a sequence, in their sorted order.

    Examples
    --------
    >>> numbered(["b", "a", "b"])
    (('a', 'b'), array([1, 0, 1]))
    """
    names = tuple(sorted(set(entries)))
    place = {name: index for index, name in enumerate(names)}
    return names, np.fromiter(map(place.__getitem__, entries), np.intp, len(entries))


def make_ground_truth(
    pictures: Iterable[Picture],
    other_species: Iterable[str] = (),
    *,
    complete: bool = False,
    source: str = "collection",
) -> GroundTruth:
    """Take the labelled pictures as the ground truth.

    Parameters
    ----------
    pictures : iterable of Picture
        Those without species are left out.
    other_species : iterable of str
        Species that a run may name besides those of the pictures.
    complete : bool, default False
        Whether there can be no species but these.
    source : str
        Named in messages.

    Returns
    -------
    GroundTruth

    Raises
    ------
    LeafidError
        When no picture is labelled, or two have one name.
    """
    labelled = sorted((picture for picture in pictures if picture.species), key=lambda picture: picture.name)
    if not labelled:
        raise LeafidError(
            f"{source}: expected pictures with their species, found none; is this a test set without labels?"
        )
    twins = [
        f"{source}: expected picture names that differ, found {first.file} and {second.file}; score them apart (--part)"
        for first, second in pairwise(labelled)
        if first.name == second.name
    ]
    if twins:
        raise ProblemsError(twins)
    taxa = [(picture, picture.taxon) for picture in labelled if picture.taxon is not None]
    genus = tuple(taxon.genus or parse_genus(taxon.species) for _, taxon in taxa)
    family = tuple(taxon.family or UNKNOWN for _, taxon in taxa)
    species = tuple(taxon.species for _, taxon in taxa)
    return GroundTruth(
        pictures=tuple(picture.name for picture in labelled),
        species=species,
        genus=genus,
        family=family,
        type=tuple(str(picture.type or UNKNOWN) for picture in labelled),
        author=tuple(picture.author or UNKNOWN for picture in labelled),
        plant=tuple(picture.plant or f"of {picture.name}" for picture in labelled),
        content=tuple(str(picture.content or UNKNOWN) for picture in labelled),
        known=KnownNames(
            frozenset(picture.name for picture in labelled), frozenset(species) | frozenset(other_species), complete
        ),
        family_of=dict(zip(genus, family, strict=True)),
    )
