"""The one place that reads images: type allow-list, size cap, orientation, and one pixel format for all.

An image is ``uint8 (H, W, 3)`` in OpenCV's BGR order; a mask is ``bool (H, W)``.
"""

from __future__ import annotations

import io
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leafid.image_header import MAX_PIXELS, MIN_SIDE, Header, ImageError, open_picture, read_header, refuse_truncated

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MAX_PIXELS", "MIN_SIDE", "PICTURE_ENDINGS", "ImageError", "read_image", "read_image_size"]

_log = logging.getLogger(__name__)

#: Endings under which pictures are looked for in a folder; what a file is, its content decides.
PICTURE_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp"})


def read_image(file: str | os.PathLike[str], max_side: int | None = None) -> np.ndarray:
    """Read a picture, upright, as 8-bit BGR, whatever it is stored as.

    JPEG, PNG, TIFF, BMP and WebP are told by their content, not their name. The EXIF orientation is applied; grey,
    palette and CMYK pictures become BGR; of 16 bits a channel the upper 8 are kept; transparent parts turn white.

    Parameters
    ----------
    file : path-like
    max_side : int, optional
        Shrink the picture so that its longest side has this many pixels; a smaller picture stays as it is.
        A JPEG of at least twice that size is decoded at a half, a quarter or an eighth first, which is faster.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
        In BGR order, 0 to 255.

    Raises
    ------
    ImageError
        When the file can't be read, is no picture of these formats, is truncated or damaged, has more than
        100 megapixels, or a side of less than 16 pixels.

    See Also
    --------
    read_image_size : the size alone, from the header.
    """
    import cv2

    if max_side is not None and max_side < 1:
        raise ValueError(f"max_side: expected at least 1, found {max_side}")
    with open_picture(file) as stream:
        header = read_header(file, stream)
        stream.seek(0)
        data = stream.read()
    refuse_truncated(file, header.kind, data)
    longest = max(header.rows, header.cols)
    image = _decode(file, header, data, _reduction(header.kind, longest, max_side))
    if max_side is not None and longest > max_side:
        # From the stored size, and rounded up as reduced decoding does: mostly nothing is left to do then.
        rows, cols = (-(-side * max_side // longest) for side in (header.rows, header.cols))
        if image.shape[:2] != (rows, cols):
            image = cv2.resize(image, (cols, rows), interpolation=cv2.INTER_AREA)
    return _upright(image, header.orientation)


def read_image_size(file: str | os.PathLike[str]) -> tuple[int, int]:
    """Tell the size of a picture from its header, without decoding it.

    Parameters
    ----------
    file : path-like

    Returns
    -------
    rows, cols : int
        In pixels, of the upright picture: what ``read_image(file).shape[:2]`` would be.

    Raises
    ------
    ImageError
        As `read_image`, but for damage behind the header, which goes unseen.
    """
    with open_picture(file) as stream:
        return read_header(file, stream).oriented_size


def _reduction(kind: str, longest: int, max_side: int | None) -> int:
    # Only JPEG is decoded at a lower resolution; for other kinds OpenCV would decode all, then skip pixels.
    if kind != "JPEG" or max_side is None:
        return 1
    return next((factor for factor in (8, 4, 2) if longest >= factor * max_side), 1)


def _decode(file: str | os.PathLike[str], header: Header, data: bytes, reduction: int) -> np.ndarray:
    if header.mode == "F" or (header.mode == "I" and header.kind == "TIFF"):
        raise ImageError(f"{file}: expected 8 or 16 bits a channel, found 32; their range is anything")
    # OpenCV ignores transparency that is not a channel, and knows CMYK in JPEG only.
    if header.transparent or not (header.mode in _OPENCV_MODES or header.kind == "JPEG"):
        return _decode_with_pillow(file, header, data)
    import cv2
    import numpy as np

    flag = {
        1: cv2.IMREAD_COLOR,
        2: cv2.IMREAD_REDUCED_COLOR_2,
        4: cv2.IMREAD_REDUCED_COLOR_4,
        8: cv2.IMREAD_REDUCED_COLOR_8,
    }[reduction]
    with _decoder_output() as complaints:
        try:
            image = cv2.imdecode(np.frombuffer(data, np.uint8), flag | cv2.IMREAD_IGNORE_ORIENTATION)
        except cv2.error:
            image = None
    if image is None:
        raise ImageError(f"{file}: expected a whole picture, found a damaged {header.kind}{_brackets(complaints)}")
    if complaints:
        _log.warning("%s: damaged inside, used as it is%s", file, _brackets(complaints))
    return image


_OPENCV_MODES = {"1", "L", "P", "RGB", "YCbCr", "I", "I;16", "I;16B", "I;16L", "I;16N"}


def _brackets(complaints: list[str]) -> str:
    return f" ({complaints[0]})" if complaints else ""


def _decode_with_pillow(file: str | os.PathLike[str], header: Header, data: bytes) -> np.ndarray:
    import numpy as np
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=[header.kind]) as picture:
                if not header.transparent:
                    rgb = picture.convert("RGB")
                else:
                    white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
                    rgb = Image.alpha_composite(white, picture.convert("RGBA")).convert("RGB")
                stored = np.asarray(rgb)
    except Exception as error:  # As for headers: damaged files raise errors of any class.
        raise ImageError(f"{file}: expected a whole picture, found a damaged {header.kind} ({error})") from error
    return np.ascontiguousarray(stored[:, :, ::-1])


@contextmanager
def _decoder_output() -> Iterator[list[str]]:
    """Catch what the decoders write: they print to the process's stderr, and only there tell of damage inside.

    Yields
    ------
    list of str
        Its lines, filled in at the end of the ``with`` block.
    """
    import cv2

    if cv2.utils.logging.getLogLevel() != cv2.utils.logging.LOG_LEVEL_SILENT:
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    lines: list[str] = []
    with _stderr_lock:
        try:
            original = os.dup(2)
        except OSError:  # A process without a stderr: there is nothing to catch.
            yield lines
            return
        reader, writer = os.pipe()
        # A flood of complaints must not fill the pipe and wait for a reader forever.
        os.set_blocking(writer, False)
        os.set_blocking(reader, False)
        os.dup2(writer, 2)
        try:
            yield lines
        finally:
            os.dup2(original, 2)
            os.close(original)
            os.close(writer)
            with os.fdopen(reader, "rb") as caught:
                lines.extend((caught.read() or b"").decode("utf-8", "replace").splitlines())


# Two threads that swap the process's stderr at once would lose it.
_stderr_lock = threading.Lock()


def _upright(image: np.ndarray, orientation: int) -> np.ndarray:
    """Turn and mirror an image as its EXIF orientation (1 to 8) asks.

    References
    ----------
    .. [1] CIPA DC-008, "Exchangeable image file format for digital still cameras: Exif", tag 274.
    """
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
