"""Ways to break a picture, and ways to make an unusual picture that is valid."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

#: Writes a broken or odd picture to a file, from the pixels (BGR) of a good one.
Way = Callable[[Path, np.ndarray], None]


def _encode(image: np.ndarray, ending: str = ".jpg") -> bytes:
    return cv2.imencode(ending, image)[1].tobytes()


def _encode_with_pillow(image: np.ndarray, kind: str, mode: str = "RGB", **options: object) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(image[:, :, ::-1]).convert(mode).save(stream, kind, **options)
    return stream.getvalue()


def _make_writer(make: Callable[[np.ndarray], bytes]) -> Way:
    def write(file: Path, image: np.ndarray) -> None:
        file.write_bytes(make(image))

    return write


def _make_huge_png(_: np.ndarray) -> bytes:
    head = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    return b"\x89PNG\r\n\x1a\n" + chunk + _encode(np.zeros((20, 20, 3), np.uint8), ".png")[33:]


def _make_huge_jpeg(image: np.ndarray) -> bytes:
    data = bytearray(_encode(image))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = b"\xff\xff\xff\xff"
    return bytes(data)


def _make_folder(file: Path, _: np.ndarray) -> None:
    file.mkdir()


def _make_broken_link(file: Path, _: np.ndarray) -> None:
    file.symlink_to(file.with_name("nowhere"))


def _make_link_loop(file: Path, _: np.ndarray) -> None:
    file.symlink_to(file.name)


def _make_pipe(file: Path, _: np.ndarray) -> None:
    os.mkfifo(file)


def _make_unreadable(file: Path, image: np.ndarray) -> None:
    file.write_bytes(_encode(image))
    file.chmod(0)


def _make_nothing(_: Path, __: np.ndarray) -> None:
    pass


BROKEN: dict[str, Way] = {
    "truncated JPEG": _make_writer(lambda image: _encode(image)[: len(_encode(image)) // 2]),
    "truncated PNG": _make_writer(lambda image: _encode(image, ".png")[:-200]),
    "no bytes": _make_writer(lambda _: b""),
    "text": _make_writer(lambda _: b"this is no picture\n" * 50),
    "huge by its header, PNG": _make_writer(_make_huge_png),
    "huge by its header, JPEG": _make_writer(_make_huge_jpeg),
    "one pixel": _make_writer(lambda image: _encode(image[:1, :1])),
    "32-bit floats": _make_writer(lambda image: _encode(image.astype(np.float32), ".tiff")),
    "a folder": _make_folder,
    "a broken link": _make_broken_link,
    "a link to itself": _make_link_loop,
    "a named pipe": _make_pipe,
    "missing": _make_nothing,
    # The superuser may read everything.
    **({"unreadable": _make_unreadable} if hasattr(os, "geteuid") and os.geteuid() else {}),
}


#: Invalid XML beside a good picture: the picture is skipped with a message.
BROKEN_XML: dict[str, bytes] = {
    "empty XML": b"",
    "truncated XML": b"<Image><FileName>",
    "XML with entities": b'<!DOCTYPE a [<!ENTITY b "c">]><Image><FileName>&b;</FileName></Image>',
    "XML of another picture": b"<Image><FileName>../passwd</FileName></Image>",
    "XML of an unknown type": b"<Image><FileName>NAME</FileName><Type>painting</Type></Image>",
    "XML that is a picture": b"\xff\xd8\xff\xe0" + bytes(50),
}

ODD: dict[str, Way] = {
    "a GIF, animated": _make_writer(
        lambda image: _encode_with_pillow(image, "GIF", "P", save_all=True, append_images=[Image.new("P", (9, 9))])
    ),
    "PNG named jpg": _make_writer(lambda image: _encode(image, ".png")),
    "16 bits a channel": _make_writer(lambda image: _encode(image.astype(np.uint16) * 257, ".png")),
    "grey": _make_writer(lambda image: _encode(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))),
    "CMYK": _make_writer(lambda image: _encode_with_pillow(image, "JPEG", "CMYK")),
    "transparent": _make_writer(lambda image: _encode_with_pillow(image, "PNG", "RGBA")),
    "animated WebP": _make_writer(
        lambda image: _encode_with_pillow(image, "WEBP", save_all=True, append_images=[Image.fromarray(image)])
    ),
    "turned by EXIF": _make_writer(lambda image: _encode_with_pillow(image, "JPEG", exif=_make_exif(6))),
    "bytes behind the end": _make_writer(lambda image: _encode(image) + b"and more" * 100),
    "a link to a good one": lambda file, image: _make_link(file, image),
}


def _make_exif(value: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = value
    return exif.tobytes()


def _make_link(file: Path, image: np.ndarray) -> None:
    target = file.parent.parent / "elsewhere" / f"{file.stem}.jpg"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(_encode(image))
    file.symlink_to(target)
