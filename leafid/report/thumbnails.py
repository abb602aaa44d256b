"""Small pictures inside the page, as JPEG in data URLs."""

from __future__ import annotations

import base64
from pathlib import Path

from leafid.images import ImageError, read_image

SIDE = 168


def thumbnail(file: Path, side: int = SIDE) -> str | None:
    """Shrink a picture for the page.

    Parameters
    ----------
    file : Path
    side : int, default 168
        Its longest side, in pixels.

    Returns
    -------
    str or None
        A data URL; None where the picture can't be read: a report on scores can do without it.
    """
    import cv2

    try:
        image = read_image(file, side)
    except ImageError:
        return None
    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.tobytes()).decode()}"
