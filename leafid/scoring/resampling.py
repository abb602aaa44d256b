"""How much scores depend on which plants happened to be photographed.

References
----------
.. [1] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits
   illustrated in the case of the binomial", Biometrika 26, 1934.
.. [2] E. W. Noreen, "Computer-Intensive Methods for Testing Hypotheses", Wiley 1989,
   chapter 2.
.. [3] B. Phipson, G. K. Smyth, "Permutation P-values should never be zero", 2010,
   doi:10.2202/1544-6115.1585.
.. [4] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
   J. of Statistics 6, 1979.
.. [5] D. B. Rubin, "The Bayesian bootstrap", Annals of Statistics 9, 1981.
.. [6] E. Learned-Miller, P. S. Thomas, "A new confidence interval for the mean of a
   bounded random variable", 2019, arXiv:1905.06208.
.. [7] A. Agresti, Y. Min, "Simple improved confidence intervals for comparing matched
   proportions", Statistics in Medicine 24, 2005, doi:10.1002/sim.1781.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, vstack

from leafid.metrics.averages import Floats, Indices, divide

# Maximum number of weights, or of sums, held at a time: some 32 MB, however many plants
# there are.
_CELLS = 4_000_000
# Relative difference of two scores below which they are equal, and sums of another
# order rounded differently.
_ROUNDING = 1e-10


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The resampling of plants: weights for intervals, exchanges of runs for tests."""

    resamples: int = 10_000
    #: In (0, 1): the share of resampled scores inside the interval.
    confidence: float = 0.95
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.resamples} resamples, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a score is computed from: sums that each plant contributes to."""

    #: float (k, plants): what each plant contributes to k sums; (0, plants) where the
    #: score has no tests.
    sums: csr_array
    #: Computes scores, float (m,), from the sums over all plants of m resamples, float
    #: (k, m).
    to_scores: Callable[[Floats], Floats]
    #: float (k, 2): what one more plant would contribute if it scored lowest and
    #: highest; (0, 2) where the score has no interval.
    further: Floats = field(default_factory=lambda: np.empty((0, 2)))

    @property
    def plants(self) -> Indices:
        """The plants that contribute, int, each once."""
        return np.unique(self.sums.indices)

    def compute(self) -> float:
        """Compute the score; NaN without pictures."""
        return float(self.to_scores(self.sums.sum(axis=1)[:, None])[0])


def average_statistics(parts: Sequence[Statistics]) -> Statistics:
    """Average scores without NaN, such as the scores of several types.

    In each of them a plant is weighted or swapped.
    """
    ends = np.cumsum([part.sums.shape[0] for part in parts])[:-1]

    def to_scores(sums: Floats) -> Floats:
        pairs = zip(parts, np.split(sums, ends), strict=True)
        scores = np.array([part.to_scores(some) for part, some in pairs])
        return divide(np.nansum(scores, axis=0), (~np.isnan(scores)).sum(axis=0))

    sums = csr_array(vstack([part.sums for part in parts]))
    n_plants = max(len(np.unique(sums.indices)), 1)
    # One more plant is in a part as seldom as the plants are.
    further = [part.further * (len(part.plants) / n_plants) for part in parts]
    return Statistics(sums, to_scores, np.concatenate(further))


def subtract(a: ArrayLike, b: ArrayLike) -> Floats:
    """Subtract scores; 0 where they only differ by rounding."""
    return np.where(np.isclose(a, b, _ROUNDING, _ROUNDING), 0, np.subtract(a, b))


def bootstrap_scores(
    runs: Sequence[Statistics], bootstrap: Bootstrap, *, is_paired: bool = False
) -> Floats:
    """Score resamples of plants with random weights: float (runs, 2, resamples).

    The rows are for the lower and the upper end of an interval. Weights are
    exponential, as in the Bayesian bootstrap [5]_: they are of plants, as the pictures
    of a plant look alike, whoever took them and however. As other plants are unknown,
    each resample has one plant more: it scores lowest for the lower end, and highest
    for the upper end [6]_. Where plants score 0 or 1, quantiles are the ends of the
    exact interval [1]_. Where there is no interval, as of a single plant, all scores
    are NaN.

    A resample has the same weights in all runs. Where they are paired, one run's first
    row is subtracted from another's second row, and the second from the first. Then
    half a plant scores lowest in one run and highest in the other, and half a plant
    the other way round [7]_: a whole one would make the interval of a difference, which
    is small, so wide that it contradicted the test.
    """
    plants = np.unique(np.concatenate([run.sums.indices for run in runs]))
    sums = [csr_array(run.sums[:, plants]) for run in runs]
    random = np.random.default_rng(bootstrap.seed)
    blocks = []
    for size in _split_resamples(sums[0], bootstrap):
        weights = random.standard_exponential((len(plants), size))
        if is_paired:
            low_weight, high_weight = random.standard_gamma(0.5, (2, size))
        else:
            low_weight = random.standard_exponential(size)
            high_weight = np.zeros(size)
        ends = [(low_weight, high_weight), (high_weight, low_weight)]
        block = []
        for run, sums_of_run in zip(runs, sums, strict=True):
            totals = sums_of_run @ weights
            for end in ends:
                block.append(run.to_scores(totals + run.further @ end))
        blocks.append(np.reshape(block, (len(runs), 2, size)))
    samples = np.concatenate(blocks, axis=2)
    samples[[len(run.plants) < 2 for run in runs]] = np.nan
    return samples


def randomisation_test(
    runs: Sequence[Statistics], pairs: Sequence[tuple[int, int]], bootstrap: Bootstrap
) -> list[float]:
    """Test whether pairs of runs differ, by swapping them on plants chosen at random.

    Returns two-sided p values. If both runs were equally good, either could have given
    the other's answers for a plant. The runs are scored by one metric on the same
    pictures.
    """
    totals = [run.sums.sum(axis=1)[:, None] for run in runs]
    # Equal sums in another order differ in their last digits, and count as at least as
    # large.
    observed = [
        abs(runs[a].compute() - runs[b].compute()) - _ROUNDING for a, b in pairs
    ]
    n_extreme = np.zeros(len(pairs), int)
    random = np.random.default_rng(bootstrap.seed)
    for size in _split_resamples(runs[0].sums, bootstrap) if pairs else ():
        shape = (runs[0].sums.shape[1], size)
        is_swapped = random.integers(0, 2, shape, np.int8).astype(np.float64)
        swapped = [run.sums @ is_swapped for run in runs]
        for index, (a, b) in enumerate(pairs):
            change = swapped[b] - swapped[a]
            score_a = runs[a].to_scores(totals[a] + change)
            score_b = runs[b].to_scores(totals[b] - change)
            n_extreme[index] += (np.abs(score_a - score_b) >= observed[index]).sum()
    p_values: list[float] = ((n_extreme + 1) / (bootstrap.resamples + 1)).tolist()
    return p_values


def correct_holm(p_values: ArrayLike) -> Floats:
    """Correct several p values by Holm's method; each grows, to 1 at most."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(corrected, 1)
    return result


def _split_resamples(sums: csr_array, bootstrap: Bootstrap) -> Iterator[int]:
    """Split the resamples of sums into blocks that fit into memory."""
    step = max(1, _CELLS // max(1, *sums.shape))
    for start in range(0, bootstrap.resamples, step):
        yield min(step, bootstrap.resamples - start)
