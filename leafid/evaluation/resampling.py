"""How much scores depend on which plants happened to be photographed.

References
----------
.. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall 1993, chapters 6 and 13.
.. [2] E. W. Noreen, "Computer-Intensive Methods for Testing Hypotheses", Wiley 1989, chapter 2.
.. [3] B. Phipson, G. K. Smyth, "Permutation P-values should never be zero", 2010, doi:10.2202/1544-6115.1585.
.. [4] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian J. of Statistics 6, 1979.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.metrics.plant_task import compute_weights, index_plants

# Maximum number of resampled weights held at a time: some 32 MB, whatever the number of plants.
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How to resample."""

    resamples: int = 1000
    #: In (0, 1): the share of resampled scores inside the interval.
    confidence: float = 0.95
    seed: int = 0
    #: Draws of one seed but different streams are independent.
    stream: tuple[int, ...] = ()

    def compute_interval(self, samples: ArrayLike) -> tuple[float, float]:
        """Compute the percentile interval of resampled scores, with equal tails."""
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(np.asarray(samples), [tail, 1 - tail])
        return float(low), float(high)

    def split(self, stream: int) -> Bootstrap:
        """Make a bootstrap whose draws are independent of this one's and of those of other streams."""
        return replace(self, stream=(*self.stream, stream))


def bootstrap_scores(
    values: Sequence[ArrayLike],
    averages: Sequence[str],
    authors: ArrayLike,
    plants: ArrayLike,
    bootstrap: Bootstrap,
) -> NDArray[np.float64] | None:
    """Score resamples in which each author's plants are drawn with replacement, as many as there are.

    Plants are drawn because the pictures of a plant look alike; authors stay, as the score is about them. `values` has
    the pictures' scores, (n,), for each metric, and `averages` its key in `leafid.metrics.plant_task.AVERAGES`. Returns
    float64 (metrics, resamples), or None where no author has two plants, so that every resample is the same.
    """
    owners, unit = index_plants(authors, plants)
    plants_of_author = np.bincount(owners)
    if not len(owners) or plants_of_author.max() < 2:
        return None
    # Every average is a weighted mean; in a resample a plant's pictures weigh as often as it is drawn.
    weights = {average: compute_weights(average, authors, plants) for average in set(averages)}
    plant_weights = {average: np.bincount(unit, weights=weight) for average, weight in weights.items()}
    sums = [
        np.bincount(unit, weights=weights[average] * np.asarray(value, np.float64))
        for average, value in zip(averages, values, strict=True)
    ]
    blocks = []
    for times in _draw_in_blocks(tuple(plants_of_author.tolist()), bootstrap):
        totals = {average: times @ weight for average, weight in plant_weights.items()}
        blocks.append([times @ part / totals[average] for average, part in zip(averages, sums, strict=True)])
    return np.concatenate(blocks, axis=1)


def randomisation_test(
    difference: ArrayLike, authors: ArrayLike, plants: ArrayLike, *, resamples: int = 10_000, seed: int = 0
) -> float:
    """Test whether two runs differ, by swapping them on plants chosen at random; the two-sided p value.

    If both runs were equally good, either could have given the other's answers for a plant. `difference` has each
    picture's weight in the score times (first run's value - second's), (n,).
    """
    _, unit = index_plants(authors, plants)
    parts = np.bincount(unit, weights=np.asarray(difference, np.float64))
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
    """Correct several p values by Holm's method: none gets smaller, none larger than 1.

    Examples
    --------
    >>> correct_holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
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


def _draw_in_blocks(sizes: tuple[int, ...], bootstrap: Bootstrap) -> Iterator[NDArray[np.float64]]:
    """Yield how often each plant is drawn: float (some resamples, plants), author after author."""
    if sum(sizes) * bootstrap.resamples <= _CELLS:
        yield _draw_all(sizes, bootstrap)
        return
    rng = _make_generator(bootstrap)
    for resamples in _split_resamples(bootstrap.resamples, sum(sizes)):
        yield _draw(sizes, resamples, rng)


# Every run is judged on the same plants: a hundred runs share one draw.
@lru_cache(maxsize=8)
def _draw_all(sizes: tuple[int, ...], bootstrap: Bootstrap) -> NDArray[np.float64]:
    return _draw(sizes, bootstrap.resamples, _make_generator(bootstrap))


def _make_generator(bootstrap: Bootstrap) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(bootstrap.seed, spawn_key=bootstrap.stream))


def _draw(sizes: tuple[int, ...], resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return np.concatenate([_count_draws(size, resamples, rng) for size in sizes], axis=1).astype(np.float64)


def _count_draws(size: int, resamples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Count how often each of `size` plants is drawn in `size` draws; NumPy's multinomial takes seven times as long."""
    indices = rng.integers(0, size, (resamples, size))
    indices += np.arange(resamples)[:, None] * size
    return np.bincount(indices.ravel(), minlength=resamples * size).reshape(resamples, size)
