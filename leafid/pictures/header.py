"""Inspects a picture file before it is decoded: format, size and orientation."""

from __future__ import annotations

import io
import os
import stat
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pillow_heif
from PIL import Image

from leafid.errors import ImageError
from leafid.pictures.formats import READABLE_FORMATS, identify_format
from leafid.pictures.structure import check_structure

MAX_PIXELS = 100_000_000
MAX_BYTES = 1 << 30
MIN_SIDE = 16

_EXPECTED_SIZE = f"expected a picture of at most {MAX_PIXELS // 1_000_000} megapixels"
_EXIF_ORIENTATION = 0x0112
#: Maximum number of pixels times scans of a JPEG, which take half a minute.
_MAX_SCANNED_PIXELS = 1 << 30
#: Pillow's names of the pixel formats that can be converted to RGB without loss of range.
_MODES = {"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBX", "RGBa", "CMYK", "YCbCr", "I;16", "I;16B", "I;16L"}
# Tags of a TIFF.
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _CHANNELS, _PLANES = 256, 257, 258, 259, 262, 277, 284
_SAMPLE_FORMAT, _DNG_VERSION = 339, 50706
#: None, CCITT (three), LZW, JPEG (two), Deflate (two) and PackBits; grey (two), RGB, palette, CMYK and YCbCr.
_READ_COMPRESSIONS, _READ_COLOURS = {1, 2, 3, 4, 5, 6, 7, 8, 32773, 32946}, {0, 1, 2, 3, 5, 6}


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


def read_picture_bytes(file: str | os.PathLike[str]) -> bytes:
    """Read a file; refuse first what is not a plain file, empty, or larger than 1 GiB."""
    try:
        status = Path(file).stat()
        # A named pipe or a device would block or never end.
        if not stat.S_ISREG(status.st_mode):
            raise ImageError(f"{file}: expected a picture file, found a folder or a device")
        if not 0 < status.st_size <= MAX_BYTES:
            limits = f"1 byte to {MAX_BYTES >> 20} MiB"
            raise ImageError(f"{file}: expected a picture of {limits}, found {status.st_size} bytes")
        return Path(file).read_bytes()
    except FileNotFoundError:
        raise ImageError(f"{file}: no such file") from None
    except (OSError, ValueError) as error:
        raise ImageError(f"{file}: can't be read: {getattr(error, 'strerror', None) or error}") from error


def read_header(file: str | os.PathLike[str], data: bytes) -> Header:
    """Read the header of a picture; refuse what is not a whole picture, too large or too small."""
    try:
        return _read_header(data)
    except ImageError as error:
        raise ImageError(f"{file}: {error}") from error.__cause__


def _read_header(data: bytes) -> Header:
    kind = identify_format(data)
    if kind is None:
        raise ImageError(f"expected {READABLE_FORMATS}, found something else (its first bytes are {data[:16]!r})")
    n_scans = check_structure(kind, data)
    try:
        with open_picture(kind, data) as picture:
            if picture.mode not in _MODES or not _is_read_tiff(getattr(picture, "tag_v2", {})):
                raise ImageError(f"expected {READABLE_FORMATS}, found a {kind} of a kind that can't be read")
            rows, cols, orientation = _read_size_and_orientation(picture)
    except ImageError:
        raise
    except Image.DecompressionBombError:
        raise ImageError(f"{_EXPECTED_SIZE}, found more; shrink it first") from None
    except Exception as error:  # Pillow raises struct.error, SyntaxError, KeyError … for damaged headers.
        found = f"a damaged {kind} header, or one of a kind that can't be read ({error})"
        raise ImageError(f"expected {READABLE_FORMATS}, found {found}") from error
    if rows * cols > MAX_PIXELS:
        raise ImageError(f"{_EXPECTED_SIZE}, found {cols} × {rows}; shrink it first")
    if rows * cols * n_scans > _MAX_SCANNED_PIXELS:
        raise ImageError(f"expected a JPEG that decodes in seconds, found {n_scans} scans; save it anew")
    if min(rows, cols) < MIN_SIDE:
        raise ImageError(f"expected a picture of at least {MIN_SIDE} × {MIN_SIDE} pixels, found {cols} × {rows}")
    return Header(kind, rows, cols, orientation)


def _is_read_tiff(tags: Mapping[int, Any]) -> bool:
    """Tell whether Pillow decodes a TIFF correctly, by its tags; other formats have none."""
    bits = tags.get(_BITS, (1,))
    return (
        tags.get(_COMPRESSION, 1) in _READ_COMPRESSIONS
        and tags.get(_PHOTOMETRIC, 0) in _READ_COLOURS
        and set(tags.get(_SAMPLE_FORMAT, (1,))) == {1}
        and tags.get(_CHANNELS, 1) <= 4
        and not (16 in bits and tags.get(_PLANES) == 2)
        # The first picture of a DNG, raw data of a camera, is mostly a thumbnail.
        and _DNG_VERSION not in tags
    )


def open_picture(kind: str, data: bytes) -> Image.Image:
    """Let Pillow open a picture of a format, without warnings about sizes of its own choice."""
    if kind == "HEIF":
        pillow_heif.register_heif_opener()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Image.open(io.BytesIO(data), formats=[kind])


def _read_size_and_orientation(picture: Image.Image) -> tuple[int, int, int]:
    """Return rows and cols as the decoder returns them, and the orientation that remains to be applied."""
    cols, rows = picture.size
    orientation = 1
    # The decoder of HEIF applies the orientation; that of the EXIF block has no effect (ISO/IEC 23008-12). Pillow tells
    # that of an AVIF as if it were in the EXIF block. For a PNG without this block, getexif would decode the picture.
    if picture.format == "TIFF" or (picture.format != "HEIF" and "exif" in picture.info):
        try:
            orientation = picture.getexif().get(_EXIF_ORIENTATION, 1)
        except Exception:  # A damaged EXIF block has no orientation; the picture itself may be intact.
            orientation = 1
    if orientation not in range(1, 9):
        orientation = 1
    if picture.format != "TIFF":
        return rows, cols, orientation
    # Pillow applies the orientation of a TIFF itself; whether its size shows it depends on its version.
    tags = picture.tag_v2  # type: ignore[attr-defined]  # an attribute of TIFF pictures only
    cols, rows = int(tags.get(_WIDTH, cols)), int(tags.get(_HEIGHT, rows))
    return (cols, rows, 1) if orientation >= 5 else (rows, cols, 1)
