"""Multi-scale triangles and arches along a leaf's outline.

They have signed areas, side lengths, angles and arch heights.
"""

from functools import lru_cache

import numpy as np

from leafid.descriptors.arrays import Floats, Points, Singles
from leafid.descriptors.shape.contour import (
    Shape,
    as_complex,
    compute_contour_length,
)

#: Steps to the other two points of a triangle.
SPANS = (2, 4, 6, 10, 16, 24, 36, 52, 76, 104)
POINTS = 256
#: Fourier harmonics of each signal, from 0.
HARMONICS = 12
QUANTILES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)

ARCHES_NAMES = tuple(
    f"{kind}_span{span}_harmonic{k}"
    for kind in ("height", "chord")
    for span in SPANS
    for k in range(HARMONICS)
)
TRIANGLES_NAMES = tuple(
    f"{kind}_span{span}_quantile{quantile:g}"
    for kind in ("area", "chord", "ratio", "angle")
    for span in SPANS
    for quantile in QUANTILES
)


def compute_triangle_signals(contour: Points) -> dict[str, Floats]:
    """Measure the triangle p(s−t), p(s), p(s+t) of each contour point s at each span t.

    The result has arrays of float64 (spans, n) by name. The contour, (n, 2), is
    counter-clockwise, at equal arc length, of at least 128 points.

    ``area``: signed area over the square of the arc t (½ at most; positive where the
    contour is convex); ``height``: distance of p(s) from the chord over t, with the
    same sign, −1…1 (the arch height of MARCH); ``chord``: length of the chord over 2·t,
    0…1; ``ratio``: the shorter of the two sides over the longer, 0…1; ``angle``: at
    p(s), over π, 0…1.

    References
    ----------
    N. Alajlan et al., "Shape retrieval using triangle-area representation and dynamic
    space warping", Pattern Recognition 40, 2007, doi:10.1016/j.patcog.2006.12.005.
    S. Mouine, I. Yahiaoui, A. Verroust-Blondet, "A shape-based approach for leaf
    classification using multiscale triangular representation", ICMR 2013,
    doi:10.1145/2461466.2461489.
    B. Wang et al., "MARCH: multiscale-arch-height description for mobile retrieval of
    leaf images", Information Sciences 302, 2015; also doi:10.1109/TIP.2015.2432712.
    """
    count = len(contour)
    spans = np.asarray(SPANS) * count // POINTS
    # Complex numbers row + i·col: a product with a conjugate holds dot and cross
    # product.
    points = as_complex(contour)
    steps = spans[:, None]
    before, after = (
        points[(np.arange(count) + turn * steps) % count] - points for turn in (-1, 1)
    )
    arc = (spans * (compute_contour_length(contour) / count))[:, None]
    product = before * after.conj()
    # Rows point down: this is twice the area, positive for a counter-clockwise turn as
    # seen on the picture.
    cross = product.imag
    chord = np.maximum(np.abs(after - before), 1e-9)
    side_before = np.abs(before)
    side_after = np.abs(after)
    angle = np.arctan2(np.abs(cross), product.real) / np.pi
    longer = np.maximum(side_before, side_after)
    # Where the two ends meet, the error of the height exceeds the chord; the sides
    # bound the height.
    height = np.clip(cross / chord, -longer, longer)
    return {
        "area": cross / (2 * arc**2),
        "height": height / arc,
        "chord": chord / (2 * arc),
        "ratio": np.minimum(side_before, side_after) / np.maximum(longer, 1e-9),
        "angle": angle,
    }


def measure_arches(shape: Shape) -> Singles:
    """Measure Fourier magnitudes of arch heights and chords, per span.

    The magnitudes don't depend on the point at which the outline begins.

    Parameters
    ----------
    shape : Shape
        The blade, of which the largest component's outline is measured.

    Returns
    -------
    float32 (2 × len(SPANS) × HARMONICS,)
        Square roots of the magnitudes; the first of each span is the mean's.
    """
    signals = _compute_signals(shape)
    spectra = [
        np.abs(np.fft.rfft(signals[kind], axis=1)[:, :HARMONICS]) / POINTS
        for kind in ("height", "chord")
    ]
    return np.sqrt(np.concatenate(spectra)).ravel().astype(np.float32)


def measure_triangles(shape: Shape) -> Singles:
    """Measure quantiles of areas, chords, side ratios and angles, per span.

    Parameters
    ----------
    shape : Shape
        The blade, of which the largest component's outline is measured.

    Returns
    -------
    float32 (4 × len(SPANS) × len(QUANTILES),)
        As named in `TRIANGLES_NAMES`.
    """
    signals = _compute_signals(shape)
    kinds = ("area", "chord", "ratio", "angle")
    ascending = np.sort(np.concatenate([signals[kind] for kind in kinds]), axis=1)
    ranks = np.rint(np.asarray(QUANTILES) * (POINTS - 1)).astype(np.intp)
    return ascending[:, ranks].ravel().astype(np.float32)


# Two families measure the same shape, one after the other.
@lru_cache(maxsize=1)
def _compute_signals(shape: Shape) -> dict[str, Floats]:
    return compute_triangle_signals(shape.contour[:: len(shape.contour) // POINTS])
