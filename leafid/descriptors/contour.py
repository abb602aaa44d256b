"""The leaf's outline: extraction, smoothing, resampling, and the normalised shape that all shape families share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.descriptors.closed_curves import Points, contour_area, contour_length, resample
from leafid.errors import LeafidError
from leafid.segmentation.result import downsample2

Mask = NDArray[np.bool_]
"""A leaf's region, bool (H, W)."""

SIDE = 240.0
"""√area of a normalised shape, in pixels of the normalised mask; with 160, fine teeth were lost, and accuracy too."""
CONTOUR_POINTS = 1024
"""Points of a normalised shape's contour."""
PART_SHARE = 0.02
"""A component smaller than this share of the largest one is dirt, not a leaflet."""
_LONGEST = 1600
"""Longest side of a normalised mask: a hair-thin region is shrunk to it, so that memory stays bounded."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A leaf's region brought to one size, so that each family measures the same thing once.

    Attributes
    ----------
    grey : ndarray of uint8, shape (h, w)
        Share of each pixel that the leaf covers, 0 to 255; scaled so that √area ≈ `SIDE`; with an empty border.
    mask : ndarray of bool, shape (h, w)
        ``grey >= 128``.
    contours : tuple of ndarray of float64, shape (n, 2)
        Outer contours (rows, cols) of the large components, largest first, counter-clockwise as seen on the picture,
        at equal arc length; `CONTOUR_POINTS` of the first one, for each other as many as its length is due.
    side : float
        √area of `grey`, pixels.
    """

    grey: NDArray[np.uint8]
    mask: Mask
    contours: tuple[Points, ...]
    side: float

    @property
    def contour(self) -> Points:
        """The largest component's contour, float64 (`CONTOUR_POINTS`, 2)."""
        return self.contours[0]

    @property
    def all_points(self) -> Points:
        """The points of all contours together, float64 (n, 2)."""
        return self.contours[0] if len(self.contours) == 1 else np.concatenate(self.contours)

    @cached_property
    def half(self) -> NDArray[np.uint8]:
        """`grey` at half the size, for what needs no fine edge: pixel (r, c) lies at (2 r + ½, 2 c + ½) of `grey`."""
        return downsample2(self.grey)

    @cached_property
    def quarter(self) -> NDArray[np.uint8]:
        """`grey` at a quarter of the size: pixel (r, c) lies at (4 r + 1½, 4 c + 1½) of `grey`."""
        return downsample2(self.half)


def normalise_shape(leaf: Mask | Shape) -> Shape:
    """Normalise a mask; a shape comes back as it is, so that a caller of several families can share one.

    Parameters
    ----------
    leaf : ndarray of bool, shape (H, W), or Shape
        The leaf's region; components below `PART_SHARE` of the largest one are left out.

    Returns
    -------
    Shape

    Raises
    ------
    ValueError
        When the mask isn't two-dimensional.
    LeafidError
        When it has no leaf in it.
    """
    if isinstance(leaf, Shape):
        return leaf
    grey = _normalised(_kept(leaf))
    side = float(np.sqrt(cv2.sumElems(grey)[0] / 255))
    contours = _trace(grey)
    lengths = [contour_length(contour) for contour in contours]
    points = [max(8, round(CONTOUR_POINTS * length / lengths[0])) for length in lengths]
    resampled = (resample(contour, count) for contour, count in zip(contours, points, strict=True))
    return Shape(grey, grey >= 128, tuple(resampled), side)


_BORDER = 3
"""Empty pixels around a traced region, enough for the smoothing kernel."""


def _kept(mask: Mask) -> NDArray[np.uint8]:
    """Large components, 0 or 255, in the box of all that the mask holds."""
    mask = np.asarray(mask)
    if mask.ndim != 2:
        raise ValueError(f"expected a mask of two dimensions (H, W), found shape {mask.shape}")
    mask = mask.astype(bool, copy=False)
    if not mask.any():
        raise LeafidError(
            f"expected a leaf in the mask, found none of its {mask.shape[0]}×{mask.shape[1]} pixels set: "
            "check the segmentation of this picture"
        )
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    crop = mask[top : top + height, left : left + width].view(np.uint8) * np.uint8(255)
    # Outer contours are found several times faster than components are labelled.
    contours, _ = cv2.findContours(crop, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if len(contours) > 1:
        areas = np.array([cv2.contourArea(contour) + cv2.arcLength(contour, True) / 2 + 1 for contour in contours])
        small = areas < PART_SHARE * areas.max()
        dirt = [contour for contour, is_small in zip(contours, small, strict=True) if is_small]
        cv2.drawContours(crop, dirt, -1, 0, cv2.FILLED)
    return crop


def _normalised(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Scale a leaf's box to √area = `SIDE`; uint8 coverage with an empty border."""
    scale = min(SIDE / np.sqrt(np.count_nonzero(crop)), _LONGEST / max(crop.shape))
    factor = max(1, int(1 / scale))
    if factor > 1:
        # Whole blocks of pixels are averaged first: linear interpolation alone would skip pixels.
        spare = [-length % factor for length in crop.shape]
        crop = np.pad(crop, [(length // 2, length - length // 2) for length in spare])
        crop = cv2.resize(crop, (crop.shape[1] // factor, crop.shape[0] // factor), interpolation=cv2.INTER_AREA)
        scale *= factor
    border = int((_BORDER + 1) / scale) + 3
    crop = cv2.copyMakeBorder(crop, border, border, border, border, cv2.BORDER_CONSTANT, value=0)
    if scale > 1:
        # The stairs of a small mask's pixels would grow into teeth.
        crop = cv2.GaussianBlur(crop, (5, 5), 0.7)
    # Whole pixels in both directions, so that a turned or mirrored leaf is sampled at the same places.
    height, width = (max(1, round(length * scale)) for length in crop.shape)
    return cv2.resize(crop, (width, height), interpolation=cv2.INTER_LINEAR)


def _trace(grey: NDArray[np.uint8]) -> list[Points]:
    """Outer contours of the half-covered level, largest first, at the pixels' spacing."""
    smooth = cv2.GaussianBlur(grey, (5, 5), 1.0)
    pixel_contours = _pixel_contours(smooth >= 128)
    if not pixel_contours:  # a hair thinner than the smoothing: its own pixels are all there is
        smooth = grey
        pixel_contours = _pixel_contours(grey >= min(128, int(grey.max())))
    areas = np.array([cv2.contourArea(contour) + len(contour) for contour in pixel_contours])
    order = [index for index in np.argsort(-areas, kind="stable") if areas[index] >= PART_SHARE * areas.max()]
    return [_refined(pixel_contours[index][:, 0, :], smooth) for index in order]


def _pixel_contours(mask: Mask) -> list[NDArray[np.int32]]:
    found, _ = cv2.findContours(mask.view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return list(found)


def _refined(pixels: NDArray[np.int32], grey: NDArray[np.uint8]) -> Points:
    """Move boundary pixels along the gradient onto the half-covered level (one Newton step), counter-clockwise."""
    cols, rows = pixels[:, 0], pixels[:, 1]
    # The empty border around the region keeps all neighbours inside of the array.
    flat, width = grey.ravel(), grey.shape[1]
    here = rows * width + cols
    down, right, level = (
        flat.take(here + after).astype(np.float64) - before
        for after, before in ((width, flat.take(here - width)), (1, flat.take(here - 1)), (0, 127.5))
    )
    # Half the difference over two pixels is the slope.
    factor = -0.5 * level / np.maximum((down * down + right * right) * 0.25, 1.0)
    step = np.stack([factor * down, factor * right], axis=1)
    # More than a pixel away the linear step means nothing (thin stalks, where the gradient vanishes).
    step /= np.sqrt(np.maximum((step * step).sum(axis=1), 1.0))[:, None]
    contour: Points = step + pixels[:, ::-1]
    if len(contour) < 3:
        # One or two pixels: the corners of their box stand for them.
        low, high = contour.min(axis=0) - 0.5, contour.max(axis=0) + 0.5
        contour = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    return contour if contour_area(contour) >= 0 else contour[::-1].copy()
