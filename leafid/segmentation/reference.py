"""Finds a thing of known size in a picture: a coin or card beside the leaf, or the sheet below it."""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage.measure import CircleModel, ransac

from leafid.errors import ImageError
from leafid.segmentation.background import fit_sheet_surface
from leafid.segmentation.result import Image, Mask, shrink
from leafid.segmentation.uniform import measure_sheet_distance

Points = NDArray[np.float64]
Plane = NDArray[np.uint8]

# Longest side of the picture in which things are searched, in pixels.
_SIDE = 2000
# Parts of Otsu's threshold above which things differ from the sheet; the sheet itself is lighter than the table.
_CUTS = (1.5, 1.4, 1.2, 1.0, 0.5, 0.25)
# Smallest thing, as a part of the picture's area.
_LEAST_AREA = 5e-4
# Part of the size by which an outline may be off, in pixels at least _PIXELS; smallest part of it that isn't.
_TOLERANCE = 0.01
_PIXELS = 1.0
_LEAST_FIT = 0.6
# Sizes of a pixel by two things differ by less.
_SAME_SIZE = 0.02
# Points of an outline that a circle is fitted to.
_MOST_POINTS = 500
# Curves run through the middles of the outermost pixels: on average so much inside the edge, in pixels.
_INSET = 0.33
# Part of a side that its line is fitted to, as cards have round corners, and farthest point, as a part of the side.
_STRAIGHT_PART = 0.7
_NEAR = 0.03
# Largest departure of corners from a rectangle, relative to the half diagonal, of a card that lies flat, and at all.
_FLAT = 0.01
_MOST_TILTED = 0.15
# Margin that is painted over around a thing, and that is cut off within a sheet, as parts of their sizes.
_MARGIN = 0.03
_EDGE = 0.01
# Largest picture seen from above, in pixels of the picture.
_MOST_PIXELS = 4.0


@dataclass(frozen=True, eq=False)
class Reference:
    """A thing of known size."""

    #: Its outline or corners, (n, 2) columns and rows of the picture.
    outline: Points
    mm_per_pixel: float
    #: Part of the thing's outline that fits the form that is expected.
    confidence: float
    #: Homography, (3, 3), to the picture as seen from above, and its width and height; None where it needs none.
    flattening: Points | None = None
    size: tuple[int, int] = (0, 0)
    #: Whether the leaf lies beside it, and not on it.
    is_beside: bool = True

    def flatten(self, image: Plane) -> Plane:
        """Show a picture or mask from above."""
        if self.flattening is None:
            return image
        border = cv2.BORDER_REPLICATE if image.ndim == 3 else cv2.BORDER_CONSTANT
        return np.asarray(
            cv2.warpPerspective(image, self.flattening, self.size, borderMode=border),
            np.uint8,
        )

    def restore(self, mask: Mask, shape: tuple[int, int]) -> Mask:
        """Show a mask as in the picture of a shape, before it was flattened."""
        if self.flattening is None:
            return mask
        backwards = np.linalg.inv(self.flattening)
        plane = mask.view(np.uint8)
        nearest = cv2.INTER_NEAREST
        return cv2.warpPerspective(plane, backwards, shape[::-1], flags=nearest) > 0

    def paint_over(self, image: Image) -> Image:
        """Give a thing beside the leaf, and a margin, the colour of the sheet, so that it is no leaf."""
        if not self.is_beside:
            return image
        marked = np.zeros(image.shape[:2], np.uint8)
        corners = _enlarge(self.outline, 1 + 2 * _MARGIN)
        cv2.fillPoly(marked, [np.rint(corners).astype(np.int32)], 1)
        sheet = cv2.cvtColor(_estimate_sheet(image), cv2.COLOR_LAB2BGR)
        return cv2.copyTo(sheet, marked, image.copy())


def find_reference(image: Image, kind: str, size: tuple[float, ...]) -> Reference:
    """Find a ``coin`` of a diameter, a ``card`` beside the leaf or the ``sheet`` below it of two sides, in millimetres.

    The method is leafid's own: of the regions that differ from the sheet, or of light ones for the sheet, those that
    are a circle or a quadrilateral. An `ImageError` is raised where there is none, or several of different sizes.
    """
    small = shrink(image, _SIDE)
    factor = image.shape[1] / small.shape[1]
    lab = cv2.cvtColor(small, cv2.COLOR_BGR2LAB)
    plane = (
        lab[:, :, 0]
        if kind == "sheet"
        else measure_sheet_distance(lab, _estimate_sheet(small), lightness_share=1.0)
    )
    fit = _fit_circle if kind == "coin" else _fit_rectangle
    candidates = []
    for curve in _list_curves(plane):
        outline, confidence = fit(curve[:, 0].astype(np.float64) + 0.5)
        departure, mm_per_pixel, _ = _compare(outline * factor, size)
        if confidence >= _LEAST_FIT and departure <= _MOST_TILTED:
            thing = Reference(outline * factor, mm_per_pixel, confidence)
            candidates.append(thing)
    # Of a thing and its parts, such as the rim of a coin, the whole is taken where it fits as well.
    candidates.sort(key=lambda thing: (-round(thing.confidence, 1), thing.mm_per_pixel))
    things: list[Reference] = []
    for thing in candidates:
        centre = thing.outline.mean(axis=0).tolist()
        outlines = [known.outline.astype(np.float32) for known in things]
        if all(cv2.pointPolygonTest(line, centre, False) < 0 for line in outlines):
            things.append(thing)
    scales = [thing.mm_per_pixel for thing in things]
    if not things:
        raise ImageError(f"expected a {kind} whose whole outline is seen, found none")
    if max(scales) > (1 + _SAME_SIZE) * min(scales):
        raise ImageError(f"expected one {kind}, found {len(things)} of several sizes")
    return (
        things[0]
        if kind == "coin"
        else _flatten(things[0], image, size, kind == "card")
    )


def _estimate_sheet(image: Image) -> Image:
    surface, _ = fit_sheet_surface(image)
    return cv2.resize(surface.clip(0, 255).astype(np.uint8), image.shape[1::-1])


def _list_curves(plane: Plane) -> list[NDArray[np.int32]]:
    """List the outlines of regions that are higher than their surroundings, each at half of its height."""
    otsu, _ = cv2.threshold(plane.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    curves = []
    for share in _CUTS:
        cut = share * otsu
        for curve in _find_curves(plane, cut):
            region = np.zeros_like(plane)
            cv2.drawContours(region, [curve], 0, 1, cv2.FILLED)
            half = float(np.median(plane[region > 0])) / 2
            curves += _find_curves(plane * region, max(half, cut))
    return curves


def _find_curves(plane: Plane, cut: float) -> list[NDArray[np.int32]]:
    """Find the outlines of large regions above a threshold, which don't touch the border of the picture."""
    above = cv2.threshold(plane, cut, 1, cv2.THRESH_BINARY)[1]
    curves, _ = cv2.findContours(above, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    last = np.array(plane.shape[::-1]) - 1
    return [
        np.asarray(curve, np.int32)
        for curve in curves
        if cv2.contourArea(curve) >= _LEAST_AREA * plane.size
        and curve.min() > 0
        and (curve < last).all()
    ]


def _fit_circle(points: Points) -> tuple[Points, float]:
    """Fit a circle to most of an outline, which may have a shadow; return points of it, and the part that fits."""
    off = max(
        _TOLERANCE * float(np.sqrt(cv2.contourArea(points.astype(np.float32)) / np.pi)),
        _PIXELS,
    )
    points = points[:: 1 + len(points) // _MOST_POINTS]
    _, fits = ransac(points, CircleModel, 3, off, max_trials=200, rng=0)
    if fits is None or np.count_nonzero(fits) < 5:
        return points, 0.0
    ellipse = cv2.fitEllipse(points[fits].astype(np.float32))
    radius = sum(ellipse[1]) / 4 + _INSET
    angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    outline = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1) + ellipse[0]
    return outline, float(fits.mean())


def _fit_rectangle(points: Points) -> tuple[Points, float]:
    """Fit lines to four sides of an outline; return their corners, and the part that fits."""
    hull = cv2.convexHull(points.astype(np.float32))
    if len(hull) < 4:
        return points, 0.0
    rough = cv2.approxPolyN(hull, 4, ensure_convex=True)[0].astype(float)
    lines = []
    for start, side in zip(rough, np.roll(rough, -1, axis=0) - rough, strict=True):
        length = np.hypot(*side)
        along = (points - start) @ side / length**2 - 0.5
        across = (points - start) @ (side[1], -side[0]) / length**2
        is_near = (np.abs(across) < _NEAR) & (np.abs(along) < _STRAIGHT_PART / 2)
        if np.count_nonzero(is_near) < 2:
            return points, 0.0
        chosen = points[is_near].astype(np.float32)
        line = cv2.fitLine(chosen, cv2.DIST_HUBER, 0, 0.01, 0.01)
        u, v, col, row = line.ravel().tolist()
        lines.append((v, -u, u * row - v * col))
    crossings = np.cross(lines, np.roll(lines, 1, axis=0))
    corners = crossings[:, :2] / crossings[:, 2:]
    side = np.sqrt(cv2.contourArea(hull))
    off = np.abs(np.column_stack([points, np.ones(len(points))]) @ np.transpose(lines))
    fits = off.min(axis=1) <= max(_TOLERANCE * side, _PIXELS)
    return _enlarge(corners, 1 + 2 * _INSET / side), float(fits.mean())


def _enlarge(outline: Points, factor: float) -> Points:
    centre = outline.mean(axis=0)
    return centre + (outline - centre) * factor


def _compare(outline: Points, size: tuple[float, ...]) -> tuple[float, float, Points]:
    """Compare an outline with a circle or rectangle of a size by the best similarity.

    Return the largest departure, relative to the half diagonal, the millimetres a pixel, and the points of the circle
    or rectangle in pixels, in the order of the others.
    """
    if len(size) == 1:
        return 0.0, size[0] / float(np.ptp(outline[:, 0])), outline
    if len(outline) != 4:
        return np.inf, 0.0, outline
    candidates = []
    for width, height in (size, size[::-1]):
        flat = np.array([[0, 0], [width, 0], [width, height], [0, height]])
        a, b = ((p - p.mean(axis=0)) @ (1, 1j) for p in (outline, flat))
        turn = np.vdot(b, a) / np.vdot(b, b)
        departure = float(np.abs(a - turn * b).max() / np.abs(a).mean())
        candidates.append((departure, 1 / float(np.abs(turn)), flat * np.abs(turn)))
    return min(candidates, key=lambda candidate: candidate[0])


def _flatten(
    thing: Reference, image: Image, size: tuple[float, ...], is_beside: bool
) -> Reference:
    """Add the homography that shows the picture from above, if a card is tilted, or the sheet alone."""
    departure, _, flat = _compare(thing.outline, size)
    if departure <= _FLAT and is_beside:
        return thing
    rows, cols = image.shape[:2]
    flattening = cv2.getPerspectiveTransform(
        thing.outline.astype(np.float32), flat.astype(np.float32)
    )
    area = _enlarge(flat, 1 - 2 * _EDGE)
    if is_beside:
        corners = np.array([[0, 0, 1], [cols, 0, 1], [cols, rows, 1], [0, rows, 1]])
        ahead = corners @ flattening.T
        area = ahead[:, :2] / np.maximum(ahead[:, 2:], 1e-9)
    start = area.min(axis=0)
    width, height = np.ceil(area.max(axis=0) - start).tolist()
    if width * height > _MOST_PIXELS * rows * cols:
        raise ImageError("expected a camera above the leaf, found one that is tilted")
    shift = np.array([[1, 0, -start[0]], [0, 1, -start[1]], [0, 0, 1]])
    flattening = shift @ flattening
    return replace(
        thing,
        flattening=flattening,
        size=(int(width), int(height)),
        is_beside=is_beside,
    )
