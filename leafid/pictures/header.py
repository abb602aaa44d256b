"""Inspects a picture file before it is decoded: format, size and orientation."""

from __future__ import annotations

import io
import os
import re
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leafid.errors import ImageError
from leafid.pictures import tiff
from leafid.pictures.formats import READABLE_FORMATS, SIGNATURE_SIZE, describe_content, identify_format
from leafid.pictures.structure import count_scans

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
MAX_BYTES = 1 << 30
MIN_SIDE = 16

_EXIF_ORIENTATION = 0x0112
#: Maximum number of scans of a progressive JPEG: each costs time for the whole picture. Cameras write about 10.
_MAX_SCANS = 100
#: Maximum number of strips or tiles of a TIFF, which take time and memory one by one.
_MAX_STRIPS = 1 << 17
#: Maximum number of pixels times scans, which take half a minute.
_MAX_SCANNED_PIXELS = 1 << 30


@dataclass(frozen=True, slots=True)
class Header:
    """What a file declares about itself, before anything is decoded."""

    #: `kind`, `mode`: pillow's names of the file format and of the pixel format.
    kind: str
    mode: str
    #: `rows`, `cols`: as the decoder returns them, before `orientation` is applied.
    rows: int
    cols: int
    #: EXIF orientation that remains to be applied, 1 to 8.
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
    """Read the header of a picture; refuse what is not a picture, too large or too small."""
    from PIL import Image, UnidentifiedImageError

    kind = _identify_format(file, data)
    n_scans = count_scans(file, data) if kind == "JPEG" else 1
    if n_scans > _MAX_SCANS:
        raise ImageError(f"{file}: expected a JPEG of at most {_MAX_SCANS} scans, found {n_scans}; save it anew")
    n_strips = tiff.count_strips(data) if kind == "TIFF" else 1
    if n_strips > _MAX_STRIPS:
        raise ImageError(
            f"{file}: expected a TIFF of at most {_MAX_STRIPS} strips or tiles, found {n_strips}; save it anew"
        )
    try:
        with warnings.catch_warnings():
            # Pillow warns about sizes of its own choice; ours are checked below.
            warnings.simplefilter("ignore")
            tags = tiff.read_tags(data) if kind == "TIFF" else {}
            if unread_kind := tiff.describe_unread_kind(tags):
                raise ImageError(f"{file}: expected {READABLE_FORMATS}, found {unread_kind}")
            with Image.open(io.BytesIO(data), formats=[kind]) as picture:
                rows, cols, orientation = _read_size_and_orientation(picture)
                is_tiled = tiff.TILE_WIDTH in tags
                header = Header(kind, picture.mode, rows, cols, orientation, _is_transparent(picture), is_tiled)
    except ImageError:
        raise
    except Image.DecompressionBombError as error:
        # Pillow gives the number of pixels only within its message.
        pixels = re.search(r"\d+", str(error))
        found = f"{int(pixels.group()) // 1_000_000}" if pixels else "more"
        raise ImageError(f"{file}: {_describe_excess(found)}") from None
    except UnidentifiedImageError:
        found = tiff.describe_kind(tags) if {tiff.WIDTH, tiff.HEIGHT} <= tags.keys() else f"a damaged {kind} header"
        raise ImageError(f"{file}: expected {READABLE_FORMATS}, found {found}") from None
    except Exception as error:  # Pillow raises struct.error, SyntaxError, KeyError … for damaged headers.
        raise ImageError(f"{file}: expected {READABLE_FORMATS}, found a damaged {kind} header ({error})") from error
    if rows * cols > MAX_PIXELS:
        raise ImageError(f"{file}: {_describe_excess(f'{cols} × {rows}')}")
    if rows * cols * n_scans > _MAX_SCANNED_PIXELS:
        raise ImageError(f"{file}: expected a JPEG that decodes in seconds, found {n_scans} scans; save it anew")
    if min(rows, cols) < MIN_SIDE:
        raise ImageError(
            f"{file}: expected a picture of at least {MIN_SIDE} × {MIN_SIDE} pixels, found {cols} × {rows}"
        )
    return header


def _describe_excess(found: str) -> str:
    return f"expected a picture of at most {MAX_PIXELS // 1_000_000} megapixels, found {found}; shrink it first"


def _identify_format(file: str | os.PathLike[str], data: bytes) -> str:
    from PIL import features

    start = data[:SIGNATURE_SIZE]
    kind = identify_format(start)
    if kind is None:
        raise ImageError(f"{file}: expected {READABLE_FORMATS}, found {describe_content(start)}")
    if kind == "HEIF":
        try:
            import pillow_heif
        except ImportError as error:
            raise ImageError(f"{file}: reading HEIC needs: pip install pillow-heif ({error})") from None
        pillow_heif.register_heif_opener()
    elif kind == "AVIF" and not features.check("avif"):
        raise ImageError(f"{file}: reading AVIF needs a Pillow that was built with it; convert the file to JPEG")
    return kind


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
    # All decoders apply the orientation of a TIFF themselves; whether Pillow's size shows it depends on its version.
    tags = picture.tag_v2  # type: ignore[attr-defined]  # an attribute of TIFF pictures only
    cols, rows = int(tags.get(tiff.WIDTH, cols)), int(tags.get(tiff.HEIGHT, rows))
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
