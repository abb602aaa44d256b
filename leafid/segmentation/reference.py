"""Finds a thing of known size: a coin or card beside the leaf, or the sheet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import (
    gaussian_filter1d,
    maximum_filter1d,
    uniform_filter1d,
)
from scipy.spatial.distance import pdist
from skimage.measure import CircleModel, ransac

from leafid.errors import ImageError
from leafid.segmentation.background import erase, fit_sheet_surface
from leafid.segmentation.outlines import GREY_LAB
from leafid.segmentation.pixels import Image, Mask, Plane, find_outlines, shrink
from leafid.segmentation.sheets.contrast import (
    Metric,
    is_card,
    measure_sheet_distance,
)

#: Columns and rows, (n, 2).
Points = NDArray[np.floating[Any]]

# Longest side of the picture in which things are searched, in pixels.
_SIDE = 2000
# Parts of Otsu's threshold above which things differ from the sheet, or the sheet is
# lighter than the table.
_CUTS = (1.5, 1.4, 1.2, 1.0, 0.5, 0.25)
# Smallest thing, as a part of the picture's area.
_LEAST_AREA = 5e-4
# Part of the size by which an outline may be off, in pixels at least 1; smallest part
# of it that isn't.
_TOLERANCE = 0.01
_LEAST_FIT = 0.6
# Sizes of a pixel by two things differ by less.
_SAME_SIZE = 0.02
# Points of an outline that a circle is fitted to, and corners that it is drawn with.
_MOST_POINTS = 500
_ANGLES = np.linspace(0, 2 * np.pi, 72, endpoint=False)
# Curves run through the middles of the outermost pixels: on average so much inside the
# edge, in pixels.
_INSET = 0.33
# Coins are redder than this and less red, in 8-bit Lab units, and have less chroma.
_LEAST_RED = -4.0
_MOST_RED = 32.0
_MOST_CHROMA = 55.0
# The rim of a coin is searched between these parts of the radius of a circle in it, at
# this number of angles.
_LEAST_RIM = 0.6
_MOST_RIM = 2.4
_N_ANGLES = 360
# The step of colours there: distance of samples along the radius, in pixels, standard
# deviation of their blur, in samples, and the angles that it is averaged over.
_RIM_STEP = 0.5
_RIM_BLUR = 2.4
_SECTOR = 21
# Samples by which the rim may be off the circle.
_RIM_SHIFT = 4
# Smallest step along this part of the rim, in 8-bit Lab units, in median steps, and as
# a part of the highest one of any circle.
_MOST_ANGLES = 0.8
_MIN_STEP = 2.0
_STEP_OF_NOISE = 3.0
_STEP_OF_HIGHEST = 0.4
# Largest departure from a rectangle of a card that lies flat, and at all.
_FLAT = 0.02
_MOST_TILTED = 0.5
# By how much the logarithm of the ratio of the sides may be off: A4 and Letter differ
# by 0.09. A camera that is tilted shortens one side, by the square of how much it
# tapers the other.
_RATIO_TOLERANCE = 0.03
_TILT_TOLERANCE = 3.0
# Margin that is cut off within a sheet, as a part of its size.
_EDGE = 0.01
# Largest picture seen from above, in pixels of the picture.
_MOST_PIXELS = 4.0


@dataclass(frozen=True, eq=False)
class Scale:
    """The size of the pixels of a picture, and how the picture is seen from above."""

    #: None where it is unknown.
    mm_per_pixel: float | None = None
    #: What a person should know about it.
    remark: str | None = None
    #: How sure the size is: of a thing, the part of the outline that fits its form.
    confidence: float | None = None
    #: The outline or corners of the thing, (n, 2) columns and rows.
    outline: Points | None = None
    #: Whether the leaf lies beside the thing, and not on it.
    is_beside: bool = True
    #: Homography, (3, 3), to the picture as seen from above, and its width and height;
    #: None where it needs none.
    flattening: NDArray[np.float64] | None = None
    size: Sequence[int] = ()

    def show_leaf(self, image: Image) -> Image:
        """Show a picture from above, and without a thing beside the leaf."""
        if self.outline is not None and self.is_beside:
            thing = np.zeros(image.shape[:2], np.uint8)
            cv2.fillPoly(thing, [np.rint(self.outline).astype(np.int32)], 1)
            image = erase(image, thing.view(bool))
        border = cv2.BORDER_REPLICATE
        return self._warp(image, self.size, cv2.INTER_LINEAR, border)

    def flatten(self, mask: Mask) -> Mask:
        """Show a mask from above."""
        return self._warp(mask.view(np.uint8), self.size, cv2.INTER_NEAREST) > 0

    def restore(self, mask: Mask, shape: Sequence[int]) -> Mask:
        """Show a mask as in the picture of a shape, before it was flattened."""
        flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        return self._warp(mask.view(np.uint8), shape[1::-1], flags) > 0

    def _warp(
        self, plane: Plane, size: Sequence[int], flags: int, border: int = 0
    ) -> Plane:
        if self.flattening is None:
            return plane
        matrix = self.flattening
        return cv2.warpPerspective(plane, matrix, size, None, flags, border)

    def restore_places(self, record: dict[str, Any]) -> dict[str, Any]:
        """Move base and tip of a leaf's row to where they are in the picture."""
        if self.flattening is None or record["tip_row"] is None:
            return record
        names = ["base_column", "base_row", "tip_column", "tip_row"]
        places = np.array([record[name] for name in names]).reshape(1, 2, 2)
        moved = cv2.perspectiveTransform(places, np.linalg.inv(self.flattening))
        return record | dict(zip(names, moved.ravel().tolist(), strict=True))


class _Thing(NamedTuple):
    """An outline, perhaps of a thing of known size."""

    outline: Points
    #: Part of the outline of the region that it fits.
    fit: float
    mm_per_pixel: float
    #: The circle or rectangle as seen from above, in the order of the outline.
    flat: Points
    #: By how much the logarithms of the scales of its sides and diagonals differ.
    departure: float = 0.0
    #: Logarithm of how much longer a side is than the opposite one, which is farther.
    tilt: float = 0.0


def find_reference(image: Image, kind: str, size: tuple[float, ...]) -> Scale:
    """Find a ``coin``, ``card`` or the ``sheet`` whose sizes are given in millimetres.

    The method is leafid's: it takes circles or quadrilaterals among the regions that
    differ from the sheet, or are light if the sheet is searched for. An `ImageError` is
    raised where there is none, or several of different sizes.
    """
    small = shrink(image, _SIDE)
    factor = np.float32(image.shape[1] / small.shape[1])
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB)
    surface, _ = fit_sheet_surface(small)
    sheet = cv2.resize(surface.clip(0, 255).astype(np.uint8), small.shape[1::-1])
    height = lab[..., 0]
    if kind != "sheet":
        height = measure_sheet_distance(lab, sheet, Metric(lightness_share=1.0))
    fit_outline = _fit_circle if kind == "coin" else _fit_quadrilateral
    candidates: list[_Thing] = []
    for curve in _list_curves(height):
        points = curve[:: 1 + len(curve) // _MOST_POINTS, 0] + 0.5
        side = float(np.sqrt(cv2.contourArea(curve)))
        off = max(_TOLERANCE * side, 1.0)
        outline = _enlarge(fit_outline(points, off), 1 + 2 * _INSET / side)
        distances = [cv2.pointPolygonTest(outline, point, True) for point in points]
        fit = float(np.mean(np.abs(distances) <= off + _INSET))
        if fit < _LEAST_FIT:
            continue
        if kind == "coin":
            outline, fit = _find_rim(lab, outline)
            if fit < _LEAST_FIT or _is_leaf(lab, sheet, outline):
                continue
        candidates += _compare(outline * factor, size, fit)
    # Of a thing and its parts, the whole is taken where it fits as well.
    candidates.sort(key=lambda thing: (-round(thing.fit, 1), thing.mm_per_pixel))
    if not candidates:
        sides = " × ".join(f"{side:g}" for side in size)
        raise ImageError(
            f"expected a {kind} whose whole outline is seen, found none of {sides} mm"
        )
    thing = candidates[0]
    for candidate in candidates:
        centre = candidate.outline.mean(axis=0)
        is_part = cv2.pointPolygonTest(thing.outline, centre, False) >= 0
        difference = np.log(candidate.mm_per_pixel / thing.mm_per_pixel)
        if not is_part and abs(difference) > _SAME_SIZE:
            raise ImageError(f"expected one {kind}, found several of different sizes")
    is_beside = kind != "sheet"
    # The more a camera is tilted, the less is known of the ratio of the sides.
    sure = thing.fit * max(0.0, 1 - thing.tilt)
    scale = Scale(thing.mm_per_pixel, None, sure, thing.outline, is_beside)
    if thing.departure <= _FLAT and is_beside:
        return scale
    flattening, flat_size = _flatten(thing, image.shape, is_beside)
    return replace(scale, flattening=flattening, size=flat_size)


def _is_leaf(lab: Image, sheet: Image, outline: Points) -> bool:
    """Whether a round thing has a colour that leaves have, but no metal."""
    thing = cv2.fillPoly(
        np.zeros(lab.shape[:2], np.uint8), [np.rint(outline).astype(np.int32)], 1
    )
    # A sheet that is nearly white shows the tint of the light.
    behind = GREY_LAB if is_card(sheet) else cv2.mean(sheet, thing)
    _, *colour, _ = np.subtract(cv2.mean(lab, thing), behind)
    return not _LEAST_RED < colour[0] < _MOST_RED or np.hypot(*colour) > _MOST_CHROMA


def _find_rim(lab: Image, circle: Points) -> tuple[Points, float]:
    """Find the outermost circle around a coin's centre along which colours change.

    A coin has rings and a relief inside its rim. Returns the rim, and the part of it
    along which colours change.
    """
    centre = circle.mean(axis=0)
    radius = float(np.ptp(circle[:, 0])) / 2
    radii = np.arange(_LEAST_RIM * radius, _MOST_RIM * radius, _RIM_STEP)
    angles = np.linspace(0, 2 * np.pi, _N_ANGLES, endpoint=False)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # OpenCV counts from the middle of the first pixel.
    places = centre - 0.5 + radii[:, None] * directions[:, None]
    cols, rows = np.moveaxis(places.astype(np.float32), -1, 0)
    polar = cv2.remap(lab, cols, rows, cv2.INTER_LINEAR, None, cv2.BORDER_REPLICATE)
    changes = gaussian_filter1d(polar.astype(np.float32), _RIM_BLUR, axis=1, order=1)
    changes = uniform_filter1d(changes, _SECTOR, axis=0, mode="wrap")
    steps = np.linalg.norm(changes, axis=2)
    width = 2 * _RIM_SHIFT + 1
    highest = maximum_filter1d(steps, width, axis=1)
    heights = np.quantile(highest, 1 - _MOST_ANGLES, axis=0)
    noise = _STEP_OF_NOISE * float(np.median(steps))
    least = max(_MIN_STEP, noise, _STEP_OF_HIGHEST * float(heights.max()))
    is_peak = heights == maximum_filter1d(heights, width)
    peaks = np.flatnonzero(is_peak & (heights >= least))
    if not peaks.size:
        return circle, 0.0
    start = max(int(peaks[-1]) - _RIM_SHIFT, 0)
    edge = start + steps[:, start : start + width].argmax(axis=1)
    rim = _fit_circle(centre + radii[edge][:, None] * directions, 1.0)
    return rim.astype(np.float32), float((highest[:, peaks[-1]] >= least).mean())


def _list_curves(plane: Plane) -> Iterator[NDArray[np.int32]]:
    """List the outlines of regions above their surroundings, at half their height."""
    otsu, _ = cv2.threshold(plane.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    for share in _CUTS:
        cut = share * otsu
        for curve in _find_curves(plane, cut):
            region = cv2.drawContours(np.zeros_like(plane), [curve], 0, 1, cv2.FILLED)
            half = float(np.median(plane[region > 0])) / 2
            yield from _find_curves(plane * region, max(half, cut))


def _find_curves(plane: Plane, cut: float) -> Iterator[NDArray[np.int32]]:
    """Find the outlines of large regions above a threshold, inside the picture."""
    last = np.array(plane.shape[::-1]) - 1
    for curve in find_outlines((plane > cut).view(np.uint8)):
        is_inside = curve.min() > 0 and (curve < last).all()
        if is_inside and cv2.contourArea(curve) >= _LEAST_AREA * plane.size:
            yield curve


def _fit_circle(points: Points, off: float) -> Points:
    """Fit a circle to most of an outline, which may have a shadow."""
    circle, fits = ransac(points, CircleModel, 3, off, max_trials=200, rng=0)
    return points if fits is None else circle.predict_xy(_ANGLES)


def _fit_quadrilateral(points: Points, _off: float) -> Points:
    hull = cv2.convexHull(points.astype(np.float32))
    return cv2.approxPolyN(hull, 4, ensure_convex=True)[0] if len(hull) > 3 else points


def _enlarge(outline: Points, factor: float) -> Points:
    centre = outline.mean(axis=0)
    return (centre + (outline - centre) * factor).astype(np.float32)


def _compare(outline: Points, size: tuple[float, ...], fit: float) -> list[_Thing]:
    """Compare an outline with a circle or rectangle of a size.

    List none where a camera doesn't see it like this.
    """
    if len(size) == 1:
        return [_Thing(outline, fit, size[0] / float(np.ptp(outline[:, 0])), outline)]
    if len(outline) != 4:
        return []
    things = []
    for width, height in (size, size[::-1]):
        flat = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        scales = np.log(pdist(outline) / pdist(flat))
        mm_per_pixel = float(np.exp(-np.median(scales)))
        top, _, left, right, _, bottom = scales
        tilt = max(abs(top - bottom), abs(left - right))
        excess = abs(top + bottom - left - right) / 2 - _TILT_TOLERANCE * tilt**2
        departure = np.ptp(scales)
        if departure <= _MOST_TILTED and excess <= _RATIO_TOLERANCE:
            flat /= mm_per_pixel
            things.append(_Thing(outline, fit, mm_per_pixel, flat, departure, tilt))
    return sorted(things, key=lambda thing: thing.departure)[:1]


def _flatten(
    thing: _Thing, shape: Sequence[int], is_beside: bool
) -> tuple[NDArray[np.float64], Sequence[int]]:
    """Compute the homography that shows picture or sheet from above, and its size."""
    rows, cols = shape[:2]
    seen = np.array([[0, 0], [cols, 0], [cols, rows], [0, rows]], np.float32)
    if not is_beside:
        seen = _enlarge(thing.outline, 1 - 2 * _EDGE)
    flattening = cv2.getPerspectiveTransform(thing.outline, thing.flat)
    area = cv2.perspectiveTransform(seen[None], flattening)[0]
    start = area.min(axis=0)
    size = np.ceil(np.ptp(area, axis=0)).astype(int).tolist()
    # What lies beyond the horizon is seen upside down.
    is_seen = cv2.isContourConvex(area)
    if not is_seen or np.prod(size) > _MOST_PIXELS * rows * cols:
        raise ImageError("expected a camera above the leaf, found one that is tilted")
    return [[1, 0, -start[0]], [0, 1, -start[1]], [0, 0, 1]] @ flattening, size
