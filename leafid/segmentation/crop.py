"""Turns the leaf upright and scales it to a standard size."""

from __future__ import annotations

import cv2
import numpy as np

from leafid.errors import UsageError
from leafid.segmentation.result import Image, Mask, Segmentation, bounding_box, convex_hull

# A leaf's box is sampled to about this many pixels on its shorter side to find the leaf's axis.
_MOMENTS_SIZE = 64


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
    row0, row1, col0, col1 = segmentation.box
    # Every pixel of a large leaf would change the angle by less than a tenth of a degree.
    step = max(1, min(row1 - row0, col1 - col0) // _MOMENTS_SIZE)
    part = np.ascontiguousarray(segmentation.blade[row0:row1:step, col0:col1:step]).view(np.uint8)
    moments = cv2.moments(part, binaryImage=True)
    if not moments["m00"]:
        # A few scattered pixels, all of them between those looked at.
        step, moments = 1, cv2.moments(np.ascontiguousarray(segmentation.blade[row0:row1, col0:col1]).view(np.uint8))
    centre = np.array([moments["m10"], moments["m01"]]) / moments["m00"] * step + (col0, row0)
    foot = _petiole_foot(segmentation)
    if foot is not None and np.any(foot != centre):
        up = centre - foot
    else:
        values, vectors = np.linalg.eigh([[moments["mu20"], moments["mu11"]], [moments["mu11"], moments["mu02"]]])
        up = vectors[:, int(np.argmax(values))]
        col, row = up
        third = np.array([moments["mu30"], moments["mu21"], moments["mu12"], moments["mu03"]])
        tail = float(third @ np.array([col**3, 3 * col**2 * row, 3 * col * row**2, row**3]))
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
    image : ndarray of uint8, shape (H, W, 3) or (H, W)
        BGR or grey.
    segmentation : Segmentation
        Of that image.
    size : int
        Side of the square in pixels, from 8 up; the leaf's longer side fills it but for the margin.
    part : {"mask", "blade"}
        The whole leaf or the leaf without petiole.
    background : tuple of int or None, default white
        BGR colour put around the leaf, of which a grey picture takes the first value; None leaves the picture's own.
    upright : bool, default True
        Turn the leaf so that its base is below; False only cuts and scales.
    margin : float, default 0.05
        Free part of the square on each side, in [0, 0.5).

    Returns
    -------
    crop : ndarray of uint8, shape (size, size, 3) or (size, size)
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
    row0, row1, col0, col1 = bounding_box(leaf)
    empty = row1 == 0
    angle = upright_angle(segmentation) if upright and not empty else 0.0
    if empty:
        row1, col1 = leaf.shape
        corners = np.array([[0, 0], [col1 - 1, 0], [0, row1 - 1], [col1 - 1, row1 - 1]])
    else:
        corners = convex_hull(leaf[row0:row1, col0:col1].view(np.uint8))[:, 0] + (col0, row0)
    matrix = _placement(corners, angle, size, 0.0 if empty else margin)
    scale = float(np.hypot(matrix[0, 0], matrix[0, 1]))
    if background is not None and not empty:
        # Nothing else is seen: the leaf's box, and what the blur mixes into it.
        room = 2 + int(np.ceil(4 * _blur(scale)))
        row0, row1, col0, col1 = max(row0 - room, 0), row1 + room, max(col0 - room, 0), col1 + room
    else:
        row0, row1, col0, col1 = 0, leaf.shape[0], 0, leaf.shape[1]
    matrix[:, 2] += matrix[:, :2] @ (col0, row0)
    source = image[row0:row1, col0:col1]
    if _blur(scale):
        # Fine texture would turn into false coarse one.
        # Beyond two standard deviations the weights are next to nothing.
        side = 2 * max(1, round(2 * _blur(scale))) + 1
        source = cv2.GaussianBlur(source, (side, side), _blur(scale))
    fill = background if background is not None else (255, 255, 255)
    crop = cv2.warpAffine(source, matrix, (size, size), borderMode=cv2.BORDER_CONSTANT, borderValue=fill)
    if segmentation.cover is not None and part == "mask":
        cover = cv2.warpAffine(segmentation.cover[row0:row1, col0:col1], matrix, (size, size))
        turned = cv2.threshold(cover, 127, 1, cv2.THRESH_BINARY)[1]
    else:
        whole = leaf[row0:row1, col0:col1].view(np.uint8)
        turned = cv2.warpAffine(whole, matrix, (size, size), flags=cv2.INTER_NEAREST)
    if background is not None and not empty:
        ground = np.empty_like(crop)
        ground[:] = background if crop.ndim == 3 else background[0]
        crop = cv2.copyTo(crop, turned, ground)
    return crop, turned.view(bool)


def _placement(corners: np.ndarray, angle: float, size: int, margin: float) -> np.ndarray:
    """Map (col, row) of the picture to those of the square, given the corners of the leaf's hull."""
    radians = np.radians(angle)
    cosine, sine = np.cos(radians), np.sin(radians)
    turn = np.array([[cosine, sine], [-sine, cosine]])
    turned = turn @ corners.T
    low, high = turned.min(axis=1), turned.max(axis=1)
    scale = (1 - 2 * margin) * size / max(float((high - low).max()) + 1, 1.0)
    matrix = np.empty((2, 3))
    matrix[:, :2] = scale * turn
    matrix[:, 2] = (size - 1) / 2 - scale * (low + high) / 2
    return matrix


def _blur(scale: float) -> float:
    """Give the standard deviation, in pixels of the picture, of the blur before a scaling; 0 for none."""
    return 0.0 if scale >= 0.75 else 0.4 / scale


def _petiole_foot(segmentation: Segmentation) -> np.ndarray | None:
    row0, row1, col0, col1 = segmentation.box
    blade = segmentation.blade[row0:row1, col0:col1].view(np.uint8)
    petiole = cv2.subtract(segmentation.mask[row0:row1, col0:col1].view(np.uint8), blade)
    left, top, width, height = cv2.boundingRect(petiole)
    if not width:
        return None
    around = np.s_[max(top - 2, 0) : top + height + 2, max(left - 2, 0) : left + width + 2]
    near = cv2.dilate(np.ascontiguousarray(blade[around]), np.ones((5, 5), np.uint8))
    foot = cv2.moments(near & petiole[around])
    if not foot["m00"]:
        foot = cv2.moments(petiole[around])
    return np.array([foot["m10"], foot["m01"]]) / foot["m00"] + (col0 + around[1].start, row0 + around[0].start)
