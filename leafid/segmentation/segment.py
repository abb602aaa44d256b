"""From a picture to its leaf, by the method for its type; outlines drawn over it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from leafid.pictures.picture import AcquisitionType
from leafid.segmentation.background import erase
from leafid.segmentation.natural import segment_photo
from leafid.segmentation.petiole import remove_petiole
from leafid.segmentation.regions import may_be_split, split_leaves
from leafid.segmentation.result import Image, Segmentation, shrink
from leafid.segmentation.sheets.sheet import segment_sheet

_COLOURS = {"red": (0, 0, 255), "magenta": (255, 0, 255), "blue": (255, 0, 0)}


def segment(
    image: Image, acquisition_type: AcquisitionType, *, petiole: bool = True
) -> Segmentation:
    """Cut the leaf out of a picture: from a sheet, or in photos from any background.

    Of several leaves it is the largest. Where there is no leaf, as in an all-white
    scan, the mask is empty and the confidence 0. Without `petiole`, the petiole is not
    separated: the blade equals the mask. What is no image of uint8 (H, W, 3) raises a
    ValueError.
    """
    leaf = segment_pieces(image, acquisition_type)[0]
    return replace(leaf, blade=remove_petiole(leaf.mask)) if petiole else leaf


def segment_pieces(
    image: Image, acquisition_type: AcquisitionType
) -> list[Segmentation]:
    """Cut a leaf out, and leaves so near that they look like one, largest first.

    As `segment` without `petiole`. In the picture of a leaf, the others are erased.
    """
    if image.dtype != np.uint8 or image.shape[2:] != (3,) or not image.size:
        raise ValueError(
            f"expected an image, uint8 of shape (H, W, 3), found {image.dtype} "
            f"{image.shape}"
        )
    if not acquisition_type.lies_on_sheet:
        return [segment_photo(image)]
    leaf = segment_sheet(image)
    picture = image if leaf.picture is None else leaf.picture
    leaf = replace(leaf, picture=picture)
    if not may_be_split(leaf.mask):
        return [replace(leaf, is_whole=True)]
    masks = split_leaves(leaf.mask, image)
    if len(masks) == 1:
        return [leaf]
    return [
        replace(
            leaf,
            mask=mask,
            blade=mask,
            coverage=None,
            n_leaves=leaf.n_leaves + len(masks) - 1,
            picture=erase(picture, leaf.mask & ~mask, mask),
        )
        for mask in masks
    ]


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
