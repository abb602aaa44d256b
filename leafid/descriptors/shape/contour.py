"""The leaf's outline: closed curves, and the normalised shape of all shape families."""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.arrays import Indices, Plane, Points
from leafid.segmentation.pixels import (
    Mask,
    add_margin,
    downsample2,
    find_bounding_box,
    get_window,
    scale_size,
)

#: √area of a normalised shape, in pixels; at 160, fine teeth and accuracy were lost.
SIDE = 240.0
#: Points of the largest contour of a normalised shape.
CONTOUR_POINTS = 1024
#: Approximate maximum of points of all contours: a page of text has thousands.
MAX_POINTS = 128 * CONTOUR_POINTS
#: Smallest area, relative to the largest one, of a component that is leaf and not dirt.
PART_SHARE = 0.02
# Longest side of a normalised mask, in pixels: bounds the memory that a hair-thin
# region takes.
_MAX_SIDE = 1600
# Empty pixels around a traced region, enough for the smoothing kernel.
_BORDER = 3


@dataclass(frozen=True, eq=False)
class Shape:
    """A leaf's region scaled to one size."""

    #: Share of each pixel that the leaf covers, 0 to 255; scaled so that √area ≈
    #: `SIDE`; with an empty border.
    grey: Plane
    #: Outer contours of the large components, largest first, counter-clockwise as seen
    #: on the picture, at equal arc length: `CONTOUR_POINTS` points of the first one, of
    #: others in proportion to their length.
    contours: tuple[Points, ...]
    #: √area of `grey`, in pixels.
    side: float

    @property
    def contour(self) -> Points:
        """The largest component's contour, (`CONTOUR_POINTS`, 2)."""
        return self.contours[0]

    @property
    def all_points(self) -> Points:
        """The points of all contours."""
        return np.concatenate(self.contours)

    @cached_property
    def hull(self) -> Indices:
        """The `find_hull` of `contour`."""
        return find_hull(self.contour)

    @cached_property
    def half(self) -> Plane:
        """`grey` at half its size: (r, c) lies at (2 r + ½, 2 c + ½)."""
        return downsample2(self.grey)

    @cached_property
    def quarter(self) -> Plane:
        """`grey` at a quarter of its size: (r, c) lies at (4 r + 1½, 4 c + 1½)."""
        return downsample2(self.half)


def normalise_shape(mask: Mask) -> Shape:
    """Scale a leaf's region to one size and trace its outline.

    Dirt, which is much smaller than the leaf, is dropped.

    Parameters
    ----------
    mask : bool (H, W)
        Not empty.

    Returns
    -------
    Shape
    """
    grey = _scale(_drop_dirt(mask))
    side = (cv2.sumElems(grey)[0] / 255) ** 0.5
    contours = trace_contours(grey)
    lengths = np.array([compute_contour_length(contour) for contour in contours])
    counts = np.maximum(np.rint(CONTOUR_POINTS * lengths / lengths[0]), 8).astype(int)
    if (total := counts.sum()) > MAX_POINTS:
        counts[1:] = np.maximum(counts[1:] * MAX_POINTS // total, 8)
    return Shape(grey, tuple(map(resample, contours, counts.tolist())), side)


def find_hull(contour: Points) -> Indices:
    """Find the points of a contour on its convex hull; ascending indices."""
    hull = cv2.convexHull(contour.astype(np.float32), returnPoints=False)
    return np.sort(hull.ravel()).astype(np.intp)


def compute_contour_length(contour: Points) -> float:
    """Length of a closed contour."""
    return cv2.arcLength(contour.astype(np.float32), True)


def compute_contour_area(contour: Points) -> float:
    """Measure the signed area inside a closed contour.

    The area is positive where the contour runs counter-clockwise on the picture.
    """
    return cv2.contourArea(contour.astype(np.float32), oriented=True)


def as_complex(contour: Points) -> NDArray[np.complex128]:
    """View contour points as complex numbers, row + i·col."""
    return np.ascontiguousarray(contour, dtype=np.float64).view(np.complex128)[:, 0]


def resample(contour: Points, n_points: int) -> Points:
    """Return `n_points` points at equal arc length, from a contour's first point on."""
    # Complex numbers interpolate both coordinates in one search.
    closed = as_complex(np.concatenate([contour, contour[:1]]))
    lengths = np.append(0.0, np.abs(np.diff(closed)).cumsum())
    points = np.interp(np.arange(n_points) * (lengths[-1] / n_points), lengths, closed)
    return points.view(np.float64).reshape(-1, 2)


def _drop_dirt(mask: Mask) -> Plane:
    """Return the large components, 0 or 255, in the box of the whole mask."""
    box = mask[get_window(find_bounding_box(mask))]
    crop = box.view(np.uint8) * np.uint8(255)
    # OpenCV finds outer contours several times faster than it labels components.
    contours, _ = cv2.findContours(crop, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    # In pixels, as of Pick's theorem.
    areas = [
        cv2.contourArea(curve) + cv2.arcLength(curve, True) / 2 for curve in contours
    ]
    limit = PART_SHARE * (max(areas) + 1)
    for index, area in enumerate(areas):
        if area + 1 < limit:
            cv2.drawContours(crop, contours, index, 0, cv2.FILLED)
    return crop


def _scale(crop: Plane) -> Plane:
    """Scale a leaf's box to √area = `SIDE`; uint8 coverage with an empty border."""
    scale = min(SIDE / np.sqrt(np.count_nonzero(crop)), _MAX_SIDE / max(crop.shape))
    # Blocks of pixels are averaged first, because linear interpolation alone would skip
    # pixels.
    factor = max(1, int(1 / scale))
    spare = [-length % factor for length in crop.shape]
    top, left = (length // 2 for length in spare)
    bottom, right = spare[0] - top, spare[1] - left
    crop = cv2.copyMakeBorder(crop, top, bottom, left, right, cv2.BORDER_CONSTANT)
    size = crop.shape[1] // factor, crop.shape[0] // factor
    crop = cv2.resize(crop, size, interpolation=cv2.INTER_AREA)
    scale *= factor
    crop = add_margin(crop, int((_BORDER + 1) / scale) + 3)
    if scale > 1:
        # The stairs of a small mask's pixels would grow into teeth.
        crop = cv2.GaussianBlur(crop, (5, 5), 0.7)
    # Whole pixels in both directions, so that a turned or mirrored leaf is sampled at
    # the same points.
    return cv2.resize(crop, scale_size(crop, scale), interpolation=cv2.INTER_LINEAR)


def trace_contours(grey: Plane) -> list[Points]:
    """Trace the outer contours of the half-covered level, with one point a pixel.

    The largest contour comes first.
    """
    smooth = cv2.GaussianBlur(grey, (5, 5), 1.0)
    # Of a hair thinner than the smoothing, only the pixels of the mask remain.
    if smooth.max() < 128:
        smooth = grey
    inside = (smooth >= min(128, int(smooth.max()))).view(np.uint8)
    pixel_contours, _ = cv2.findContours(
        inside, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE
    )
    areas = np.array([cv2.contourArea(curve) + len(curve) for curve in pixel_contours])
    order = np.argsort(-areas, kind="stable")
    order = order[areas[order] >= PART_SHARE * areas.max()]
    return [_refine_contour(pixel_contours[index][:, 0, :], smooth) for index in order]


def _refine_contour(pixels: NDArray[np.int32], grey: Plane) -> Points:
    """Move boundary pixels along the gradient onto the half-covered level.

    They move by one Newton step; the result is counter-clockwise.
    """
    width = grey.shape[1]
    indices = pixels[:, 1].astype(np.intp) * width + pixels[:, 0]
    # The empty border around the region keeps all neighbours inside the array.
    steps = np.array([0, -width, width, -1, 1])[:, None]
    centre, above, below, left, right = (
        grey.ravel().take(indices + steps).astype(np.float64)
    )
    # Half the difference over two pixels is the slope.
    slope = np.stack([below - above, right - left]) / 2
    squares = slope[0] ** 2 + slope[1] ** 2
    factor = (127.5 - centre) / np.maximum(squares, 1.0)
    # The linear step is valid within a pixel only; in thin stalks the gradient
    # vanishes.
    factor /= np.sqrt(np.maximum(factor * factor * squares, 1.0))
    contour: Points = (factor * slope).T + pixels[:, ::-1]
    if len(contour) < 3 or (contour == contour[0]).all():
        # The corners of their box stand for few pixels, and for pixels that meet in a
        # point.
        low = contour.min(axis=0) - 0.5
        high = contour.max(axis=0) + 0.5
        corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        contour = low + corners * (high - low)
    return contour if compute_contour_area(contour) >= 0 else contour[::-1].copy()
