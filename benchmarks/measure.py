"""Times functions in turns with a yardstick, so that the load of the machine cancels out of their ratio."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

Call = Callable[[], object]

#: A timing lasts at least so many seconds: shorter calls are repeated, for clocks are coarse and calls cost something.
LEAST = 0.002
N_RESAMPLES = 300
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Cost:
    """What one case costs.

    Attributes
    ----------
    ms : float
        Median CPU time of a call, in milliseconds.
    wall_ms : float
        Median time by the clock on the wall.
    ratio : float
        CPU time over that of the yardstick, summed over the same pictures.
    low, high : float
        Bootstrap interval of the ratio.
    peak_mb : float or None
        Memory at the peak in 10⁶ bytes, where it was measured.
    n : int
        Pictures (or runs of a command).
    """

    ms: float
    wall_ms: float
    ratio: float
    low: float
    high: float
    peak_mb: float | None = None
    n: int = 1


def time_in_turns(calls: Mapping[str, Call], yardstick: Call, rounds: int) -> dict[str, np.ndarray]:
    """Time every call in every round, each next to a timing of the yardstick.

    Returns
    -------
    dict of str to float64 (rounds, 3)
        By the call's name: seconds of CPU, seconds on the wall, and seconds of CPU of the yardstick, of one call.
    """
    repeats = {name: _repeats(call) for name, call in calls.items()}
    n_yardstick = _repeats(yardstick)
    times = {name: np.empty((rounds, 3)) for name in calls}
    for turn in range(rounds):
        for name, call in calls.items():
            # The call before has filled the processor's cache with something else: the first of each is not timed.
            yardstick()
            measured, _ = _timed(yardstick, n_yardstick)
            call()
            times[name][turn] = (*_timed(call, repeats[name]), measured)
    return times


def cost(times: np.ndarray, peak_mb: float | None = None) -> Cost:
    """Sum a case up.

    Parameters
    ----------
    times : float array (n_pictures, rounds, 3)
        Of `time_in_turns`, a picture after the other.
    peak_mb : float, optional
    """
    low, high = ratio_interval(times)
    middle = np.median(times, axis=1)
    return Cost(
        ms=float(1000 * np.median(middle[:, 0])),
        wall_ms=float(1000 * np.median(middle[:, 1])),
        ratio=float(_ratio(times)),
        low=low,
        high=high,
        peak_mb=peak_mb,
        n=len(times),
    )


def ratio_interval(times: np.ndarray, confidence: float = CONFIDENCE, seed: int = 0) -> tuple[float, float]:
    """Estimate between what bounds the ratio of `cost` lies, for these very pictures.

    The rounds of each picture are drawn anew with replacement (the pictures are not: they are the same the next time).
    The spread of the ratios of these draws, times the quantile of the normal distribution, is laid around the ratio;
    outer percentiles of medians of a few rounds would be too coarse. The spread is half of what the middle 68 % span:
    a standard deviation, but one that a hiccup of the machine doesn't move.

    Parameters
    ----------
    times : float array (n_pictures, rounds, 3)
    confidence : float, default 0.99
    seed : int, default 0

    Returns
    -------
    low, high : float
    """
    n_pictures, rounds, _ = times.shape
    random = np.random.default_rng(seed)
    pictures = np.arange(n_pictures)[:, None]
    drawn = [_ratio(times[pictures, random.integers(rounds, size=(n_pictures, rounds))]) for _ in range(N_RESAMPLES)]
    ratio = _ratio(times)
    lower, upper = np.percentile(drawn, (15.87, 84.13))
    margin = NormalDist().inv_cdf((1 + confidence) / 2) * float(upper - lower) / 2
    return ratio - margin, ratio + margin


def python_peak(call: Call) -> float:
    """Tell how much memory a call needs at its peak beside what was there before, in 10⁶ bytes.

    By tracemalloc: all of Python and NumPy, images that OpenCV returns among it, but not what OpenCV needs inside.
    The same code gives the same number, whatever the machine.
    """
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _ratio(times: np.ndarray) -> float:
    sums = np.median(times, axis=1).sum(axis=0)
    return float(sums[0] / sums[2])


def _repeats(call: Call) -> int:
    call()
    seconds, _ = _timed(call, 1)
    return max(1, math.ceil(LEAST / max(seconds, 1e-7)))


def _timed(call: Call, repeats: int) -> tuple[float, float]:
    """Seconds of CPU and on the wall, of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - cpu) / repeats, (time.perf_counter() - wall) / repeats


def chosen(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Choose the names that hold one of the texts; a text with * or ? must fit the whole name; all without texts."""
    from fnmatch import fnmatchcase

    def fits(name: str, pattern: str) -> bool:
        return fnmatchcase(name, pattern) if set(pattern) & set("*?") else pattern in name

    return [name for name in names if not patterns or any(fits(name, pattern) for pattern in patterns)]
