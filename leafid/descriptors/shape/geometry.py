"""Plain geometry of a leaf: proportions, convexity, width profile along the main axis."""

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.shape.contour import (
    Points,
    Shape,
    compute_contour_area,
    compute_contour_length,
)

Vector = NDArray[np.float64]

WIDTHS = 16  # widths of the profile, at equal steps along the main axis
RINGS = (
    12  # rings of the radial profile, of equal width from the centroid to `RING_LIMIT`
)
RING_LIMIT = 1.8  # outer radius of the radial profile, in √area; the last ring counts what lies beyond

GEOMETRY_NAMES = (
    *(
        "log_aspect_box",
        "log_aspect_axes",
        "eccentricity",
        "solidity",
        "convexity",
        "circularity",
    ),
    *(
        "log_perimeter",
        "extent",
        "rectangularity_hull",
        "roundness",
        "log_enclosing_diameter",
    ),
    *(
        "log_thickness",
        "sphericity",
        "circularity_hull",
        "log_parts",
        "largest_part",
        "holes_root",
    ),
    *("hull_centre_gap", "log_length", "log_width", "tail_skewness"),
    *("mirror_error_lengthwise", "mirror_error_crosswise"),
    *(
        f"width_{kind}_{index + 1}"
        for kind in ("sum", "difference")
        for index in range(WIDTHS // 2)
    ),
    *(f"ring_{index + 1}" for index in range(RINGS)),
)


def measure_geometry(shape: Shape) -> NDArray[np.float32]:
    """Measure proportions, convexity and profiles of a leaf's region: float32 (51,), as named in `GEOMETRY_NAMES`.

    Ratios lie in 0…1; a name that begins with ``log_`` is a natural logarithm (a ratio of lengths is nearer to normal
    on that scale). The ratios are common ones of shape analysis; the profiles are leafid's own.

    The main axis is that of the second moments, and points to the end with the longer tail (the sign of the third
    moment); of each pair of opposite widths the profile holds the sum and the difference in that direction.
    """
    points = np.concatenate([shape.contour[shape.hull], *shape.contours[1:]])
    hull = points[cv2.convexHull(points.astype(np.float32), returnPoints=False).ravel()]
    area = shape.side**2
    outer_areas = np.array(
        [abs(compute_contour_area(contour)) for contour in shape.contours]
    )
    perimeter = sum(compute_contour_length(contour) for contour in shape.contours)
    hull_area, hull_length = (
        abs(compute_contour_area(hull)),
        compute_contour_length(hull),
    )
    box = [
        max(length, 1e-6)
        for length in sorted(cv2.minAreaRect(hull.astype(np.float32))[1])
    ]
    radius = cv2.minEnclosingCircle(hull.astype(np.float32))[1]
    # The region's inside is measured at half or a quarter of its size.
    moments = cv2.moments(shape.half)
    # The contour counts in pixels of the full size.
    centre = 2 * np.array([moments["m01"], moments["m10"]]) / moments["m00"] + 0.5
    along, across, lengthwise, crosswise = _find_axes(moments)
    thickest = _measure_inner_radius(shape)
    proportions = [
        np.log(box[1] / box[0]),
        np.log(lengthwise / crosswise),
        np.sqrt(max(0.0, 1 - (crosswise / lengthwise) ** 2)),
        area / max(hull_area, area),
        min(1.0, hull_length / perimeter),
        min(1.0, 4 * np.pi * outer_areas.sum() / perimeter**2),
        np.log(perimeter / shape.side),
        min(1.0, area / (box[0] * box[1])),
        min(1.0, hull_area / (box[0] * box[1])),
        min(1.0, area / (np.pi * radius**2)),
        np.log(2 * radius / shape.side),
        np.log(max(thickest, 0.5) / shape.side),
        thickest / radius,
        min(1.0, 4 * np.pi * hull_area / hull_length**2),
        np.log1p(len(shape.contours) - 1),
        outer_areas[0] / max(outer_areas.sum(), 1e-9),
        np.sqrt(max(0.0, 1 - area / max(outer_areas.sum(), area))),
    ]
    centre_gap = np.hypot(*(find_centroid(hull) - centre)) / shape.side
    profiles = [
        *_measure_widths(along, across, hull, shape),
        *_measure_rings(centre, shape),
    ]
    return np.asarray([*proportions, centre_gap, *profiles], dtype=np.float32)


def _measure_inner_radius(shape: Shape) -> float:
    """Approximate the radius of the largest disc inside the region."""
    inside = np.pad(shape.quarter >= 128, 1).view(np.uint8)
    distance = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
    _, farthest, _, (col, row) = cv2.minMaxLoc(distance)
    # A pixel's distance to the next background pixel is up to a pixel too large. The outline is more accurate, but
    # knows no holes.
    offsets = shape.all_points - (4 * np.array([row, col]) - 2.5)
    return min(4 * farthest, float(np.sqrt((offsets * offsets).sum(axis=1).min())))


def find_centroid(polygon: Points) -> Vector:
    """Find the centroid of a polygon's inside, or of its points where it has no inside."""
    moments = cv2.moments(polygon[:, ::-1].astype(np.float32))
    if abs(moments["m00"]) < 1e-9:
        return polygon.mean(axis=0)
    return np.array([moments["m01"], moments["m10"]]) / moments["m00"]


def _find_axes(moments: Mapping[str, float]) -> tuple[Vector, Vector, float, float]:
    """Find the directions (row, column) along and across the main axis, and the standard deviations along them."""
    # A pixel itself has an extent (variance 1/12), which gives a one-pixel line a width.
    spread = (
        np.array(
            [[moments["mu02"], moments["mu11"]], [moments["mu11"], moments["mu20"]]]
        )
        / moments["m00"]
    )
    variances, axes = np.linalg.eigh(spread + np.eye(2) / 12)
    along, across = axes[:, 1], axes[:, 0]
    third = np.array(
        [moments["mu03"], moments["mu12"], moments["mu21"], moments["mu30"]]
    )
    row, col = along
    tail = third @ np.array([row**3, 3 * row**2 * col, 3 * row * col**2, col**3])
    if tail < 0:
        along = -along
    return along, across, float(np.sqrt(variances[1])), float(np.sqrt(variances[0]))


def _measure_widths(
    along: Vector, across: Vector, hull: Points, shape: Shape
) -> Vector:
    """Measure length, width, skewness, mirror errors and widths in the frame of the main axis."""
    framed = hull @ np.stack([along, across], axis=1)
    lows = framed.min(axis=0)
    sizes = np.maximum(framed.max(axis=0) - lows, 1.0)
    # Four rows of the upright picture a width, so that a width averages over several lines.
    rows, cols = 4 * WIDTHS, 64
    # Affine map from the upright picture's (col, row) to the shape's (col, row) at half its size; pixel centres lie at
    # half steps.
    down = along * sizes[0] / rows
    right = across * sizes[1] / cols
    origin = along * lows[0] + across * lows[1] + 0.5 * (down + right)
    inverse = (
        np.array(
            [[right[1], down[1], origin[1] - 0.5], [right[0], down[0], origin[0] - 0.5]]
        )
        / 2
    )
    upright = cv2.warpAffine(
        shape.half, inverse, (cols, rows), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    )
    row_sums = upright.sum(axis=1, dtype=np.int64)
    total = max(row_sums.sum(), 1)
    # Half of the difference to the mirror image, as a share of the leaf.
    mirror_lengthwise = cv2.norm(upright, cv2.flip(upright, 1), cv2.NORM_L1) / (
        2 * total
    )
    mirror_crosswise = cv2.norm(upright, cv2.flip(upright, 0), cv2.NORM_L1) / (
        2 * total
    )
    widths = row_sums.reshape(WIDTHS, -1).mean(axis=1) * (
        sizes[1] / (255 * cols * shape.side)
    )
    position = np.arange(rows) + 0.5
    weight = row_sums / total
    offset = position - position @ weight
    skewness = (weight @ offset**3) / max((weight @ offset**2) ** 1.5, 1e-9)
    sums, differences = widths + widths[::-1], widths - widths[::-1]
    half = WIDTHS // 2
    measures = [
        *np.log(sizes / shape.side),
        skewness,
        mirror_lengthwise,
        mirror_crosswise,
    ]
    return np.concatenate([measures, sums[:half], differences[:half]])


def _measure_rings(centre: Vector, shape: Shape) -> Vector:
    """Measure the square root of the area's share in each ring around the centroid."""
    height, width = shape.quarter.shape
    # Distances in ring widths, of the region at a quarter of its size.
    scale = np.float32(4 * RINGS / (RING_LIMIT * shape.side))
    rows = (
        np.arange(height, dtype=np.float32)[:, None] - np.float32((centre[0] - 1.5) / 4)
    ) * scale
    cols = (
        np.arange(width, dtype=np.float32) - np.float32((centre[1] - 1.5) / 4)
    ) * scale
    ring = np.minimum(np.sqrt(rows * rows + cols * cols), np.float32(RINGS - 1)).astype(
        np.intp
    )
    share = np.bincount(ring.ravel(), shape.quarter.ravel(), RINGS)
    return np.sqrt(share / max(share.sum(), 1.0))
