"""Measures how sharp, light, large and complete a picture shows its leaf."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.pixels import take_quantiles
from leafid.segmentation.result import Image, Segmentation, shrink

_SHARPNESS_SIDE = 256  # pixels that the leaf's longer side is reduced to
# Side, in pixels, of a blur that a picture which is blurred already hardly notices.
_BLUR = 9
_LIGHT_QUANTILE = (
    0.95  # of the picture's pixels; a white sheet counts where there is one
)
_LIGHT_STEP = 8  # distance between the pixels that it is taken from


class Condition(NamedTuple):
    """In what condition a picture shows its leaf.

    The defaults stand for a good picture.
    """

    #: Confidence of the segmentation, from 0 to 1.
    confidence: float
    #: Longer side of the leaf's box, in pixels of the picture as it was read.
    side: float = 800.0
    n_leaves: float = 1.0
    #: Part of the contrast between neighbouring pixels that a blur takes away: from 0
    #: (blurred already) to 1.
    sharpness: float = 1.0
    #: Lightness of the lightest parts of the picture, from 0 to 1.
    lightness: float = 1.0
    #: Length along which the leaf touches one side of the picture, relative to the
    #: leaf's longer side, from 0 to 1.
    cut: float = 0.0
    #: 1 where what is taken for one leaf may be several that touch.
    may_be_several: float = 0.0


def measure_condition(image: Image, segmentation: Segmentation) -> Condition:
    """Measure in what condition a picture shows its leaf.

    Where all of it is leaf, nothing is cut.
    """
    mask = segmentation.mask
    row0, row1, col0, col1 = segmentation.box
    side = max(row1 - row0, col1 - col0)
    contact = max(map(np.count_nonzero, (mask[0], mask[-1], mask[:, 0], mask[:, -1])))
    sample = cv2.cvtColor(image[::_LIGHT_STEP, ::_LIGHT_STEP], cv2.COLOR_BGR2GRAY)
    return Condition(
        segmentation.confidence,
        side,
        segmentation.n_leaves,
        _measure_sharpness(image[row0:row1, col0:col1]),
        float(take_quantiles(sample.ravel(), (_LIGHT_QUANTILE,))[0]) / 255,
        0.0 if mask.all() else float(contact / max(side, 1)),
        float(segmentation.may_be_several),
    )


def _measure_sharpness(image: Image) -> float:
    """Measure by how much a blur lowers the contrast between neighbours.

    References
    ----------
    .. [1] F. Crété-Roffet, T. Dolmiere, P. Ladret, M. Nicolas, "The blur effect:
       perception and estimation with a new no-reference perceptual blur metric", SPIE
       6492, 2007, doi:10.1117/12.702790
    """
    if min(image.shape[:2]) < 2:
        return 1.0
    # Green is nearly lightness, and takes a third of the time; averaging by a factor
    # that is not 2 would take longest.
    green = shrink(cv2.extractChannel(image, 1), _SHARPNESS_SIDE, cv2.INTER_LINEAR)
    before = _measure_contrast(green)
    after = _measure_contrast(cv2.blur(green, (_BLUR, _BLUR)))
    return 1 - min(after / before, 1.0) if before else 1.0


def _measure_contrast(plane: NDArray[np.uint8]) -> float:
    """Sum the squared differences of neighbours."""
    below = cv2.norm(plane[1:], plane[:-1], cv2.NORM_L2SQR)
    return below + cv2.norm(plane[:, 1:], plane[:, :-1], cv2.NORM_L2SQR)
