"""Measures by which leaves are distinguished from other things.

On a sheet, families of shape and texture are measured beside the condition of the mask.
In a photo, whose mask is often wrong, colours say more than shape: a leaf has few
hues, and others than what is behind it.
"""

import cv2
import numpy as np

from leafid.descriptors.arrays import Singles
from leafid.segmentation.condition import Condition
from leafid.segmentation.pixels import Image, Mask, shrink, take_quantiles
from leafid.segmentation.result import Segmentation

#: Families that are measured on sheets, beside the families of the experts, and in
#: photos; they take little time.
SHEET_FAMILIES = frozenset({"hu", "arch", "triangle", "lobes"})
PHOTO_FAMILIES = frozenset({"hu"})
#: The parts of the condition that are measures of leaves: the size of the leaf in
#: pixels, and the light, are the camera's.
CONDITIONS = ("confidence", "n_leaves", "cut", "may_be_several")
_N_MASK_SHARES = 2
#: Number of values of `describe_mask`.
N_MASK_VALUES = len(CONDITIONS) + _N_MASK_SHARES
#: Number of values of `describe_colours`.
N_COLOUR_VALUES = 37
# Longer side of the picture that colours are measured on, in pixels.
_COLOUR_SIDE = 64
# A pixel with a lower chroma is grey, in 8-bit Lab units.
_GREY = 8.0
_TENTHS = (0.1, 0.5, 0.9)
_TINY = 1e-6


def describe_mask(leaf: Segmentation, condition: Condition) -> Singles:
    """Give the condition of a mask, and its shares: float32 (6,).

    The shares are of the mask in the picture, and of the blade in the mask.
    """
    values = [getattr(condition, name) for name in CONDITIONS]
    n_pixels = np.count_nonzero(leaf.mask)
    shares = [n_pixels / leaf.mask.size, np.count_nonzero(leaf.blade) / n_pixels]
    return np.array([*values, *shares], np.float32)


def describe_colours(image: Image, mask: Mask) -> Singles:
    """Describe the colours inside and outside a mask, and of the whole picture.

    None of the values changes when all hues are turned by an angle, so that a yellow or
    red leaf is described like a green one.

    Parameters
    ----------
    image : uint8 (H, W, 3)
    mask : bool (H, W)

    Returns
    -------
    float32 (37,)
        Of each of the three regions: percentiles (10, 50, 90) of the lightness and of
        the chroma, in 8-bit Lab units; how much the hues agree, and agree or are
        opposite, each weighted by chroma, from 0 to 1; percentiles (50, 90) of the
        distance from the mean hue and chroma; and the share of grey pixels. Then the
        differences between inside and outside in lightness, in colour and in chroma,
        and the cosine of the angle between both hues.
    """
    small = shrink(image, _COLOUR_SIDE)
    size = small.shape[1::-1]
    pixels = cv2.cvtColor(small, cv2.COLOR_BGR2LAB).reshape(-1, 3)
    lab = pixels.T.astype(np.float32, order="C")
    lab[1:] -= 128
    inside = cv2.resize(mask.view(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    is_inside = inside.ravel().view(bool)
    regions = [lab.compress(is_inside, axis=1), lab.compress(~is_inside, axis=1), lab]
    # A region without a pixel is described like the picture.
    inner, outer, _ = regions = [part if part.size else lab for part in regions]
    mean_inside = inner.mean(axis=1)
    mean_outside = outer.mean(axis=1)
    chroma_inside = np.hypot(*mean_inside[1:])
    chroma_outside = np.hypot(*mean_outside[1:])
    difference = mean_inside - mean_outside
    product = mean_inside[1:] @ mean_outside[1:]
    contrast = [
        difference[0],
        np.hypot(*difference[1:]),
        chroma_inside - chroma_outside,
        product / (chroma_inside * chroma_outside + _TINY),
    ]
    return np.concatenate([*map(_describe_region, regions), contrast]).astype(
        np.float32
    )


def _describe_region(lab: np.ndarray) -> np.ndarray:
    """Describe colours, float32 (3, n), with a and b around 0: 11 values."""
    lightness, a, b = lab
    # Several times faster than `numpy.hypot`.
    chroma = np.sqrt(a * a + b * b)
    total = chroma.sum() + _TINY
    hues = a + 1j * b
    doubled = hues**2 / (chroma + _TINY)
    distance = np.sqrt((a - a.mean()) ** 2 + (b - b.mean()) ** 2)
    values = np.stack([lightness, chroma, distance])
    percentiles = take_quantiles(values, _TENTHS)
    return np.array(
        [
            *percentiles[0],
            *percentiles[1],
            abs(hues.sum()) / total,
            abs(doubled.sum()) / total,
            *percentiles[2, 1:],
            (chroma < _GREY).mean(),
        ]
    )
