"""Times functions alternately with a yardstick, which cancels the machine's load."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Call = Callable[[], object]

#: Minimum duration of a timing, in seconds: shorter calls are repeated, since clocks
#: are coarse.
MIN_SECONDS = 0.002


@dataclass(frozen=True)
class Cost:
    """Time and memory of one case.

    Attributes
    ----------
    ms : float
        Median CPU time of a call over the pictures, in milliseconds.
    ratio : float
        CPU time over the yardstick's CPU time, summed over the same pictures.
    peak_mb : float
        Most memory that a call allocates, in 10⁶ bytes: by Python and NumPy, with the
        images that OpenCV returns, but without OpenCV's internal buffers.
    """

    ms: float
    ratio: float
    peak_mb: float


def time_alternately(
    calls: Mapping[str, Call], yardstick: Call, rounds: int
) -> dict[str, np.ndarray]:
    """Time every call in every round, each next to a timing of the yardstick.

    Returns
    -------
    dict of str to float64 (rounds, 2)
        By the name of the call: CPU seconds of a single call, and of the yardstick.
    """
    repeats = {name: _count_repeats(call) for name, call in calls.items()}
    n_yardstick = _count_repeats(yardstick)
    times = {name: np.empty((rounds, 2)) for name in calls}
    for turn in range(rounds):
        for name, call in calls.items():
            # The previous call has filled the processor's cache with other data: the
            # first call of each isn't timed.
            yardstick()
            yardstick_seconds = _time_call(yardstick, n_yardstick)
            call()
            times[name][turn] = _time_call(call, repeats[name]), yardstick_seconds
    return times


def summarise_times(times: np.ndarray, peak_mb: float) -> Cost:
    """Summarise the times of a case, float (n_pictures, rounds, 2), by medians."""
    medians = np.median(times, axis=1)
    seconds, yardstick = medians.sum(axis=0)
    return Cost(
        float(1000 * np.median(medians[:, 0])), float(seconds / yardstick), peak_mb
    )


def measure_peak_memory(call: Call) -> float:
    """Measure the peak of the memory that a call allocates, in 10⁶ bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def list_regressions(
    now: Mapping[str, float], before: Mapping[str, float], tolerance: float
) -> list[str]:
    """List the cases whose ratio rose by more than a share of what it was before."""
    return [
        name
        for name, ratio in now.items()
        if name in before and ratio > before[name] * (1 + tolerance)
    ]


def select_names(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Select the names that contain any of the patterns; all without patterns."""
    return [
        name
        for name in names
        if not patterns or any(pattern in name for pattern in patterns)
    ]


def _count_repeats(call: Call) -> int:
    call()
    return max(1, math.ceil(MIN_SECONDS / max(_time_call(call, 1), 1e-7)))


def _time_call(call: Call, repeats: int) -> float:
    """Return CPU seconds per call."""
    started = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - started) / repeats
