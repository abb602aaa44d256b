"""Splits pictures into folds without ever parting the pictures of one plant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from leafid.collection.picture import Picture
from leafid.errors import LeafidError

if TYPE_CHECKING:
    import numpy as np


def split_by_plant(pictures: Sequence[Picture], n_folds: int, seed: int) -> list[np.ndarray]:
    """Deal the plants of every species out to folds.

    A plant goes, in an order shuffled by the seed, to the fold that has the fewest plants of its species so far, then
    the fewest pictures of its species, then the fewest pictures at all. So a species with two plants or more is in
    more than one fold, and folds are about equally large.

    Parameters
    ----------
    pictures : sequence of Picture
        A picture of which the plant isn't known counts as a plant of its own.
    n_folds : int
        At least 2, and at most as many as there are plants.
    seed : int

    Returns
    -------
    list of ndarray of int64
        For every fold the indices of its test pictures, ascending; together they are all indices, each once.
        The pictures' order doesn't matter to which pictures go together.

    Raises
    ------
    LeafidError
        When there are fewer plants than folds.
    """
    import numpy as np

    if n_folds < 2:
        raise ValueError(f"n_folds: expected at least 2, found {n_folds}")
    members: dict[str, list[int]] = {}
    for index, picture in enumerate(pictures):
        members.setdefault(picture.group, []).append(index)
    if len(members) < n_folds:
        raise LeafidError(f"expected at least {n_folds} plants for {n_folds} folds, found {len(members)}")

    plants_by_species: dict[str, list[str]] = {}
    for plant in sorted(members):
        species = _main_species([pictures[index] for index in members[plant]])
        plants_by_species.setdefault(species, []).append(plant)
    random = np.random.default_rng(seed)
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    # Species with many plants first, so that those with few even out what is left uneven.
    for species in sorted(plants_by_species, key=lambda species: (-len(plants_by_species[species]), species)):
        plants = plants_by_species[species]
        plants_in = [0] * n_folds
        list_pictures = [0] * n_folds
        tie_breakers = random.permutation(n_folds)
        for plant in (plants[position] for position in random.permutation(len(plants))):
            fold = min(range(n_folds), key=lambda f: (plants_in[f], list_pictures[f], len(folds[f]), tie_breakers[f]))
            folds[fold] += members[plant]
            plants_in[fold] += 1
            list_pictures[fold] += len(members[plant])
    return [np.array(sorted(fold), dtype=np.int64) for fold in folds]


def _main_species(pictures: Sequence[Picture]) -> str:
    """Return the species of most of a plant's pictures (a grafted or mislabelled plant has several)."""
    counts = Counter(picture.species or "" for picture in pictures)
    return min(counts, key=lambda species: (-counts[species], species))
