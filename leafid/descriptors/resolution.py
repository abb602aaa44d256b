"""How small the parts of an outline may be that a picture still shows."""

import cv2
import numpy as np

from leafid.descriptors.shape.contour import Points, compute_contour_length
from leafid.segmentation.pixels import Image

# Points of the outline at which the edge is measured.
_POINTS = 256
# Distances from the outline to which the colour is followed, in pixels: the next one
# where the edge is wider. Their step.
_REACHES = (6.0, 12.0, 24.0)
_STEP = 0.5


def measure_resolution(contour: Points, image: Image | None) -> float:
    """Measure the length of an outline in widths of its edge in the picture.

    Without a picture it is in pixels. The width is the step of the colour across the
    edge, from leaf to sheet, over its greatest slope, and at least a pixel; the median
    along the outline counts. The method is leafid's own.
    """
    length = compute_contour_length(contour)
    if image is None:
        return length
    points = contour[:: max(1, len(contour) // _POINTS)]
    width = 0.0
    for reach in _REACHES:
        width = _measure_edge(points, image, reach)
        if width < reach:
            break
    return length / max(1.0, width)


def _measure_edge(points: Points, image: Image, reach: float) -> float:
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
