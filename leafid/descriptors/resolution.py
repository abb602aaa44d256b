"""How small the parts of an outline may be that a picture still shows."""

import cv2
import numpy as np

from leafid.descriptors.shape.contour import Points, compute_contour_length
from leafid.segmentation.pixels import Image

_POINTS = 256  # points of the outline at which the edge is measured
_REACH = 6.0  # distance from the outline, in pixels, to which the colour is followed
_STEP = 0.5  # pixels


def measure_resolution(contour: Points, image: Image | None) -> float:
    """Measure the length of an outline, in widths of its edge in the picture that it was traced in, or else in pixels.

    The width is the step of the colour across the edge, from leaf to sheet, over its greatest slope, and at least a
    pixel; the median along the outline counts. The method is leafid's own.
    """
    length = compute_contour_length(contour)
    if image is None:
        return length
    points = contour[:: max(1, len(contour) // _POINTS)]
    along = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    across = along[:, ::-1] * [1, -1] / np.maximum(np.hypot(*along.T), 1e-9)[:, None]
    distances = np.arange(-_REACH, _REACH + _STEP, _STEP)
    rows, cols = (points[:, None] + distances[:, None] * across[:, None]).T.astype(
        np.float32
    )
    colours = cv2.remap(
        image, cols, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    ).astype(np.float32)
    # The colour along the direction in which most of the leaf's edge differs from the sheet.
    step = np.median(colours[-1] - colours[0], axis=0)
    profile = colours @ (step / max(float(np.linalg.norm(step)), 1e-9))
    slope = np.abs(profile[2:] - profile[:-2]).max(axis=0) / (2 * _STEP)
    width = np.median(np.ptp(profile, axis=0) / np.maximum(slope, 1e-9))
    return length / max(1.0, float(width))
