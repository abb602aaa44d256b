"""Turns the leaf upright and scales it to a standard size."""

from __future__ import annotations

import cv2
import numpy as np

from leafid.errors import UsageError
from leafid.segmentation.result import Image, Mask, Segmentation


def upright_angle(segmentation: Segmentation) -> float:
    """Find by how much the leaf must be turned to stand upright, base and petiole below.

    Parameters
    ----------
    segmentation : Segmentation
        With a mask that is not empty.

    Returns
    -------
    float
        Degrees, counter-clockwise as the picture is seen, in [-180, 180).

    Notes
    -----
    With a petiole, the axis runs from where the petiole meets the blade to the blade's centroid. Without one it is the
    principal axis, and the end with the longer tail (third moment along the axis) is the tip.
    """
    rows, cols = np.nonzero(segmentation.blade)
    points = np.stack([cols, rows]).astype(np.float64)
    centre = points.mean(axis=1)
    foot = _petiole_foot(segmentation)
    if foot is not None and np.any(foot != centre):
        up = centre - foot
    else:
        spread = points - centre[:, None]
        values, vectors = np.linalg.eigh(spread @ spread.T / spread.shape[1])
        up = vectors[:, int(np.argmax(values))]
        along = up @ spread
        tail = float((along**3).mean())
        if tail < 0 or (tail == 0 and up[1] > 0):
            up = -up
    # Rows grow downwards: straight up is (0, -1).
    angle = np.degrees(np.arctan2(up[0], -up[1]))
    return float((angle + 180) % 360 - 180)


def normalised_crop(
    image: Image,
    segmentation: Segmentation,
    size: int,
    *,
    part: str = "mask",
    background: tuple[int, int, int] | None = (255, 255, 255),
    upright: bool = True,
    margin: float = 0.05,
) -> tuple[Image, Mask]:
    """Cut the leaf out, upright and scaled to a square.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    segmentation : Segmentation
        Of that image.
    size : int
        Side of the square in pixels, from 8 up; the leaf's longer side fills it but for the margin.
    part : {"mask", "blade"}
        The whole leaf or the leaf without petiole.
    background : tuple of int or None, default white
        BGR colour put around the leaf; None leaves the picture's own.
    upright : bool, default True
        Turn the leaf so that its base is below; False only cuts and scales.
    margin : float, default 0.05
        Free part of the square on each side, in [0, 0.5).

    Returns
    -------
    crop : ndarray of uint8, shape (size, size, 3)
    mask : ndarray of bool, shape (size, size)
        An empty segmentation gives the whole picture, scaled, and an empty mask.

    Raises
    ------
    UsageError
        When the size, part or margin is out of range, or the segmentation is of another picture size.
    """
    if size < 8 or not 0 <= margin < 0.5 or part not in ("mask", "blade"):
        raise UsageError(
            f"expected size >= 8, 0 <= margin < 0.5, part 'mask' or 'blade', found size={size}, margin={margin}, "
            f"part={part!r}"
        )
    leaf = segmentation.mask if part == "mask" else segmentation.blade
    if leaf.shape != image.shape[:2]:
        raise UsageError(f"expected a segmentation of shape {image.shape[:2]}, found {leaf.shape}")
    empty = not leaf.any()
    angle = upright_angle(segmentation) if upright and not empty else 0.0
    matrix = _placement(np.ones_like(leaf) if empty else leaf, angle, size, 0.0 if empty else margin)
    fill = background if background is not None else (255, 255, 255)
    source = _smoothed(image, float(np.hypot(matrix[0, 0], matrix[0, 1])))
    crop = cv2.warpAffine(source, matrix, (size, size), borderMode=cv2.BORDER_CONSTANT, borderValue=fill)
    turned = cv2.warpAffine(leaf.astype(np.uint8) * 255, matrix, (size, size)) > 127
    if background is not None and not empty:
        crop[~turned] = background
    return crop, turned


def _placement(leaf: Mask, angle: float, size: int, margin: float) -> np.ndarray:
    rows, cols = np.nonzero(leaf)
    radians = np.radians(angle)
    cosine, sine = np.cos(radians), np.sin(radians)
    turn = np.array([[cosine, sine], [-sine, cosine]])
    hull = cv2.convexHull(np.stack([cols, rows], axis=1).astype(np.int32)).reshape(-1, 2)
    turned = turn @ hull.T
    low, high = turned.min(axis=1), turned.max(axis=1)
    scale = (1 - 2 * margin) * size / max(float((high - low).max()) + 1, 1.0)
    shift = (size - 1) / 2 - scale * (low + high) / 2
    return np.column_stack([scale * turn, shift])


def _smoothed(image: Image, scale: float) -> Image:
    """Blur before shrinking, so that fine texture doesn't turn into false coarse one."""
    if scale >= 0.75:
        return image
    return cv2.GaussianBlur(image, (0, 0), 0.4 / scale)


def _petiole_foot(segmentation: Segmentation) -> np.ndarray | None:
    petiole = segmentation.petiole
    if not petiole.any():
        return None
    near = cv2.dilate(segmentation.blade.view(np.uint8), np.ones((5, 5), np.uint8)).view(bool)
    rows, cols = np.nonzero(petiole & near)
    if not rows.size:
        rows, cols = np.nonzero(petiole)
    return np.array([cols.mean(), rows.mean()])
