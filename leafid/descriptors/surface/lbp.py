"""Local binary patterns: codes, and their rotation-invariant histogram features."""

from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.arrays import Indices, Plane, Singles
from leafid.segmentation.result import Value, downsample2

POINTS = 8
UNIFORM_ROWS = POINTS - 1
NON_UNIFORM = UNIFORM_ROWS * POINTS + 2
HARMONICS = POINTS // 2 + 1

# Unit of grey levels, 1/64: smoothing keeps its precision, and a smooth gradient has no
# steps.
PRECISION = 64
# Largest step to a neighbour, in pixels; the margin of a level.
_REACH = 4
_CROSS = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
# Direction k points k·45° from a column to the right; a ring is given by its straight
# and its diagonal step.
_DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_BITS = (1 << np.arange(POINTS)).astype(np.uint8)[:, None]
_BORDER = cv2.BORDER_REPLICATE
_BINOMIAL = np.array([0.25, 0.5, 0.25], np.float32)


class Scale(NamedTuple):
    """A ring of eight neighbours on a level of the pyramid, downsampled `level` times.

    `straight` and `diagonal` are the steps to the neighbours in rows or columns, and in
    both, in pixels of the level; at most 4. Whole steps of nearly equal length (3 and
    2·√2, 4 and 3·√2) need no interpolation.
    """

    level: int
    straight: int
    diagonal: int


def make_ring_scales(levels: int) -> tuple[Scale, ...]:
    """Make scales whose radii grow by about √2, two on each level from 1.2 and 2.4."""
    scales = [Scale(0, 1, 1), Scale(0, 2, 2)]
    for level in range(levels):
        scales += [Scale(level, 3, 2), Scale(level, 4, 3)]
    return tuple(scales)


def label_uniform_codes() -> Indices:
    """Label each of the 256 codes by its bin of the histogram.

    ``(n - 1) * 8 + r`` for the code whose n ones (1 … 7) are adjacent and begin at bit
    r; 56 for no ones, 57 for ones only, 58 for all codes with more than two changes
    around the ring.
    """
    labels = np.full(2**POINTS, NON_UNIFORM)
    labels[0], labels[-1] = NON_UNIFORM - 2, NON_UNIFORM - 1
    for ones in range(1, POINTS):
        for turn in range(POINTS):
            code = sum(1 << ((turn + k) % POINTS) for k in range(ones))
            labels[code] = (ones - 1) * POINTS + turn
    return labels


_ONE_HOT = np.eye(NON_UNIFORM + 1, dtype=np.float32)[label_uniform_codes()]


def compute_fourier_features(counts: NDArray[np.integer]) -> Singles:
    """Compute rotation-invariant features (LBP-HF), (..., 38), from counts, (..., 256).

    The counts are histograms of 8-bit codes.

    A turn of the picture by 45° shifts the codes of n ones by one bin along their row
    of the histogram; the magnitudes of the row's discrete Fourier transform stay. For n
    = 1 … 7 the features are the magnitudes of harmonics 0 … 4; then the shares of no
    ones, ones only and all other codes. All lie in 0 … 1 and are relative to the number
    of codes; without codes they are 0.

    References
    ----------
    .. [1] T. Ahonen, J. Matas, C. He, M. Pietikäinen, "Rotation invariant image
       description with local binary pattern histogram Fourier features", SCIA 2009,
       section 3, doi:10.1007/978-3-642-02230-2_7
    """
    # Sums of counts below 2²⁴ are exact in single precision.
    labelled = (np.asarray(counts, np.float32) @ _ONE_HOT).astype(np.float64)
    labelled /= np.maximum(labelled.sum(axis=-1, keepdims=True), 1.0)
    shape = labelled.shape[:-1]
    rows = labelled[..., :-3].reshape(*shape, UNIFORM_ROWS, POINTS)
    magnitudes = np.abs(np.fft.rfft(rows, axis=-1)).reshape(*shape, -1)
    return np.concatenate([magnitudes, labelled[..., -3:]], axis=-1).astype(np.float32)


def build_pyramid(grey: Plane, levels: int) -> list[NDArray[np.int16]]:
    """Downsample a picture repeatedly, in 1/64 grey levels.

    Level k has shape (H / 2**k, W / 2**k). Each step smooths by the binomial (1, 3, 3,
    1), against aliasing. All arithmetic is exact or rounded once from an exact value: a
    picture turned by 90° has a turned pyramid. H and W must be divisible by 2 to the
    power of ``levels - 1``.
    """
    result = [grey.astype(np.int16) * np.int16(PRECISION)]
    for _ in range(levels - 1):
        smooth = cv2.sepFilter2D(
            result[-1], cv2.CV_32F, _BINOMIAL, _BINOMIAL, borderType=_BORDER
        )
        result.append(np.rint(downsample2(smooth)).astype(np.int16))
    return result


def pad_level(level: NDArray[Value]) -> NDArray[Value]:
    """Repeat the edge of a level, (H, W), so that all rings lie in the padded level."""
    return cv2.copyMakeBorder(level, _REACH, _REACH, _REACH, _REACH, _BORDER)


def erode_by_rings(leaf: Plane) -> list[Plane]:
    """Keep the pixels of a region that lie farther inside than the radius of a ring.

    Distances are in units of the ring's straight step. Regions are 1 inside and 0
    outside, and listed by steps from the region itself.
    """
    # Small shapes make up the discs: a large disc itself takes several times as long.
    first = cv2.erode(leaf, _CROSS)
    second = cv2.erode(first, np.ones((3, 3), np.uint8))
    third = cv2.erode(leaf, np.ones((5, 5), np.uint8))
    fourth = cv2.erode(second, _CROSS, iterations=2)
    return [leaf, first, second, third, fourth]


def count_codes(padded: NDArray[np.int16], centres: Indices, scale: Scale) -> Indices:
    """Count the codes around some centres: int (2, 256).

    Centres are flat indices of a padded level. First the codes of the sign (a neighbour
    is at least as bright as the centre), then of the magnitude (its difference to the
    centre is at least the mean difference over these centres).
    """
    if not centres.size:
        return np.zeros((2, 2**POINTS), np.intp)
    values = padded.ravel()
    down, right = _list_steps(scale)
    differences = values.take(centres + (down * padded.shape[1] + right))
    differences -= values.take(centres)
    magnitudes = np.abs(differences)
    # The mean is rounded up to the next integer, which an integer reaches exactly when
    # it reaches the mean: the order of the pixels, and with it a turn of the picture,
    # has no influence.
    mean = -(-int(cv2.norm(magnitudes, cv2.NORM_L1)) // magnitudes.size)
    planes = np.array([differences >= 0, magnitudes >= mean])
    # Packing bits by NumPy takes thirty times as long as combining whole planes.
    codes = np.bitwise_or.reduce(planes * _BITS, axis=1).astype(np.intp)
    codes[1] += 2**POINTS
    return np.bincount(codes.ravel(), minlength=2 * 2**POINTS).reshape(2, -1)


@cache
def _list_steps(scale: Scale) -> Indices:
    """List the steps down and to the right to the neighbours: (2, 8, 1)."""
    lengths = np.array([[scale.straight], [scale.diagonal]] * (POINTS // 2))
    return (np.array(_DIRECTIONS) * lengths).T[:, :, None]
