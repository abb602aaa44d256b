"""The probability from which a species is named: for sets of k on average, or that hold the right one surely enough.

An array of probabilities is float (n, C), a row a picture, a column a class, each in [0, 1]; labels are int (n,), the
right class's column. A set is of the classes whose probability reaches the threshold.

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

from leafid.metrics.probabilities import checked, checked_probabilities


def fit_average_k_thresholds(probabilities: ArrayLike, sizes: Sequence[float]) -> NDArray[np.float64]:
    """Find the probabilities from which a class is named so that sets have k classes on average, for several k.

    Parameters
    ----------
    probabilities : float array (n, C)
        Of held-out pictures: neither those trained on nor those judged by.
    sizes : sequence of float
        Mean sizes k, above 0; need not be whole.

    Returns
    -------
    float64 (number of sizes,)
        Half way between the last probability that is in and the first that is out; 0 where all are in.

    Raises
    ------
    ValueError
        When a k isn't above 0, there are no pictures, or the probabilities are none.

    Notes
    -----
    With s all n·C probabilities, falling, from s[0]: λ_k = (s[⌊n·k⌋ − 1] + s[⌊n·k⌋]) / 2. Equal probabilities at that
    place are all in or all out: the mean size of the sets tells what came of it.

    References
    ----------
    .. [1] Garcin et al. 2021, section 2, equation 4.

    Examples
    --------
    Two pictures, one class each on average: the two largest of the four are 0.9 and 0.6, the next is 0.4.

    >>> average_k_thresholds([[0.9, 0.1], [0.6, 0.4]], [1])
    array([0.5])
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


def fit_coverage_threshold(probabilities: ArrayLike, labels: ArrayLike, coverage: float) -> float:
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
    right = np.sort(p[np.arange(len(y)), y])
    rank = compute_coverage_rank(len(y), coverage)
    return float(right[rank - 1]) if rank else 0.0


def compute_coverage_rank(number: int, coverage: float) -> int:
    """Tell the rank, from 1, of the smallest right probability that sets of a coverage may demand; 0 for none.

    Parameters
    ----------
    number : int
        How many right probabilities there are.
    coverage : float
        In (0, 1).

    Returns
    -------
    int

    Raises
    ------
    ValueError
        When the coverage isn't in (0, 1).
    """
    if not 0 < coverage < 1:
        raise ValueError(f"expected a coverage between 0 and 1, found {coverage}")
    # A hair more, so that 10 · (1 - 0.9) is 1 and not 0.
    return math.floor((number + 1) * (1 - coverage) + 1e-9)
