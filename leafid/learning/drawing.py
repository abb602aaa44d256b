"""Draws a bounded part of a collection, without ever parting the pictures of one plant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leafid.collection.picture import Picture


def drawn_by_plant(pictures: Sequence[Picture], limit: int, seed: int) -> np.ndarray:
    """Draw whole plants until there are as many pictures as are wanted.

    Parameters
    ----------
    pictures : sequence of Picture
    limit : int
        At most so many pictures, 1 or more. Of a first plant that has more, only so many are taken.
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
    for position in np.random.default_rng(seed).permutation(len(plants)):
        own = members[plants[position]]
        if len(drawn) + len(own) <= limit:
            drawn += own
    return np.array(sorted(drawn or members[plants[0]][:limit]), np.int64)
