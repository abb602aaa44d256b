"""What augmented pictures and pictures without a leaf are drawn with: directions, perspective, light."""

import cv2
import numpy as np
from numpy.random import Generator

from leafid.segmentation.result import Image


def make_image(values: np.ndarray) -> Image:
    """Cut values off at 0 and 255 and make them uint8."""
    return np.clip(values, 0, 255).astype(np.uint8)


def point_to(angle: float | np.ndarray) -> np.ndarray:
    """Return the unit vectors of angles, float64 (2,) or (2, n)."""
    return np.array([np.cos(angle), np.sin(angle)])


def rotate(angle: float) -> np.ndarray:
    """Return the matrix, float64 (2, 2), that rotates positions by an angle."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def project(linear: np.ndarray, tilt: np.ndarray, middle: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return the matrix, float64 (3, 3), of a perspective that maps the point `middle` to the point `centre`.

    Around the middle, positions are multiplied by `linear`, then divided by their distance from the camera, which is 1
    plus their product with `tilt`.
    """
    to_origin, around, to_centre = np.eye(3), np.eye(3), np.eye(3)
    to_origin[:2, 2], to_centre[:2, 2] = -middle, centre
    around[:2, :2], around[2, :2] = linear, tilt
    return to_centre @ around @ to_origin


def relight(image: Image, levels: np.ndarray, max_slope: float, random: Generator, precision: type) -> Image:
    """Map the grey levels of a picture by a table, then let its light fall off towards a side; above 255 is white.

    A fourth channel is a mask, which keeps its light. What trained models learn from depends on the precision in which
    the slopes along columns and rows are added, float32 or float64.
    """
    rows, cols = image.shape[:2]
    across, down = random.uniform(-max_slope, max_slope, 2)
    along_cols = (1 + across * np.linspace(-1, 1, cols)).astype(precision)
    along_rows = (down * np.linspace(-1, 1, rows)).astype(precision)
    light = (along_cols[None] + along_rows[:, None]).astype(np.float32)
    factor = cv2.merge([light] * 3 + [np.ones_like(light)] * (image.shape[2] - 3))
    return cv2.multiply(cv2.LUT(image, levels), factor, dtype=cv2.CV_8U)
