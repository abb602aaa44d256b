"""Inspects the bytes of a picture file before it is decoded: format, size, hash.

Follows the segments of a JPEG and the tags of a TIFF. A truncated JPEG is refused,
which decoders would fill with grey, and so are files that take minutes to read, as they
have thousands of parts before the pixels. Decoders report other truncated files.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image, UnidentifiedImageError
from PIL.ExifTags import Base as ExifTag

from leafid.errors import ImageError, LeafidError
from leafid.files import StrPath, open_input
from leafid.textfiles import read_word_lists
from leafid.translation import translate

_WORDS = read_word_lists(Path(__file__).with_name("words.txt"))
#: File name endings that count as pictures when a folder is listed; the content decides
#: which format it is.
PICTURE_ENDINGS = frozenset(_WORDS["endings"])
READABLE_FORMATS = "a JPEG, PNG, TIFF, BMP, WebP, GIF, HEIC or AVIF picture"
MAX_PIXELS = 100_000_000
MAX_BYTES = 1 << 30
MIN_SIDE = 16

#: The limit in force: a program that reads pictures of strangers sets a lower one.
max_pixels = ContextVar("max_pixels", default=MAX_PIXELS)
#: Maximum number of pixels times scans of a JPEG, which take half a minute.
_MAX_SCANNED_PIXELS = 1 << 30
# How files begin, by Pillow's names of the formats. Brands of ISO/IEC 23008-12 (HEIF),
# and of the AV1 Image File Format, which shares mif1 and msf1 with it.
_SIGNATURES = {
    "JPEG": rb"\xff\xd8\xff",
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "TIFF": rb"II[*+]\0|MM\0[*+]",
    "BMP": rb"BM",
    "GIF": rb"GIF8[79]a",
    "WEBP": rb"RIFF.{4}WEBP",
    "AVIF": rb".{4}ftyp(?:(?:mif1|msf1)(?:.{4}){1,60}?)?avi[fs]",
    "HEIF": rb".{4}ftyp(?:he[iv][cmsx]|mif1|msf1)",
}
# ZIP, RAR, 7-Zip, gzip, bzip2, xz.
_ARCHIVES = (b"PK", b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
#: Pillow's names of the pixel formats that can be converted to RGB without loss of
#: range.
_MODES = _WORDS["modes"]
#: Maximum number of tags of a TIFF.
MAX_TAGS = 1 << 16
#: Maximum number of segments of a JPEG.
MAX_SEGMENTS = 1 << 10
#: Maximum number of bytes before the pixels of a JPEG.
_MAX_JPEG_BYTES = 1 << 24
#: Maximum number of scans of a progressive JPEG: each costs time for the whole picture.
#: Cameras write about 10.
MAX_SCANS = 100

_MARKER = re.compile(rb"\xff[^\x00\xff]")
_SCAN = 0xDA
_END = 0xD9
# Markers without a length: for tests, restarts, start and end.
_LONE_MARKERS = {0x01, *range(0xD0, 0xDA)}


@dataclass(frozen=True, slots=True)
class Header:
    """What a file declares about itself, before anything is decoded."""

    #: Pillow's name of the file format.
    kind: str
    #: Before the orientation is applied; rows and columns of a TIFF may be exchanged.
    rows: int
    cols: int
    #: EXIF orientation that remains to be applied, 1 to 8.
    orientation: int


def read_picture_bytes(file: StrPath) -> bytes:
    """Read a file.

    Refuse first what is not a plain file, empty, or larger than 1 GiB.
    """
    try:
        with open_input(file) as stream:
            n_bytes = os.fstat(stream.fileno()).st_size
            if 0 < n_bytes <= MAX_BYTES:
                return stream.read()
    except LeafidError as error:
        raise ImageError(str(error)) from error
    problem = translate(
        "expected a picture of 1 byte to {most} MiB, found {number} bytes",
        most=MAX_BYTES >> 20,
        number=n_bytes,
    )
    raise ImageError(f"{file}: {problem}")


def hash_picture_file(file: StrPath) -> str:
    """Return the SHA-256 of a file in hexadecimal digits.

    What can't be a picture is refused.
    """
    return hashlib.sha256(read_picture_bytes(file)).hexdigest()


def read_header(data: bytes) -> Header:
    """Read the header of a picture.

    An `ImageError` refuses what is not a whole picture, too large or too small.
    """
    most = max_pixels.get()
    kind = identify_format(data)
    if kind is None:
        raise ImageError(_describe_other_file(data))
    too_many = translate(
        "expected a picture of at most {most} megapixels, found more; shrink it first",
        most=most // 1_000_000,
    )
    n_scans = 1
    if kind == "JPEG":
        n_scans = _count_scans(data)
    elif kind == "TIFF":
        _check_tiff_directory(data)
    try:
        with open_picture(kind, data) as picture:
            tags = getattr(picture, "tag_v2", {})
            if picture.mode not in _MODES or not _is_read_tiff(tags):
                raise UnidentifiedImageError
            cols, rows = picture.size
            orientation = _read_orientation(picture)
    except Image.DecompressionBombError:
        raise ImageError(too_many) from None
    # Pillow raises struct.error, SyntaxError, KeyError … for damaged headers.
    except Exception as error:
        reason = "" if isinstance(error, UnidentifiedImageError) else f" ({error})"
        raise ImageError(
            translate(
                "expected {formats}, found a damaged {kind} header, or one of a kind "
                "that can't be read{reason}",
                formats=translate(READABLE_FORMATS),
                kind=kind,
                reason=reason,
            )
        ) from error
    n_pixels = rows * cols
    if n_pixels > most:
        raise ImageError(too_many)
    _limit(n_scans, min(MAX_SCANS, _MAX_SCANNED_PIXELS // max(n_pixels, 1)), "scans")
    if min(rows, cols) < MIN_SIDE:
        raise ImageError(
            translate(
                "expected a picture of at least {side} × {side} pixels, found {cols} "
                "× {rows}",
                side=MIN_SIDE,
                cols=cols,
                rows=rows,
            )
        )
    return Header(kind, rows, cols, orientation)


def _describe_other_file(data: bytes) -> str:
    formats = translate(READABLE_FORMATS)
    if data.startswith(_ARCHIVES):
        return translate(
            "expected {formats}, found an archive; unpack it, and name the folder",
            formats=formats,
        )
    return translate("expected {formats}, found something else", formats=formats)


def identify_format(data: bytes) -> str | None:
    """Return Pillow's name of a format that leafid reads, by the first bytes."""
    for kind, signature in _SIGNATURES.items():
        if re.match(signature, data, re.DOTALL):
            return kind
    return None


def _is_read_tiff(tags: Mapping[int, Any]) -> bool:
    """Tell whether Pillow decodes a TIFF correctly, by its tags.

    Other formats have none.
    """
    bits = tags.get(ExifTag.BitsPerSample, (1,))
    return (
        tags.get(ExifTag.SamplesPerPixel, 1) <= 4
        and not (16 in bits and tags.get(ExifTag.PlanarConfiguration) == 2)
        # The first picture of a DNG, raw data of a camera, is mostly a thumbnail.
        and ExifTag.DNGVersion not in tags
    )


@contextmanager
def open_picture(kind: str, data: bytes) -> Iterator[Image.Image]:
    """Let Pillow open a picture of a format, without Pillow's warnings.

    They are about sizes and damaged EXIF blocks.
    """
    if kind == "HEIF":
        import pillow_heif  # takes longer to import than a JPEG to be decoded

        pillow_heif.register_heif_opener()
    with (
        warnings.catch_warnings(action="ignore"),
        Image.open(io.BytesIO(data), formats=[kind]) as picture,
    ):
        yield picture


def _read_orientation(picture: Image.Image) -> int:
    """Return the EXIF orientation that remains to be applied after decoding, 1 to 8."""
    # The decoders of TIFF and HEIF apply it. For a PNG without an EXIF block, getexif
    # would decode the picture.
    if picture.format in {"TIFF", "HEIF"} or "exif" not in picture.info:
        return 1
    # A damaged EXIF block has no orientation; the picture itself may be intact.
    with suppress(Exception):
        orientation = picture.getexif().get(ExifTag.Orientation, 1)
        if orientation in range(1, 9):
            return orientation
    return 1


def _count_scans(data: bytes) -> int:
    """Count the scans of a JPEG, and refuse one without an end."""
    # A thumbnail in the EXIF block has an end marker, too; in the scans' data it can't
    # occur.
    scans = np.frombuffer(data, np.uint8)[_find_first_scan(data) :]
    codes = scans[1:][scans[:-1] == 0xFF].tobytes()
    end = codes.find(_END)
    if end < 0:
        raise ImageError(
            translate(
                "expected a whole picture, found a truncated {kind} of {number} bytes",
                kind="JPEG",
                number=len(data),
            )
        )
    return codes.count(_SCAN, 0, end)


def _limit(number: int, most: int, noun: str) -> None:
    if number > most:
        raise ImageError(
            translate(
                "expected a picture of at most {most} {noun}, found {number}; save it "
                "anew",
                most=most,
                noun=translate(noun),
                number=number,
            )
        )


def _find_first_scan(data: bytes) -> int:
    """Return the offset of a JPEG's first scan header, or the length of the data."""
    position = 2
    n_segments = 0
    while marker := _MARKER.search(data, position):
        _limit(marker.start(), _MAX_JPEG_BYTES, "bytes before the pixels")
        code = data[marker.end() - 1]
        if code == _SCAN:
            return marker.start()
        if code == _END:
            break
        n_segments += 1
        _limit(n_segments, MAX_SEGMENTS, "segments before the pixels")
        position = marker.end()
        if code not in _LONE_MARKERS:
            position += int.from_bytes(data[position : position + 2], "big")
    return len(data)


def _check_tiff_directory(data: bytes) -> None:
    """Limit the tags in the first directory of a TIFF, and their values.

    The values are limited by the size of the file.
    """
    order: Literal["little", "big"] = "little" if data[:2] == b"II" else "big"
    # BigTIFF has numbers of 8 bytes.
    word, size = (8, 8) if 43 in data[2:4] else (4, 2)

    directory = int.from_bytes(data[word : 2 * word], order)
    start = directory + size
    n_tags = int.from_bytes(data[directory:start], order)
    _limit(n_tags, MAX_TAGS, "tags")
    n_values = 0
    length = 4 + 2 * word
    for position in range(start + 4, start + n_tags * length, length):
        count = int.from_bytes(data[position : position + word], order)
        # Tags that share their bytes would be copied one by one; a tag beyond the end
        # is not read.
        if count <= len(data):
            n_values += count
    _limit(n_values, len(data), "values of tags")
