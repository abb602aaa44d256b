"""The guided filter: smooths a map so that its edges align with those of a picture."""

import cv2
import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]


class GuidedFilter:
    """Filter maps by one picture, the guide, in [0, 1].

    In every window of 2 · `radius` + 1 rows and columns the map is fitted as ``slope · guide + offset``; a pixel gets
    the mean of the predictions of all windows around it. Where the guide is even (its variance in the window is below
    `epsilon`), the map is blurred; across edges of the guide it is not.

    References
    ----------
    .. [1] K. He, J. Sun, X. Tang, "Guided image filtering", IEEE TPAMI 35(6), 2013, section 3,
       doi:10.1109/TPAMI.2012.213
    """

    def __init__(self, guide: Map, radius: int, epsilon: float) -> None:
        self._guide = guide
        self._window = (2 * radius + 1, 2 * radius + 1)
        # All calls share these arrays: allocating takes as long as computing.
        self._slope, self._offset, self._filtered = (np.empty_like(guide) for _ in range(3))
        self._mean = self._blur(guide, np.empty_like(guide))
        variance = self._blur(guide * guide, self._filtered) - self._mean * self._mean
        self._gain = np.float32(1) / (variance + np.float32(epsilon))

    def __call__(self, values: Map) -> Map:
        """Filter a map; the result may overshoot its range a little, and the next call overwrites it."""
        slope, offset, filtered = self._slope, self._offset, self._filtered
        mean = self._blur(values, offset)
        self._blur(np.multiply(self._guide, values, out=filtered), slope)
        slope -= np.multiply(self._mean, mean, out=filtered)
        slope *= self._gain
        offset -= np.multiply(slope, self._mean, out=filtered)
        self._blur(slope, filtered)
        filtered *= self._guide
        filtered += self._blur(offset, slope)
        return filtered

    def _blur(self, values: Map, out: Map) -> Map:
        cv2.blur(values, self._window, dst=out, borderType=cv2.BORDER_REPLICATE)
        return out
