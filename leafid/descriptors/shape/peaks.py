"""Finds the peaks of closed signals, such as those along an outline."""

import numpy as np
from numpy.typing import NDArray


def find_closed_peaks(signal: NDArray[np.float32], floor: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find the peaks of a closed signal that rise by `floor` from the valleys on both sides.

    Returns their indices, and their heights above the mean of the two valleys.
    """
    start = int(np.argmin(signal))
    values = np.roll(signal, -start).astype(np.float64)
    slope = np.diff(np.concatenate([values[-1:], values, values[:1]]))
    turns = np.flatnonzero(slope[:-1] * slope[1:] <= 0).tolist()
    peaks: list[int] = []
    valleys = [values[0]]
    top, bottom, is_rising = 0, values[0], True
    for turn in [*turns, 0]:
        value = values[turn]
        if is_rising:
            top = turn if value > values[top] else top
            if value <= values[top] - floor:
                peaks.append(top)
                bottom, is_rising = value, False
        elif value >= bottom + floor:
            valleys.append(bottom)
            top, is_rising = turn, True
        else:
            bottom = min(bottom, value)
    found = np.array(peaks, np.intp)
    around = np.array([*valleys[: len(peaks)], values[0]])
    return (found + start) % len(signal), values[found] - (around[:-1] + around[1:]) / 2
