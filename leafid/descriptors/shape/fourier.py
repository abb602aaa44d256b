"""Fourier descriptors of a leaf's outline: elliptic Fourier harmonics and the centroid distance."""

import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.shape.contour import Shape, compute_contour_length

ELLIPTIC_HARMONICS = 24  # harmonics of `measure_elliptic_fourier`
PAIRS = 12  # phase invariants of `measure_elliptic_fourier`, from m = 2
DISTANCE_HARMONICS = 30  # harmonics of `measure_centroid_distance`
_FLOOR = 1e-3  # magnitude, relative to the first harmonic, below which a logarithm would only show the pixel grid

ELLIPTIC_FOURIER_NAMES = (
    *(f"major_log_{k}" for k in range(2, ELLIPTIC_HARMONICS + 1)),
    *(f"minor_log_{k}" for k in range(1, ELLIPTIC_HARMONICS + 1)),
    *(
        f"phase_{part}_{m}"
        for part in ("real", "imaginary")
        for m in range(2, PAIRS + 2)
    ),
)
CENTROID_DISTANCE_NAMES = (
    *(f"distance_log_{k}" for k in range(1, DISTANCE_HARMONICS + 1)),
    *("distance_mean", "distance_smallest", "distance_largest"),
)


def measure_elliptic_fourier(shape: Shape) -> NDArray[np.float32]:
    """Measure elliptic Fourier invariants of the largest component's outline.

    They don't depend on start point, rotation, size or reflection. Harmonic k of a closed contour draws an ellipse.
    With Z(k) the complex Fourier coefficients of col − i·row, its semi-axes are |Z(k)| + |Z(−k)| and
    ||Z(k)| − |Z(−k)||, the invariants of Kuhl and Giardina's a, b, c, d. The relative phases of the harmonics survive
    in Z(1+m)·Z(1−m) / Z(1)², whose imaginary part changes its sign in the mirror.

    The values are logarithms of the major semi-axes of harmonics 2 … and of the minor ones of harmonics 1 …, each
    relative to the first major one; then signed square roots of the real parts and square roots of the imaginary parts'
    magnitudes of the phase invariants: float32 (2 × ELLIPTIC_HARMONICS − 1 + 2 × PAIRS,).

    References
    ----------
    F. P. Kuhl, C. R. Giardina, "Elliptic Fourier features of a closed contour", Computer Graphics and Image
    Processing 18, 1982, doi:10.1016/0146-664X(82)90034-X.
    G. H. Granlund, "Fourier preprocessing for hand print character recognition", IEEE Trans. Computers C-21, 1972,
    doi:10.1109/TC.1972.5008926.
    """
    contour = shape.contour
    spectrum = np.fft.fft(contour[:, 1] - 1j * contour[:, 0]) / len(contour)
    k = np.arange(1, ELLIPTIC_HARMONICS + 1)
    positive, negative = np.abs(spectrum[k]), np.abs(spectrum[-k])
    major, minor = positive + negative, np.abs(positive - negative)
    m = np.arange(2, PAIRS + 2)  # m = 1 would include Z(0), the position
    # Z(1) goes once around the contour's inside: it is small only where there is hardly an inside.
    first = spectrum[1] if positive[0] > 1e-6 * major[0] else major[0]
    pairs = spectrum[1 + m] * spectrum[1 - m] / first**2
    values = [
        np.log(major[1:] / major[0] + _FLOOR),
        np.log(minor / major[0] + _FLOOR),
        np.sign(pairs.real) * np.sqrt(np.abs(pairs.real)),
        np.sqrt(np.abs(pairs.imag)),
    ]
    return np.concatenate(values).astype(np.float32)


def measure_centroid_distance(shape: Shape) -> NDArray[np.float32]:
    """Measure Fourier magnitudes of the distance from the centroid, along the largest component's outline.

    Logarithms of the magnitudes of harmonics 1 … relative to the mean distance; then the mean distance in contour
    lengths (a circle: 1 / 2π), and the smallest and largest distance relative to the mean: float32 (DISTANCE_HARMONICS
    + 3,).

    References
    ----------
    D. Zhang, G. Lu, "A comparative study of Fourier descriptors for shape representation and retrieval", ACCV 2002.
    """
    contour = shape.contour
    offsets = contour - contour.mean(axis=0)
    distance = np.hypot(offsets[:, 0], offsets[:, 1])
    magnitudes = np.abs(np.fft.rfft(distance)) / len(distance)
    mean = max(float(magnitudes[0]), 1e-9)
    values = np.log(2 * magnitudes[1 : DISTANCE_HARMONICS + 1] / mean + _FLOOR)
    extremes = [
        mean / compute_contour_length(contour),
        distance.min() / mean,
        distance.max() / mean,
    ]
    return np.concatenate([values, extremes]).astype(np.float32)
