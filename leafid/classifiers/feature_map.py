"""The explicit feature map of the χ² kernel, for features that are histograms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leafid.errors import LeafidError


def chi2_map(features: NDArray[np.floating], step: float = 0.5) -> NDArray[np.float32]:
    """Explicit map under which dot products approximate the additive χ² kernel Σ 2xy / (x + y).

    Parameters
    ----------
    features : ndarray of float, shape (..., D)
        Non-negative.
    step : float, default 0.5
        Distance between the two samples of the kernel's spectrum.

    Returns
    -------
    ndarray of float32, shape (..., 3 * D)

    Raises
    ------
    LeafidError
        When a feature is negative.

    References
    ----------
    .. [1] A. Vedaldi, A. Zisserman, "Efficient additive kernels via explicit feature maps", IEEE TPAMI 34(3), 2012,
       section 4, doi:10.1109/TPAMI.2011.153

    Examples
    --------
    >>> import numpy as np
    >>> x, y = chi2_map(np.array([[0.2], [0.6]]))
    >>> round(float(x @ y), 1)  # 2 · 0.2 · 0.6 / 0.8 = 0.3
    0.3
    """
    features = np.asarray(features, dtype=np.float64)
    if (features < 0).any():
        raise LeafidError(f"the χ² map needs features that are not negative, found {features.min():.4g}")
    logarithm = np.log(np.where(features > 0, features, 1.0))
    constant = np.sqrt(features * step)
    wave = np.sqrt(2 * features * step / np.cosh(np.pi * step))
    return np.concatenate([constant, wave * np.cos(step * logarithm), wave * np.sin(step * logarithm)], axis=-1).astype(
        np.float32
    )
