"""Averages that several metrics share, and scores of pictures by ranks.

In the scores of the plant tasks, no author or plant outweighs the others.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF
   2011; package README, section 4.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Arrays of numbers, of indices, and of truth values.
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Booleans = NDArray[np.bool_]


def divide(values: ArrayLike, divisors: ArrayLike, empty: float = np.nan) -> Floats:
    """Divide by numbers from 0 up.

    Parameters
    ----------
    values, divisors : array_like
        They are broadcast against each other.
    empty : float, default NaN
        The quotient where the divisor is 0.

    Returns
    -------
    ndarray of float64
    """
    divisors = np.asarray(divisors, np.float64)
    shape = np.broadcast(values, divisors).shape
    quotients = np.full(shape, empty, np.float64)
    return np.divide(values, divisors, out=quotients, where=divisors > 0)


def accuracy_score(values: ArrayLike) -> float:
    """Average over pictures, however many an author or a plant has.

    Parameters
    ----------
    values : array_like, shape (n,)

    Returns
    -------
    float
        NaN without pictures.
    """
    array = np.asarray(values, np.float64)
    return float(array.mean()) if array.size else np.nan


def average_by_group(values: ArrayLike, groups: ArrayLike) -> Floats:
    """Average the values of each group.

    Parameters
    ----------
    values : array_like, shape (n,)
    groups : array_like of int, shape (n,)
        The group of each value, numbered from 0 without gaps.

    Returns
    -------
    ndarray of float64, shape (n_groups,)
    """
    indices = np.asarray(groups, np.intp)
    return np.bincount(indices, np.asarray(values, np.float64)) / np.bincount(indices)


def top_k_scores(rank: ArrayLike, k: int = 1) -> Floats:
    """Score each picture 1 where the correct species is among the first k, else 0.

    Parameters
    ----------
    rank : array_like of int, shape (n,)
        The rank of the correct species, from 1; 0 where it isn't named.
    k : int, default 1

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> top_k_scores([1, 2, 0], k=2)
    array([1., 1., 0.])
    """
    ranks = np.asarray(rank)
    return ((ranks >= 1) & (ranks <= k)).astype(np.float64)


def inverse_rank_scores(rank: ArrayLike) -> Floats:
    """Score each picture 1 / rank of the correct species, as the 2012 and 2013 tasks.

    Parameters
    ----------
    rank : array_like of int, shape (n,)
        From 1; 0 where the correct species isn't named, which scores 0.

    Returns
    -------
    ndarray of float64, shape (n,)

    References
    ----------
    .. [1] H. Goëau et al., "The ImageCLEF 2012 plant identification task", CLEF 2012.

    Examples
    --------
    >>> inverse_rank_scores([1, 4, 0])
    array([1.  , 0.25, 0.  ])
    """
    return divide(1, rank, 0)


def average_score(values: ArrayLike, authors: ArrayLike, plants: ArrayLike) -> float:
    r"""Compute the average classification score S of [1]_.

    .. math:: S = \frac1U \sum_{u=1}^U \frac1{P_u} \sum_{p=1}^{P_u}
              \frac1{N_{u,p}} \sum_{n=1}^{N_{u,p}} s_{u,p,n}

    Parameters
    ----------
    values : array_like, shape (n,)
        What each picture scores, from 0 to 1.
    authors, plants : array_like, shape (n,)
        Who took each picture, and of which plant. A plant that two authors took counts
        once for each.

    Returns
    -------
    float
        From 0 to 1; NaN without pictures.

    Examples
    --------
    Ann's plants score (1 + 0) / 2 and 1, Bob's only plant scores 0; Ann has 0.75, the
    mean with Bob is 0.375.

    >>> average_score(
    ...     [1, 0, 1, 0], ["ann", "ann", "ann", "bob"], ["a", "a", "b", "c"]
    ... )
    0.375
    """
    authors_of_plants, plant = index_plants(authors, plants)
    plant_scores = average_by_group(values, plant)
    return accuracy_score(average_by_group(plant_scores, authors_of_plants))


def index_plants(authors: ArrayLike, plants: ArrayLike) -> tuple[Indices, Indices]:
    """Index each author's plants.

    Parameters
    ----------
    authors, plants : array_like, shape (n,)
        The author and the plant of each picture.

    Returns
    -------
    author : ndarray of int, shape (m,)
        The author of each plant, rising. A plant of two authors is there for each.
    plant : ndarray of int, shape (n,)
        The plant of each picture.
    """
    plant_index = to_indices(plants)
    n_plants = plant_index.max(initial=0) + 1
    pairs, plant_of_picture = np.unique(
        to_indices(authors) * n_plants + plant_index, return_inverse=True
    )
    return pairs // n_plants, plant_of_picture


def to_indices(entries: ArrayLike) -> Indices:
    """Turn entries into indices of their sorted distinct values.

    Parameters
    ----------
    entries : array_like, shape (n,)

    Returns
    -------
    ndarray of int, shape (n,)
    """
    return np.unique(np.asarray(entries), return_inverse=True)[1].astype(np.intp)
