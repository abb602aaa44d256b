"""How far scores depend on which plants happened to be photographed.

References
----------
.. [1] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall 1993, chapters 6 and 13.
.. [2] E. W. Noreen, "Computer-Intensive Methods for Testing Hypotheses", Wiley 1989, chapter 2.
.. [3] B. Phipson, G. K. Smyth, "Permutation P-values should never be zero", 2010, doi:10.2202/1544-6115.1585.
.. [4] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian J. of Statistics 6, 1979.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.metrics.plant_task import index_plants

# Some 32 MB of resampled weights at a time, whatever the number of plants.
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How to resample.

    Attributes
    ----------
    resamples : int
    confidence : float
        In (0, 1): the share of resampled scores inside the interval.
    seed : int
    """

    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0

    def interval(self, samples: ArrayLike) -> tuple[float, float]:
        """Cut equal tails off resampled scores: the percentile interval.

        Parameters
        ----------
        samples : float array (resamples,)

        Returns
        -------
        low, high : float
        """
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(np.asarray(samples), [tail, 1 - tail])
        return float(low), float(high)


def bootstrap_scores(
    values: Sequence[ArrayLike],
    averages: Sequence[str],
    authors: ArrayLike,
    plants: ArrayLike,
    bootstrap: Bootstrap,
) -> NDArray[np.float64] | None:
    """Score again and again with each author's plants drawn anew, with replacement, as many as there are.

    Plants are what is drawn because the pictures of a plant look alike; authors stay, as the score is about them.

    Parameters
    ----------
    values : sequence of float arrays (n,)
        The pictures' scores, a measure each.
    averages : sequence of {"S", "plants", "pictures"}
        How each measure is averaged, see `leafid.metrics.plant_task.compute_weights`.
    authors, plants : int or str array (n,)
    bootstrap : Bootstrap
        The same seed draws the same plants.

    Returns
    -------
    float64 (measures, resamples), or None
        None where no author has two plants: drawing says nothing there.
    """
    owners, unit = index_plants(authors, plants)
    plants_of = np.bincount(owners)
    if not len(owners) or plants_of.max() < 2:
        return None
    counts = np.bincount(unit).astype(np.float64)
    sums = [np.bincount(unit, weights=np.asarray(value, np.float64)) for value in values]
    columns: list[list[NDArray]] = [[] for _ in values]
    for times in _draws(plants_of, bootstrap):
        for column, total, average in zip(columns, sums, averages, strict=True):
            if average == "pictures":
                column.append((times @ total) / (times @ counts))
            elif average == "plants":
                column.append(times @ (total / counts) / len(owners))
            else:
                column.append(times @ (total / counts / plants_of[owners]) / len(plants_of))
    return np.array([np.concatenate(column) for column in columns])


def randomisation_test(
    difference: ArrayLike, authors: ArrayLike, plants: ArrayLike, *, resamples: int = 10_000, seed: int = 0
) -> float:
    """Test whether two runs differ, by swapping them on plants picked at random.

    Were both runs equally good, either could have given either one's answers for a plant.

    Parameters
    ----------
    difference : float array (n,)
        Each picture's weighted difference: its weight in the score times (first run's value - second's). Their sum
        is the difference of the scores.
    authors, plants : int or str array (n,)
    resamples : int, default 10000
    seed : int, default 0

    Returns
    -------
    float
        The two-sided p value, in [1 / (resamples + 1), 1].
    """
    _, unit = index_plants(authors, plants)
    parts = np.bincount(unit, weights=np.asarray(difference, np.float64))
    parts = parts[parts != 0]
    observed = abs(parts.sum())
    # Equal sums in another order differ in their last digits, and count as reached.
    reached = observed - 1e-12
    rng = np.random.default_rng(seed)
    count, left, step = 0, resamples, max(1, _CELLS // max(len(parts), 1))
    while left:
        size = min(step, left)
        signs = rng.integers(0, 2, (size, len(parts)), dtype=np.int8) * 2.0 - 1.0
        count += int((np.abs(signs @ parts) >= reached).sum())
        left -= size
    return (count + 1) / (resamples + 1)


def correct_holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct p values for there being several.

    Parameters
    ----------
    p_values : float array (m,)

    Returns
    -------
    float64 (m,)
        In the same order, not below the given ones, at most 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(corrected, 1)
    return result


def _draws(plants_of: NDArray[np.intp], bootstrap: Bootstrap) -> Iterator[NDArray[np.float64]]:
    """Yield how often each plant is drawn: (some resamples, plants), author after author."""
    sizes = tuple(plants_of.tolist())
    if sum(sizes) * bootstrap.resamples <= _CELLS:
        yield _all_draws(sizes, bootstrap)
        return
    rng = np.random.default_rng(bootstrap.seed)
    left, step = bootstrap.resamples, max(1, _CELLS // sum(sizes))
    while left:
        size = min(step, left)
        yield _drawn(sizes, size, rng)
        left -= size


# Every run is judged on the same plants: a hundred runs need not draw them a hundred times.
@lru_cache(maxsize=8)
def _all_draws(sizes: tuple[int, ...], bootstrap: Bootstrap) -> NDArray[np.float64]:
    return _drawn(sizes, bootstrap.resamples, np.random.default_rng(bootstrap.seed))


def _drawn(sizes: tuple[int, ...], resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return np.concatenate([_counts(size, resamples, rng) for size in sizes], axis=1).astype(np.float64)


def _counts(size: int, resamples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw `size` of as many with replacement, again and again; NumPy's multinomial draws take seven times as long."""
    drawn = rng.integers(0, size, (resamples, size))
    drawn += np.arange(resamples)[:, None] * size
    return np.bincount(drawn.ravel(), minlength=resamples * size).reshape(resamples, size)
