"""Fuses the probabilities of several pictures of one plant.

Logarithms of probabilities are summed. As pictures of one plant resemble each other, n
of them are worth less than n independent ones: each counts n ** -exponent. An exponent
of 0 stands for independent pictures, 1 for pictures that add nothing to the first. It
is learned for each acquisition type; types are taken for independent of each other.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from leafid.grouping import group_by
from leafid.learning.fusion import normalise
from leafid.metrics.averages import Floats

#: The exponent of a type that has learned none.
DEFAULT_EXPONENT = 0.7
#: Numbers of pictures of a plant that the exponent is learned from, besides all.
SIZES = (2, 3, 5)
_EXPONENTS = np.linspace(0, 1, 21)
# The lowest probability of a species: a single picture can't rule it out.
_FLOOR = 1e-9


def fuse_pictures(
    probabilities: np.ndarray,
    types: Sequence[str],
    exponents: ArrayLike,
    p_leaf: ArrayLike | None = None,
) -> Floats:
    """Fuse the probabilities of pictures of one plant.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, n_species)
    types : sequence of str
        The acquisition type of each picture.
    exponents : array_like, shape (n,)
        The exponent of each picture's type.
    p_leaf : array_like, shape (n,), optional
        The probability of each picture to show a leaf, in proportion to which it
        counts; by default all count the same.

    Returns
    -------
    ndarray of float64, shape (n_species,)
        They sum to 1. The probabilities of a single picture stay the same.

    Examples
    --------
    >>> fuse_pictures(np.array([[0.8, 0.2], [0.8, 0.2]]), ["scan", "scan"], [1, 1])
    array([0.8, 0.2])
    >>> rows = np.array([[0.8, 0.2], [0.8, 0.2]])
    >>> fuse_pictures(rows, ["scan", "photo"], [1, 1]).round(3)
    array([0.941, 0.059])
    """
    share = np.ones(len(probabilities))
    if p_leaf is not None and np.max(p_leaf) > 0:
        share = np.asarray(p_leaf, np.float64) / np.max(p_leaf)
    _, kind = np.unique(types, return_inverse=True)
    # Pictures without a leaf are not counted as evidence that could repeat others'.
    counts = np.maximum(np.bincount(kind, share)[kind], 1)
    weights = share * counts ** -np.asarray(exponents, np.float64)
    return normalise(weights @ _take_logarithm(probabilities))


def fit_plant_exponent(
    probabilities: np.ndarray,
    labels: np.ndarray,
    plants: Sequence[str],
    seed: int = 0,
) -> float:
    """Fit the exponent that gives the correct species of plants the highest likelihood.

    Each plant counts the same, with samples of `SIZES` of its pictures and all of them.

    Parameters
    ----------
    probabilities : ndarray of float, shape (n, n_species)
        Of held-out pictures of one type.
    labels : ndarray of int, shape (n,)
        The columns of their species.
    plants : sequence of str
        The plant of each picture.
    seed : int, default 0

    Returns
    -------
    float
        From 0 to 1; `DEFAULT_EXPONENT` where no plant has two pictures.
    """
    logarithms = _take_logarithm(probabilities)
    random = np.random.default_rng(seed)
    samples = []
    rows_by_plant = group_by(range(len(labels)), plants.__getitem__)
    for _, rows in sorted(rows_by_plant.items()):
        order = random.permutation(rows)
        plant_sizes = [size for size in SIZES if size < len(order)]
        if len(order) > 1:
            plant_sizes.append(len(order))
        for size in plant_sizes:
            total = logarithms[order[:size]].sum(axis=0)
            samples.append((total, size, labels[order[0]], 1 / len(plant_sizes)))
    if not samples:
        return DEFAULT_EXPONENT
    sums, sizes, species, weights = map(np.array, zip(*samples, strict=True))
    losses = []
    for exponent in _EXPONENTS:
        posterior = normalise(sums * (sizes.astype(float) ** -exponent)[:, None])
        likelihood = posterior[np.arange(len(sums)), species]
        losses.append(-(weights * np.log(np.maximum(likelihood, 1e-300))).sum())
    return float(_EXPONENTS[int(np.argmin(losses))])


def _take_logarithm(probabilities: np.ndarray) -> Floats:
    return np.log(np.maximum(probabilities, _FLOOR))
