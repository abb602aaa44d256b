"""How large a leaf is looked at, by the measures of its inside."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

_LONGEST = 800
"""Longest side after resizing: a hair-thin region is shrunk to it, so that memory stays bounded."""


def resized(mask: NDArray[np.uint8], side: float) -> tuple[float, tuple[int, int]]:
    """Find the size at which a leaf has a given area.

    Parameters
    ----------
    mask : ndarray of uint8, shape (H, W)
        The leaf's box, not 0 where the leaf is; not empty.
    side : float
        √area of the leaf after resizing, in pixels.

    Returns
    -------
    factor : float
        By how much the box is enlarged, above 0.
    size : tuple of int
        Its columns and rows after resizing, as OpenCV takes them; at least 1.
    """
    factor = min(side / np.sqrt(cv2.countNonZero(mask)), _LONGEST / max(mask.shape))
    return factor, (max(1, round(mask.shape[1] * factor)), max(1, round(mask.shape[0] * factor)))
