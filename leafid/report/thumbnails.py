"""Small pictures inside the page, as JPEG in data URLs."""

from __future__ import annotations

import base64
from pathlib import Path

from leafid.images import ImageError, encode_jpeg, read_image

#: Longest side of a thumbnail, in pixels.
SIDE = 168


def make_thumbnail(file: Path) -> str | None:
    """Make a data URL of a small version of a picture; None where the picture can't be read."""
    try:
        image = read_image(file, SIDE)
    except ImageError:
        return None
    return f"data:image/jpeg;base64,{base64.b64encode(encode_jpeg(image)).decode()}"
