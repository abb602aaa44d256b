"""Guesses how a picture was taken from the picture alone."""

from __future__ import annotations

import cv2
import numpy as np

from leafid.collection.picture import AcquisitionType
from leafid.segmentation.background import sheet_surface
from leafid.segmentation.result import Image


def guess_type(image: Image) -> AcquisitionType:
    """Guess the acquisition type by rule: how plain the border is, and how light.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.

    Returns
    -------
    AcquisitionType
    """
    small = cv2.resize(image, (96, 96), interpolation=cv2.INTER_AREA)
    surface, spread = sheet_surface(small)
    if spread > 8:
        return AcquisitionType.PHOTO
    lightness = float(np.median(surface[..., 0]))
    return AcquisitionType.SCAN if lightness > 240 else AcquisitionType.SCAN_LIKE
