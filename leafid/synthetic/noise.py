"""Smooth random fields, from which textures, lights and backgrounds are made."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

Field = npt.NDArray[np.float32]
"""Shape (rows, cols), values around 0 with a spread of about 1."""


def smooth_field(
    rows: int, cols: int, grain: float, rng: np.random.Generator, octaves: int = 1, persistence: float = 0.5
) -> Field:
    """Draw a field of value noise.

    Parameters
    ----------
    rows, cols : int
    grain : float
        Size of the largest blotches, in pixels.
    rng : numpy.random.Generator
    octaves : int, default 1
        Each further octave has blotches of half the size.
    persistence : float, default 0.5
        Weight of an octave relative to the one before.

    Returns
    -------
    ndarray, shape (rows, cols), float32
    """
    total = np.zeros((rows, cols), np.float32)
    weight = 1.0
    for _ in range(octaves):
        coarse = rng.standard_normal((int(rows / grain) + 3, int(cols / grain) + 3), dtype=np.float32)
        scale = (coarse.shape[1] * grain, coarse.shape[0] * grain)
        size = (max(cols, round(scale[0])), max(rows, round(scale[1])))
        total += weight * cv2.resize(coarse, size, interpolation=cv2.INTER_CUBIC)[:rows, :cols]
        weight *= persistence
        grain = max(1.0, grain / 2)
    return total


def slope(rows: int, cols: int, angle: float) -> Field:
    """Compute a plane that rises from -1 to 1 along a direction.

    Parameters
    ----------
    rows, cols : int
    angle : float
        In radians; 0 rises to the right, π/2 downwards.
    """
    down = np.linspace(-1, 1, rows, dtype=np.float32)[:, None]
    right = np.linspace(-1, 1, cols, dtype=np.float32)[None, :]
    return (np.float32(np.cos(angle)) * right + np.float32(np.sin(angle)) * down).astype(np.float32)
