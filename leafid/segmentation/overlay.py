"""Draws a segmentation over its picture."""

import cv2
import numpy as np

from leafid.segmentation.result import Image, Segmentation, shrink

BLADE_COLOUR = (0, 0, 255)  # red
PETIOLE_COLOUR = (255, 0, 255)  # magenta
MAX_SIDE = 1600


def draw_overlay(image: Image, segmentation: Segmentation) -> Image:
    """Outline the blade in red and the petiole in magenta, and pale the background; at most 1,600 pixels a side."""
    canvas = shrink(image, MAX_SIDE).copy()
    mask, blade = (
        cv2.resize(part.view(np.uint8), canvas.shape[1::-1], interpolation=cv2.INTER_NEAREST)
        for part in (segmentation.mask, segmentation.blade)
    )
    canvas[mask == 0] = (canvas[mask == 0].astype(np.uint16) + 255) // 2
    thickness = max(1, round(max(canvas.shape[:2]) / 400))
    for part, colour in ((blade, BLADE_COLOUR), (mask & (1 - blade), PETIOLE_COLOUR)):
        contours, _ = cv2.findContours(part, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(canvas, contours, -1, colour, thickness)
    return canvas
