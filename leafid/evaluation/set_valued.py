"""From probabilities to sets of species: the k likeliest, k on average, or as many as hold the right one surely.

An array of probabilities is float (n, C), a row a picture, a column a class, each in [0, 1]; labels are int (n,), the
right class's column; sets are bool (n, C).

References
----------
.. [1] C. Garcin et al., "Pl@ntNet-300K: a plant image dataset with high label ambiguity and a long-tailed
   distribution", NeurIPS Datasets and Benchmarks 2021, section 2.
.. [2] C. Denis, M. Hebiri, "Confidence sets with expected sizes for multiclass classification", JMLR 18, 2017.
.. [3] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded error levels",
   JASA 114, 2019, doi:10.1080/01621459.2017.1395341.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.evaluation.probabilities import checked, checked_probabilities


def top_k_sets(probabilities: ArrayLike, k: int) -> NDArray[np.bool_]:
    """Take the k likeliest classes of each picture; of equally likely ones those of the lower columns.

    Parameters
    ----------
    probabilities : float array (n, C)
    k : int
        From 1 up; more than C takes all.

    Returns
    -------
    bool (n, C)

    Raises
    ------
    ValueError
        When k is below 1 or the probabilities are none.

    Examples
    --------
    >>> top_k_sets([[0.2, 0.5, 0.3]], 2)
    array([[False,  True,  True]])
    """
    p = checked_probabilities(probabilities)
    if k < 1:
        raise ValueError(f"expected k from 1 up, found {k}")
    order = np.argsort(-p, axis=1, kind="stable")[:, :k]
    sets = np.zeros(p.shape, bool)
    np.put_along_axis(sets, order, True, axis=1)
    return sets


def average_k_threshold(probabilities: ArrayLike, k: float) -> float:
    """Find the probability from which a class is named so that sets have k classes on average.

    Parameters
    ----------
    probabilities : float array (n, C)
        Of held-out pictures: neither those trained on nor those judged by.
    k : float
        Mean size, above 0; need not be whole.

    Returns
    -------
    float
        Half way between the last probability that is in and the first that is out; 0 where all are in.

    Raises
    ------
    ValueError
        When k isn't above 0, there are no pictures, or the probabilities are none.

    Notes
    -----
    With s all n·C probabilities, falling, from s[0]: λ_k = (s[⌊n·k⌋ − 1] + s[⌊n·k⌋]) / 2. Equal probabilities at that
    place are all in or all out: `mean_size` tells what came of it.

    References
    ----------
    .. [1] Garcin et al. 2021, section 2, equation 4.

    Examples
    --------
    Two pictures, one class each on average: the two largest of the four are 0.9 and 0.6, the next is 0.4.

    >>> average_k_threshold([[0.9, 0.1], [0.6, 0.4]], 1)
    0.5
    """
    return float(average_k_thresholds(probabilities, [k])[0])


def average_k_thresholds(probabilities: ArrayLike, sizes: Sequence[float]) -> NDArray[np.float64]:
    """Find the thresholds of several mean sizes, as `average_k_threshold` does for one.

    Parameters
    ----------
    probabilities : float array (n, C)
    sizes : sequence of float

    Returns
    -------
    float64 (number of sizes,)

    Raises
    ------
    ValueError
        As `average_k_threshold` does.
    """
    p = checked_probabilities(probabilities)
    for k in sizes:
        if not k > 0:
            raise ValueError(f"expected a mean set size above 0, found {k}")
    if not len(p):
        raise ValueError("expected held-out pictures to fit the threshold on, found none")
    rising = np.sort(p, axis=None)

    def threshold(k: float) -> float:
        # A hair more, so that 10 · 0.3 is 3 and not 2.
        taken = math.floor(len(p) * k * (1 + 1e-12))
        if taken >= p.size:
            return 0.0
        if taken == 0:
            return math.nextafter(float(rising[-1]), math.inf)
        return float((rising[-taken] + rising[-taken - 1]) / 2)

    return np.array([threshold(k) for k in sizes])


def coverage_threshold(probabilities: ArrayLike, labels: ArrayLike, coverage: float) -> float:
    """Find the probability from which a class is named so that sets hold the right one with a given probability.

    Split conformal prediction: for a new picture, exchangeable with the held-out ones, the right class is in its set
    with at least that probability.

    Parameters
    ----------
    probabilities : float array (n, C)
        Of held-out pictures.
    labels : int array (n,)
    coverage : float
        In (0, 1).

    Returns
    -------
    float
        The ⌊(n + 1)(1 − coverage)⌋-th smallest probability that a right class got; 0, which names every class, where
        n is too small for that coverage.

    Raises
    ------
    ValueError
        When the coverage isn't in (0, 1), or labels or probabilities are none.

    References
    ----------
    .. [1] Sadinle, Lei, Wasserman 2019, section 2.

    Examples
    --------
    >>> coverage_threshold([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]], [0, 0, 1, 1], 0.6)
    0.7
    """
    p, y = checked(probabilities, labels)
    if not 0 < coverage < 1:
        raise ValueError(f"expected a coverage between 0 and 1, found {coverage}")
    right = np.sort(p[np.arange(len(y)), y])
    # A hair more, so that 10 · (1 - 0.9) is 1 and not 0.
    place = math.floor((len(y) + 1) * (1 - coverage) + 1e-9)
    return float(right[place - 1]) if place >= 1 else 0.0


def threshold_sets(probabilities: ArrayLike, threshold: float) -> NDArray[np.bool_]:
    """Take the classes whose probability reaches a threshold.

    Parameters
    ----------
    probabilities : float array (n, C)
    threshold : float
        From `average_k_threshold` or `coverage_threshold`.

    Returns
    -------
    bool (n, C)
    """
    return checked_probabilities(probabilities) >= threshold
