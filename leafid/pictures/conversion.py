"""Makes pictures of what Python users hold: paths, bytes, arrays, Pillow images."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageOps

from leafid.errors import ImageError, InputError, LeafidError
from leafid.pictures.columns import is_path
from leafid.pictures.decoding import convert_to_bgr, read_hashed_image
from leafid.pictures.picture import Collection, Picture
from leafid.pictures.reading import read_and_warn

#: Says what `to_picture` and `to_image` take.
EXPECTED = (
    "expected a path, the bytes of a picture file, an open file, a Pillow image, or an "
    "array of shape (H, W), (H, W, 1), (H, W, 3) or (H, W, 4), uint8 or float from 0 "
    "to 1"
)
_ROUNDING = 1e-5
# The ends of shapes of grey, colour, and colour with transparency.
_CHANNELS = {(), (1,), (3,), (4,)}
# The channels of BGR(A) in RGB(A), and the other way round.
_REVERSED = (2, 1, 0, 3)
_BYTES = (bytes, bytearray, memoryview)
_log = logging.getLogger(__name__)


def list_pictures(sources: Any, color: str = "bgr") -> list[Picture]:
    """List the pictures of a path, a picture in memory, or several of these, in order.

    `color` is the order of channels in arrays, "bgr" or "rgb". Among several, a path
    that can't be read remains in the list, for an answer that says why.
    """
    check_color(color)
    if is_path(sources):
        return list(read_and_warn(sources).pictures)
    if isinstance(sources, Collection) or is_one_picture(sources):
        return list(_list_item(sources, "picture", color))
    if not isinstance(sources, Iterable):
        raise InputError(
            f"pictures: {EXPECTED}, or several of these, found {type(sources).__name__}"
        )
    items = (
        _list_item(source, f"pictures[{index}]", color)
        for index, source in enumerate(sources)
    )
    return [picture for pictures in items for picture in pictures]


def check_color(color: object) -> None:
    """Raise an `InputError` unless it is an order of channels: "bgr" or "rgb"."""
    if color not in ("bgr", "rgb"):
        raise InputError(
            "color: expected 'bgr' or 'rgb', the order of channels in arrays, found "
            f"{color!r:.60}"
        )


def _list_item(source: Any, name: str, color: str) -> Iterable[Picture]:
    if isinstance(source, Collection):
        return source.pictures
    if is_path(source) and source != "" and Path(source).exists():
        try:
            return read_and_warn(source).pictures
        except LeafidError as error:
            _log.warning("%s", error)
    return [to_picture(source, name, color)]


def is_one_picture(source: object) -> bool:
    """Check whether something is a single picture, valid or not."""
    kinds = (Picture, Image.Image, *_BYTES)
    if is_path(source) or isinstance(source, kinds) or hasattr(source, "read"):
        return True
    # Other arrays are a batch (n, H, W, 3), or paths.
    return hasattr(source, "__array__") and getattr(source, "ndim", 2) not in {1, 4}


def to_picture(source: object, name: str, color: str = "bgr") -> Picture:
    """Turn anything that `EXPECTED` lists into a picture.

    What is in memory is called by the name. An `InputError`, which begins with the
    name, is raised for everything else.
    """
    if isinstance(source, Picture):
        return source
    if is_path(source):
        if source == "":
            raise InputError(f"{name}: {EXPECTED}, found an empty path")
        return Picture(Path(source))
    if hasattr(source, "read"):
        source = source.read()
        if not isinstance(source, bytes):
            raise InputError(
                f"{name}: expected a file opened in binary mode, found one of "
                f"{type(source).__name__}"
            )
    if not isinstance(source, _BYTES):
        array = np.ascontiguousarray(_to_array(source, name, color))
        # BMP is not compressed: the fastest format that loses nothing but transparency.
        ending = ".png" if array.shape[2:] == (4,) else ".bmp"
        source = cv2.imencode(ending, array)[1].tobytes()
    return Picture(Path(name), data=bytes(source))


def to_image(source: object, name: str = "image", color: str = "bgr") -> np.ndarray:
    """Make an upright 8-bit BGR image, uint8 (H, W, 3), of anything in `EXPECTED`.

    Grey becomes BGR, and what is transparent becomes white, as in `leafid.read_image`.
    An `InputError`, which begins with the name, is raised for everything else, and an
    `ImageError` for a file that can't be read.
    """
    check_color(color)
    picture = to_picture(source, name, color)
    return read_hashed_image(picture.file, data=picture.data)[0]


def _to_array(source: object, name: str, color: str) -> np.ndarray:
    if isinstance(source, Image.Image) and source.mode != "F":
        try:
            image = ImageOps.exif_transpose(source)
            if image.has_transparency_data:
                return np.asarray(image.convert("RGBA"))[:, :, _REVERSED]
            return convert_to_bgr(image)
        # Pillow decodes a file that it opened only now, and raises errors of any class.
        except Exception as error:
            raise ImageError(
                f"{name}: expected a whole picture, found a damaged one ({error})"
            ) from error
    if not hasattr(source, "__array__") and not hasattr(source, "__array_interface__"):
        raise InputError(f"{name}: {EXPECTED}, found {type(source).__name__}")
    try:
        array = np.asarray(source)
    except Exception as error:  # A tensor on another device raises one, for example.
        raise InputError(
            f"{name}: {type(source).__name__} can't be turned into an array: {error}"
        ) from error
    return _convert_array(array, name, color)


def _convert_array(array: np.ndarray, name: str, color: str) -> np.ndarray:
    received = f"found {array.dtype} of shape {array.shape}"
    if array.ndim < 2 or array.shape[2:] not in _CHANNELS or not array.size:
        raise InputError(
            f"{name}: {EXPECTED}, {received}; numpy.moveaxis moves channels to the end"
        )
    if array.dtype.kind == "f":
        # What was computed may be off by a rounding error; NaN is neither.
        if not ((array >= -_ROUNDING) & (array <= 1 + _ROUNDING)).all():
            low = array.min()
            high = array.max()
            raise InputError(
                f"{name}: expected float values from 0 to 1, found values from {low:g} "
                f"to {high:g}"
            )
        array = np.rint(array * 255).astype(np.uint8)
    elif array.dtype != np.uint8:
        raise InputError(
            f"{name}: expected an array of uint8, or of float from 0 to 1, {received}"
        )
    if array.shape[2:] in {(3,), (4,)} and color == "rgb":
        return array[:, :, _REVERSED[: array.shape[2]]]
    return array
