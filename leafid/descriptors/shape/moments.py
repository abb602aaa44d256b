"""Moments of a leaf's region: Hu's seven, and angular Fourier magnitudes in rings."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.shape.contour import Shape

RADII = 8  # rings of `measure_polar_fourier`
HARMONICS = 10  # angular harmonics of `measure_polar_fourier`, from 1
_ANGLES = 128

HU_MOMENTS_NAMES = tuple(f"log_{index}" for index in range(1, 8))
POLAR_FOURIER_NAMES = tuple(
    f"ring{ring + 1}_harmonic{k}" for ring in range(RADII) for k in range(HARMONICS + 1)
)


def measure_hu_moments(shape: Shape) -> NDArray[np.float32]:
    """Measure Hu's seven moment invariants as ``log10(|h| + 1e-12)``: float32 (7,).

    A disc's first is log10(1 / 2π) ≈ −0.798. The seventh changes its sign in the mirror, its magnitude doesn't.

    References
    ----------
    M.-K. Hu, "Visual pattern recognition by moment invariants", IRE Trans. Information Theory 8, 1962,
    doi:10.1109/TIT.1962.1057692.
    """
    invariants = cv2.HuMoments(
        cv2.moments(shape.grey.astype(np.float32) / np.float32(255))
    ).ravel()
    return np.log10(np.abs(invariants) + 1e-12).astype(np.float32)


def measure_polar_fourier(shape: Shape) -> NDArray[np.float32]:
    """Measure angular Fourier magnitudes of the region in rings around its centroid.

    Ring by ring: the share of the ring that is leaf, then the square root of the magnitude of each harmonic of that
    share around the ring; 0…1; float32 (RADII × (HARMONICS + 1),). The outermost ring ends at the region's farthest
    point. This is the generic Fourier descriptor without its transform along the radius.

    References
    ----------
    D. Zhang, G. Lu, "Shape-based image retrieval using generic Fourier descriptor", Signal Processing: Image
    Communication 17, 2002, doi:10.1016/S0923-5965(02)00084-X.
    """
    moments = cv2.moments(shape.grey)
    centre = np.array([moments["m01"], moments["m10"]]) / moments["m00"]
    offsets = shape.all_points - centre
    farthest = max(1.0, float(np.hypot(offsets[:, 0], offsets[:, 1]).max()))
    # Rows of the polar picture are angles; beyond the mask there is background.
    flags = cv2.INTER_LINEAR | cv2.WARP_POLAR_LINEAR | cv2.WARP_FILL_OUTLIERS
    polar = cv2.warpPolar(
        shape.grey, (4 * RADII, _ANGLES), (centre[1], centre[0]), farthest, flags
    )
    rings = polar.reshape(_ANGLES, RADII, -1).mean(axis=2) / 255
    magnitudes = np.abs(np.fft.rfft(rings, axis=0)[: HARMONICS + 1]) / _ANGLES
    magnitudes[1:] = np.sqrt(magnitudes[1:])
    return magnitudes.T.ravel().astype(np.float32)
