"""Pictures of leaves on sheets, changed as poor cameras and other light change them."""

from collections.abc import Callable

import cv2
import numpy as np

from benchmarks.altering import find_sheet_colour, soften
from leafid.segmentation.result import Image, Mask


def _reduce(image: Image, side: int) -> Image:
    scale = side / max(image.shape[:2])
    size = max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA)


def _apply_gamma(image: Image, gamma: float) -> Image:
    return cv2.LUT(image, ((np.arange(256) / 255) ** gamma * 255).astype(np.uint8))


def _put_in_wide_margin(image: Image, _mask: Mask) -> Image:
    side = max(image.shape[:2]) // 2
    colour = find_sheet_colour(image)
    picture = cv2.copyMakeBorder(
        image, side, side, side, side, cv2.BORDER_CONSTANT, value=colour
    )
    return _reduce(picture, 224)


def _darken_leaf(image: Image, mask: Mask) -> Image:
    return (image * (1 - 0.6 * soften(mask))).astype(np.uint8)


def _turn_grey(image: Image, _mask: Mask) -> Image:
    grey = cv2.rotate(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.ROTATE_90_CLOCKWISE)
    _, encoded = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, 30])
    return np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR), np.uint8)


#: What cameras and light change in a picture, by name; the function takes the picture
#: and the mask of its leaf.
CHANGES: dict[str, Callable[[Image, Mask], Image]] = {
    "as is": lambda image, _mask: image,
    "300 px": lambda image, _mask: _reduce(image, 300),
    "150 px": lambda image, _mask: _reduce(image, 150),
    "100 px": lambda image, _mask: _reduce(image, 100),
    "wide margin, 224 px": _put_in_wide_margin,
    "blur of 3 px": lambda image, _mask: cv2.GaussianBlur(image, (0, 0), 3),
    "gamma 2": lambda image, _mask: _apply_gamma(image, 2.0),
    "leaf darkened to 0.4": _darken_leaf,
    "grey, turned, JPEG 30": _turn_grey,
}
