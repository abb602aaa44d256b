"""Draws a bounded part of a collection: whole plants, or evenly of all species."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leafid.collection.picture import Picture


def sample_by_plant(pictures: Sequence[Picture], limit: int, seed: int) -> np.ndarray:
    """Draw whole plants until there are as many pictures as are wanted.

    Parameters
    ----------
    pictures : sequence of Picture
    limit : int
        At most so many pictures, 1 or more. Plants that have more by themselves are passed over, unless there is no
        other: of the first of them that is drawn, so many are taken.
    seed : int
        Which plants are drawn depends on it and on their names.

    Returns
    -------
    int64 (k,)
        Indices of pictures, ascending; all of them where they are no more than `limit`.
    """
    if len(pictures) <= limit:
        return np.arange(len(pictures))
    members: dict[str, list[int]] = {}
    for index, picture in enumerate(pictures):
        members.setdefault(picture.group, []).append(index)
    plants = sorted(members)
    drawn: list[int] = []
    order = np.random.default_rng(seed).permutation(len(plants))
    for position in order:
        own = members[plants[position]]
        if len(drawn) + len(own) <= limit:
            drawn += own
    return np.array(sorted(drawn or members[plants[order[0]]][:limit]), np.int64)


def sample_evenly(pictures: Sequence[Picture], n_pictures: int, seed: int) -> list[Picture]:
    """Choose pictures in rounds, one of every species a round.

    Parameters
    ----------
    pictures : sequence of Picture
    n_pictures : int
        At most so many.
    seed : int

    Returns
    -------
    list of Picture
    """
    random = np.random.default_rng(seed)
    by_species: dict[str | None, list[Picture]] = {}
    for index in random.permutation(len(pictures)):
        by_species.setdefault(pictures[index].species, []).append(pictures[index])
    ranked = [(turn, position) for position, own in enumerate(by_species.values()) for turn in range(len(own))]
    groups = list(by_species.values())
    return [groups[position][turn] for turn, position in sorted(ranked)[:n_pictures]]
