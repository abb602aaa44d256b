"""Inspects a picture file before it is decoded: format, size and orientation."""

from __future__ import annotations

import io
import os
import re
import stat
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pillow_heif
from PIL import Image, UnidentifiedImageError

from leafid.errors import ImageError
from leafid.pictures.formats import READABLE_FORMATS, SIGNATURE_SIZE, describe_content, identify_format
from leafid.pictures.structure import check_structure

MAX_PIXELS = 100_000_000
MAX_BYTES = 1 << 30
MIN_SIDE = 16

_EXIF_ORIENTATION = 0x0112
#: Maximum number of pixels times scans of a JPEG, which take half a minute.
_MAX_SCANNED_PIXELS = 1 << 30
#: Pillow's names of the pixel formats that can be converted to RGB without loss of range.
_MODES = {"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBX", "RGBa", "CMYK", "YCbCr", "I;16", "I;16B", "I;16L"}
# Tags of a TIFF. The first picture of a DNG is mostly a thumbnail, which must not pass for the picture.
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _CHANNELS, _PLANES = 256, 257, 258, 259, 262, 277, 284
_SAMPLE_FORMAT, _DNG_VERSION = 339, 50706
#: None, CCITT (three), LZW, JPEG (two), Deflate (two) and PackBits; grey (two), RGB, palette, CMYK and YCbCr.
_READ_COMPRESSIONS, _READ_COLOURS = {1, 2, 3, 4, 5, 6, 7, 8, 32773, 32946}, {0, 1, 2, 3, 5, 6}
_UNREAD_TIFF = "a TIFF of a kind that can't be read; save it as RGB with 8 bits a channel"


@dataclass(frozen=True, slots=True)
class Header:
    """What a file declares about itself, before anything is decoded."""

    #: Pillow's name of the file format.
    kind: str
    #: `rows`, `cols`: as the decoder returns them, before `orientation` is applied.
    rows: int
    cols: int
    #: EXIF orientation that remains to be applied, 1 to 8.
    orientation: int

    @property
    def oriented_size(self) -> tuple[int, int]:
        """Rows and cols of the upright picture."""
        return (self.cols, self.rows) if self.orientation >= 5 else (self.rows, self.cols)


def check_picture_file(file: str | os.PathLike[str]) -> None:
    """Refuse what is not a plain file, empty, or larger than 1 GiB, without reading it."""
    path = Path(file)
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ImageError(f"{file}: no such file") from None
    except (OSError, ValueError) as error:
        raise _make_read_error(file, error) from error
    # A named pipe or a device would block or never end.
    if not stat.S_ISREG(status.st_mode):
        raise ImageError(f"{file}: expected a picture file, found {'a folder' if path.is_dir() else 'no file'}")
    size = status.st_size
    if size == 0:
        raise ImageError(f"{file}: expected {READABLE_FORMATS}, found an empty file (0 bytes)")
    if size > MAX_BYTES:
        raise ImageError(f"{file}: expected a picture of at most {MAX_BYTES >> 20} MiB, found {size >> 20} MiB")


def read_picture_bytes(file: str | os.PathLike[str]) -> bytes:
    """Read a file that `check_picture_file` accepts."""
    check_picture_file(file)
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise _make_read_error(file, error) from error


def _make_read_error(file: str | os.PathLike[str], error: Exception) -> ImageError:
    return ImageError(f"{file}: can't be read: {getattr(error, 'strerror', None) or error}")


def read_header(file: str | os.PathLike[str], data: bytes) -> Header:
    """Read the header of a picture; refuse what is not a whole picture, too large or too small."""
    kind = identify_format(data[:SIGNATURE_SIZE])
    if kind is None:
        raise ImageError(f"{file}: expected {READABLE_FORMATS}, found {describe_content(data[:SIGNATURE_SIZE])}")
    is_whole, n_scans = check_structure(file, kind, data)
    try:
        with open_picture(kind, data) as picture:
            tags = getattr(picture, "tag_v2", {})
            if _DNG_VERSION in tags:
                found = "a DNG (raw data of a camera); export it as JPEG"
                raise ImageError(f"{file}: expected {READABLE_FORMATS}, found {found}")
            if picture.mode not in _MODES or not _is_read_tiff(tags):
                raise ImageError(f"{file}: expected {READABLE_FORMATS}, found {_UNREAD_TIFF}")
            header = Header(kind, *_read_size_and_orientation(picture))
    except ImageError:
        raise
    except Image.DecompressionBombError as error:
        # Pillow gives the number of pixels only within its message.
        pixels = re.search(r"\d+", str(error))
        found = f"{int(pixels.group()) // 1_000_000}" if pixels else "more"
        raise ImageError(f"{file}: {_describe_excess(found)}") from None
    except UnidentifiedImageError:
        found = _UNREAD_TIFF if kind == "TIFF" else f"a damaged {kind} header"
        raise ImageError(f"{file}: expected {READABLE_FORMATS}, found {found}") from None
    except Exception as error:  # Pillow raises struct.error, SyntaxError, KeyError … for damaged headers.
        raise ImageError(f"{file}: expected {READABLE_FORMATS}, found a damaged {kind} header ({error})") from error
    if not is_whole:
        raise ImageError(f"{file}: expected a whole picture, found a truncated {kind} of {len(data)} bytes")
    rows, cols = header.rows, header.cols
    if rows * cols > MAX_PIXELS:
        raise ImageError(f"{file}: {_describe_excess(f'{cols} × {rows}')}")
    if rows * cols * n_scans > _MAX_SCANNED_PIXELS:
        raise ImageError(f"{file}: expected a JPEG that decodes in seconds, found {n_scans} scans; save it anew")
    if min(rows, cols) < MIN_SIDE:
        raise ImageError(
            f"{file}: expected a picture of at least {MIN_SIDE} × {MIN_SIDE} pixels, found {cols} × {rows}"
        )
    return header


def _is_read_tiff(tags: Mapping[int, Any]) -> bool:
    """Tell whether Pillow decodes a TIFF correctly, by its tags; other formats have none."""
    bits = tags.get(_BITS, (1,))
    return (
        tags.get(_COMPRESSION, 1) in _READ_COMPRESSIONS
        and tags.get(_PHOTOMETRIC, 0) in _READ_COLOURS
        and set(tags.get(_SAMPLE_FORMAT, (1,))) == {1}
        and tags.get(_CHANNELS, 1) <= 4
        and not (16 in bits and tags.get(_PLANES) == 2)
    )


def open_picture(kind: str, data: bytes) -> Image.Image:
    """Let Pillow open a picture of a format, without warnings about sizes of its own choice."""
    if kind == "HEIF":
        pillow_heif.register_heif_opener()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Image.open(io.BytesIO(data), formats=[kind])


def _describe_excess(found: str) -> str:
    return f"expected a picture of at most {MAX_PIXELS // 1_000_000} megapixels, found {found}; shrink it first"


def _read_size_and_orientation(picture: Image.Image) -> tuple[int, int, int]:
    """Return rows and cols as the decoder returns them, and the orientation that remains to be applied."""
    cols, rows = picture.size
    if picture.format == "HEIF":
        # The decoder applies the orientation. In HEIF, that of the EXIF block has no effect (ISO/IEC 23008-12).
        return rows, cols, 1
    # Pillow tells the orientation of an AVIF, which is not in its EXIF block either, as if it were.
    orientation = _read_orientation(picture)
    if picture.format != "TIFF":
        return rows, cols, orientation
    # Pillow applies the orientation of a TIFF itself; whether its size shows it depends on its version.
    tags = picture.tag_v2  # type: ignore[attr-defined]  # an attribute of TIFF pictures only
    cols, rows = int(tags.get(_WIDTH, cols)), int(tags.get(_HEIGHT, rows))
    return (cols, rows, 1) if orientation >= 5 else (rows, cols, 1)


def _read_orientation(picture: Image.Image) -> int:
    # For a PNG without an EXIF block, getexif would decode the whole picture.
    if picture.format != "TIFF" and "exif" not in picture.info:
        return 1
    try:
        value = picture.getexif().get(_EXIF_ORIENTATION, 1)
    except Exception:  # A damaged EXIF block has no orientation; the picture itself may be intact.
        return 1
    return value if value in range(1, 9) else 1
