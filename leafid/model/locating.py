"""Finds the bounding boxes of leaves."""

import math

from leafid.errors import LeafidError
from leafid.features.recipe import LONGEST_SIDE
from leafid.pictures.decoding import read_image, read_image_size
from leafid.pictures.picture import Picture
from leafid.segmentation import segment


def locate_leaf(picture: Picture) -> tuple[int, int, int, int]:
    """Find the bounding box of the leaf in a picture of a known acquisition type.

    It is ``(row0, row1, col0, col1)``, ends exclusive, in pixels of the upright picture; the whole picture where no
    leaf stands out.
    """
    if picture.type is None:
        raise LeafidError(f"{picture.file}: the acquisition type is not known; give it with --assume-type")
    rows, cols = read_image_size(picture.file)
    image = read_image(picture.file, LONGEST_SIDE)
    row0, row1, col0, col1 = segment(image, picture.type).box
    if row0 == row1:
        return 0, rows, 0, cols
    down, across = rows / image.shape[0], cols / image.shape[1]
    # Outwards, so that no part of the leaf is cut off; and never beyond the picture.
    return (
        math.floor(row0 * down),
        min(rows, math.ceil(row1 * down)),
        math.floor(col0 * across),
        min(cols, math.ceil(col1 * across)),
    )
