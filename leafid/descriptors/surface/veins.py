"""Veins of a leaf: density, strength and direction, by ridge filters at several widths."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.surface.texture import choose_size
from leafid.segmentation.result import find_bounding_box

Values = NDArray[np.float32]

SIDE = 192.0  # √area of the leaf after resizing, in pixels
WIDTHS = (1.0, 1.8, 3.2)
"""Standard deviations of the ridge filters, in pixels at `SIDE`: from third-order veins to the midrib."""
STRENGTHS = (
    0.06,
    0.12,
    0.25,
    0.5,
    1.0,
)  # edges of the bins, in standard deviations of the grey values over the leaf
DIRECTIONS = 9  # bins of ridge direction, from along the main axis (0°) to across (90°)

VEINS_NAMES = tuple(
    f"{sign}_{width:g}_{kind}"
    for width in WIDTHS
    for sign in ("light", "dark")
    for kind in (
        *(f"strength_{low:g}" for low in (0, *STRENGTHS)),
        *(f"direction_{round(90 * k / DIRECTIONS)}" for k in range(DIRECTIONS)),
        "agreement",
    )
)


def measure_veins(image: NDArray[np.uint8], blade: NDArray[np.bool_]) -> Values:
    """Measure the ridges inside a leaf: histograms of their strength and of their direction to the main axis.

    Per width and sign: shares of the inside in each bin of strength (6), then direction, weighted with strength (9, sum
    1), and the agreement of directions over the leaf (0 … 1); float32 (96,), all zeros where nothing is inside.

    On a ridge of width σ, the second derivative across it, of the picture smoothed with σ, is large: the larger
    eigenvalue of the Hessian times σ². Light ridges (veins that shine or transmit light) and dark ones (furrows) are
    counted separately. The slow shading is subtracted from the grey values, and the difference divided by its standard
    deviation inside the leaf, so that light and contrast of the picture hardly matter.

    References
    ----------
    .. [1] A. F. Frangi, W. J. Niessen, K. L. Vincken, M. A. Viergever, "Multiscale vessel enhancement filtering",
       MICCAI 1998, section 2, doi:10.1007/BFb0056195
    """
    row0, row1, col0, col1 = find_bounding_box(blade)
    grey = cv2.cvtColor(image[row0:row1, col0:col1], cv2.COLOR_BGR2GRAY)
    coverage = blade[row0:row1, col0:col1].astype(np.uint8) * 255
    factor, size = choose_size(coverage, SIDE)
    interpolation = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    grey, coverage = (
        cv2.resize(plane, size, interpolation=interpolation)
        for plane in (grey, coverage)
    )
    region = coverage >= min(128, coverage.max())
    moments = cv2.moments(region.view(np.uint8), binaryImage=True)
    # Angle of the region's longest extent, in radians, clockwise on the picture.
    axis = 0.5 * float(
        np.arctan2(2 * moments["mu11"], moments["mu20"] - moments["mu02"])
    )
    depth = cv2.distanceTransform(
        np.pad(region, 1).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_3
    )[1:-1, 1:-1]
    detail = _remove_shading(grey.astype(np.float32), region.astype(np.float32))
    features: list[NDArray[np.float64]] = []
    for width in WIDTHS:
        # Nearer to the edge the filter would see the background.
        inside = depth > 3 * width
        strength, cosine, sine = _filter_ridges(detail, inside, width, axis)
        angle = np.arccos(np.clip(cosine, -1, 1)) * np.float32(1 / np.pi)
        features += [
            _summarise(np.maximum(sign * strength, 0), angle, cosine, sine)
            for sign in (1, -1)
        ]
    return np.concatenate(features).astype(np.float32)


def _remove_shading(grey: Values, region: Values) -> Values:
    """Subtract the slow shading and divide by the remaining deviation, both measured inside the region (1) only."""
    window = (round(SIDE / 8) | 1,) * 2
    total = cv2.boxFilter(grey * region, -1, window, borderType=cv2.BORDER_CONSTANT)
    share = cv2.boxFilter(region, -1, window, borderType=cv2.BORDER_CONSTANT)
    detail = (grey - total / np.maximum(share, 1e-6)) * region
    # A perfectly even leaf has only rounding errors: the smallest contrast is a grey level.
    return np.asarray(detail / max(float(detail[region > 0].std()), 1.0), np.float32)


def _filter_ridges(
    detail: Values, inside: NDArray[np.bool_], width: float, axis: float
) -> tuple[Values, Values, Values]:
    """Compute ridge strength (light is positive), and cosine and sine of twice the ridge's angle from the axis."""
    smooth = cv2.GaussianBlur(detail, (0, 0), width, borderType=cv2.BORDER_REPLICATE)
    # Sobel's smoothing across sums to 4; σ² makes widths comparable.
    scale = width * width / 4
    d_cols, d_rows, d_both = (
        cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3, scale=scale)[inside]
        for order in ((2, 0), (0, 2), (1, 1))
    )
    mean, half = (d_cols + d_rows) / 2, (d_cols - d_rows) / 2
    spread = np.sqrt(half**2 + d_both**2)
    # The eigenvalue of larger magnitude is mean ± spread, with the mean's sign. Its eigenvector points across the
    # ridge; the doubled angle of that has cosine ± half / spread and sine ± d_both / spread. Along is the opposite.
    sign = np.where(mean < 0, np.float32(1), np.float32(-1))
    strength = sign * spread - mean
    scaled = sign / np.maximum(spread, np.float32(1e-12))
    cosine, sine = half * scaled, d_both * scaled
    axis_cosine, axis_sine = np.float32(np.cos(2 * axis)), np.float32(np.sin(2 * axis))
    return (
        strength,
        cosine * axis_cosine + sine * axis_sine,
        sine * axis_cosine - cosine * axis_sine,
    )


def _summarise(
    strength: Values, angle: Values, cosine: Values, sine: Values
) -> NDArray[np.float64]:
    """Compute shares per bin of strength, weighted shares per bin of direction, agreement."""
    total = strength.sum(dtype=np.float64)
    if not total > 0:
        return np.zeros(len(STRENGTHS) + 1 + DIRECTIONS + 1)
    strength_bins = np.searchsorted(STRENGTHS, strength[strength > 0], side="right")
    direction_bins = np.minimum((angle * DIRECTIONS).astype(np.intp), DIRECTIONS - 1)
    directions = np.bincount(direction_bins, weights=strength, minlength=DIRECTIONS)
    agreement = np.hypot(strength @ cosine, strength @ sine) / total
    shares = np.bincount(strength_bins, minlength=len(STRENGTHS) + 1) / strength.size
    return np.concatenate(
        [shares, directions / directions.sum(), [min(agreement, 1.0)]]
    )
