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
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from leafid.errors import LeafidError

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

_log = logging.getLogger(__name__)

#: Endings under which pictures are looked for in a folder; what a file is, its content decides.
PICTURE_ENDINGS = frozenset({".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp"})

MAX_PIXELS = 100_000_000
MAX_BYTES = 1 << 30
MIN_SIDE = 16

_EXIF_ORIENTATION = 0x0112
_EXPECTED = "a JPEG, PNG, TIFF, BMP or WebP picture"


class ImageError(LeafidError):
    """A file is not a picture that leafid can read; the message names the file and why."""


@dataclass(frozen=True, slots=True)
class _Header:
    """What a file says of itself before anything is decoded; rows and cols as stored, before orientation."""

    kind: str
    mode: str
    rows: int
    cols: int
    orientation: int
    transparent: bool

    @property
    def oriented_size(self) -> tuple[int, int]:
        return (self.cols, self.rows) if self.orientation >= 5 else (self.rows, self.cols)


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
    image_size : the size alone, from the header.
    """
    import cv2

    if max_side is not None and max_side < 1:
        raise ValueError(f"max_side: expected at least 1, found {max_side}")
    with _opened(file) as stream:
        header = _read_header(file, stream)
        stream.seek(0)
        data = stream.read()
    _check_whole(file, header.kind, data)
    longest = max(header.rows, header.cols)
    image = _decode(file, header, data, _reduction(header.kind, longest, max_side))
    if max_side is not None and longest > max_side:
        # From the stored size, so that the result doesn't depend on how the reduced decoding rounds.
        rows, cols = (max(1, round(side * max_side / longest)) for side in (header.rows, header.cols))
        if image.shape[:2] != (rows, cols):
            image = cv2.resize(image, (cols, rows), interpolation=cv2.INTER_AREA)
    return _upright(image, header.orientation)


def image_size(file: str | os.PathLike[str]) -> tuple[int, int]:
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
    with _opened(file) as stream:
        return _read_header(file, stream).oriented_size


def _opened(file: str | os.PathLike[str]) -> IO[bytes]:
    path = Path(file)
    try:
        # A named pipe or a device would block or never end.
        if path.exists() and not path.is_file():
            raise ImageError(f"{file}: expected a picture file, found {'a folder' if path.is_dir() else 'no file'}")
        size = path.stat().st_size
        if size == 0:
            raise ImageError(f"{file}: expected {_EXPECTED}, found an empty file (0 bytes)")
        if size > MAX_BYTES:
            raise ImageError(f"{file}: expected a picture of at most {MAX_BYTES >> 20} MiB, found {size >> 20} MiB")
        return path.open("rb")
    except FileNotFoundError:
        raise ImageError(f"{file}: no such file") from None
    except (OSError, ValueError) as error:
        raise ImageError(f"{file}: can't be read: {getattr(error, 'strerror', None) or error}") from error


def _read_header(file: str | os.PathLike[str], stream: IO[bytes]) -> _Header:
    from PIL import Image

    kind = _kind(file, stream.read(16))
    stream.seek(0)
    try:
        with warnings.catch_warnings():
            # Pillow's own size limits are other than ours, which follows at once.
            warnings.simplefilter("ignore")
            with Image.open(stream, formats=[kind]) as picture:
                rows, cols, orientation = _stored_size(picture)
                mode, transparent = picture.mode, _is_transparent(picture)
    except Image.DecompressionBombError:
        raise ImageError(f"{file}: {_too_large('far more')}") from None
    except Exception as error:  # Pillow lets struct.error, SyntaxError, KeyError … of damaged headers through.
        raise ImageError(f"{file}: expected {_EXPECTED}, found a damaged {kind} header ({error})") from error
    if rows * cols > MAX_PIXELS:
        raise ImageError(f"{file}: {_too_large(f'{cols} × {rows}')}")
    if min(rows, cols) < MIN_SIDE:
        raise ImageError(
            f"{file}: expected a picture of at least {MIN_SIDE} × {MIN_SIDE} pixels, found {cols} × {rows}"
        )
    return _Header(kind, mode, rows, cols, orientation, transparent)


def _too_large(found: str) -> str:
    return f"expected a picture of at most {MAX_PIXELS // 1_000_000} megapixels, found {found}; shrink it first"


def _kind(file: str | os.PathLike[str], head: bytes) -> str:
    for kind, marks in _MARKS.items():
        if head.startswith(marks) and (kind != "WEBP" or head[8:12] == b"WEBP"):
            return kind
    if head[4:8] == b"ftyp":
        found = "a HEIF, AVIF or video file"
    elif head.startswith(b"GIF8"):
        found = "a GIF"
    elif head.startswith(b"%PDF"):
        found = "a PDF"
    elif all(byte >= 32 or byte in b"\t\n\r" for byte in head):
        found = f"text ({head.decode('utf-8', 'replace')!r} …)"
    else:
        found = f"something else (its first bytes are {head[:8].hex(' ')})"
    raise ImageError(f"{file}: expected {_EXPECTED}, found {found}")


_MARKS: dict[str, tuple[bytes, ...]] = {
    "JPEG": (b"\xff\xd8\xff",),
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "BMP": (b"BM",),
    "WEBP": (b"RIFF",),
}


def _stored_size(picture: Image.Image) -> tuple[int, int, int]:
    """Return rows and cols as they come from the decoder, and the orientation to apply to them then."""
    orientation = _orientation(picture)
    cols, rows = picture.size
    if picture.format != "TIFF":
        return rows, cols, orientation
    # All decoders apply a TIFF's orientation by themselves, and Pillow's size may or may not show it.
    tags = picture.tag_v2  # type: ignore[attr-defined]  # known of TIFF pictures only
    cols, rows = int(tags.get(256, cols)), int(tags.get(257, rows))
    return (cols, rows, 1) if orientation >= 5 else (rows, cols, 1)


def _orientation(picture: Image.Image) -> int:
    # Asking a PNG without this block for its EXIF would decode the whole picture.
    if picture.format != "TIFF" and "exif" not in picture.info:
        return 1
    try:
        value = picture.getexif().get(_EXIF_ORIENTATION, 1)
    except Exception:  # A damaged EXIF block says nothing of the orientation; the picture itself may be sound.
        return 1
    return value if value in range(1, 9) else 1


def _is_transparent(picture: Image.Image) -> bool:
    return picture.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in picture.info


def _check_whole(file: str | os.PathLike[str], kind: str, data: bytes) -> None:
    """Refuse a truncated file: the decoders would fill what is missing with grey, and say nothing."""
    if kind == "JPEG":
        # A thumbnail in the EXIF block has an end mark of its own; within the picture's own data it can't occur.
        whole = data.rfind(b"\xff\xd9", _jpeg_data_start(data)) >= 0
    elif kind == "PNG":
        whole = data.rfind(b"IEND") >= 0
    elif kind == "WEBP":
        whole = len(data) >= int.from_bytes(data[4:8], "little") + 8
    elif kind == "BMP":
        # Some writers leave the size 0.
        whole = len(data) >= int.from_bytes(data[2:6], "little")
    else:
        # A TIFF has no end; its decoder reports what is missing.
        whole = True
    if not whole:
        raise ImageError(f"{file}: expected a whole picture, found a truncated {kind} of {len(data)} bytes")


def _jpeg_data_start(data: bytes) -> int:
    """Find where the first scan's header starts, or the end of the data where there is none."""
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        mark = data[position + 1]
        if mark == 0xDA:
            return position
        if mark == 0xFF:
            position += 1
        else:
            position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return len(data)


def _reduction(kind: str, longest: int, max_side: int | None) -> int:
    # Only JPEG is decoded at a lower resolution; for other kinds OpenCV would decode all, then skip pixels.
    if kind != "JPEG" or max_side is None:
        return 1
    return next((factor for factor in (8, 4, 2) if longest >= factor * max_side), 1)


def _decode(file: str | os.PathLike[str], header: _Header, data: bytes, reduction: int) -> np.ndarray:
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


def _decode_with_pillow(file: str | os.PathLike[str], header: _Header, data: bytes) -> np.ndarray:
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
