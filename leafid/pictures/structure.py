"""Follows the segments, chunks and tags of a picture file before a decoder does.

Refuses truncated JPEG and PNG, which decoders would fill with grey, and files with so many parts before the pixels that
reading them takes minutes. Decoders report other truncated files.
"""

import re
from typing import Literal

from leafid.errors import ImageError

#: Maximum number of chunks, of which long files have thousands, or of tags, and of segments of a JPEG.
MAX_PARTS, MAX_SEGMENTS = 1 << 16, 1 << 10
#: Maximum number of bytes before the pixels of a JPEG, and of those that belong to no segment of it.
_MAX_JPEG_BYTES, _MAX_FILL_BYTES = 1 << 24, 1 << 16
#: Maximum number of strips or tiles of a TIFF, which take time and memory one by one.
MAX_STRIPS = 1 << 17
#: Maximum number of scans of a progressive JPEG: each costs time for the whole picture. Cameras write about 10.
MAX_SCANS = 100

_MARKER = re.compile(rb"\xff[^\x00\xff]")
_SCAN, _END = 0xDA, 0xD9
# Markers without a length: for tests, restarts, start and end.
_LONE_MARKERS = {0x01, *range(0xD0, 0xDA)}
# Offsets and byte counts of strips and tiles, and sizes in bytes of the types of a TIFF's values.
_STRIP_TAGS = {273, 279, 324, 325}
_TIFF_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}


def check_structure(kind: str, data: bytes) -> int:
    """Refuse a truncated JPEG or PNG, and a file with too many parts; return the number of scans of a JPEG, else 1."""
    n_scans, is_whole = 1, True
    if kind == "JPEG":
        # A thumbnail in the EXIF block has an end marker of its own; in the scans' data it can't occur.
        first = _find_first_scan(data)
        end = data.find(b"\xff\xd9", first)
        is_whole = end >= 0
        n_scans = data.count(b"\xff\xda", first, end)
        _limit(n_scans, MAX_SCANS, "scans")
    elif kind == "PNG":
        is_whole = _has_png_end(data)
    elif kind == "TIFF":
        _check_tiff_directory(data)
    if not is_whole:
        raise ImageError(f"expected a whole picture, found a truncated {kind} of {len(data)} bytes")
    return n_scans


def _limit(number: int, most: int, noun: str) -> None:
    if number > most:
        raise ImageError(f"expected a picture of at most {most} {noun}, found {number}; save it anew")


def _find_first_scan(data: bytes) -> int:
    """Return the offset of the first scan's header in a JPEG, or the end of the data if there is none."""
    position, n_segments, n_fill_bytes = 2, 0, 0
    while marker := _MARKER.search(data, position):
        n_fill_bytes += marker.start() - position
        _limit(n_fill_bytes, _MAX_FILL_BYTES, "fill bytes between segments")
        _limit(marker.start(), _MAX_JPEG_BYTES, "bytes before the pixels")
        code = data[marker.end() - 1]
        if code == _SCAN:
            return marker.start()
        if code == _END:
            break
        n_segments += 1
        _limit(n_segments, MAX_SEGMENTS, "segments before the pixels")
        length = 0 if code in _LONE_MARKERS else int.from_bytes(data[marker.end() : marker.end() + 2], "big")
        position = marker.end() + length
    return len(data)


def _has_png_end(data: bytes) -> bool:
    """Tell whether the chunks of a PNG follow each other up to its end mark."""
    position, n_chunks = 8, 0
    while position + 12 <= len(data):
        _limit(n_chunks, MAX_PARTS, "chunks")
        if data[position + 4 : position + 8] == b"IEND":
            return True
        position += 12 + int.from_bytes(data[position : position + 4], "big")
        n_chunks += 1
    return False


def _check_tiff_directory(data: bytes) -> None:
    """Limit the strips or tiles of the first directory of a TIFF, and the bytes of its tags to those of the file."""
    order: Literal["little", "big"] = "little" if data[:2] == b"II" else "big"
    # BigTIFF has numbers of 8 bytes.
    word, n_bytes = (8, 8) if 43 in data[2:4] else (4, 2)

    def read_number(offset: int, size: int) -> int:
        return int.from_bytes(data[offset : offset + size], order)

    directory = read_number(word, word)
    start, step = directory + n_bytes, 4 + 2 * word
    n_entries = min(read_number(directory, n_bytes), (len(data) - start) // step + 1)
    _limit(n_entries, MAX_PARTS, "tags")
    total = 0
    for entry in range(start, start + step * n_entries, step):
        count = read_number(entry + 4, word)
        if read_number(entry, 2) in _STRIP_TAGS:
            _limit(count, MAX_STRIPS, "strips or tiles")
        # Tags that share their bytes would be copied one by one; those beyond the end are not read.
        size = count * _TIFF_SIZES.get(read_number(entry + 2, 2), 0)
        total += size if word < size <= len(data) else 0
    _limit(total, len(data), "bytes of tags")
