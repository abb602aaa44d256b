"""Looks at a picture file before it is decoded: kind, size, orientation, and whether it is whole."""

from __future__ import annotations

import os
import re
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from leafid.errors import LeafidError

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
MAX_BYTES = 1 << 30
MIN_SIDE = 16

_EXIF_ORIENTATION = 0x0112
_EXPECTED = "a JPEG, PNG, TIFF, BMP or WebP picture"


class ImageError(LeafidError):
    """A file is not a picture that leafid can read; the message names the file and why."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says of itself before anything is decoded; rows and cols as stored, before orientation."""

    kind: str
    mode: str
    rows: int
    cols: int
    orientation: int
    transparent: bool

    @property
    def oriented_size(self) -> tuple[int, int]:
        """Rows and cols of the upright picture."""
        return (self.cols, self.rows) if self.orientation >= 5 else (self.rows, self.cols)


def open_picture(file: str | os.PathLike[str]) -> IO[bytes]:
    """Open a picture file for reading, unless it is no plain file, empty, or larger than 1 GiB.

    Raises
    ------
    ImageError
    """
    path = Path(file)
    try:
        status = path.stat()
        # A named pipe or a device would block or never end.
        if not stat.S_ISREG(status.st_mode):
            raise ImageError(f"{file}: expected a picture file, found {'a folder' if path.is_dir() else 'no file'}")
        size = status.st_size
        if size == 0:
            raise ImageError(f"{file}: expected {_EXPECTED}, found an empty file (0 bytes)")
        if size > MAX_BYTES:
            raise ImageError(f"{file}: expected a picture of at most {MAX_BYTES >> 20} MiB, found {size >> 20} MiB")
        return path.open("rb")
    except FileNotFoundError:
        raise ImageError(f"{file}: no such file") from None
    except (OSError, ValueError) as error:
        raise ImageError(f"{file}: can't be read: {getattr(error, 'strerror', None) or error}") from error


def read_header(file: str | os.PathLike[str], stream: IO[bytes]) -> Header:
    """Read what the file says of itself, and refuse what is no picture, too large or too small.

    Parameters
    ----------
    file : path-like
        Named in errors.
    stream : binary file object
        At its start; left anywhere.

    Raises
    ------
    ImageError
    """
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
    except Image.DecompressionBombError as error:
        # Pillow tells the number in words only.
        pixels = re.search(r"\d+", str(error))
        found = f"{int(pixels.group()) // 1_000_000}" if pixels else "more"
        raise ImageError(f"{file}: {_too_large(found)}") from None
    except Exception as error:  # Pillow lets struct.error, SyntaxError, KeyError … of damaged headers through.
        raise ImageError(f"{file}: expected {_EXPECTED}, found a damaged {kind} header ({error})") from error
    if rows * cols > MAX_PIXELS:
        raise ImageError(f"{file}: {_too_large(f'{cols} × {rows}')}")
    if min(rows, cols) < MIN_SIDE:
        raise ImageError(
            f"{file}: expected a picture of at least {MIN_SIDE} × {MIN_SIDE} pixels, found {cols} × {rows}"
        )
    return Header(kind, mode, rows, cols, orientation, transparent)


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


def refuse_truncated(file: str | os.PathLike[str], kind: str, data: bytes) -> None:
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
