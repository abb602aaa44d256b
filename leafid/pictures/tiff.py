"""Reads the first directory of a TIFF, and finds out whether the picture is of a kind that can be decoded."""

import io
from collections.abc import Mapping
from typing import Any, Literal

WIDTH, HEIGHT, TILE_WIDTH = 256, 257, 322
_BITS, _COMPRESSION, _PHOTOMETRIC, _CHANNELS, _PLANES, _SAMPLE_FORMAT = 258, 259, 262, 277, 284, 339
# Offsets and byte counts of strips and tiles.
_STRIP_TAGS = {273, 279, 324, 325}
_DNG_VERSION = 50706
_BIG_TIFF, _HEADER_BYTES, _BIG_HEADER_BYTES = 43, 8, 16
#: None, CCITT (three), LZW, JPEG (two), Deflate (two) and PackBits.
_READ_COMPRESSIONS = {1, 2, 3, 4, 5, 6, 7, 8, 32773, 32946}
_UNSIGNED, _SEPARATE_PLANES = 1, 2


def count_strips(data: bytes) -> int:
    """Read the number of strips or tiles from the first directory of a TIFF, before Pillow makes an object for each."""
    order: Literal["little", "big"] = "little" if data[:2] == b"II" else "big"
    is_big = _BIG_TIFF in data[2:4]  # BigTIFF, with numbers of 8 bytes

    def read_number(offset: int, size: int) -> int:
        return int.from_bytes(data[offset : offset + size], order)

    word, n_bytes = (8, 8) if is_big else (4, 2)
    directory = read_number(word, word)
    start, step = directory + n_bytes, 4 + 2 * word
    entries = range(start, min(start + step * read_number(directory, n_bytes), len(data)), step)
    counts = (read_number(entry + 4, word) for entry in entries if read_number(entry, 2) in _STRIP_TAGS)
    return max(counts, default=0)


def read_tags(data: bytes) -> Mapping[int, Any]:
    """Read the first directory; Pillow raises errors of many classes if it is damaged."""
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    stream = io.BytesIO(data)
    directory = ImageFileDirectory_v2(stream.read(_BIG_HEADER_BYTES if data[2] == _BIG_TIFF else _HEADER_BYTES))
    stream.seek(directory.next)
    directory.load(stream)
    return directory


def describe_unread_kind(tags: Mapping[int, Any]) -> str | None:
    """Describe a picture that can't be decoded, or would be decoded wrongly; None for others."""
    if _DNG_VERSION in tags:
        # Its first picture is mostly a thumbnail, which must not pass for the picture.
        return "a DNG (raw data of a camera); export it as JPEG"
    if TILE_WIDTH in tags and tags.get(_PLANES) == _SEPARATE_PLANES and 16 in _as_tuple(tags.get(_BITS)):
        # No decoder at hand reads these correctly in all variants.
        return "a TIFF of tiles of separate 16-bit planes; convert the file"
    is_read = (
        tags.get(_COMPRESSION, 1) in _READ_COMPRESSIONS
        and {_UNSIGNED}.issuperset(_as_tuple(tags.get(_SAMPLE_FORMAT)))
        and all(bits in {1, 2, 4, 8, 16} for bits in _as_tuple(tags.get(_BITS)))
        and tags.get(_CHANNELS, 1) in range(5)
    )
    return None if is_read else describe_kind(tags)


def describe_kind(tags: Mapping[int, Any]) -> str:
    """Describe how a picture is stored, by the numbers of the standard."""
    names = {_COMPRESSION: "compression", _PHOTOMETRIC: "colours", _CHANNELS: "channels", _BITS: "bits",
             _SAMPLE_FORMAT: "sample format"}  # fmt: skip
    details = ", ".join(f"{name} {tags[tag]}" for tag, name in names.items() if tag in tags)
    return f"a TIFF of a kind that can't be read ({details}); save it as RGB with 8 bits a channel"


def _as_tuple(value: object) -> tuple[object, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)
