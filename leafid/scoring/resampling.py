"""How much scores depend on which plants happened to be photographed.

References
----------
.. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall 1993, chapters 6 and 13.
.. [2] E. W. Noreen, "Computer-Intensive Methods for Testing Hypotheses", Wiley 1989, chapter 2.
.. [3] B. Phipson, G. K. Smyth, "Permutation P-values should never be zero", 2010, doi:10.2202/1544-6115.1585.
.. [4] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian J. of Statistics 6, 1979.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

# Maximum number of drawn plants held at a time: some 32 MB, however many plants there are.
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How to resample."""

    resamples: int = 1000
    #: In (0, 1): the share of resampled scores inside the interval.
    confidence: float = 0.95
    seed: int = 0

    def compute_interval(self, samples: ArrayLike) -> tuple[float, float]:
        """Compute the percentile interval of resampled scores, with equal tails; NaN, without a score, is left out."""
        tail = (1 - self.confidence) / 2
        low, high = np.nanquantile(np.asarray(samples), [tail, 1 - tail])
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class WeightedScore:
    """A score that averages pictures within groups, such as authors, and then the groups."""

    #: float (n,): what each picture scores.
    values: NDArray[np.float64]
    #: float (n,): what it weighs in its group.
    weights: NDArray[np.float64]
    #: int (n,): its group, from 0; and its plant, over all scores that are resampled together.
    groups: NDArray[np.intp]
    plants: NDArray[np.intp]

    def compute(self) -> float:
        """Compute the score; NaN without pictures."""
        return float(self.resample(np.ones((int(self.plants.max(initial=0)) + 1, 1)))[0])

    def resample(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score resamples in which each plant is drawn so many times, float (plants, resamples); float (resamples,).

        A group none of whose plants is drawn is left out; without any group the score is NaN.
        """
        if not len(self.values):
            return np.full(times.shape[1], np.nan)
        shape = int(self.groups.max()) + 1, len(times)
        sums, totals = (
            csr_array((data, (self.groups, self.plants)), shape) @ times
            for data in (self.weights * self.values, self.weights)
        )
        means = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        n_present = (totals > 0).sum(axis=0)
        return np.divide(means.sum(axis=0), n_present, out=np.full(times.shape[1], np.nan), where=n_present > 0)


def bootstrap_scores(
    scores: Sequence[WeightedScore], n_plants: int, bootstrap: Bootstrap
) -> NDArray[np.float64] | None:
    """Score resamples in which as many plants as there are drawn with replacement; float64 (scores, resamples).

    Plants are drawn because the pictures of a plant look alike, whoever took them and however. All scores are those of
    the same draws. None where there is a single plant, so that every resample is the same.
    """
    if n_plants < 2:
        return None
    blocks = [[score.resample(times) for score in scores] for times in _draw_in_blocks(n_plants, bootstrap)]
    return np.concatenate(blocks, axis=1)


def randomisation_test(difference: ArrayLike, plants: ArrayLike, *, resamples: int = 10_000, seed: int = 0) -> float:
    """Test whether two runs differ, by swapping them on plants chosen at random; the two-sided p value.

    If both runs were equally good, either could have given the other's answers for a plant. `difference` has each
    picture's weight in the score times (first run's value - second's), (n,).
    """
    _, plant = np.unique(np.asarray(plants), return_inverse=True)
    parts = np.bincount(plant, weights=np.asarray(difference, np.float64))
    parts = parts[parts != 0]
    # Equal sums in another order differ in their last digits, and count as at least as large.
    observed = abs(parts.sum()) - 1e-12
    rng = np.random.default_rng(seed)
    n_extreme = 0
    for size in _split_resamples(resamples, len(parts)):
        signs = rng.integers(0, 2, (size, len(parts)), dtype=np.int8) * 2.0 - 1.0
        n_extreme += int((np.abs(signs @ parts) >= observed).sum())
    return (n_extreme + 1) / (resamples + 1)


def correct_holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct several p values by Holm's method: none gets smaller, none larger than 1."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(corrected, 1)
    return result


def _split_resamples(resamples: int, n_plants: int) -> Iterator[int]:
    """Split the resamples into blocks that fit into memory."""
    step = max(1, _CELLS // max(n_plants, 1))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


def _draw_in_blocks(n_plants: int, bootstrap: Bootstrap) -> Iterator[NDArray[np.float64]]:
    """Yield how often each plant is drawn: float (plants, some resamples)."""
    rng = np.random.default_rng(bootstrap.seed)
    for resamples in _split_resamples(bootstrap.resamples, n_plants):
        # NumPy's multinomial takes seven times as long.
        indices = rng.integers(0, n_plants, (resamples, n_plants))
        indices += np.arange(resamples)[:, None] * n_plants
        counts = np.bincount(indices.ravel(), minlength=resamples * n_plants).reshape(resamples, n_plants)
        yield np.ascontiguousarray(counts.T, np.float64)
