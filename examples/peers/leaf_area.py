"""The leaf of a picture, cut out and resized to a common area."""

import cv2
import numpy as np
from PIL import Image

import leafid

#: The area of a leaf that was cut out, in pixels.
AREA = 50_000


def cut_out_leaf(picture, margin):
    """Cut the blade out with a margin of at least some pixels, resized to `AREA`.

    Returns the grey values, float32 (H, W), and the mask, bool (H, W), or None where
    the picture shows no leaf.
    """
    image = leafid.read_image(picture.file)
    blade = leafid.segment(image, picture.type).blade
    if not blade.any():
        return None
    scale = np.sqrt(AREA / np.count_nonzero(blade))
    border = int(np.ceil(margin / scale)) + 1
    left, top, width, height = cv2.boundingRect(blade.astype(np.uint8))
    # The leaf may touch the edge of the picture: both get a border first.
    window = np.s_[top : top + height + 2 * border, left : left + width + 2 * border]
    grey = np.pad(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), border, mode="edge")[window]
    mask = np.pad(blade, border)[window]
    grey, mask = (_resize(plane, scale) for plane in (grey, mask))
    return grey, mask > 0.5


def _resize(plane, scale):
    """Resize a plane, smoothed if it gets smaller; float32."""
    height, width = np.round(scale * np.array(plane.shape)).astype(int)
    whole = Image.fromarray(plane.astype(np.float32))
    return np.asarray(whole.resize((width, height), Image.Resampling.BILINEAR))
