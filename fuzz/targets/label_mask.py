"""Label masks."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from fuzz.target import Target, write_input
from leafid.tasks.interpretation.label_masks import read_label_mask


def _png(mode: str) -> bytes:
    labels = (np.arange(400).reshape(20, 20) // 100).astype(np.uint8)
    picture = Image.fromarray(labels)
    stream = io.BytesIO()
    if mode == "I;16":
        picture = Image.fromarray(labels.astype(np.uint16))
    elif mode != "L":
        picture = picture.convert(mode)
    picture.save(stream, "PNG")
    return stream.getvalue()


def target() -> Target:
    """Read a mask."""

    def call(data: bytes, folder: Path) -> None:
        file = write_input(folder, "mask.png", data)
        read_label_mask(file)

    words = b"IHDR IDAT PLTE tRNS IEND iTXt zTXt iCCP eXIf acTL fcTL"
    return Target(
        "label-mask",
        "label masks (PNG)",
        lambda: list(map(_png, ("L", "1", "P", "I;16", "RGB"))),
        call,
        tuple(words.split()),
    )
