"""From a picture to its leaf, by the method that suits the acquisition type, and the leaf drawn over its picture."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.natural import segment_photo
from leafid.segmentation.outlines import sketch_outlines
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.result import Image, Mask, Segmentation, shrink
from leafid.segmentation.sheet import segment_sheet


def segment(
    image: Image, acquisition_type: AcquisitionType, *, petiole: bool = True
) -> Segmentation:
    """Cut the leaf out of a picture: from its sheet in scans and scan-likes, from any background in photos.

    Where no leaf was found, as in an all-white scan, the mask is empty and the confidence 0. Without `petiole`, the
    petiole is not separated: the blade equals the mask. What is no image of uint8 (H, W, 3) raises a ValueError.
    """
    if (
        image.dtype != np.uint8
        or image.ndim != 3
        or image.shape[2] != 3
        or 0 in image.shape
    ):
        raise ValueError(
            f"expected an image, uint8 of shape (H, W, 3), found {image.dtype} {image.shape}"
        )
    lies_on_sheet = acquisition_type.lies_on_sheet
    leaf = segment_sheet(image) if lies_on_sheet else segment_photo(image)
    leaf = replace(leaf, picture=image if lies_on_sheet else None)
    return replace(leaf, blade=remove_petiole(leaf.mask)) if petiole else leaf


def draw_overlay(image: Image, segmentation: Segmentation) -> Image:
    """Outline the blade in red and the petiole in magenta, and pale the background; at most 1,600 pixels a side."""
    canvas = shrink(image, 1600).copy()
    mask, blade = (
        cv2.resize(
            part.view(np.uint8), canvas.shape[1::-1], interpolation=cv2.INTER_NEAREST
        )
        for part in (segmentation.mask, segmentation.blade)
    )
    canvas[mask == 0] = (canvas[mask == 0].astype(np.uint16) + 255) // 2
    thickness = max(1, round(max(canvas.shape[:2]) / 400))
    for part, colour in ((blade, (0, 0, 255)), (mask & (1 - blade), (255, 0, 255))):
        contours, _ = cv2.findContours(part, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(canvas, contours, -1, colour, thickness)
    return canvas


def draw_measured(image: Image, leaves: Sequence[Mask], thing: Any = None) -> Image:
    """Outline leaves in red, and a thing of known size, (n, 2), in blue; at most 1,600 pixels a side."""
    canvas = shrink(image, 1600).copy()
    factor = canvas.shape[1] / image.shape[1]
    thickness = max(1, round(max(canvas.shape[:2]) / 400))
    lines = [((0, 0, 255), line) for leaf in leaves for line in sketch_outlines(leaf)]
    if thing is not None:
        lines.append(((255, 0, 0), thing))
    for colour, line in lines:
        corners = np.rint(np.array(line) * factor).astype(np.int32)
        cv2.polylines(canvas, [corners], True, colour, thickness)
    return canvas
