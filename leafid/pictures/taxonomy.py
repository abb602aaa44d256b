"""The tree of taxa that answers and errors above the species need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from leafid.errors import LeafidError
from leafid.metrics.hierarchy import WILDCARD, path_error
from leafid.pictures.names import parse_label
from leafid.pictures.picture import Picture, Taxon

RANKS: tuple[str, ...] = ("order", "family", "genus", "species")


class Taxonomy:
    """The taxa above a list of distinct species, in the order of a matrix's columns.

    `ranks` has the ranks of every taxon from the top down; the last one is "species",
    and the only one if there are plain classes. `paths` has the names at these ranks by
    species. A `LeafidError` is raised when a name stands at two ranks, or has two
    parents.
    """

    def __init__(self, taxa: Iterable[Taxon]) -> None:
        complete = [
            t if t.genus else replace(t, genus=parse_label(t.species).genus)
            for t in taxa
        ]
        self.ranks = RANKS
        for taxon in complete:
            self.ranks = tuple(rank for rank in self.ranks if getattr(taxon, rank))
        self.paths: dict[str, tuple[str, ...]] = {}
        self._children: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        self._path_of_taxon: dict[str, tuple[str, ...]] = {"": ()}
        for taxon in complete:
            path = tuple(getattr(taxon, rank) for rank in self.ranks)
            self.paths[taxon.species] = path
            for depth, name in enumerate(path):
                self._add(path[:depth], name)
        self.species = tuple(self.paths)

    def _add(self, parent: tuple[str, ...], name: str) -> None:
        self._children[parent].add(name)
        place = (*parent, name)
        first = self._path_of_taxon.setdefault(name, place)
        if first != place:
            places = f"{' > '.join(first)} and {' > '.join(place)}"
            raise LeafidError(
                f"expected one place for {name!r} in the taxonomy, found {places}"
            )

    @classmethod
    def from_pictures(cls, pictures: Iterable[Picture]) -> Taxonomy:
        """Make the tree of the species of labelled pictures.

        Of two taxa of one species the later one counts.
        """
        taxa = (picture.taxon for picture in pictures if picture.taxon)
        return cls({taxon.species: taxon for taxon in taxa}.values())

    def find_path(self, answer: str) -> tuple[str, ...]:
        """Find the path of an answer: a name for each of `ranks`, or ``"*"``.

        An answer is ``Quercus robur``, ``Quercus *``, ``Fagaceae *``, ``Fagales *`` or
        ``*``; a `LeafidError` is raised when the taxonomy has no such species or taxon.
        """
        if answer in self.paths:
            return self.paths[answer]
        taxon = answer.removesuffix(WILDCARD).rstrip()
        if (
            not answer.endswith(WILDCARD)
            or taxon in self.paths
            or taxon not in self._path_of_taxon
        ):
            raise LeafidError(
                "expected a species of the taxonomy, or a higher taxon and '*', found "
                f"{answer!r}"
            )
        path = self._path_of_taxon[taxon]
        return path + (WILDCARD,) * (len(self.ranks) - len(path))

    @property
    def path_table(self) -> np.ndarray:
        """The paths of all species: str (n_species, n_ranks)."""
        return np.array([*self.paths.values()])

    def compute_error(self, correct: str, answer: str) -> float:
        """Compute the error of an answer to a picture of a species over the ranks.

        Parameters
        ----------
        correct : str
            The species.
        answer : str
            A species, or a taxon as `find_path` takes it.

        Returns
        -------
        float
            From 0 (correct) to 1 (another order); 0.5 for ``*``.

        Raises
        ------
        LeafidError
            When the taxonomy lacks the answer.
        """
        path = self.paths[correct]
        # The first position has the taxa of the top rank.
        branching = [len(self._children[path[:depth]]) for depth in range(len(path))]
        return path_error(path, self.find_path(answer), branching)
