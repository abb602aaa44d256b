"""Follows the segments, chunks and boxes of a picture file: whether it is complete, and how many parts it declares."""

import os
import re

from leafid.errors import ImageError

#: Maximum number of consecutive fill bytes before a marker of a JPEG.
_MAX_FILL_BYTES = 1 << 16
_FILL_BYTES = re.compile(rb"\xff+")
_PICTURE_BOXES = {b"ftyp", b"meta", b"moov", b"mdat"}


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
    elif kind == "GIF":
        is_complete = _has_first_gif_frame(data)
    elif kind in {"HEIF", "AVIF"}:
        is_complete = _has_whole_boxes(data)
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


def count_scans(file: str | os.PathLike[str], data: bytes) -> int:
    """Count the scans of a JPEG: each costs time for the whole picture."""
    first = _find_first_scan(file, data)
    # A video may follow the end marker.
    end = data.find(b"\xff\xd9", first)
    return data.count(b"\xff\xda", first, end if end >= 0 else len(data))


def _has_png_end(data: bytes) -> bool:
    """Tell whether the chunks of a PNG follow each other up to its end mark."""
    position = 8
    while position + 12 <= len(data):
        if data[position + 4 : position + 8] == b"IEND":
            return True
        position += 12 + int.from_bytes(data[position : position + 4], "big")
    return False


def _has_first_gif_frame(data: bytes) -> bool:
    """Tell whether the blocks of a GIF follow each other up to the end of its first frame."""
    position = 13 + _measure_gif_palette(data[10:11])
    while position < len(data):
        is_frame = data[position] == 0x2C
        if is_frame:
            position += 11 + _measure_gif_palette(data[position + 9 : position + 10])
        elif data[position] == 0x21:
            position += 2
        else:
            return False
        while data[position : position + 1] > b"\0":
            position += 1 + data[position]
        if position < len(data) and is_frame:
            return True
        position += 1
    return False


def _measure_gif_palette(flags: bytes) -> int:
    """Return the number of bytes of a colour table, which a byte of flags before it declares."""
    return 3 << ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0


def _has_whole_boxes(data: bytes) -> bool:
    """Tell whether the boxes of metadata and of coded pictures in a HEIF or AVIF are whole (ISO/IEC 14496-12)."""
    position = 0
    names = set()
    while position + 8 <= len(data):
        size, name = int.from_bytes(data[position : position + 4], "big"), data[position + 4 : position + 8]
        if size == 1:
            size = int.from_bytes(data[position + 8 : position + 16], "big")
        elif size == 0:  # up to the end of the file
            size = len(data) - position
        # Some cameras append data of their own that has no boxes.
        if size < 8 or (position + size > len(data) and name not in _PICTURE_BOXES):
            break
        if position + size > len(data):
            return False
        names.add(name)
        position += size
    return b"meta" in names or b"moov" in names
