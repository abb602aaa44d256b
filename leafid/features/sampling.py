"""Samples a bounded number of pictures: of whole plants, or evenly over the species."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from leafid.collection.picture import Picture


def sample_by_plant(pictures: Sequence[Picture], limit: int, seed: int) -> np.ndarray:
    """Sample whole plants, up to a number of pictures; returns ascending indices.

    Plants with more pictures than `limit` are skipped; if all have more, some pictures of one plant are taken. The
    sample depends on the seed and the names of the plants.
    """
    if len(pictures) <= limit:
        return np.arange(len(pictures))
    members: dict[str, list[int]] = {}
    for index, picture in enumerate(pictures):
        members.setdefault(picture.group, []).append(index)
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
    random = np.random.default_rng(seed)
    by_species: dict[str | None, list[Picture]] = {}
    for index in random.permutation(len(pictures)):
        by_species.setdefault(pictures[index].species, []).append(pictures[index])
    rounds = zip_longest(*by_species.values())
    return [picture for own in rounds for picture in own if picture is not None][:n_pictures]
