"""Pictures of all kinds."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

from fuzz.target import Target, write_input
from leafid.pictures.decoding import read_image


def _encoded(mode: str, kind: str, **options: object) -> bytes:
    rows, cols = np.mgrid[:24, :20]
    colours = np.stack([rows * 10, cols * 12, (rows + cols) * 5], axis=2).astype(
        np.uint8
    )
    picture = Image.fromarray(colours).convert(mode)
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


def _encode_tiles(dtype: str, channels: int) -> bytes:
    values = np.arange(24 * 20 * channels).reshape(24, 20, channels).astype(dtype)
    stream = io.BytesIO()
    orientation = (0x0112, "H", 1, 6, True)
    tifffile.imwrite(
        stream, values.squeeze(), tile=(16, 16), extratags=[orientation], metadata=None
    )
    return stream.getvalue()


def _encode_heif(exif: Image.Exif) -> list[bytes]:
    if importlib.util.find_spec("pillow_heif") is None:
        return []
    import pillow_heif

    pillow_heif.register_heif_opener()
    return [_encoded("RGBA", "HEIF", exif=exif.tobytes()), _encoded("L", "HEIF")]


def _seeds() -> list[bytes]:
    exif = Image.Exif()
    exif[0x0112] = 6
    jpeg, png = {"quality": 60}, {"compress_level": 1}
    return [
        _encoded("RGB", "JPEG", exif=exif.tobytes(), **jpeg),
        _encoded("L", "JPEG", progressive=True, **jpeg),
        _encoded("CMYK", "JPEG", **jpeg),
        _encoded("RGBA", "PNG", **png),
        _encoded("P", "PNG", **png),
        _encoded("RGB", "TIFF", compression="tiff_lzw"),
        _encoded("L", "TIFF"),
        _encode_tiles("uint8", 3),
        _encode_tiles("uint16", 1),
        _encoded("RGB", "BMP"),
        _encoded("RGB", "WEBP", quality=50),
        _encoded("P", "GIF"),
        _encoded("RGB", "AVIF", exif=exif.tobytes()),
        *_encode_heif(exif),
    ]


def target() -> Target:
    """Read, and read reduced."""

    def call(data: bytes, folder: Path) -> None:
        file = write_input(folder, "picture.jpg", data)
        image = read_image(file)
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise AssertionError(
                f"expected a colour image, found {image.shape} {image.dtype}"
            )
        read_image(file, max_side=16)

    words = (
        b"\xff\xd8 \xff\xd9 \xff\xda \xff\xc0 \xff\xc2 \xff\xe1 IHDR IDAT "
        b"acTL RIFF WEBPVP8X ANIM II*\0 MM\0* BM Exif\0\0 GIF89a ftypheic ftypavif "
        b"mif1 meta ispe irot iloc grid"
    )
    return Target(
        "picture",
        "pictures (JPEG, PNG, TIFF, BMP, WebP, GIF, HEIC, AVIF)",
        _seeds,
        call,
        tuple(words.split()),
    )
