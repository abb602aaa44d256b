"""Draws a segmentation over its picture, for a person to look at."""

from __future__ import annotations

import cv2
import numpy as np

from leafid.segmentation.result import Image, Mask, Segmentation, shrink

BLADE_COLOUR = (0, 0, 255)  # red
PETIOLE_COLOUR = (255, 0, 255)  # magenta
MAX_SIDE = 1600


def draw_overlay(image: Image, segmentation: Segmentation) -> Image:
    """Outline the blade in red and the petiole in magenta.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR; left as it is.
    segmentation : Segmentation
        Of that image.

    Returns
    -------
    ndarray of uint8, shape (h, w, 3)
        BGR, reduced to at most 1,600 pixels a side. What is not leaf is paler than in the picture.
    """
    canvas = shrink(image, MAX_SIDE).copy()
    size = canvas.shape[1::-1]
    whole, blade = (_scaled(part, size) for part in (segmentation.mask, segmentation.blade))
    canvas[whole == 0] = (canvas[whole == 0].astype(np.uint16) + 255) // 2
    thickness = max(1, round(max(size) / 400))
    for part, colour in ((blade, BLADE_COLOUR), (whole & (1 - blade), PETIOLE_COLOUR)):
        contours, _ = cv2.findContours(part, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(canvas, contours, -1, colour, thickness)
    return canvas


def _scaled(mask: Mask, size: tuple[int, int]) -> np.ndarray:
    return cv2.resize(mask.view(np.uint8), size, interpolation=cv2.INTER_NEAREST)
