"""Fuses the answers to several pictures of one plant.

Logarithms of probabilities are summed. As pictures of one plant resemble each other, n of them are worth less than n
independent ones: each counts n ** -exponent. An exponent of 0 stands for independent pictures, 1 for pictures of which
further ones tell nothing new. It is learned for each acquisition type; types are taken for independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from leafid.learning.held_out import HeldOutAnswers

#: The exponent of a model that has learned none.
DEFAULT_EXPONENT = 0.7
#: Numbers of pictures of a plant that the exponent is learned from, besides all of them.
SIZES = (2, 3, 5)
_EXPONENTS = np.linspace(0, 1, 21)
# The lowest probability: a single picture can't rule out a species.
_FLOOR = 1e-9


def fuse_pictures(
    probabilities: np.ndarray, types: Sequence[str], exponents: ArrayLike, leaf: ArrayLike | None = None
) -> np.ndarray:
    """Fuse the probabilities of pictures of one plant, float (n, n_species); float64 (n_species,), which sum to 1.

    Each picture has an acquisition type, in `types`, and the exponent of that, float (n,). It counts in proportion to
    its probability to show a leaf, `leaf`, float (n,), by default like the others. The probabilities of a single
    picture stay the same.

    Examples
    --------
    >>> fuse_pictures(np.array([[0.8, 0.2], [0.8, 0.2]]), ["scan", "scan"], [1, 1])
    array([0.8, 0.2])
    >>> fuse_pictures(np.array([[0.8, 0.2], [0.8, 0.2]]), ["scan", "photo"], [1, 1]).round(3)
    array([0.941, 0.059])
    """
    share = np.ones(len(probabilities)) if leaf is None else np.asarray(leaf, np.float64)
    share = share / share.max() if share.max() > 0 else np.ones(len(share))
    _, kind = np.unique(types, return_inverse=True)
    # Pictures without a leaf are not counted as evidence that could repeat that of others.
    counts = np.maximum(np.bincount(kind, share)[kind], 1)
    return _normalise((share * counts ** -np.asarray(exponents, np.float64)) @ _take_logarithm(probabilities))


def fit_plant_exponent(answers: HeldOutAnswers, seed: int = 0) -> float | None:
    """Fit the exponent of a type that gives the correct species of held-out plants the highest likelihood.

    Each plant counts the same, with samples of `SIZES` of its pictures and all of them. None where no plant of a known
    species has two pictures.
    """
    known = answers.select_known()
    logarithms, labels = _take_logarithm(known.probabilities), known.labels
    random = np.random.default_rng(seed)
    sums, sizes, species, weights = [], [], [], []
    for indices in group_by_plant(known):
        order = random.permutation(indices)
        own_sizes = [size for size in SIZES if size < len(order)] + [len(order)] * (len(order) > 1)
        sums += [logarithms[order[:size]].sum(axis=0) for size in own_sizes]
        sizes += own_sizes
        species += [labels[order[0]]] * len(own_sizes)
        weights += [1 / max(len(own_sizes), 1)] * len(own_sizes)
    if not sums:
        return None
    table, rows = np.array(sums), np.arange(len(sums))
    losses = []
    for exponent in _EXPONENTS:
        posterior = _normalise(table * (np.array(sizes, np.float64) ** -exponent)[:, None])
        losses.append(-(np.array(weights) * np.log(np.maximum(posterior[rows, species], 1e-300))).sum())
    return float(_EXPONENTS[int(np.argmin(losses))])


def group_by_plant(answers: HeldOutAnswers) -> Iterator[np.ndarray]:
    """Yield the indices of the pictures of each plant."""
    _, plants = np.unique([picture.group for picture in answers.pictures], return_inverse=True)
    for plant in range(plants.max(initial=-1) + 1):
        yield np.flatnonzero(plants == plant)


def _take_logarithm(probabilities: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(probabilities, _FLOOR))


def _normalise(logarithms: np.ndarray) -> np.ndarray:
    posterior = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
    return posterior / posterior.sum(axis=-1, keepdims=True)
