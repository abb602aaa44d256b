"""Measures in what condition a picture shows its leaf: how many there are, how sharp, light, large and complete."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.result import Image, Mask, Segmentation, list_halves

# Sides that the leaf is reduced to, in pixels, to measure its sharpness and its width.
_SHARPNESS_SIDE, _WIDTH_SIDE = 256, 128
_BLUR = 9  # side, in pixels, of a blur that a picture which is blurred already hardly notices
_LIGHT_QUANTILE = 0.95  # of the picture's pixels; a white sheet counts where there is one
_LIGHT_STEP = 8  # distance between the pixels that it is taken from
_WIDTH_QUANTILE = 0.9  # of the distances of the leaf's pixels from its outline


class Condition(NamedTuple):
    """In what condition a picture shows its leaf; the defaults are those of a picture that is not segmented."""

    #: Confidence of the segmentation, from 0 to 1.
    confidence: float
    #: Longer side of the leaf's box, in pixels of the picture as it was read.
    side: float = 800.0
    n_leaves: float = 1.0
    #: Part of the contrast between neighbouring pixels that a blur takes away: from 0 (blurred already) to 1.
    sharpness: float = 1.0
    #: Lightness of the lightest parts of the picture, from 0 to 1.
    lightness: float = 1.0
    #: Length along which the leaf touches one side of the picture, relative to its own longer side, from 0 to 1.
    cut: float = 0.0
    #: Width of the leaf's widest parts, relative to its longer side: needles are narrow, and so are scales.
    width: float = 1.0


def measure_condition(image: Image, segmentation: Segmentation) -> Condition:
    """Measure in what condition a picture shows its leaf; where all of it is leaf, cut and width are the defaults."""
    row0, row1, col0, col1 = segmentation.box
    sample = cv2.cvtColor(image[::_LIGHT_STEP, ::_LIGHT_STEP], cv2.COLOR_BGR2GRAY).ravel()
    rank = int(_LIGHT_QUANTILE * (sample.size - 1))
    whole = Condition(
        segmentation.confidence,
        side=max(row1 - row0, col1 - col0),
        n_leaves=segmentation.n_leaves,
        sharpness=_measure_sharpness(image[row0:row1, col0:col1]),
        lightness=float(np.partition(sample, rank)[rank]) / 255,
    )
    if not whole.side or segmentation.mask.all():
        return whole
    mask = segmentation.mask
    contact = max(map(np.count_nonzero, (mask[0], mask[-1], mask[:, 0], mask[:, -1])))
    return whole._replace(cut=float(contact / whole.side), width=_measure_width(mask[row0:row1, col0:col1]))


def _measure_sharpness(image: Image) -> float:
    """Measure by how much a blur lowers the contrast between neighbours, with strong edges counting most.

    References
    ----------
    .. [1] F. Crété-Roffet, T. Dolmiere, P. Ladret, M. Nicolas, "The blur effect: perception and estimation with a new
       no-reference perceptual blur metric", SPIE 6492, 2007, doi:10.1117/12.702790
    """
    if not image.size:
        return 1.0
    # Green is nearly lightness, and takes a third of the time.
    green = list_halves(cv2.extractChannel(image, 1), 2 * _SHARPNESS_SIDE - 1)[-1]
    factor = _SHARPNESS_SIDE / max(green.shape)
    if factor < 1:
        size = max(1, round(factor * green.shape[1])), max(1, round(factor * green.shape[0]))
        green = cv2.resize(green, size, interpolation=cv2.INTER_LINEAR)
    if min(green.shape) < 2:
        return 1.0
    before, after = (_measure_contrast(picture) for picture in (green, cv2.blur(green, (_BLUR, _BLUR))))
    return 1 - min(after / before, 1.0) if before else 1.0


def _measure_contrast(plane: NDArray[np.uint8]) -> float:
    """Sum the squared differences of neighbours."""
    return float(
        cv2.norm(plane[1:], plane[:-1], cv2.NORM_L2SQR) + cv2.norm(plane[:, 1:], plane[:, :-1], cv2.NORM_L2SQR)
    )


def _measure_width(mask: Mask) -> float:
    step = max(1, max(mask.shape) // _WIDTH_SIDE)
    # Beyond the box there is no leaf.
    small = cv2.copyMakeBorder(mask[::step, ::step].view(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    distance = cv2.distanceTransform(small, cv2.DIST_L2, cv2.DIST_MASK_3)[small.view(bool)]
    rank = int(_WIDTH_QUANTILE * (distance.size - 1))
    return min((2 * float(np.partition(distance, rank)[rank]) - 1) / (max(small.shape) - 2), 1.0)
