"""How wide the edge of a leaf is in a picture: nothing smaller than that is seen."""

import cv2
import numpy as np

from leafid.descriptors.shape.contour import Points
from leafid.segmentation.pixels import Image

# Points of the outline at which the edge is measured.
_POINTS = 256
# Distances from the outline to which the colour is followed, in pixels: the next one
# where the edge is wider. Their step.
_REACHES = (6.0, 12.0, 24.0)
_STEP = 0.5


def measure_edge(contour: Points, image: Image | None) -> float:
    """Measure the width of the edge of an outline in the picture, in pixels.

    It is the step of the colour across the edge, from leaf to sheet, over its greatest
    slope, and at least a pixel, as without a picture; the median along the outline
    counts. The method is leafid's.
    """
    if image is None:
        return 1.0
    points = contour[:: max(1, len(contour) // _POINTS)]
    width = 0.0
    for reach in _REACHES:
        width = _measure_within(points, image, reach)
        if width < reach:
            break
    return max(1.0, width)


def _measure_within(points: Points, image: Image, reach: float) -> float:
    """Measure the median width of the edge at points of an outline, in pixels."""
    along = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    across = along[:, ::-1] * (1, -1) / np.maximum(np.hypot(*along.T), 1e-9)[:, None]
    distances = np.arange(-reach, reach + _STEP, _STEP)[:, None, None]
    rows, cols = np.moveaxis((points + distances * across).astype(np.float32), 2, 0)
    colours = cv2.remap(
        image, cols, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    ).astype(np.float32)
    # The colour in the direction in which most of the leaf's edge differs from the
    # sheet.
    contrast = np.median(colours[-1] - colours[0], axis=0)
    profile = colours @ (contrast / max(float(np.linalg.norm(contrast)), 1e-9))
    slope = np.abs(np.gradient(profile, _STEP, axis=0)).max(axis=0)
    return float(np.median(np.ptp(profile, axis=0) / np.maximum(slope, 1e-9)))
