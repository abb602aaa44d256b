"""Decodes, shrinks and turns pictures."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leafid.errors import ImageError, is_out_of_memory
from leafid.pictures.header import Header, read_header, read_picture_bytes
from leafid.pictures.structure import refuse_truncated

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

_log = logging.getLogger(__name__)

#: Pillow's names of the pixel formats that OpenCV decodes correctly in every file format.
_OPENCV_MODES = {"1", "L", "P", "RGB", "YCbCr", "I", "I;16", "I;16B", "I;16L", "I;16N"}
#: Offset of the bit depth in a PNG file.
_PNG_DEPTH = 24
#: Formats that Pillow decodes in any case: OpenCV can be built without them.
_PILLOW_FORMATS = {"GIF", "HEIF", "AVIF"}
_TIFF_PHOTOMETRIC, _WHITE_IS_ZERO = 262, 0


def read_image(file: str | os.PathLike[str], max_side: int | None = None) -> np.ndarray:
    """Read a picture as upright 8-bit BGR, whatever its format: uint8 (H, W, 3).

    JPEG, PNG, TIFF, BMP, WebP, GIF (its first frame), HEIC and AVIF are recognised by their content, not by their name.
    The orientation is applied; grey, palette and CMYK pictures are converted to BGR; 16-bit channels keep their upper 8
    bits; transparent parts become white.

    With `max_side`, the picture is shrunk so that its longer side has at most this many pixels. A JPEG of at least
    twice that size is first decoded at 1/2, 1/4 or 1/8 of its size, which is faster.

    An `ImageError` is raised if the file can't be read, is not a picture of these formats, is truncated or damaged, has
    more than 100 megapixels, or a side of less than 16 pixels.
    """
    return read_hashed_image(file, max_side)[0]


def read_hashed_image(
    file: str | os.PathLike[str], max_side: int | None = None, data: bytes | None = None
) -> tuple[np.ndarray, str]:
    """Read a picture as `read_image` does, with the SHA-256 of the very bytes that were decoded, in hexadecimal digits.

    To hash the file and to read it, one after the other, would leave time in between for it to be replaced. With
    `data`, the content of the file, the file is not opened: messages name it.
    """
    if max_side is not None and max_side < 1:
        raise ValueError(f"max_side: expected at least 1, found {max_side}")
    data = read_picture_bytes(file) if data is None else data
    header = read_header(file, data)
    refuse_truncated(file, header.kind, data)
    content_hash = hashlib.sha256(data).hexdigest()
    try:
        return _make_image(file, data, max_side, header), content_hash
    except MemoryError as error:
        raise ImageError(f"{file}: can't be decoded: it needs more memory than there is; shrink it") from error


def _make_image(file: str | os.PathLike[str], data: bytes, max_side: int | None, header: Header) -> np.ndarray:
    """Decode, shrink and turn a picture."""
    import cv2

    longest = max(header.rows, header.cols)
    image = _decode(file, header, data, _choose_opencv_flag(header.kind, longest, max_side))
    if max_side is not None and longest > max_side:
        # Computed from the stored size and rounded up as reduced decoding does, so that mostly nothing is left to do.
        rows, cols = (-(-side * max_side // longest) for side in (header.rows, header.cols))
        if image.shape[:2] != (rows, cols):
            image = cv2.resize(image, (cols, rows), interpolation=cv2.INTER_AREA)
    return _apply_orientation(image, header.orientation)


def read_image_size(file: str | os.PathLike[str]) -> tuple[int, int]:
    """Return rows and cols of the upright picture from its header; damage after the header stays unnoticed."""
    return read_header(file, read_picture_bytes(file)).oriented_size


def encode_jpeg(image: np.ndarray, quality: int = 80) -> bytes:
    """Encode a BGR picture as JPEG; equal pictures give equal bytes."""
    import cv2

    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def _choose_opencv_flag(kind: str, longest: int, max_side: int | None) -> int:
    """Choose the lowest resolution of decoding that has at least the wanted size."""
    import cv2

    reductions = {8: cv2.IMREAD_REDUCED_COLOR_8, 4: cv2.IMREAD_REDUCED_COLOR_4, 2: cv2.IMREAD_REDUCED_COLOR_2}
    # Only JPEG can be decoded at a lower resolution; in other formats OpenCV would decode everything and skip pixels.
    if kind != "JPEG" or max_side is None:
        return cv2.IMREAD_COLOR
    return next((flag for factor, flag in reductions.items() if longest >= factor * max_side), cv2.IMREAD_COLOR)


def _decode(file: str | os.PathLike[str], header: Header, data: bytes, flag: int) -> np.ndarray:
    is_in_opencv = (header.mode in _OPENCV_MODES or header.kind == "JPEG") and header.kind not in _PILLOW_FORMATS
    # OpenCV ignores transparency that is not a channel, and puts the tiles of a turned or 16-bit grey TIFF in disorder.
    if header.is_transparent or header.is_tiled or not is_in_opencv:
        return _decode_with_pillow(file, header, data)
    with _capture_decoder_output() as complaints:
        image = _decode_with_opencv(data, flag)
    details = f" ({complaints[0]})" if complaints else ""
    if image is None:
        raise ImageError(f"{file}: expected a whole picture, found a damaged {header.kind}{details}")
    if complaints:
        _log.warning("%s: damaged inside, used as it is%s", file, details)
    return image


def _decode_with_opencv(data: bytes, flag: int) -> np.ndarray | None:
    import cv2
    import numpy as np

    try:
        return cv2.imdecode(np.frombuffer(data, np.uint8), flag | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error as error:
        if is_out_of_memory(error):
            raise MemoryError(str(error)) from error
        return None


def _decode_with_pillow(file: str | os.PathLike[str], header: Header, data: bytes) -> np.ndarray:
    import numpy as np
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=[header.kind]) as picture:
                if header.kind == "PNG" and data[_PNG_DEPTH] == 16 and "transparency" in picture.info:
                    return _decode_keyed_png(data, picture.info["transparency"])
                stored = _convert_to_rgb(picture, header.is_transparent)
                if header.kind in _PILLOW_FORMATS and stored.shape[:2] != (header.rows, header.cols):
                    raise ValueError(f"expected {header.cols} × {header.rows} pixels, found {picture.size}")
    except MemoryError:
        raise
    except Exception as error:  # As for headers, damaged files raise errors of any class.
        raise ImageError(
            f"{file}: expected a whole picture, found a damaged {header.kind} ({str(error).strip()})"
        ) from error
    return np.ascontiguousarray(stored[:, :, ::-1])


def _convert_to_rgb(picture: Image.Image, is_transparent: bool) -> np.ndarray:
    import numpy as np
    from PIL import Image

    if picture.mode.startswith("I"):
        # Pillow's conversion clips 16-bit grey values instead of scaling them, and takes 0 for black in any case.
        grey = (np.asarray(picture) >> 8).astype(np.uint8)
        if getattr(picture, "tag_v2", {}).get(_TIFF_PHOTOMETRIC) == _WHITE_IS_ZERO:
            grey = 255 - grey
        return np.repeat(grey[:, :, None], 3, axis=2)
    if not is_transparent:
        return np.asarray(picture.convert("RGB"))
    white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    return np.asarray(Image.alpha_composite(white, picture.convert("RGBA")).convert("RGB"))


def _decode_keyed_png(data: bytes, key: int | tuple[int, ...]) -> np.ndarray:
    """Decode a PNG of 16 bits a channel in which one RGB colour or grey value, the key, is transparent.

    Pillow compares the key of 16 bits with values of 8 bits.
    """
    import cv2
    import numpy as np

    deep = _decode_with_opencv(data, cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH)
    if deep is None:
        raise ValueError("its data can't be decoded")
    image = (deep >> 8).astype(np.uint8)
    image[(deep == np.atleast_1d(key)[::-1]).all(axis=2)] = 255
    return image


@contextmanager
def _capture_decoder_output() -> Iterator[list[str]]:
    """Collect the lines that the decoders write to the process's stderr, their only report of damage inside a picture.

    The list is filled at the end of the ``with`` block.
    """
    import cv2

    if cv2.utils.logging.getLogLevel() != cv2.utils.logging.LOG_LEVEL_SILENT:
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    lines: list[str] = []
    with _stderr_lock:
        try:
            original = os.dup(2)
        except OSError:  # The process has no stderr.
            yield lines
            return
        reader, writer = os.pipe()
        # A flood of messages must not fill the pipe and wait forever for a reader.
        os.set_blocking(writer, False)
        os.set_blocking(reader, False)
        os.dup2(writer, 2)
        try:
            yield lines
        finally:
            os.dup2(original, 2)
            os.close(original)
            os.close(writer)
            with os.fdopen(reader, "rb") as output:
                lines.extend((output.read() or b"").decode("utf-8", "replace").splitlines())


# Two threads that replace the process's stderr at the same time would lose it.
_stderr_lock = threading.Lock()


def _apply_orientation(image: np.ndarray, orientation: int) -> np.ndarray:
    """Rotate and mirror an image by its EXIF orientation, 1 to 8 (CIPA DC-008, "Exif", tag 274)."""
    import numpy as np

    if orientation == 1:
        return image
    if orientation in {5, 6, 7, 8}:
        image = image.transpose(1, 0, 2)
    if orientation in {3, 4, 7, 8}:
        image = image[::-1]
    if orientation in {2, 3, 6, 7}:
        image = image[:, ::-1]
    return np.ascontiguousarray(image)
