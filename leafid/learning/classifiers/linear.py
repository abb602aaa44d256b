"""Linear classifiers as arrays, and feature maps that take the place of kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: A linear classifier of centred rows: coefficients, float (n_columns, n_species), and
#: intercepts, float (n_species,).
LinearClassifier = tuple[np.ndarray, np.ndarray]


def apply_feature_map(vectors: np.ndarray, name: str) -> np.ndarray:
    """Apply a feature map, ``none`` or ``chi2``, to vectors (n, d).

    For ``chi2``, negative numbers count as 0. Other names are a `ValueError`.
    """
    if name not in ("none", "chi2"):
        raise ValueError(f"expected the feature map none or chi2, found {name!r:.100}")
    return apply_chi2_map(np.maximum(vectors, 0)) if name == "chi2" else vectors


def apply_chi2_map(vectors: np.ndarray) -> np.ndarray:
    """Map vectors so that inner products approximate the χ² kernel, Σ 2xy / (x + y).

    The result is `sklearn.kernel_approximation.AdditiveChi2Sampler(sample_steps=2,
    sample_interval=0.5)` to the bit. Importing that takes twice the CPU time of
    everything else that identifying a picture imports.

    Parameters
    ----------
    vectors : ndarray of float, (n, d)
        0 or more.

    Returns
    -------
    ndarray of float32, (n, 3 d)

    References
    ----------
    .. [1] A. Vedaldi, A. Zisserman, "Efficient additive kernels via explicit feature
       maps", IEEE TPAMI 34(3), 2012, section 4, doi:10.1109/TPAMI.2011.153

    Examples
    --------
    >>> x, y = apply_chi2_map(np.array([[0.2], [0.6]]))
    >>> round(float(x @ y), 1)  # 2 · 0.2 · 0.6 / 0.8 = 0.3
    0.3
    """
    step = 0.5  # between the two samples of the spectrum of the kernel
    values = np.asarray(vectors, np.float64)
    phase = step * np.log(np.where(values > 0, values, 1.0))
    amplitude = np.sqrt(2 * values * step / np.cosh(np.pi * step))
    parts = [
        np.sqrt(values * step),
        amplitude * np.cos(phase),
        amplitude * np.sin(phase),
    ]
    return np.concatenate(parts, axis=-1).astype(np.float32)


def weigh_pictures(
    labels: Sequence[str] | np.ndarray,
    plants: Sequence[str] | np.ndarray,
    species_balance: float,
    plant_balance: float,
) -> np.ndarray:
    """Weigh pictures by how many pictures their species and their plants have.

    With a species balance above 1, a rare species counts more in total than a common
    one: pictures to identify differ more from the few that there are of it.

    Parameters
    ----------
    labels, plants : sequence, (n,)
        The species and the plant of each picture.
    species_balance, plant_balance : float
        The weight of a picture is divided by the number of its species' pictures, and
        of its plant's pictures, to these powers.

    Returns
    -------
    ndarray of float64, (n,)
    """
    weights = np.ones(len(labels))
    for groups, balance in (
        (np.asarray(labels), species_balance),
        (np.asarray(plants), plant_balance),
    ):
        _, inverse, counts = np.unique(groups, return_inverse=True, return_counts=True)
        weights /= counts[inverse] ** float(balance)
    return weights


def encode_one_vs_rest(labels: np.ndarray) -> np.ndarray:
    """Encode labels as regression targets: float32 (n, n_species).

    The label's column is 1, all others are -1.
    """
    return np.where(
        labels[:, None] == np.arange(labels.max() + 1), np.float32(1), np.float32(-1)
    )


def rotate_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotate rows with more columns than rows into the space that they span.

    This keeps lengths and angles, so that a linear classifier learns the same from
    fewer columns in a fraction of the time.

    Parameters
    ----------
    rows : ndarray of float, (n, d)

    Returns
    -------
    rotated : ndarray of float, (n, k)
        k is the smaller one of n and d.
    axes : ndarray of float, (d, k)
        Their product with coefficients of rotated rows, (k, m), are coefficients of
        rows.
    """
    n_rows, n_columns = rows.shape
    if n_columns <= n_rows:
        return rows, np.eye(n_columns, dtype=np.float32)
    axes, triangle = np.linalg.qr(rows.T)
    return triangle.T, axes
