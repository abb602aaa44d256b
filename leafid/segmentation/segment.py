"""From a picture to its leaf, by the method for its type; outlines drawn over it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.natural import segment_photo
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.result import Image, Segmentation, shrink
from leafid.segmentation.sheet import segment_sheet

_COLOURS = {"red": (0, 0, 255), "magenta": (255, 0, 255), "blue": (255, 0, 0)}


def segment(
    image: Image, acquisition_type: AcquisitionType, *, petiole: bool = True
) -> Segmentation:
    """Cut the leaf out of a picture: from a sheet, or in photos from any background.

    Where no leaf was found, as in an all-white scan, the mask is empty and the
    confidence 0. Without `petiole`, the petiole is not separated: the blade equals the
    mask. What is no image of uint8 (H, W, 3) raises a ValueError.
    """
    if (
        image.dtype != np.uint8
        or image.ndim != 3
        or image.shape[2] != 3
        or 0 in image.shape
    ):
        raise ValueError(
            f"expected an image, uint8 of shape (H, W, 3), found {image.dtype} "
            f"{image.shape}"
        )
    lies_on_sheet = acquisition_type.lies_on_sheet
    leaf = segment_sheet(image) if lies_on_sheet else segment_photo(image)
    leaf = replace(leaf, picture=image if lies_on_sheet else None)
    return replace(leaf, blade=remove_petiole(leaf.mask)) if petiole else leaf


def draw_overlay(
    image: Image, outlines: Mapping[str, Sequence[Any]], side: int = 1600
) -> Image:
    """Draw closed lines of columns and rows by colour, at most `side` pixels a side."""
    canvas = shrink(image, side).copy()
    factor = canvas.shape[1] / image.shape[1]
    # JPEG blurs the colours of thinner lines.
    thickness = max(2, round(max(canvas.shape[:2]) / 400))
    for colour, lines in outlines.items():
        for line in lines:
            corners = np.rint(np.array(line) * factor).astype(np.int32)
            cv2.polylines(canvas, [corners], True, _COLOURS[colour], thickness)
    return canvas
