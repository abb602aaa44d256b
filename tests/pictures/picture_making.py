"""Writes pictures for tests, and compares what is read with what was written."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

KINDS = ["jpg", "png", "tif", "bmp", "webp", "gif", "avif", "heic"]
LOSSLESS = {
    "webp": {"lossless": True},
    "avif": {"quality": 100, "subsampling": "4:4:4"},
    "heic": {"quality": -1, "chroma": 444},
}


def save(path: Path, rgb: np.ndarray, **options: object) -> Path:
    if path.suffix == ".heic":
        pytest.importorskip("pillow_heif").register_heif_opener()
    picture = Image.fromarray(rgb)
    if path.suffix == ".gif":
        picture = picture.quantize(256)
    picture.save(path, **options)
    return path


def difference(image: np.ndarray, rgb: np.ndarray) -> int:
    return int(np.abs(image.astype(int) - rgb[:, :, ::-1]).max())


def apply_orientation(picture: np.ndarray, orientation: int) -> np.ndarray:
    """Undo the eight ways to store a picture, as TIFF 6.0 defines tag 274."""
    turned = picture.swapaxes(0, 1) if orientation >= 5 else picture
    rows = slice(None, None, -1 if orientation in {3, 4, 7, 8} else 1)
    cols = slice(None, None, -1 if orientation in {2, 3, 6, 7} else 1)
    return turned[rows, cols]


def make_deep(picture: np.ndarray) -> np.ndarray:
    return (picture.astype(np.uint16) << 8) + np.random.default_rng(0).integers(
        0, 256, picture.shape, dtype=np.uint16
    )


def png_chunk(name: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
    )
