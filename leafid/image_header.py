"""Inspects a picture file before it is decoded: format, size, orientation, and whether the file is complete."""

from __future__ import annotations

import io
import os
import re
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.errors import LeafidError

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
MAX_BYTES = 1 << 30
MIN_SIDE = 16

_EXIF_ORIENTATION = 0x0112
_TIFF_WIDTH, _TIFF_HEIGHT, _TIFF_BITS, _TIFF_PLANES, _TIFF_TILE_WIDTH = 256, 257, 258, 284, 322
_SEPARATE_PLANES = 2
#: Maximum number of consecutive fill bytes before a marker of a JPEG.
_MAX_FILL_BYTES = 1 << 16
_FILL_BYTES = re.compile(rb"\xff+")
_EXPECTED = "a JPEG, PNG, TIFF, BMP or WebP picture"
_SIGNATURES: dict[str, tuple[bytes, ...]] = {
    "JPEG": (b"\xff\xd8\xff",),
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "TIFF": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "BMP": (b"BM",),
    "WEBP": (b"RIFF",),
}


class ImageError(LeafidError):
    """A file is not a picture that leafid can read; the message names the file and the reason."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a file declares about itself, before anything is decoded.

    Attributes
    ----------
    kind, mode
        Pillow's names of the file format and of the pixel format.
    rows, cols
        As the decoder returns them, before `orientation` is applied.
    orientation
        EXIF orientation that remains to be applied, 1 to 8.
    """

    kind: str
    mode: str
    rows: int
    cols: int
    orientation: int
    is_transparent: bool
    is_tiled: bool

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
        raise ImageError(f"{file}: expected {_EXPECTED}, found an empty file (0 bytes)")
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
    """Read the header of a picture; refuse what is not a picture, too large or too small."""
    from PIL import Image

    kind = _identify_format(file, data[:16])
    if kind == "JPEG":
        # Pillow would read megabytes of fill bytes one by one.
        _find_first_scan(file, data)
    try:
        with warnings.catch_warnings():
            # Pillow warns about sizes of its own choice; ours are checked below.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=[kind]) as picture:
                rows, cols, orientation = _read_size_and_orientation(picture)
                tags = picture.tag_v2 if kind == "TIFF" else {}  # type: ignore[attr-defined]
                is_tiled = _TIFF_TILE_WIDTH in tags
                has_deep_planes = tags.get(_TIFF_PLANES) == _SEPARATE_PLANES and 16 in tags.get(_TIFF_BITS, ())
                header = Header(kind, picture.mode, rows, cols, orientation, _is_transparent(picture), is_tiled)
    except Image.DecompressionBombError as error:
        # Pillow gives the number of pixels only within its message.
        pixels = re.search(r"\d+", str(error))
        found = f"{int(pixels.group()) // 1_000_000}" if pixels else "more"
        raise ImageError(f"{file}: {_describe_excess(found)}") from None
    except Exception as error:  # Pillow raises struct.error, SyntaxError, KeyError … for damaged headers.
        raise ImageError(f"{file}: expected {_EXPECTED}, found a damaged {kind} header ({error})") from error
    if is_tiled and has_deep_planes:
        # No decoder at hand reads these correctly in all variants.
        raise ImageError(
            f"{file}: expected interleaved channels, found tiles of separate 16-bit planes; convert the file"
        )
    if rows * cols > MAX_PIXELS:
        raise ImageError(f"{file}: {_describe_excess(f'{cols} × {rows}')}")
    if min(rows, cols) < MIN_SIDE:
        raise ImageError(
            f"{file}: expected a picture of at least {MIN_SIDE} × {MIN_SIDE} pixels, found {cols} × {rows}"
        )
    return header


def _describe_excess(found: str) -> str:
    return f"expected a picture of at most {MAX_PIXELS // 1_000_000} megapixels, found {found}; shrink it first"


def _identify_format(file: str | os.PathLike[str], start: bytes) -> str:
    for kind, signatures in _SIGNATURES.items():
        if start.startswith(signatures) and (kind != "WEBP" or start[8:12] == b"WEBP"):
            return kind
    if start[4:8] == b"ftyp":
        found = "a HEIF, AVIF or video file"
    elif start.startswith(b"GIF8"):
        found = "a GIF"
    elif start.startswith(b"%PDF"):
        found = "a PDF"
    elif all(byte >= 32 or byte in b"\t\n\r" for byte in start):
        found = f"text ({start.decode('utf-8', 'replace')!r} …)"
    else:
        found = f"something else (its first bytes are {start[:8].hex(' ')})"
    raise ImageError(f"{file}: expected {_EXPECTED}, found {found}")


def _read_size_and_orientation(picture: Image.Image) -> tuple[int, int, int]:
    """Return rows and cols as the decoder returns them, and the orientation that remains to be applied."""
    orientation = _read_orientation(picture)
    cols, rows = picture.size
    if picture.format != "TIFF":
        return rows, cols, orientation
    # All decoders apply the orientation of a TIFF themselves; whether Pillow's size shows it depends on its version.
    tags = picture.tag_v2  # type: ignore[attr-defined]  # an attribute of TIFF pictures only
    cols, rows = int(tags.get(_TIFF_WIDTH, cols)), int(tags.get(_TIFF_HEIGHT, rows))
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


def _is_transparent(picture: Image.Image) -> bool:
    return picture.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in picture.info


def refuse_truncated(file: str | os.PathLike[str], kind: str, data: bytes) -> None:
    """Refuse a truncated file: the decoders would fill the missing part with grey, without a warning.

    Sizes that a PNG declares are checked, because libpng allocates them before it reads the data.
    """
    if kind == "JPEG":
        # A thumbnail in the EXIF block has an end marker of its own; in the scans' data it can't occur.
        is_complete = data.rfind(b"\xff\xd9", _find_first_scan(file, data)) >= 0
    elif kind == "PNG":
        is_complete = _has_png_end(data)
    elif kind == "WEBP":
        is_complete = len(data) >= int.from_bytes(data[4:8], "little") + 8
    elif kind == "BMP":
        # Some writers leave the size 0.
        is_complete = len(data) >= int.from_bytes(data[2:6], "little")
    else:
        # A TIFF has no end marker; its decoder reports missing data.
        is_complete = True
    if not is_complete:
        raise ImageError(f"{file}: expected a whole picture, found a truncated {kind} of {len(data)} bytes")


def _find_first_scan(file: str | os.PathLike[str], data: bytes) -> int:
    """Return the offset of the first scan's header in a JPEG, or the end of the data if there is none."""
    position = 2
    while fill := _FILL_BYTES.match(data, position):
        if len(fill[0]) > _MAX_FILL_BYTES:
            raise ImageError(f"{file}: expected a whole picture, found {len(fill[0])} fill bytes in a row in a JPEG")
        marker = fill.end()
        if marker + 3 > len(data):
            break
        if data[marker] == 0xDA:
            return marker - 1
        position = marker + 1 + int.from_bytes(data[marker + 1 : marker + 3], "big")
    return len(data)


def _has_png_end(data: bytes) -> bool:
    """Tell whether the chunks of a PNG follow each other up to its end mark."""
    position = 8
    while position + 12 <= len(data):
        if data[position + 4 : position + 8] == b"IEND":
            return True
        position += 12 + int.from_bytes(data[position : position + 4], "big")
    return False
