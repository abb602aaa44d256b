"""Samples a bounded number of pictures, of whole plants or evenly over the species, and weighs them by plant."""

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from leafid.grouping import group_by
from leafid.pictures.picture import Picture


def sample_by_plant(pictures: Sequence[Picture], limit: int, seed: int) -> np.ndarray:
    """Sample whole plants, up to a number of pictures; returns ascending indices.

    Plants with more pictures than `limit` are skipped; if all have more, some pictures of one plant are taken. The
    sample depends on the seed and the names of the plants.
    """
    if len(pictures) <= limit:
        return np.arange(len(pictures))
    members = group_by(range(len(pictures)), lambda index: pictures[index].group)
    plants = sorted(members)
    sampled: list[int] = []
    order = np.random.default_rng(seed).permutation(len(plants))
    for position in order:
        own = members[plants[position]]
        if len(sampled) + len(own) <= limit:
            sampled += own
    return np.array(sorted(sampled or members[plants[order[0]]][:limit]), np.int64)


def sample_evenly(pictures: Sequence[Picture], n_pictures: int, seed: int) -> list[Picture]:
    """Sample at most `n_pictures` pictures in rounds; each round takes one picture of every species."""
    shuffled = [pictures[index] for index in np.random.default_rng(seed).permutation(len(pictures))]
    by_species = group_by(shuffled, lambda picture: picture.species)
    rounds = zip_longest(*by_species.values())
    return [picture for own in rounds for picture in own if picture is not None][:n_pictures]


def weigh_by_plant(pictures: Sequence[Picture]) -> np.ndarray:
    """Weigh pictures so that each plant counts once, as in the official score: one over its number of pictures."""
    groups = [picture.group for picture in pictures]
    _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return 1 / counts[inverse]
