"""The names that a run may use for pictures and species, and what its other names resemble."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from leafid.pictures.names import (
    UNKNOWN_SPECIES,
    drop_authors,
    natural_sort_key,
    separate_words,
)
from leafid.pictures.readers.tables import index_names

#: Maximum number of names that a message lists.
MAX_NAMES = 4


@dataclass(frozen=True)
class KnownNames:
    """The names that a run may use."""

    pictures: frozenset[str]
    species: frozenset[str]
    #: The species of each other name that the collection has for it: an identifier, or one with authors.
    identifiers: Mapping[str, str] = field(default_factory=dict)
    #: The family of each known genus, that of the pictures or else of a list of common genera.
    family_of: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def picture_of(self) -> dict[str, str]:
        """The picture that each name means, also without its ending where no other picture can be meant."""
        listed = [*self.pictures]
        indices = index_names([name] for name in listed)
        return {name: listed[index] for name, index in indices.items()} | {
            name: name for name in listed
        }

    def match_species(self, names: Iterable[str]) -> dict[str, str]:
        """Find the species that names mean; those that mean none, or several, are left out.

        A name means the species that the collection calls so. Otherwise it means the one that is called so but for
        underscores, or for authors that only one of both names has, unless another name means this species.
        """
        listed = dict.fromkeys(names)
        matched = {name: self._called[name] for name in listed if name in self._called}
        for find in (self._find_spelled, self._find_without_authors):
            others = {name: find(name) for name in listed if name not in matched}
            count = Counter([*matched.values(), *others.values()])
            matched |= {
                name: species
                for name, species in others.items()
                if species and count[species] == 1
            }
        return matched

    @cached_property
    def _called(self) -> dict[str, str]:
        """The species of each name in the collection; a label that lost its authors is no such name."""
        shortened = {
            species
            for name, species in self.identifiers.items()
            if name != species and drop_authors(name) == species
        }
        labels = {name: name for name in self.species - shortened}
        return labels | dict(self.identifiers)

    @cached_property
    def _spelled(self) -> dict[str, str]:
        return self._index(separate_words)

    @cached_property
    def _bare(self) -> dict[str, str]:
        return self._index(drop_authors)

    def _index(self, reduce: Callable[[str], str]) -> dict[str, str]:
        """Index the species by reduced names, without those that several species share."""
        species: defaultdict[str, set[str]] = defaultdict(set)
        for name, meant in self._called.items():
            species[reduce(name)].add(meant)
        return {name: min(some) for name, some in species.items() if len(some) == 1}

    def _find_spelled(self, name: str) -> str | None:
        return self._spelled.get(separate_words(name))

    def _find_without_authors(self, name: str) -> str | None:
        bare = drop_authors(name)
        has_authors = bare != separate_words(name)
        return (self._spelled if has_authors else self._bare).get(bare)

    def find_foreign(self, names: Iterable[str]) -> list[str]:
        """Find the names that are of no known species, in natural order; where no species is known, there are none."""
        foreign = {*names} - self.species - {UNKNOWN_SPECIES} if self.species else ()
        return sorted(foreign, key=natural_sort_key)

    def describe(self, foreign: Iterable[str]) -> str:
        """List some foreign names, first those that resemble a known one, which is named as well."""
        nearest: dict[str, str] = {}
        for name in sorted(self._called):
            for form in _blur(name):
                nearest.setdefault(form, self._called[name])
        hints, others = [], []
        for name in foreign:
            known = next((nearest[form] for form in _blur(name) if form in nearest), "")
            if known:
                hints.append(f"{name!r} (the nearest known name is {known!r})")
            else:
                others.append(repr(name))
        return list_some([*hints, *others])


def list_some(words: Sequence[str]) -> str:
    """List the first `MAX_NAMES` words, and dots for the others."""
    more = ["…"] if len(words) > MAX_NAMES else []
    return ", ".join([*words[:MAX_NAMES], *more])


def _blur(name: str) -> Iterator[str]:
    """Yield a name without authors in small letters, and without each letter: names that differ by one share a form."""
    word = drop_authors(name).casefold()
    yield word
    # A number, or a short word, is another name.
    if len(word) > 3 and not re.search(r"\d", word):
        for index in range(len(word)):
            yield word[:index] + word[index + 1 :]
