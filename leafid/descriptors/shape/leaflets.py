"""Compound structure: what openings and closings of growing radius remove, fill and separate."""

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.shape.contour import Mask, Shape

RADII = (0.02, 0.035, 0.055, 0.08, 0.12, 0.17, 0.24, 0.34)  # radii of the openings and closings, in √area
SIDES = (72.0, 36.0)  # √area of the reduced masks, in pixels, for the smaller and the larger half of the radii
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

LEAFLETS_NAMES = (
    *(
        f"{kind}_{radius:g}"
        for kind in ("removed_root", "added_root", "parts_log", "largest_share", "evenness")
        for radius in RADII
    ),
    *(f"depth_quantile{quantile:g}" for quantile in QUANTILES),
)


def measure_leaflets(shape: Shape) -> NDArray[np.float32]:
    """Measure the pattern spectrum of the region and of its surroundings, and the parts that erosions leave.

    Per radius: share of the area that the opening removes, and area that the closing adds, relative to the leaf (square
    roots); number of parts of the eroded region (log(1 + n)), the largest one's share, and the evenness of their areas
    (entropy over its maximum). Then quantiles of the pixels' distance to the outline, in √area: float32
    (5 × len(RADII) + len(QUANTILES),).

    References
    ----------
    P. Maragos, "Pattern spectrum and multiscale shape representation", IEEE Trans. PAMI 11, 1989,
    doi:10.1109/34.192465.
    """
    half = len(RADII) // 2
    fine, coarse = _reduce(shape, SIDES[0], RADII[half - 1]), _reduce(shape, SIDES[1], RADII[-1])
    measured = [*_measure_spectrum(fine, SIDES[0], RADII[:half]), *_measure_spectrum(coarse, SIDES[1], RADII[half:])]
    values = np.array(measured).T
    values[:2] = np.sqrt(np.maximum(values[:2], 0.0))
    depth = np.sort(_transform_distance(fine)[fine]) / SIDES[0]
    quantiles = depth[np.rint(np.asarray(QUANTILES) * (len(depth) - 1)).astype(np.intp)]
    return np.concatenate([values.ravel(), quantiles]).astype(np.float32)


def _measure_spectrum(mask: Mask, side: float, radii: tuple[float, ...]) -> list[list[float]]:
    """Per radius: area that opening removes and closing adds, parts (log), the largest one's share, evenness."""
    area = np.count_nonzero(mask)
    inside, outside = _transform_distance(mask), _transform_distance(~mask)
    measured = []
    for radius in (relative * side for relative in radii):
        eroded, dilated = inside > radius, outside <= radius
        removed = 1 - np.count_nonzero(_transform_distance(~eroded) <= radius) / area if eroded.any() else 1.0
        added = np.count_nonzero(_transform_distance(dilated) > radius) / area - 1
        parts = _measure_part_areas(eroded)
        shares = parts / max(parts.sum(), 1.0)
        largest = float(shares.max()) if len(parts) else 0.0
        evenness = float(-(shares * np.log(shares)).sum() / np.log(len(parts))) if len(parts) > 1 else 0.0
        measured.append([removed, added, float(np.log1p(len(parts))), largest, evenness])
    return measured


def _reduce(shape: Shape, side: float, max_radius: float) -> Mask:
    """Shrink the shape to the given √area, with room around it for the largest closing."""
    scale = side / shape.side
    height, width = (max(1, round(length * scale)) for length in shape.grey.shape)
    small = cv2.resize(shape.grey, (width, height), interpolation=cv2.INTER_AREA)
    return np.pad(small >= min(128, int(small.max())), int(np.ceil(max_radius * side)) + 2)


def _transform_distance(mask: Mask) -> NDArray[np.float32]:
    """Return each set pixel's distance to the nearest one that is not set."""
    return cv2.distanceTransform(mask.view(np.uint8), cv2.DIST_L2, 5)


def _measure_part_areas(mask: Mask) -> NDArray[np.float64]:
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.view(np.uint8), connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA].astype(np.float64)
    return areas[areas >= 0.02 * areas.max()] if len(areas) else areas
