"""How large a difference between runs is, and which differences plants can show.

References
----------
.. [1] J. Cohen, "Statistical power analysis for the behavioral sciences", 1988,
   chapter 2.
.. [2] R. G. Miller, "The jackknife: a review", Biometrika 61, 1974.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import combinations
from math import isnan
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from leafid.metrics.averages import (
    Floats,
    accuracy_score,
    average_by_group,
    divide,
    to_indices,
)
from leafid.scoring.resampling import (
    Bootstrap,
    Statistics,
    randomisation_test,
    subtract,
)

#: The probability below which a difference is significant.
SIGNIFICANT = 0.05
#: The probability with which a difference that can be shown is significant.
POWER = 0.8
#: The difference for which plants are counted.
DIFFERENCE = 0.02
# The quantiles of the normal distribution that belong to both probabilities.
_LIMIT = NormalDist().inv_cdf(1 - SIGNIFICANT / 2)
_REACH = _LIMIT + NormalDist().inv_cdf(POWER)
# Number of simulated sets of plants. The standard error of the power is 0.013, of the
# number of plants 3 %.
_SIMULATIONS = 1000
# Number of sizes that the differences of plants are rounded to.
_SIZES = 16
# Multiples of the number of plants by the normal distribution that are tried.
_MULTIPLES = np.geomspace(0.25, 4, 140)


class Difference(NamedTuple):
    """A difference between two runs, and its test."""

    #: The indices of the runs.
    a: int
    b: int
    #: Two-sided, not corrected for the number of pairs.
    p: float
    #: By how much they differ on plants, as `score_plants_alone` scores them.
    by_plant: Floats


def find_differences(
    statistics: Sequence[Statistics], bootstrap: Bootstrap
) -> list[Difference]:
    """Test every two of the runs that have a score."""
    indices = [
        index
        for index, score in enumerate(statistics)
        if score.sums.shape[0] and not isnan(score.compute())
    ]
    pairs = [*combinations(indices, 2)]
    p_values = randomisation_test(statistics, pairs, bootstrap)
    by_plant = score_plants_alone(statistics)
    return [
        Difference(a, b, p, subtract(by_plant[a], by_plant[b]))
        for (a, b), p in zip(pairs, p_values, strict=True)
    ]


def score_plants_alone(runs: Sequence[Statistics]) -> list[Floats]:
    """Score each plant of each run, (plants,), by the pseudo-values of the jackknife.

    In a mean over plants, these are the scores of the plants [2]_. Where a score has no
    interval, there is a single NaN.
    """
    if not all(len(run.further) for run in runs):
        return [np.full(1, np.nan)] * len(runs)
    plants = np.unique(np.concatenate([run.plants for run in runs]))
    n_plants = len(plants)
    scores = []
    for run in runs:
        sums = run.sums[:, plants].toarray()
        without_plant = run.to_scores(sums.sum(axis=1, keepdims=True) - sums)
        scores.append(n_plants * run.compute() - (n_plants - 1) * without_plant)
    return scores


def compute_effect_size(difference: float, differences: Floats) -> float:
    """Divide a difference of runs by the standard deviation over plants [1]_.

    The runs differ by `differences`, (n,), on the plants. NaN where all are equal.
    """
    n_plants = len(differences)
    deviation = np.sqrt(divide(n_plants * np.var(differences), n_plants - 1))
    return float(divide(difference, subtract(deviation, 0)))


def find_smallest_difference(pairs: Sequence[Floats]) -> float:
    """Find the smallest difference that the plants show with the probability `POWER`.

    It is of two runs that differ as much as the pairs do on average, whose differences
    on plants are given. If both were equally good, the sign of each difference would be
    random. NaN where no runs differ.
    """
    variances = [np.mean(pair**2) / len(pair) for pair in pairs]
    return _REACH * np.sqrt(accuracy_score(variances)) or np.nan


def count_plants_needed(differences: Floats, seed: int = 0) -> float:
    """Count the plants that show a difference of `DIFFERENCE` with power `POWER`.

    NaN where runs that differ as much on single plants can't differ so much.

    Parameters
    ----------
    differences : ndarray of float64, shape (n,)
        By how much two runs differ on plants; the signs make no difference.
    seed : int, default 0

    Returns
    -------
    float
        A whole number with two digits that hold, or NaN.
    """
    sizes = np.abs(differences)
    level = to_indices(np.round(sizes * divide(_SIZES, sizes.max(initial=0), 0)))
    sizes = average_by_group(sizes, level)
    shares = np.bincount(level) / len(level)
    mean = sizes @ shares
    if not mean >= DIFFERENCE:
        return np.nan
    # How much more often the better run is better on a plant than it is worse.
    excess = DIFFERENCE / mean
    signed = np.append(sizes, -sizes)
    probabilities = np.append(shares * (1 + excess), shares * (1 - excess)) / 2

    def simulate_power(n_plants: int) -> float:
        random = np.random.default_rng(seed)
        counts = random.multinomial(n_plants, probabilities, _SIMULATIONS)
        # The standard deviation of the sum if each sign were random.
        deviations = np.sqrt(counts @ signed**2)
        return float(np.mean(counts @ signed > _LIMIT * deviations))

    expected = (_REACH / DIFFERENCE) ** 2 * (sizes**2 @ shares)
    numbers = np.ceil(expected * _MULTIPLES).astype(int)
    n_plants = numbers[bisect_left(numbers, POWER, key=simulate_power)]
    return int(float(f"{n_plants:.2g}"))
