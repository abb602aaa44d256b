"""Variants of a training picture: the same leaf as it might have looked in another picture of it."""

from __future__ import annotations

import zlib

import cv2
import numpy as np

from leafid.collection.picture import AcquisitionType
from leafid.segmentation.result import Image

# Seen from aside a leaf is narrower along some direction, down to this part of its width there,
# and its far half smaller than its near one, by up to this part each.
_NARROWEST, _TILT = 0.6, 0.16
# Light: exponent, brightness, and how far it falls off from side to side; sharpness: the size reduced to, as a part.
_GAMMA, _BRIGHTNESS, _FALL, _SHARPNESS = (0.7, 1.4), (0.85, 1.0), 0.08, (0.45, 1.0)


def jitter_picture(image: Image, number: int, acquisition_type: AcquisitionType) -> Image:
    """Make a variant of a picture: of an odd number seen from aside, of an even one in other light and less sharp.

    Descriptors change with how a leaf lies and with light by more than species differ by, and few plants of a species
    do not show how. Classifiers that learn from variants as well learn to pass over such changes.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    number : int
        From 1. Equal pictures have equal variants of a number, wherever they are kept.
    acquisition_type : AcquisitionType
        Beside a tilted sheet there is more of the sheet; a tilted photo is enlarged to fill its frame.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)

    References
    ----------
    .. [1] P. Y. Simard, D. Steinkraus, J. C. Platt, "Best practices for convolutional neural networks applied to visual
       document analysis", ICDAR 2003, section 2, doi:10.1109/ICDAR.2003.1227801
    """
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    if number % 2:
        return _tilted(image, random, fill=acquisition_type is AcquisitionType.PHOTO)
    return _lit(image, random)


def _tilted(image: Image, random: np.random.Generator, *, fill: bool) -> Image:
    rows, cols = image.shape[:2]
    width, turn = random.uniform(_NARROWEST, 1), random.uniform(0, np.pi)
    away = np.array([np.cos(turn), np.sin(turn)])
    narrowed = np.eye(2) - (1 - width) * np.outer(away, away)
    if fill:
        narrowed /= width
    tilt = random.uniform(-_TILT, _TILT, 2) / (max(rows, cols) / 2)
    # About the middle: narrowed, then each point divided by its distance from the eye.
    matrix = np.vstack([np.column_stack([narrowed, np.zeros(2)]), [*(tilt @ narrowed), 1]])
    middle = np.array([[1, 0, (cols - 1) / 2], [0, 1, (rows - 1) / 2], [0, 0, 1]])
    border = cv2.BORDER_REFLECT_101 if fill else cv2.BORDER_REPLICATE
    return cv2.warpPerspective(
        image, middle @ matrix @ np.linalg.inv(middle), (cols, rows), flags=cv2.INTER_LINEAR, borderMode=border
    )


def _lit(image: Image, random: np.random.Generator) -> Image:
    rows, cols = image.shape[:2]
    values = (np.arange(256) / 255) ** random.uniform(*_GAMMA) * random.uniform(*_BRIGHTNESS) * 255
    across, down = random.uniform(-_FALL, _FALL, 2)
    light = 1 + across * np.linspace(-1, 1, cols)[None] + down * np.linspace(-1, 1, rows)[:, None]
    # Over 255 is white.
    lit = cv2.convertScaleAbs(values.astype(np.float32)[image] * light.astype(np.float32)[..., None])
    shrink = random.uniform(*_SHARPNESS)
    size = max(1, round(cols * shrink)), max(1, round(rows * shrink))
    small = cv2.resize(lit, size, interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (cols, rows), interpolation=cv2.INTER_LINEAR)
