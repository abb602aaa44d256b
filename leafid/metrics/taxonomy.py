"""The tree that species hang in, as answers and errors above the species need it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from leafid.collection.names import parse_genus
from leafid.collection.picture import Picture, Taxon
from leafid.errors import LeafidError
from leafid.metrics.path_error import WILDCARD

RANKS = ("order", "family", "genus", "species")


class Taxonomy:
    """The tree that a list of species hangs in.

    Parameters
    ----------
    taxa : iterable of Taxon
        Distinct species, in the order of the columns of a matrix of probabilities.

    Attributes
    ----------
    species : tuple of str
        The species, in the order given.
    ranks : tuple of str
        The ranks that every taxon has, from the top down; the last is "species".
    paths : dict of str to tuple of str
        The names at `ranks` of each species.

    Raises
    ------
    LeafidError
        When there is no species, a species comes twice, a name stands at two ranks, or a name has two parents.
    """

    def __init__(self, taxa: Iterable[Taxon]) -> None:
        listed = [_with_genus(taxon) for taxon in taxa]
        if not listed:
            raise LeafidError("expected a taxonomy of at least one species, found none")
        self.species = tuple(taxon.species for taxon in listed)
        self.ranks = tuple(rank for rank in RANKS if all(getattr(taxon, rank) for taxon in listed))
        self.paths = {taxon.species: tuple(getattr(taxon, rank) for rank in self.ranks) for taxon in listed}
        if len(self.paths) != len(listed):
            twice = next(name for name in self.species if self.species.count(name) > 1)
            raise LeafidError(f"expected every species once in the taxonomy, found {twice!r} twice")
        self._nodes = self._checked_nodes()

    @classmethod
    def of_pictures(cls, pictures: Iterable[Picture]) -> Taxonomy:
        """Make the tree of the species of labelled pictures; of two taxa of one species the later one counts.

        Raises
        ------
        LeafidError
            As the class does.
        """
        return cls({picture.taxon.species: picture.taxon for picture in pictures if picture.taxon}.values())

    def path(self, answer: str) -> tuple[str, ...]:
        """Read an answer: a species, or a higher taxon or nothing followed by ``*``.

        Parameters
        ----------
        answer : str
            ``Quercus robur``, ``Quercus *``, ``Fagaceae *``, ``Fagales *`` or ``*``.

        Returns
        -------
        tuple of str
            A name for each of `ranks`, ``"*"`` where the answer says nothing.

        Raises
        ------
        LeafidError
            When the taxonomy has no such species or taxon.
        """
        if answer in self.paths:
            return self.paths[answer]
        taxon = answer.removesuffix(WILDCARD).rstrip() if answer.endswith(WILDCARD) else None
        if taxon == "":
            return (WILDCARD,) * len(self.ranks)
        if taxon is None or taxon in self.paths or taxon not in self._nodes:
            raise LeafidError(f"expected a species of the taxonomy, or a higher taxon and '*', found {answer!r}")
        known = self._nodes[taxon]
        return known + (WILDCARD,) * (len(self.ranks) - len(known))

    def branching(self, species: str) -> tuple[int, ...]:
        """Count the children of each true parent on the way down to a species; the first counts the top rank's taxa."""
        path = self.paths[species]
        return tuple(len(self._children[path[:depth]]) for depth in range(len(path)))

    def nodes(self, rank: str) -> tuple[list[str], np.ndarray]:
        """List the taxa of a rank, and to which of them each species belongs.

        Returns
        -------
        names : list of str
            Sorted.
        owners : int array (C,)
            For each species, the index of its taxon in `names`.
        """
        depth = self.ranks.index(rank)
        of_species = [self.paths[name][depth] for name in self.species]
        names = sorted(set(of_species))
        position = {name: index for index, name in enumerate(names)}
        return names, np.array([position[name] for name in of_species])

    def distances(self) -> np.ndarray:
        """Distances between species in the tree.

        Returns
        -------
        float array (C, C)
            Ranks that differ, as a share of all ranks: 0 for the same species, 1 for species with nothing in common.
        """
        owners = np.stack([self.nodes(rank)[1] for rank in self.ranks])
        return (owners[:, :, None] != owners[:, None, :]).mean(axis=0)

    @cached_property
    def _children(self) -> dict[tuple[str, ...], set[str]]:
        children: dict[tuple[str, ...], set[str]] = {}
        for path in self.paths.values():
            for depth, name in enumerate(path):
                children.setdefault(path[:depth], set()).add(name)
        return children

    def _checked_nodes(self) -> dict[str, tuple[str, ...]]:
        nodes: dict[str, tuple[str, ...]] = {}
        for path in self.paths.values():
            for depth, name in enumerate(path, start=1):
                before = nodes.setdefault(name, path[:depth])
                if before != path[:depth]:
                    raise LeafidError(
                        f"expected one place for {name!r} in the taxonomy, "
                        f"found {' > '.join(before)} and {' > '.join(path[:depth])}"
                    )
        return nodes


def _with_genus(taxon: Taxon) -> Taxon:
    genus = taxon.genus or parse_genus(taxon.species)
    return Taxon(taxon.species, genus, taxon.family, taxon.order)
