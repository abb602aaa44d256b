"""What tells the acquisition type of a picture, measured on the picture itself."""

from __future__ import annotations

import cv2
import numpy as np

N_TYPE_FEATURES = 27
#: Pictures are read at this longest side, in pixels.
TYPE_SIDE = 400
_SIDE = 48
_RIM = 3


def type_features(image: np.ndarray) -> np.ndarray:
    """Measure what tells a scanner, a sheet and the open air apart, whatever the sheet's tint.

    Parameters
    ----------
    image : uint8 (H, W, 3)
        BGR.

    Returns
    -------
    float32 (27,)
        Of a thumbnail in Lab, each channel in [0, 1]: lightness of the rim, how far the rim's colours lie from their
        median, spread of the rim and of the whole, how the light drifts from corner to corner, and how rough the rim
        and the whole are.
    """
    small = cv2.resize(image, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB).astype(np.float32) / 255
    inner = np.zeros((_SIDE, _SIDE), bool)
    inner[_RIM:-_RIM, _RIM:-_RIM] = True
    rim = lab[~inner]
    lightness = rim[:, 0]
    strays = np.percentile(np.abs(rim - np.median(rim, axis=0)), (50, 75, 90), axis=0)
    rough = [np.abs(np.diff(lab, axis=axis)).mean(axis=2) for axis in (0, 1)]
    rim_rough = np.concatenate([rough[0][:, ~inner[0]].ravel(), rough[1][~inner[:, 0]].ravel()])
    corners = [lab[rows, cols].mean(axis=(0, 1)) for rows in _ENDS for cols in _ENDS]
    return np.concatenate(
        [
            np.percentile(lightness, (50, 5, 95)),
            np.log1p(100 * strays).ravel(),
            rim.std(axis=0),
            lab.std(axis=(0, 1)),
            np.ptp(corners, axis=0),
            np.log1p(100 * np.percentile(rim_rough, (25, 50, 75, 95))),
            np.log1p(100 * np.array([rough[0].mean(), rough[1].mean()])),
        ]
    ).astype(np.float32)


_ENDS = (slice(0, _SIDE // 6), slice(-(_SIDE // 6), None))
