"""Thresholds of sets of species that have a mean size.

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label
   ambiguity and a long-tailed distribution", NeurIPS Datasets and Benchmarks 2021,
   section 2.
.. [2] C. Denis, M. Hebiri, "Confidence sets with expected sizes for multiclass
   classification", JMLR 18, 2017.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from leafid.metrics.averages import Floats


def fit_average_k_thresholds(
    probabilities: ArrayLike, sizes: Sequence[float]
) -> Floats:
    """Find the thresholds at which sets have k classes on average.

    With s all n·C probabilities in falling order, λ_k = (s[⌊n·k⌋ − 1] + s[⌊n·k⌋]) / 2
    ([1]_, equation 4). Probabilities that equal λ_k are in, as in the authors'
    implementation, so that ties can make the sets larger than k, which the constraint
    of equation 3 rules out.

    Parameters
    ----------
    probabilities : array_like, shape (n, C)
        Of held-out pictures.
    sizes : sequence of float
        Several k above 0.

    Returns
    -------
    ndarray of float64, one for each size
        0 where all classes are in.

    Examples
    --------
    Two pictures, one class each on average: the two largest of the four are 0.9 and
    0.6, the next is 0.4.

    >>> fit_average_k_thresholds([[0.9, 0.1], [0.6, 0.4]], [1])
    array([0.5])
    """
    rows = np.asarray(probabilities, np.float64)
    rising = np.sort(rows, axis=None)
    thresholds = np.zeros(len(sizes))
    for index, k in enumerate(sizes):
        n_inside = count_inside(len(rows), k)
        if n_inside < len(rising):
            thresholds[index] = place_threshold(rising, n_inside)
    return thresholds


def count_inside(n_pictures: int, k: float) -> int:
    """Count the scores in the sets of all pictures when these have k on average.

    Parameters
    ----------
    n_pictures : int
    k : float
        Above 0.

    Returns
    -------
    int
    """
    # The factor keeps rounding from making 10 · 0.3 less than 3.
    return math.floor(n_pictures * k * (1 + 1e-12))


def place_threshold(rising: Floats, n_inside: int) -> float:
    """Place a threshold half way between the lowest score inside and the next one.

    Parameters
    ----------
    rising : ndarray of float64, shape (n,)
        All scores, sorted.
    n_inside : int
        How many of the highest are inside, below n.

    Returns
    -------
    float
        Where both scores are equal, both are inside.
    """
    highest_outside = float(rising[-n_inside - 1])
    if n_inside == 0:
        return math.nextafter(highest_outside, math.inf)
    return float((rising[-n_inside] + highest_outside) / 2)
