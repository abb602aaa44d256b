"""Smooths a map so that its edges come to lie on those of a picture: the guided filter."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]


class GuidedFilter:
    """Filter maps by one picture, each place by a line through the picture's values around it.

    In every window the map is fitted as ``slope · guide + offset``; a place gets the mean of what the windows around
    it say. Where the guide is even the map is blurred, across its edges it is not.

    Parameters
    ----------
    guide : ndarray of float32, shape (H, W)
        In [0, 1].
    radius : int
        Windows have 2 · radius + 1 rows and columns; beyond the border the outermost values go on.
    epsilon : float
        Variance of the guide below which a window counts as even; above 0.

    References
    ----------
    .. [1] K. He, J. Sun, X. Tang, "Guided image filtering", IEEE TPAMI 35(6), 2013, section 3,
       doi:10.1109/TPAMI.2012.213
    """

    def __init__(self, guide: Map, radius: int, epsilon: float) -> None:
        self._guide = guide
        self._window = (2 * radius + 1, 2 * radius + 1)
        # What is computed goes into the same arrays again and again: to ask for memory takes as long as to compute.
        self._slope, self._offset, self._found = (np.empty_like(guide) for _ in range(3))
        self._mean = self._blurred(guide, np.empty_like(guide))
        spread = self._blurred(guide * guide, self._found) - self._mean * self._mean
        self._gain = np.float32(1) / (spread + np.float32(epsilon))

    def __call__(self, values: Map) -> Map:
        """Filter one map.

        Parameters
        ----------
        values : ndarray of float32, shape (H, W)

        Returns
        -------
        ndarray of float32, shape (H, W)
            It may overshoot the range of the values a little. The next call writes into the same array.
        """
        slope, offset, found = self._slope, self._offset, self._found
        mean = self._blurred(values, offset)
        self._blurred(np.multiply(self._guide, values, out=found), slope)
        slope -= np.multiply(self._mean, mean, out=found)
        slope *= self._gain
        offset -= np.multiply(slope, self._mean, out=found)
        self._blurred(slope, found)
        found *= self._guide
        found += self._blurred(offset, slope)
        return found

    def _blurred(self, values: Map, into: Map) -> Map:
        cv2.blur(values, self._window, dst=into, borderType=cv2.BORDER_REPLICATE)
        return into
