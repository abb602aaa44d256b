"""What measures of a leaf's inside expect of a picture and its mask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError


def check_picture(picture: NDArray[np.uint8], mask: NDArray[np.bool_]) -> None:
    """See that a picture and a mask fit together, and that there is a leaf.

    Parameters
    ----------
    picture : ndarray
        Must be uint8 (H, W, 3).
    mask : ndarray
        Must be bool (H, W), and not empty.

    Raises
    ------
    ValueError
        When they are of another dtype or shape.
    LeafidError
        When the mask is empty.
    """
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        raise ValueError(f"expected a picture of uint8 (H, W, 3), found {picture.dtype} {picture.shape}")
    if mask.dtype != np.bool_ or mask.shape != picture.shape[:2]:
        raise ValueError(f"expected a mask of bool {picture.shape[:2]}, found {mask.dtype} {mask.shape}")
    if not mask.any():
        raise LeafidError("expected a mask with a leaf, found an empty one; segment the picture again or leave it out")
