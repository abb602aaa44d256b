"""How much scores depend on which plants happened to be photographed.

References
----------
.. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall 1993, chapters 6 and 13.
.. [2] E. W. Noreen, "Computer-Intensive Methods for Testing Hypotheses", Wiley 1989, chapter 2.
.. [3] B. Phipson, G. K. Smyth, "Permutation P-values should never be zero", 2010, doi:10.2202/1544-6115.1585.
.. [4] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian J. of Statistics 6, 1979.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

# Maximum number of drawn plants held at a time: some 32 MB, however many plants there are.
_CELLS = 4_000_000

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How plants are resampled: drawn for intervals, swapped between runs for tests."""

    resamples: int = 10_000
    #: In (0, 1): the share of resampled scores inside the interval.
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a score is computed from: sums that each plant contributes to."""

    #: float (k, plants): what each plant contributes to k sums.
    sums: csr_array
    #: Computes scores, float (m,), from the sums over all plants of m resamples, float (k, m).
    finish: Callable[[Floats], Floats]

    @property
    def is_resampled(self) -> bool:
        """Whether the score is computed from sums, so that it has intervals and tests."""
        return bool(self.sums.shape[0])

    def compute(self) -> float:
        """Compute the score; NaN without pictures."""
        return float(self.finish(self.sums.sum(axis=1)[:, None])[0])


def average_statistics(parts: Sequence[Statistics]) -> Statistics:
    """Average scores, such as those of several types, whose plants are drawn and swapped together; NaN is left out."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([part.sums.shape[0] for part in parts])[:-1]

    def finish(sums: Floats) -> Floats:
        pairs = zip(parts, np.split(sums, ends), strict=True)
        return nan_mean(np.array([part.finish(some) for part, some in pairs]))

    return Statistics(csr_array(vstack([part.sums for part in parts])), finish)


def nan_mean(values: Floats) -> Floats:
    """Average over the first axis without NaN; NaN where there is nothing else."""
    is_score = ~np.isnan(values)
    counts = is_score.sum(axis=0)
    total = np.where(is_score, values, 0).sum(axis=0)
    return np.divide(total, counts, out=np.full(counts.shape, np.nan), where=counts > 0)


def sum_by_plant(
    values: ArrayLike, rows: ArrayLike, plants: ArrayLike, shape: tuple[int, int]
) -> csr_array:
    """Sum the pictures' values, (n,), by their rows and plants, int (n,): float (rows, plants)."""
    return csr_array(
        (np.asarray(values, np.float64), (np.asarray(rows), np.asarray(plants))), shape
    )


def bootstrap_scores(score: Statistics, bootstrap: Bootstrap) -> Floats | None:
    """Score resamples in which as many plants as there are drawn with replacement: float (resamples,).

    Plants are drawn because the pictures of a plant look alike, whoever took them and however. None where there is a
    single plant, so that every resample is the same.
    """
    plants = np.unique(score.sums.indices)
    if len(plants) < 2:
        return None
    sums = csr_array(score.sums[:, plants])
    blocks = [
        score.finish(sums @ times) for times in _draw_plants(len(plants), bootstrap)
    ]
    return np.concatenate(blocks)


def randomisation_test(
    runs: Sequence[Statistics], pairs: Sequence[tuple[int, int]], bootstrap: Bootstrap
) -> list[float]:
    """Test whether pairs of runs differ, by swapping them on plants chosen at random; the two-sided p values.

    If both runs were equally good, either could have given the other's answers for a plant. The runs are scored by one
    metric on the same pictures.
    """
    totals = [run.sums.sum(axis=1)[:, None] for run in runs]
    # Equal sums in another order differ in their last digits, and count as at least as large.
    observed = [abs(runs[a].compute() - runs[b].compute()) - 1e-10 for a, b in pairs]
    n_extreme = np.zeros(len(pairs), int)
    for is_swapped in _swap_plants(runs[0].sums.shape[1], bootstrap) if pairs else ():
        swapped = [run.sums @ is_swapped for run in runs]
        for index, (a, b) in enumerate(pairs):
            change = swapped[b] - swapped[a]
            difference = runs[a].finish(totals[a] + change) - runs[b].finish(
                totals[b] - change
            )
            n_extreme[index] += int((np.abs(difference) >= observed[index]).sum())
    return [(count + 1) / (bootstrap.resamples + 1) for count in n_extreme.tolist()]


def correct_holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct several p values by Holm's method: none gets smaller, none larger than 1."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(corrected, 1)
    return result


def _draw_plants(n_plants: int, bootstrap: Bootstrap) -> Iterator[Floats]:
    """Yield how often each plant is drawn: float (plants, some resamples)."""
    random = np.random.default_rng(bootstrap.seed)
    for size in _split_resamples(n_plants, bootstrap):
        # NumPy's multinomial takes seven times as long.
        indices = (
            random.integers(0, n_plants, (size, n_plants))
            + np.arange(size)[:, None] * n_plants
        )
        yield (
            np.bincount(indices.ravel(), minlength=size * n_plants)
            .reshape(size, n_plants)
            .T.astype(np.float64)
        )


def _swap_plants(n_plants: int, bootstrap: Bootstrap) -> Iterator[Floats]:
    """Yield whether each plant is swapped: float (plants, some resamples), 0 or 1."""
    random = np.random.default_rng(bootstrap.seed)
    for size in _split_resamples(n_plants, bootstrap):
        yield random.integers(0, 2, (n_plants, size), dtype=np.int8).astype(np.float64)


def _split_resamples(n_plants: int, bootstrap: Bootstrap) -> Iterator[int]:
    """Split the resamples into blocks that fit into memory."""
    step = max(1, _CELLS // max(n_plants, 1))
    for start in range(0, bootstrap.resamples, step):
        yield min(step, bootstrap.resamples - start)
