"""Turns the leaf upright and scales it to a standard size."""

from collections.abc import Mapping

import cv2
import numpy as np

from leafid.segmentation.pixels import (
    Image,
    Mask,
    find_bounding_box,
    find_convex_hull,
    get_window,
    make_square,
)
from leafid.segmentation.result import Segmentation

_MOMENTS_SIZE = (
    64  # pixels on the shorter side of the leaf's box that its axis is estimated from
)
_MARGIN = 0.05  # free part of the square on each side of the leaf


def estimate_upright_angle(segmentation: Segmentation) -> float:
    """Estimate the angle that turns a leaf upright, with base and petiole below.

    The angle is in degrees, counter-clockwise as the picture is seen, in [-180, 180);
    the mask must not be empty. The method is leafid's. With a petiole, the axis runs
    from where the petiole meets the blade to the blade's centroid. Without one it is
    the principal axis, and the end with the longer tail (third moment along the axis)
    is the tip.
    """
    row0, _, col0, _ = segmentation.box
    blade = segmentation.blade[get_window(segmentation.box)].view(np.uint8)
    # Using every pixel of a large leaf would change the angle by less than a tenth of a
    # degree.
    step = max(1, min(blade.shape) // _MOMENTS_SIZE)
    moments = cv2.moments(np.ascontiguousarray(blade[::step, ::step]), True)
    if not moments["m00"]:
        # A few scattered pixels, all of them between the sampled ones.
        step = 1
        moments = cv2.moments(np.ascontiguousarray(blade))
    centre = _find_centroid(moments) * step + (col0, row0)
    foot = find_petiole_foot(segmentation)
    if foot is not None and np.any(foot != centre):
        up = centre - foot
    else:
        mixed = moments["mu11"]
        second = [[moments["mu20"], mixed], [mixed, moments["mu02"]]]
        # The largest eigenvalue comes last.
        up = np.linalg.eigh(second)[1][:, 1]
        col, row = up
        third = [moments[name] for name in ("mu30", "mu21", "mu12", "mu03")]
        powers = [col**3, 3 * col**2 * row, 3 * col * row**2, row**3]
        tail = np.dot(third, powers)
        if tail < 0 or (tail == 0 and up[1] > 0):
            up = -up
    # Rows grow downwards: straight up is (0, -1).
    angle = np.degrees(np.arctan2(up[0], -up[1]))
    return float((angle + 180) % 360 - 180)


def crop_leaf(
    image: Image, segmentation: Segmentation, size: int, *, upright: bool = True
) -> tuple[Image, Mask]:
    """Cut the leaf out on white, upright, in a square of `size` pixels a side.

    Takes and returns BGR or grey pictures, with the mask of the crop; the leaf must not
    be empty. Its longer side fills the square but for a margin of a twentieth on each
    side.
    """
    row0, _, col0, _ = segmentation.box
    window = get_window(segmentation.box)
    mask = segmentation.mask.view(np.uint8)
    corners = find_convex_hull(mask[window])[:, 0] + (col0, row0)
    angle = estimate_upright_angle(segmentation) if upright else 0.0
    matrix = _fit_square(corners, angle, size)
    # The standard deviation, in pixels of the picture, of a blur against aliasing.
    scale = float(np.hypot(matrix[0, 0], matrix[0, 1]))
    sigma = 0.0 if scale >= 0.75 else 0.4 / scale
    # Only the leaf's box, and the pixels that the blur mixes into it, appear in the
    # square.
    box = get_window(segmentation.box, 2 + int(np.ceil(4 * sigma)))
    matrix[:, 2] += matrix[:, :2] @ (box[1].start, box[0].start)
    crop = image[box]
    if sigma:
        # The kernel ends at two standard deviations, beyond which weights are
        # negligible.
        side = 2 * max(1, round(2 * sigma)) + 1
        crop = cv2.GaussianBlur(crop, (side, side), sigma)
    crop = cv2.warpAffine(crop, matrix, (size, size), borderValue=(255, 255, 255))
    if segmentation.coverage is not None:
        coverage = cv2.warpAffine(segmentation.coverage[box], matrix, (size, size))
        leaf = cv2.threshold(coverage, 127, 1, cv2.THRESH_BINARY)[1]
    else:
        flags = cv2.INTER_NEAREST
        leaf = cv2.warpAffine(mask[box], matrix, (size, size), flags=flags)
    return cv2.copyTo(crop, leaf, np.full_like(crop, 255)), leaf.view(bool)


def _fit_square(corners: np.ndarray, angle: float, size: int) -> np.ndarray:
    """Compute the mapping of (col, row) to the square's, from the leaf's hull."""
    radians = np.radians(angle)
    cosine = np.cos(radians)
    sine = np.sin(radians)
    rotation = np.array([[cosine, sine], [-sine, cosine]])
    rotated = rotation @ corners.T
    low = rotated.min(axis=1)
    high = rotated.max(axis=1)
    scale = (1 - 2 * _MARGIN) * size / max(float((high - low).max()) + 1, 1.0)
    return np.column_stack(
        [scale * rotation, (size - 1) / 2 - scale * (low + high) / 2]
    )


def find_petiole_foot(segmentation: Segmentation) -> np.ndarray | None:
    """Find where the petiole meets the blade, (col, row); None without a petiole."""
    leaf = get_window(segmentation.box)
    blade = segmentation.blade[leaf].view(np.uint8)
    petiole = cv2.subtract(segmentation.mask[leaf].view(np.uint8), blade)
    if not petiole.any():
        return None
    window = get_window(find_bounding_box(petiole), 2)
    near_blade = cv2.dilate(blade[window].copy(), make_square(5))
    foot = cv2.moments(near_blade & petiole[window])
    if not foot["m00"]:
        foot = cv2.moments(petiole[window])
    start = [leaf[axis].start + window[axis].start for axis in (1, 0)]
    return _find_centroid(foot) + start


def _find_centroid(moments: Mapping[str, float]) -> np.ndarray:
    return np.array([moments["m10"], moments["m01"]]) / moments["m00"]
