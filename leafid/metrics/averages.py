"""Means that several metrics share, and the scores of the plant tasks, in which no author or plant outweighs others.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF 2011; package README, section 4.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def accuracy_score(values: ArrayLike) -> float:
    """Average over pictures, however many an author or a plant has; NaN without pictures."""
    array = np.asarray(values, np.float64)
    return float(array.mean()) if len(array) else float("nan")


def average_by_group(values: ArrayLike, groups: ArrayLike) -> NDArray[np.float64]:
    """Average the values of each group, numbered from 0 without gaps."""
    indices = np.asarray(groups, np.intp)
    return np.bincount(indices, np.asarray(values, np.float64)) / np.bincount(indices)


def top_k_scores(rank: ArrayLike, k: int = 1) -> NDArray[np.float64]:
    """Score each picture 1 where the rank of the correct species, 0 where it isn't named, is from 1 to k, else 0.

    Examples
    --------
    >>> top_k_scores([1, 2, 0], k=2)
    array([1., 1., 0.])
    """
    ranks = np.asarray(rank)
    return ((ranks >= 1) & (ranks <= k)).astype(np.float64)


def average_score(values: ArrayLike, authors: ArrayLike, plants: ArrayLike) -> float:
    r"""Compute the average classification score S of [1]_, in [0, 1]; NaN without pictures.

    .. math:: S = \frac1U \sum_{u=1}^U \frac1{P_u} \sum_{p=1}^{P_u} \frac1{N_{u,p}} \sum_{n=1}^{N_{u,p}} s_{u,p,n}

    Takes each picture's score s in [0, 1], who took it, and of which plant. A plant that two authors took counts once
    for each.

    Examples
    --------
    Ann's plants score (1 + 0) / 2 and 1, Bob's only plant scores 0; Ann has 0.75, the mean with Bob is 0.375.

    >>> average_score([1, 0, 1, 0], ["ann", "ann", "ann", "bob"], ["a", "a", "b", "c"])
    0.375
    """
    owners, plant = index_plants(authors, plants)
    return accuracy_score(average_by_group(average_by_group(values, plant), owners))


def index_plants(
    authors: ArrayLike, plants: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Index each author's plants: the author of each plant, rising, intp (m,), and each picture's plant, intp (n,).

    A plant of two authors is listed for each.
    """
    plant_index = encode(plants)
    width = plant_index.max(initial=0) + 1
    pairs, plant_of_picture = np.unique(
        encode(authors) * width + plant_index, return_inverse=True
    )
    return pairs // width, plant_of_picture


def encode(entries: ArrayLike) -> NDArray[np.intp]:
    """Encode entries as indices into their sorted distinct values."""
    return np.unique(np.asarray(entries), return_inverse=True)[1].astype(np.intp)
