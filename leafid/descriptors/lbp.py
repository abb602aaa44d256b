"""Local binary patterns: the codes, and histogram Fourier features of them that a turn of the leaf leaves alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.result import downsample2

POINTS = 8
UNIFORM_ROWS = POINTS - 1
NON_UNIFORM = UNIFORM_ROWS * POINTS + 2
HARMONICS = POINTS // 2 + 1

# Grey levels are held in 1/64 so that smoothing keeps its precision, and a flat leaf does not fall into steps.
PRECISION = 64
_REACH = 4
# Direction k points k·45° from a column to the right; a ring is given by its straight and its diagonal step.
_STRAIGHT_DIAGONAL = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))


@dataclass(frozen=True, slots=True)
class Scale:
    """A ring of eight neighbours on one level of the pyramid.

    Attributes
    ----------
    level : int
        How many times the picture is halved before.
    straight, diagonal : int
        Steps to the neighbours in rows or columns, and in both, in pixels of the level; at most 4.
        Whole steps whose lengths nearly agree (3 and 2·√2, 4 and 3·√2) spare all interpolation.
    """

    level: int
    straight: int
    diagonal: int

    @property
    def radius(self) -> float:
        """Mean distance to the neighbours, in pixels of the picture that was given."""
        return float((self.straight + self.diagonal * np.sqrt(2.0)) / 2 * 2**self.level)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Steps (rows, columns) to the eight neighbours, in order of angle."""
        return _offsets(self.straight, self.diagonal)


@lru_cache(maxsize=64)
def _offsets(straight: int, diagonal: int) -> tuple[tuple[int, int], ...]:
    steps = (straight, diagonal)
    return tuple((r * steps[k % 2], c * steps[k % 2]) for k, (r, c) in enumerate(_STRAIGHT_DIAGONAL))


def ring_scales(levels: int, fine: bool = True) -> tuple[Scale, ...]:
    """Scales whose radii grow by about √2: two on each level, and two finer ones on the first.

    Parameters
    ----------
    levels : int
        Levels of the pyramid.
    fine : bool, default True
        With the radii 1.2 and 2.4 in front.
    """
    first = (Scale(0, 1, 1), Scale(0, 2, 2)) if fine else ()
    return first + tuple(Scale(level, *ring) for level in range(levels) for ring in ((3, 2), (4, 3)))


def uniform_labels() -> NDArray[np.intp]:
    """Where each of the 256 codes is counted.

    Returns
    -------
    ndarray of int, shape (256,)
        ``(n - 1) * 8 + r`` for the code whose n ones (1 … 7) stand side by side and begin at bit r;
        56 for no ones, 57 for ones only, 58 for all codes with more than two changes around the ring.
    """
    labels = np.full(2**POINTS, NON_UNIFORM)
    labels[0], labels[-1] = NON_UNIFORM - 2, NON_UNIFORM - 1
    for ones in range(1, POINTS):
        for turn in range(POINTS):
            code = sum(1 << ((turn + k) % POINTS) for k in range(ones))
            labels[code] = (ones - 1) * POINTS + turn
    return labels


_LABELS = uniform_labels()


def fourier_features(counts: NDArray[np.integer]) -> NDArray[np.float32]:
    """Turn-invariant features of histograms of 8-bit codes (LBP-HF).

    A turn of the picture by 45° moves the codes of n ones by one place along their row of the histogram;
    the magnitudes of the row's discrete Fourier transform stay.

    Parameters
    ----------
    counts : ndarray, shape (..., 256)
        How often each code occurs.

    Returns
    -------
    ndarray of float32, shape (..., 38)
        For n = 1 … 7 the magnitudes of harmonics 0 … 4; then the shares of no ones, ones only and the rest.
        All in 0 … 1 and relative to the number of codes; zeros where there are none.

    References
    ----------
    .. [1] T. Ahonen, J. Matas, C. He, M. Pietikäinen, "Rotation invariant image description with local binary pattern
       histogram Fourier features", SCIA 2009, section 3, doi:10.1007/978-3-642-02230-2_7

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.zeros(256, int)
    >>> codes[[0b1, 0b100]] = 3, 1  # a single one, at two places a quarter turn apart
    >>> [round(float(value), 3) for value in fourier_features(codes)[:5]]
    [1.0, 0.791, 0.5, 0.791, 1.0]
    """
    counts = np.asarray(counts, dtype=np.float64)
    shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
    labelled = shares @ _ONE_HOT
    rows = labelled[..., : UNIFORM_ROWS * POINTS].reshape(*shares.shape[:-1], UNIFORM_ROWS, POINTS)
    magnitudes = np.abs(np.fft.rfft(rows, axis=-1)).reshape(*shares.shape[:-1], UNIFORM_ROWS * HARMONICS)
    return np.concatenate([magnitudes, labelled[..., -3:]], axis=-1).astype(np.float32)


_ONE_HOT = np.eye(NON_UNIFORM + 1)[_LABELS]


def pyramid(grey: NDArray[np.uint8], levels: int) -> list[NDArray[np.int16]]:
    """Halve the picture again and again, in 1/64 grey levels.

    Halving smooths by the binomial (1, 3, 3, 1), so that nothing of the finer level folds into the coarser one.
    All arithmetic is exact or rounded once from an exact value: a picture turned by 90° has a turned pyramid.

    Parameters
    ----------
    grey : ndarray of uint8, shape (H, W)
        H and W divisible by 2 to the power of ``levels - 1``.
    levels : int

    Returns
    -------
    list of ndarray of int16, shape (H / 2**level, W / 2**level)
    """
    level = grey.astype(np.int16) * np.int16(PRECISION)
    result = [level]
    for _ in range(levels - 1):
        smooth = cv2.sepFilter2D(level, cv2.CV_32F, _BINOMIAL, _BINOMIAL, borderType=cv2.BORDER_REPLICATE)
        mean = downsample2(smooth)
        level = np.rint(mean, out=mean).astype(np.int16)
        result.append(level)
    return result


_BINOMIAL = np.array([0.25, 0.5, 0.25], np.float32)


def positions(places: NDArray[np.bool_]) -> NDArray[np.intp]:
    """List places of a level as `CodedLevel` wants them; several of one size can share them.

    Parameters
    ----------
    places : ndarray of bool, shape (H, W)
        Which pixels are the middle of a ring; rings may reach beyond them.

    Returns
    -------
    ndarray of int, shape (n,)
        Their indices in the level with its margin.
    """
    rows, cols = places.shape
    padded = np.zeros((rows + 2 * _REACH, cols + 2 * _REACH), bool)
    padded[_REACH:-_REACH, _REACH:-_REACH] = places
    return np.flatnonzero(padded)


class CodedLevel:
    """One level of a pyramid, ready to be coded at any of its places.

    Parameters
    ----------
    level : ndarray of int16, shape (H, W)
        Beyond its edge, the edge is repeated.
    """

    def __init__(self, level: NDArray[np.int16]) -> None:
        padded = cv2.copyMakeBorder(level, _REACH, _REACH, _REACH, _REACH, cv2.BORDER_REPLICATE)
        self._stride = padded.shape[1]
        self._values = padded.ravel()

    def counts(self, places: NDArray[np.intp], scale: Scale) -> NDArray[np.intp]:
        """Histograms of the codes at some places.

        Parameters
        ----------
        places : ndarray of int, shape (n,)
            From `positions`.
        scale : Scale

        Returns
        -------
        ndarray of int, shape (2, 256)
            Codes of the sign (a neighbour is at least as bright as the middle) and of the magnitude
            (its difference to the middle is at least the mean difference over these places).
        """
        if not places.size:
            return np.zeros((2, 2**POINTS), np.intp)
        steps = np.array([down * self._stride + right for down, right in scale.offsets])
        # No place is out of bounds; saying what to do with such spares a check of each.
        differences = self._values.take(places + steps[:, None], mode="clip")
        differences -= self._values.take(places)
        planes = np.empty((POINTS, 2, places.size), np.uint8)
        cv2.compare(differences, 0, cv2.CMP_GE, dst=planes[:, 0])
        np.abs(differences, out=differences)
        # A whole number reaches the mean when it reaches the next whole number: nothing is rounded, so the order of
        # the pixels, and with it a turn of the picture, has no influence.
        mean = -(-int(cv2.norm(differences, cv2.NORM_L1)) // differences.size)
        cv2.compare(differences, mean, cv2.CMP_GE, dst=planes[:, 1])
        # Plane k, of 0 and 255, becomes bit k.
        planes &= _BITS
        planes[:4] |= planes[4:]
        planes[:2] |= planes[2:4]
        codes = planes[0] | planes[1]
        return np.stack([cv2.calcHist([part], [0], None, _SIZE, _RANGE).ravel() for part in codes]).astype(np.intp)


_BITS = (1 << np.arange(POINTS, dtype=np.uint8))[:, None, None]
_SIZE, _RANGE = [2**POINTS], [0, 2**POINTS]
