"""The scores of the ImageCLEF plant tasks: means of means, so that no author and no plant outweighs the others.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF 2011; package README, section 4.
.. [2] H. Goëau et al., "The ImageCLEF 2012 plant identification task", CLEF 2012.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.metrics.registry import Metric

_TASK_2011 = "Goëau et al., ImageCLEF 2011 plant task"


def top_k_scores(rank: ArrayLike, k: int = 1) -> NDArray[np.float64]:
    """Count a picture 1 where the right species is among the first k.

    Parameters
    ----------
    rank : int array (n,)
        The right species' rank, from 1; 0 where it isn't named.
    k : int, default 1

    Returns
    -------
    float64 (n,)
        0 or 1.

    Examples
    --------
    >>> success([1, 2, 0], k=2)
    array([1., 1., 0.])
    """
    ranks = np.asarray(rank)
    return ((ranks >= 1) & (ranks <= k)).astype(np.float64)


def inverse_rank_scores(rank: ArrayLike) -> NDArray[np.float64]:
    """Count a picture 1 / rank of the right species, the 2012 and 2013 tasks' picture score.

    Parameters
    ----------
    rank : int array (n,)
        The right species' rank, from 1; 0 where it isn't named, which counts 0.

    Returns
    -------
    float64 (n,)
        In [0, 1].

    Examples
    --------
    >>> inverse_rank([1, 4, 0])
    array([1.  , 0.25, 0.  ])
    """
    ranks = np.asarray(rank, np.float64)
    return np.divide(1.0, ranks, out=np.zeros_like(ranks), where=ranks > 0)


def average_score(values: ArrayLike, authors: ArrayLike, plants: ArrayLike) -> float:
    r"""Compute the average classification score S.

    .. math:: S = \frac1U \sum_{u=1}^U \frac1{P_u} \sum_{p=1}^{P_u} \frac1{N_{u,p}} \sum_{n=1}^{N_{u,p}} s_{u,p,n}

    Parameters
    ----------
    values : float array (n,)
        Each picture's score s, in [0, 1]; see `top_k_scores`, `inverse_rank_scores`.
    authors, plants : int or str array (n,)
        Who took the picture, and of which plant. A plant that two authors took counts once for each.

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.

    References
    ----------
    .. [1] ImageCLEF 2011 plant task, package README, section 4.

    Examples
    --------
    Ann's plants score (1 + 0) / 2 and 1, Bob's only plant scores 0; Ann has 0.75, the mean with Bob is 0.375.

    >>> average_score([1, 0, 1, 0], ["ann", "ann", "ann", "bob"], ["a", "a", "b", "c"])
    0.375
    """
    plant_values, plant_authors = average_plants(values, authors, plants)
    return float(_means(plant_values, plant_authors).mean()) if len(plant_values) else float("nan")


def average_plants(
    values: ArrayLike, authors: ArrayLike, plants: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Average the pictures of each plant of each author.

    Parameters
    ----------
    values, authors, plants
        As for `average_score`.

    Returns
    -------
    means : float64 (m,)
        One value for each author's plant.
    authors : intp (m,)
        Whose plant it is, numbered from 0 without gaps.
    """
    owners, unit = index_plants(authors, plants)
    return _means(np.asarray(values, np.float64), unit), owners


def index_plants(authors: ArrayLike, plants: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give numbers to each author's plants.

    Parameters
    ----------
    authors, plants : int or str array (n,)
        As for `average_score`.

    Returns
    -------
    owners : intp (m,)
        The author of each plant, rising, numbered from 0 without gaps; a plant of two authors is listed for each.
    unit : intp (n,)
        Each picture's plant in `owners`.
    """
    plant_index = _numbers(plants)
    width = plant_index.max(initial=0) + 1
    pairs, unit = np.unique(_numbers(authors) * width + plant_index, return_inverse=True)
    return pairs // width, unit


def per_plant_score(values: ArrayLike, authors: ArrayLike, plants: ArrayLike) -> float:
    """Average over plants the mean of each plant's pictures.

    Parameters
    ----------
    values, authors, plants
        As for `average_score`.

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.

    Examples
    --------
    >>> plant_accuracy([1, 0, 1, 0], ["ann", "ann", "ann", "bob"], ["a", "a", "b", "c"])
    0.5
    """
    means, _ = average_plants(values, authors, plants)
    return float(means.mean()) if len(means) else float("nan")


def accuracy_score(values: ArrayLike) -> float:
    """Average over pictures, however many an author or a plant has.

    Parameters
    ----------
    values : float array (n,)

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.
    """
    array = np.asarray(values, np.float64)
    return float(array.mean()) if len(array) else float("nan")


def average_score_by_group(
    values: ArrayLike, authors: ArrayLike, plants: ArrayLike, groups: ArrayLike
) -> NDArray[np.float64]:
    """Compute the average classification score of each group of pictures by itself.

    Parameters
    ----------
    values, authors, plants
        As for `average_score`.
    groups : int array (n,)
        Each picture's group, numbered from 0.

    Returns
    -------
    float64 (number of groups,)
        In [0, 1]; NaN for a number that no picture has.

    Examples
    --------
    >>> average_score_by_group([1, 0, 1], ["ann", "ann", "bob"], ["a", "b", "c"], [0, 0, 1])
    array([0.5, 1. ])
    """
    group_index = np.asarray(groups, np.intp)
    author_index = _numbers(authors)
    authors_in_all = author_index.max(initial=0) + 1
    # An author's pictures in two groups are averaged apart: as if of two authors.
    plant_values, plant_owners = average_plants(values, group_index * authors_in_all + author_index, plants)
    owners = np.unique(group_index * authors_in_all + author_index)
    author_values = _means(plant_values, plant_owners)
    return _means(author_values, owners // authors_in_all, size=group_index.max(initial=-1) + 1)


def compute_average(average: str, values: ArrayLike, authors: ArrayLike, plants: ArrayLike) -> float:
    """Average pictures in one of three ways.

    Parameters
    ----------
    average : {"S", "plants", "pictures"}
        `average_score`, `per_plant_score`, `accuracy_score`.
    values, authors, plants
        As for `average_score`.

    Returns
    -------
    float
        In [0, 1]; NaN without pictures.

    Raises
    ------
    ValueError
        When there is no such average.
    """
    if average == "S":
        return average_score(values, authors, plants)
    if average == "plants":
        return per_plant_score(values, authors, plants)
    if average == "pictures":
        return accuracy_score(values)
    raise ValueError(f"expected an average (S, plants, pictures), found {average!r}")


def compute_weights(average: str, authors: ArrayLike, plants: ArrayLike) -> NDArray[np.float64]:
    """Tell how much each picture weighs in an average.

    All averages are linear: the score is the sum of the pictures' values, each times its weight.

    Parameters
    ----------
    average : {"S", "plants", "pictures"}
        `average_score`, `per_plant_score`, `accuracy_score`.
    authors, plants : int or str array (n,)

    Returns
    -------
    float64 (n,)
        Summing to 1.

    Raises
    ------
    ValueError
        When there is no such average.

    Examples
    --------
    >>> averaging_weights("S", ["ann", "ann", "bob"], ["a", "a", "b"])
    array([0.25, 0.25, 0.5 ])
    """
    owners, unit = index_plants(authors, plants)
    if average == "pictures":
        return np.full(len(unit), 1 / max(len(unit), 1))
    pictures_of = np.bincount(unit)
    if average == "plants":
        return 1 / (len(owners) * pictures_of[unit])
    if average == "S":
        plants_of = np.bincount(owners)
        return 1 / (len(plants_of) * plants_of[owners][unit] * pictures_of[unit])
    raise ValueError(f"expected an average (S, plants, pictures), found {average!r}")


def mean_of_types(scores: ArrayLike) -> float:
    """Average the scores of the acquisition types, each type counting the same.

    Parameters
    ----------
    scores : float array
        One a type; NaN for a type without pictures, which is left out.

    Returns
    -------
    float
        In [0, 1]; NaN where no type has pictures.

    Examples
    --------
    >>> mean_of_types([0.5, 1.0, float("nan")])
    0.75
    """
    array = np.asarray(scores, np.float64)
    array = array[~np.isnan(array)]
    return float(array.mean()) if len(array) else float("nan")


def _numbers(entries: ArrayLike) -> NDArray[np.intp]:
    return np.unique(np.asarray(entries), return_inverse=True)[1].astype(np.intp)


def _means(values: NDArray[np.float64], groups: NDArray[np.intp], size: int = 0) -> NDArray[np.float64]:
    counts = np.bincount(groups, minlength=size)
    sums = np.bincount(groups, weights=values, minlength=size)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


_metric = partial(Metric, citation=_TASK_2011, command="evaluate")

METRICS = (
    _metric("S", "average classification score: mean over authors, plants, pictures", average_score),
    _metric(
        "inverse-rank",
        "as S, a picture counts 1 / rank of the right species",
        inverse_rank_scores,
        citation="Goëau et al., ImageCLEF 2012 plant task",
    ),
    _metric("accuracy", "share of pictures whose first species is right", accuracy_score),
    _metric(
        "top-K",
        "share of pictures with the right species in the first K",
        top_k_scores,
        citation="Lapin et al., PAMI 2018",
    ),
    _metric("per-plant", "mean over plants of the share of right pictures", per_plant_score),
    _metric(
        "genus",
        "as S, the first species need only be of the right genus",
        average_score,
        command="evaluate --by genus",
        column="S of genus",
    ),
    _metric(
        "family",
        "as S, the first species need only be of the right family",
        average_score,
        command="evaluate --by family",
        column="S of family",
    ),
)
