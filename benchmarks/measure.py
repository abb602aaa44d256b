"""Times functions alternately with a yardstick, so that the load of the machine cancels out of their ratio."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

Call = Callable[[], object]

#: Minimum duration of a timing, in seconds: shorter calls are repeated, since clocks are coarse.
MIN_SECONDS = 0.002
N_RESAMPLES = 300
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Cost:
    """Time and memory of one case.

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


def time_alternately(calls: Mapping[str, Call], yardstick: Call, rounds: int) -> dict[str, np.ndarray]:
    """Time every call in every round, each next to a timing of the yardstick.

    Returns
    -------
    dict of str to float64 (rounds, 3)
        By the name of the call: CPU seconds, wall-clock seconds, and CPU seconds of the yardstick, for a single call.
    """
    repeats = {name: _count_repeats(call) for name, call in calls.items()}
    n_yardstick = _count_repeats(yardstick)
    times = {name: np.empty((rounds, 3)) for name in calls}
    for turn in range(rounds):
        for name, call in calls.items():
            # The previous call has filled the processor's cache with other data: the first call of each isn't timed.
            yardstick()
            yardstick_seconds, _ = _time_call(yardstick, n_yardstick)
            call()
            times[name][turn] = (*_time_call(call, repeats[name]), yardstick_seconds)
    return times


def summarise_times(times: np.ndarray, peak_mb: float | None = None) -> Cost:
    """Summarise the times of a case.

    Parameters
    ----------
    times : float array (n_pictures, rounds, 3)
        Stacked results of `time_alternately`.
    peak_mb : float, optional
    """
    low, high = estimate_ratio_interval(times)
    middle = np.median(times, axis=1)
    return Cost(
        ms=float(1000 * np.median(middle[:, 0])),
        wall_ms=float(1000 * np.median(middle[:, 1])),
        ratio=float(_compute_ratio(times)),
        low=low,
        high=high,
        peak_mb=peak_mb,
        n=len(times),
    )


def estimate_ratio_interval(times: np.ndarray, confidence: float = CONFIDENCE, seed: int = 0) -> tuple[float, float]:
    """Estimate a confidence interval of the ratio, for these pictures.

    The rounds of each picture are resampled with replacement; the pictures are not, since they are the same each time.
    The interval is the ratio ± the spread of the resampled ratios times the quantile of the normal distribution: outer
    percentiles of medians of a few rounds would be too coarse. The spread is half the range of the middle 68 %, which
    estimates the standard deviation robustly.

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
    draws = (random.integers(rounds, size=(n_pictures, rounds)) for _ in range(N_RESAMPLES))
    ratios = [_compute_ratio(times[pictures, turns]) for turns in draws]
    ratio = _compute_ratio(times)
    lower, upper = np.percentile(ratios, (15.87, 84.13))
    margin = NormalDist().inv_cdf((1 + confidence) / 2) * float(upper - lower) / 2
    return ratio - margin, ratio + margin


def measure_peak_memory(call: Call) -> float:
    """Measure the peak of the memory that a call allocates, in 10⁶ bytes.

    tracemalloc counts the memory of Python and NumPy, with the images that OpenCV returns, but not OpenCV's internal
    buffers. The same code gives the same number on any machine.
    """
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _compute_ratio(times: np.ndarray) -> float:
    sums = np.median(times, axis=1).sum(axis=0)
    return float(sums[0] / sums[2])


def _count_repeats(call: Call) -> int:
    call()
    seconds, _ = _time_call(call, 1)
    return max(1, math.ceil(MIN_SECONDS / max(seconds, 1e-7)))


def _time_call(call: Call, repeats: int) -> tuple[float, float]:
    """Return CPU and wall-clock seconds per call."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - cpu) / repeats, (time.perf_counter() - wall) / repeats


def select_names(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Select the names that contain any of the patterns, or match it if it has a wildcard; all without patterns."""
    from fnmatch import fnmatchcase

    def is_match(name: str, pattern: str) -> bool:
        return fnmatchcase(name, pattern) if set(pattern) & set("*?") else pattern in name

    return [name for name in names if not patterns or any(is_match(name, pattern) for pattern in patterns)]
