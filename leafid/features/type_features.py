"""Features from which acquisition types are recognised."""

import cv2
import numpy as np

N_TYPE_FEATURES = 27
#: Longest side that pictures are reduced to, in pixels.
TYPE_SIDE = 400
# Side of the thumbnail and width of its rim, in pixels.
_SIDE = 48
_RIM = 3
_ENDS = (slice(0, _SIDE // 6), slice(-(_SIDE // 6), None))


def measure_type_features(image: np.ndarray, picture: object = None) -> np.ndarray:
    """Measure features that separate scans, scan-likes and photos, whatever the tint of the sheet: float32 (27,).

    They are measured on a thumbnail in Lab with channels in [0, 1]: percentiles of the rim's lightness, of the distance
    of its colours from their median, standard deviations of the rim and of the whole, range of the corners' colours,
    and roughness (mean absolute differences of neighbours) of the rim and of the whole. Nothing depends on the metadata
    in `picture`.
    """
    small = cv2.resize(image, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB).astype(np.float32) / 255
    inner = np.zeros((_SIDE, _SIDE), bool)
    inner[_RIM:-_RIM, _RIM:-_RIM] = True
    rim = lab[~inner]
    lightness = rim[:, 0]
    distances = np.percentile(np.abs(rim - np.median(rim, axis=0)), (50, 75, 90), axis=0)
    roughness = [np.abs(np.diff(lab, axis=axis)).mean(axis=2) for axis in (0, 1)]
    rim_roughness = np.concatenate([roughness[0][:, ~inner[0]].ravel(), roughness[1][~inner[:, 0]].ravel()])
    corners = [lab[rows, cols].mean(axis=(0, 1)) for rows in _ENDS for cols in _ENDS]
    return np.concatenate(
        [
            np.percentile(lightness, (50, 5, 95)),
            np.log1p(100 * distances).ravel(),
            rim.std(axis=0),
            lab.std(axis=(0, 1)),
            np.ptp(corners, axis=0),
            np.log1p(100 * np.percentile(rim_roughness, (25, 50, 75, 95))),
            np.log1p(100 * np.array([roughness[0].mean(), roughness[1].mean()])),
        ]
    ).astype(np.float32)
