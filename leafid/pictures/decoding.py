"""Decodes, shrinks and turns pictures."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import cv2
import numpy as np
import simplejpeg
from PIL import Image
from PIL.ExifTags import Base as ExifTag

from leafid.errors import ImageError, memory_errors_as_image_error
from leafid.files import StrPath
from leafid.pictures.header import Header, open_picture, read_header, read_picture_bytes
from leafid.translation import translate

T = TypeVar("T")
_log = logging.getLogger(__name__)

_WHITE_IS_ZERO = 0
# Rows that are converted at once.
_BAND_ROWS = 64


def read_image(file: StrPath, max_side: int | None = None) -> np.ndarray:
    """Read a picture of any format as upright 8-bit BGR.

    JPEG, PNG, TIFF, BMP, WebP, GIF (its first frame), HEIC and AVIF are recognised by
    their content, not by their name. The orientation is applied; grey, palette and CMYK
    pictures are converted to BGR; 16-bit channels keep their upper 8 bits; transparent
    parts become white.

    Parameters
    ----------
    file : path-like
    max_side : int, optional
        The picture is shrunk so that its longer side has at most this many pixels. A
        JPEG of at least twice that size is first decoded at 1/2, 1/4 or 1/8 of its
        size, which is faster.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)

    Raises
    ------
    ImageError
        If the file can't be read, is not a picture of these formats, is truncated or
        damaged, has more than 100 megapixels, or a side of less than 16 pixels.
    """
    return read_hashed_image(file, max_side)[0]


def read_hashed_image(
    file: StrPath, max_side: int | None = None, data: bytes | None = None
) -> tuple[np.ndarray, str]:
    """Read a picture as `read_image` does, and hash it.

    The SHA-256, in hexadecimal digits, is of the very bytes that were decoded. With
    `data`, the content of the file, the file is only named in messages.
    """
    if max_side is not None and max_side < 1:
        raise ValueError(f"max_side: expected at least 1, found {max_side}")
    if data is None:
        data = read_picture_bytes(file)
    decode = partial(_decode, max_side=max_side)
    header, image = _decode_reporting_damage(file, data, decode)
    longest = max(header.rows, header.cols)
    if max_side is not None and longest > max_side:
        # Computed from the stored size and rounded up as reduced decoding does: mostly
        # nothing is left to do.
        sides = (header.rows, header.cols) if header.kind == "JPEG" else image.shape[:2]
        rows, cols = (-(-side * max_side // longest) for side in sides)
        if image.shape[:2] != (rows, cols):
            image = cv2.resize(image, (cols, rows), interpolation=cv2.INTER_AREA)
    upright = _apply_orientation(image, header.orientation)
    return upright, hashlib.sha256(data).hexdigest()


def read_alpha(file: StrPath, data: bytes | None = None) -> np.ndarray | None:
    """Read how opaque a picture is, from 0 to 255: uint8 (H, W), upright.

    None where it is opaque everywhere. An `ImageError` is raised as by `read_image`.
    """
    if data is None:
        data = read_picture_bytes(file)
    header, alpha = _decode_reporting_damage(file, data, _decode_alpha)
    if alpha is None or alpha.min() == 255:
        return None
    return _apply_orientation(alpha, header.orientation)


def _decode_alpha(_: StrPath, header: Header, data: bytes) -> np.ndarray | None:
    with open_picture(header.kind, data) as picture:
        if not picture.has_transparency_data:
            return None
        return np.asarray(picture.convert("RGBA").getchannel("A"))


def _decode_reporting_damage(
    file: StrPath, data: bytes, decode: Callable[[StrPath, Header, bytes], T]
) -> tuple[Header, T]:
    """Read the header and decode.

    Errors are of the class `ImageError`, and name the file.
    """
    with memory_errors_as_image_error(file):
        try:
            header = read_header(data)
        except ImageError as error:
            raise ImageError(f"{file}: {error}") from error.__cause__
        try:
            return header, decode(file, header, data)
        except Exception as error:
            # As for headers, damaged files raise errors of any class.
            problem = translate(
                "expected a whole picture, found a damaged {kind} ({reason})",
                kind=header.kind,
                reason=str(error).strip(),
            )
            raise ImageError(f"{file}: {problem}") from error


def encode_jpeg(image: np.ndarray, quality: int = 80) -> bytes:
    """Encode a BGR picture as JPEG; equal pictures give equal bytes."""
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def _decode(
    file: StrPath, header: Header, data: bytes, max_side: int | None
) -> np.ndarray:
    if header.kind == "JPEG":
        return _decode_jpeg(file, header, data, max_side)
    with open_picture(header.kind, data) as picture:
        image = convert_to_bgr(picture)
    if {*image.shape[:2]} != {header.rows, header.cols}:
        size = f"{header.cols} × {header.rows}"
        raise ValueError(f"expected {size} pixels, found other ones")
    return image


def _decode_jpeg(
    file: StrPath, header: Header, data: bytes, max_side: int | None
) -> np.ndarray:
    """Decode a JPEG at the lowest resolution that has at least the wanted size."""
    decode = partial(simplejpeg.decode_jpeg, data, "BGR")
    longest = max(header.rows, header.cols)
    for factor in (8, 4, 2):
        if max_side and longest >= factor * max_side:
            rows, cols = (-(-side // factor) for side in (header.rows, header.cols))
            decode = partial(decode, min_height=rows, min_width=cols)
            break
    try:
        return decode()
    except ValueError as error:
        # This raises an error if nothing can be decoded.
        image = decode(strict=False)
        _log.warning("%s: damaged inside, used as it is (%s)", file, error)
        return image


def convert_to_bgr(picture: Image.Image) -> np.ndarray:
    """Convert a picture of Pillow as it is stored to BGR on white: uint8 (H, W, 3)."""
    picture.load()
    tags = getattr(picture, "tag_v2", {})
    is_inverted = tags.get(ExifTag.PhotometricInterpretation) == _WHITE_IS_ZERO
    cols, rows = picture.size
    image = np.empty((rows, cols, 3), np.uint8)
    # Conversions of the whole picture at once would need several times its memory.
    for top in range(0, rows, _BAND_ROWS):
        bottom = min(top + _BAND_ROWS, rows)
        band = picture.crop((0, top, cols, bottom))
        image[top:bottom] = _convert_band(band, is_inverted)
    return image


def _convert_band(band: Image.Image, is_inverted: bool) -> np.ndarray:
    if band.mode.startswith("I"):
        # Pillow's conversion clips 16-bit grey values instead of scaling them, and
        # takes 0 for black in any case.
        grey = (np.asarray(band) >> 8).astype(np.uint8)
        return (255 - grey if is_inverted else grey)[:, :, None]
    if band.has_transparency_data:
        white = Image.new("RGBA", band.size, "white")
        band = Image.alpha_composite(white, band.convert("RGBA"))
    return np.asarray(band.convert("RGB"))[:, :, ::-1]


def _apply_orientation(image: np.ndarray, orientation: int) -> np.ndarray:
    """Rotate and mirror an image by its EXIF orientation: 1 to 8 (DC-008, tag 274)."""
    if orientation > 4:
        image = image.swapaxes(0, 1)
    if orientation in {3, 4, 7, 8}:
        image = image[::-1]
    if orientation in {2, 3, 6, 7}:
        image = image[:, ::-1]
    return np.ascontiguousarray(image)
