"""Functions shared by the families that measure the pixels inside a leaf."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError

_MAX_SIDE = 800
"""Longest side after resizing, in pixels: bounds the memory that a hair-thin leaf takes."""


def check_picture(picture: NDArray[np.uint8], mask: NDArray[np.bool_]) -> None:
    """Refuse a picture that is not uint8 (H, W, 3) or a mask that is not bool (H, W) with a ValueError.

    A `LeafidError` is raised for an empty mask.
    """
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        raise ValueError(f"expected a picture of uint8 (H, W, 3), found {picture.dtype} {picture.shape}")
    if mask.dtype != np.bool_ or mask.shape != picture.shape[:2]:
        raise ValueError(f"expected a mask of bool {picture.shape[:2]}, found {mask.dtype} {mask.shape}")
    if not mask.any():
        raise LeafidError("expected a mask with a leaf, found an empty one; segment the picture again or leave it out")


def choose_size(box: NDArray[np.uint8], root_area: float) -> tuple[float, tuple[int, int]]:
    """Choose the size at which a leaf has a given √area in pixels; `box` is non-zero where the leaf is.

    Returns the enlargement of the box, and columns and rows after resizing (at least 1).
    """
    factor = min(root_area / np.sqrt(cv2.countNonZero(box)), _MAX_SIDE / max(box.shape))
    return factor, (max(1, round(box.shape[1] * factor)), max(1, round(box.shape[0] * factor)))
