"""Moments of a leaf's region."""

import cv2
import numpy as np

from leafid.descriptors.arrays import Singles
from leafid.descriptors.shape.contour import Shape

HU_MOMENTS_NAMES = tuple(f"log_{index}" for index in range(1, 8))


def measure_hu_moments(shape: Shape) -> Singles:
    """Measure Hu's seven moment invariants.

    A disc's first is log10(1 / 2π) ≈ −0.798. The seventh changes its sign in the
    mirror, its magnitude doesn't.

    Parameters
    ----------
    shape : Shape
        The blade.

    Returns
    -------
    float32 (7,)
        ``log10(|h| + 1e-12)`` of each invariant h.

    References
    ----------
    .. [1] M.-K. Hu, "Visual pattern recognition by moment invariants", IRE Trans.
       Information Theory 8, 1962, doi:10.1109/TIT.1962.1057692
    """
    invariants = cv2.HuMoments(
        cv2.moments(shape.grey.astype(np.float32) / np.float32(255))
    ).ravel()
    return np.log10(np.abs(invariants) + 1e-12).astype(np.float32)
