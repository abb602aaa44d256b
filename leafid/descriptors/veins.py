"""Veins of a leaf: how dense, how strong, and in which direction, by ridge filters at several widths."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.checks import check_picture
from leafid.descriptors.resizing import resized
from leafid.segmentation.result import find_bounding_box

SIDE = 192.0
"""√area of the leaf after resizing, in pixels."""
WIDTHS = (1.0, 1.8, 3.2)
"""Standard deviations of the ridge filters, in pixels at `SIDE`: from third-order veins to the midrib."""
STRENGTHS = (0.06, 0.12, 0.25, 0.5, 1.0)
"""Edges between the bins of ridge strength, in units of the grey values' standard deviation over the leaf."""
DIRECTIONS = 9
"""Bins of ridge direction, from along the main axis (0°) to across (90°)."""
_SIGNS = ("light", "dark")


def leaf_veins(leaf: tuple[NDArray[np.uint8], NDArray[np.bool_]]) -> NDArray[np.float32]:
    """Measure the ridges inside a leaf: histograms of their strength and of their direction to the main axis.

    A ridge of width σ is where the second derivative across, of the picture smoothed with σ, is large: the larger
    eigenvalue of the Hessian times σ². Light ridges (veins that shine or that light falls through) and dark ones
    (furrows) are apart. The grey values are divided by their standard deviation inside the leaf first, after the slow
    shading is taken away, so that light and contrast of the picture hardly matter.

    Parameters
    ----------
    leaf : tuple of ndarray
        The picture, uint8 (H, W, 3), BGR, and the blade, bool (H, W).

    Returns
    -------
    ndarray of float32, shape (96,)
        Per width and sign: shares of the inside in each bin of strength (6), then direction, weighted with strength
        (9, sum 1), and how strongly directions agree over the leaf (0 … 1). All zeros where nothing is inside.

    Raises
    ------
    ValueError
        When the arrays are not of the dtypes and shapes above, or don't fit together.
    LeafidError
        When the mask is empty.

    References
    ----------
    .. [1] A. F. Frangi, W. J. Niessen, K. L. Vincken, M. A. Viergever, "Multiscale vessel enhancement filtering",
       MICCAI 1998, section 2, doi:10.1007/BFb0056195
    """
    grey, region = _normalised(*leaf)
    axis = _main_axis(region)
    depth = cv2.distanceTransform(np.pad(region, 1).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_3)[1:-1, 1:-1]
    flat = _flattened(grey, region)
    features: list[NDArray[np.float64]] = []
    for width in WIDTHS:
        # Nearer to the edge the filter sees what is beyond it.
        inside = depth > 3 * width
        strength, along, athwart = _ridges(flat, inside, width, axis)
        angle = np.arccos(np.clip(along, -1, 1)) * np.float32(1 / np.pi)
        features += [_summary(np.maximum(sign * strength, 0), angle, along, athwart) for sign in (1, -1)]
    return np.concatenate(features).astype(np.float32)


def leaf_veins_names() -> list[str]:
    """Name the values of `leaf_veins`, in order."""
    kinds = [f"strength_{low:g}" for low in (0, *STRENGTHS)]
    kinds += [f"direction_{round(90 * k / DIRECTIONS)}" for k in range(DIRECTIONS)] + ["agreement"]
    return [f"{sign}_{width:g}_{kind}" for width in WIDTHS for sign in _SIGNS for kind in kinds]


def _normalised(image: NDArray[np.uint8], mask: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Cut out the leaf's box and bring it to `SIDE`."""
    check_picture(image, mask)
    row0, row1, col0, col1 = find_bounding_box(mask)
    box = (slice(row0, row1), slice(col0, col1))
    crop, coverage = cv2.cvtColor(image[box], cv2.COLOR_BGR2GRAY), mask[box].astype(np.uint8) * 255
    factor, size = resized(coverage, SIDE)
    interpolation = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    region = cv2.resize(coverage, size, interpolation=interpolation)
    return cv2.resize(crop, size, interpolation=interpolation).astype(np.float32), region >= min(128, region.max())


def _main_axis(region: NDArray[np.bool_]) -> float:
    """Angle of the region's longest extent, in radians from a row to the right, clockwise on the picture."""
    moments = cv2.moments(region.view(np.uint8), binaryImage=True)
    return 0.5 * float(np.arctan2(2 * moments["mu11"], moments["mu20"] - moments["mu02"]))


def _flattened(grey: NDArray[np.float32], region: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Take the slow shading away, inside the region only, and divide by the standard deviation that is left."""
    weight = region.astype(np.float32)
    size = (round(SIDE / 8) | 1,) * 2
    total = cv2.boxFilter(grey * weight, -1, size, normalize=True, borderType=cv2.BORDER_CONSTANT)
    share = cv2.boxFilter(weight, -1, size, normalize=True, borderType=cv2.BORDER_CONSTANT)
    detail = (grey - total / np.maximum(share, 1e-6)) * weight
    # A perfectly even leaf has nothing but rounding: a grey level is the least that counts as contrast.
    return detail / max(float(detail[region].std()), 1.0)


def _ridges(
    flat: NDArray[np.float32], inside: NDArray[np.bool_], width: float, axis: float
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Signed strength (light is positive); cosine and sine of twice the angle from the axis to the ridge."""
    smooth = cv2.GaussianBlur(flat, (0, 0), width, borderType=cv2.BORDER_REPLICATE)
    # Sobel's smoothing across sums to 4; σ² makes widths comparable.
    scale = width * width / 4
    cols, rows, both = (cv2.Sobel(smooth, cv2.CV_32F, *order, ksize=3, scale=scale)[inside] for order in _SECOND)
    mean, half = (cols + rows) / 2, (cols - rows) / 2
    spread = np.sqrt(half**2 + both**2)
    # The eigenvalue of larger magnitude is mean ± spread, with the mean's sign; across the ridge points its
    # eigenvector, whose doubled angle has cosine ± half / spread and sine ± both / spread; along is the opposite.
    sign = np.where(mean < 0, np.float32(1), np.float32(-1))
    strength = sign * spread - mean
    scaled = sign / np.maximum(spread, np.float32(1e-12))
    cosine, sine = half * scaled, both * scaled
    turn_cosine, turn_sine = np.float32(np.cos(2 * axis)), np.float32(np.sin(2 * axis))
    return strength, cosine * turn_cosine + sine * turn_sine, sine * turn_cosine - cosine * turn_sine


_SECOND = ((2, 0), (0, 2), (1, 1))


def _summary(
    strength: NDArray[np.float32],
    angle: NDArray[np.float32],
    along: NDArray[np.float32],
    athwart: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Shares per bin of strength, weighted shares per bin of direction, agreement."""
    total = strength.sum(dtype=np.float64)
    if not total > 0:
        return np.zeros(len(STRENGTHS) + 1 + DIRECTIONS + 1)
    bins = np.searchsorted(STRENGTHS, strength[strength > 0], side="right")
    places = np.minimum((angle * DIRECTIONS).astype(np.intp), DIRECTIONS - 1)
    directions = np.bincount(places, weights=strength, minlength=DIRECTIONS)
    agreement = np.hypot(strength @ along, strength @ athwart) / total
    shares = np.bincount(bins, minlength=len(STRENGTHS) + 1) / strength.size
    return np.concatenate([shares, directions / directions.sum(), [min(agreement, 1.0)]])
