"""Plain geometry of a leaf: proportions, convexity, width profile along its axis."""

from collections.abc import Mapping

import cv2
import numpy as np

from leafid.descriptors.arrays import Floats, Points, Singles
from leafid.descriptors.shape.contour import (
    Shape,
    compute_contour_area,
    compute_contour_length,
)
from leafid.segmentation.pixels import add_margin

#: Widths of the profile, at equal steps along the main axis.
WIDTHS = 16
#: Rings of the radial profile, of equal width from the centroid to `RING_LIMIT`.
RINGS = 12
#: Outer radius of the radial profile, in √area; the last ring counts all beyond.
RING_LIMIT = 1.8
# Rows and columns of the upright picture: four rows a width, so that it averages lines.
_ROWS = 4 * WIDTHS
_COLS = 64

_PROPORTIONS = """
log_aspect_box log_aspect_axes eccentricity solidity convexity circularity log_perimeter
extent rectangularity_hull roundness log_enclosing_diameter log_thickness sphericity
circularity_hull log_parts largest_part holes_root hull_centre_gap log_length log_width
tail_skewness mirror_error_lengthwise mirror_error_crosswise
"""
GEOMETRY_NAMES = (
    *_PROPORTIONS.split(),
    *(f"width_sum_{index + 1}" for index in range(WIDTHS // 2)),
    *(f"width_difference_{index + 1}" for index in range(WIDTHS // 2)),
    *(f"ring_{index + 1}" for index in range(RINGS)),
)


def measure_geometry(shape: Shape) -> Singles:
    """Measure proportions, convexity and profiles of a leaf's region.

    The main axis is the axis of the second moments, and points to the end with the
    longer tail (the sign of the third moment). Of each pair of opposite widths the
    profile holds the sum and the difference in that direction. The ratios are common in
    shape analysis; the profiles are leafid's.

    Parameters
    ----------
    shape : Shape
        The blade.

    Returns
    -------
    float32 (51,)
        As named in `GEOMETRY_NAMES`. Ratios lie in 0…1; a name that begins with
        ``log_`` is a natural logarithm, as a ratio of lengths is nearer to normal on
        that scale.
    """
    points = np.concatenate([shape.contour[shape.hull], *shape.contours[1:]])
    hull = points[cv2.convexHull(points.astype(np.float32), returnPoints=False).ravel()]
    corners = hull.astype(np.float32)
    area = shape.side**2
    areas = np.abs([compute_contour_area(contour) for contour in shape.contours])
    outer_area = areas.sum()
    perimeter = sum(compute_contour_length(contour) for contour in shape.contours)
    hull_area = abs(compute_contour_area(hull))
    hull_length = compute_contour_length(hull)
    short, long = np.maximum(sorted(cv2.minAreaRect(corners)[1]), 1e-6).tolist()
    radius = cv2.minEnclosingCircle(corners)[1]
    # The region's inside is measured at half or a quarter of its size, in whose pixels
    # the moments are; the contour is in pixels of the full size.
    moments = cv2.moments(shape.half)
    centre = 2 * np.array([moments["m01"], moments["m10"]]) / moments["m00"] + 0.5
    along, across, lengthwise, crosswise = _find_axes(moments)
    thickest = _measure_inner_radius(shape)
    proportions = [
        np.log(long / short),
        np.log(lengthwise / crosswise),
        np.sqrt(max(0.0, 1 - (crosswise / lengthwise) ** 2)),
        area / max(hull_area, area),
        min(1.0, hull_length / perimeter),
        min(1.0, 4 * np.pi * outer_area / perimeter**2),
        np.log(perimeter / shape.side),
        min(1.0, area / (short * long)),
        min(1.0, hull_area / (short * long)),
        min(1.0, area / (np.pi * radius**2)),
        np.log(2 * radius / shape.side),
        np.log(max(thickest, 0.5) / shape.side),
        thickest / radius,
        min(1.0, 4 * np.pi * hull_area / hull_length**2),
        np.log(len(shape.contours)),
        areas[0] / max(outer_area, 1e-9),
        np.sqrt(max(0.0, 1 - area / max(outer_area, area))),
        np.hypot(*(find_centroid(hull) - centre)) / shape.side,
    ]
    widths = _measure_widths(along, across, hull, shape)
    rings = _measure_rings(centre, shape)
    return np.concatenate([proportions, widths, rings]).astype(np.float32)


def _measure_inner_radius(shape: Shape) -> float:
    """Approximate the radius of the largest disc inside the region."""
    inside = add_margin((shape.quarter >= 128).view(np.uint8), 1)
    distance = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
    _, farthest, _, (col, row) = cv2.minMaxLoc(distance)
    # A pixel's distance to the next background pixel is up to a pixel too large. The
    # outline is more accurate, but knows no holes.
    offsets = shape.all_points - (4 * np.array([row, col]) - 2.5)
    return min(4 * farthest, float(np.sqrt((offsets * offsets).sum(axis=1).min())))


def find_centroid(polygon: Points) -> Floats:
    """Find the centroid of a polygon's inside, or of its points if it has none."""
    moments = cv2.moments(polygon[:, ::-1].astype(np.float32))
    if abs(moments["m00"]) < 1e-9:
        return polygon.mean(axis=0)
    return np.array([moments["m01"], moments["m10"]]) / moments["m00"]


def _find_axes(moments: Mapping[str, float]) -> tuple[Floats, Floats, float, float]:
    """Find the directions along and across the main axis, with standard deviations.

    Directions are (row, column).
    """
    mu = moments
    spread = np.array([[mu["mu02"], mu["mu11"]], [mu["mu11"], mu["mu20"]]]) / mu["m00"]
    # A pixel itself has an extent (variance 1/12), which gives a one-pixel line a
    # width.
    variances, axes = np.linalg.eigh(spread + np.eye(2) / 12)
    row, col = axes[:, 1]
    third = np.array([mu["mu03"], mu["mu12"], mu["mu21"], mu["mu30"]])
    tail = third @ np.array([row**3, 3 * row**2 * col, 3 * row * col**2, col**3])
    along = -axes[:, 1] if tail < 0 else axes[:, 1]
    crosswise, lengthwise = np.sqrt(variances).tolist()
    return along, axes[:, 0], lengthwise, crosswise


def _measure_widths(
    along: Floats, across: Floats, hull: Points, shape: Shape
) -> Floats:
    """Measure length, width, skewness, mirror errors and widths along the main axis."""
    framed = hull @ np.stack([along, across], axis=1)
    lows = framed.min(axis=0)
    sizes = np.maximum(framed.max(axis=0) - lows, 1.0)
    # Affine map from the upright picture's (col, row) to the shape's (col, row) at half
    # its size; pixel centres lie at half steps.
    down = along * sizes[0] / _ROWS
    right = across * sizes[1] / _COLS
    origin = along * lows[0] + across * lows[1] + 0.5 * (down + right) - 0.5
    upright = cv2.warpAffine(
        shape.half,
        np.stack([right, down, origin], axis=1)[::-1] / 2,
        (_COLS, _ROWS),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
    )
    row_sums = upright.sum(axis=1, dtype=np.int64)
    total = max(row_sums.sum(), 1)
    # Half of the difference to the mirror image, as a share of the leaf.
    mirror_errors = [
        cv2.norm(upright, cv2.flip(upright, axis), cv2.NORM_L1) / (2 * total)
        for axis in (1, 0)
    ]
    widths = row_sums.reshape(WIDTHS, -1).mean(axis=1)
    widths *= sizes[1] / (255 * _COLS * shape.side)
    position = np.arange(_ROWS) + 0.5
    weight = row_sums / total
    offset = position - position @ weight
    skewness = (weight @ offset**3) / max((weight @ offset**2) ** 1.5, 1e-9)
    pairs = [widths + widths[::-1], widths - widths[::-1]]
    profile = np.array(pairs)[:, : WIDTHS // 2].ravel()
    return np.array([*np.log(sizes / shape.side), skewness, *mirror_errors, *profile])


def _measure_rings(centre: Floats, shape: Shape) -> Floats:
    """Measure the square root of the area's share in each ring around the centroid."""
    # Distances in ring widths, of the region at a quarter of its size.
    scale = np.float32(4 * RINGS / (RING_LIMIT * shape.side))
    rows, cols = (
        (np.arange(length, dtype=np.float32) - np.float32((middle - 1.5) / 4)) * scale
        for length, middle in zip(shape.quarter.shape, centre, strict=True)
    )
    distances = np.sqrt((rows * rows)[:, None] + cols * cols)
    ring = np.minimum(distances, np.float32(RINGS - 1)).astype(np.intp)
    share = np.bincount(ring.ravel(), shape.quarter.ravel(), RINGS)
    return np.sqrt(share / max(share.sum(), 1.0))
