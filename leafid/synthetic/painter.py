"""Paints a leaf's geometry: colour, veins, relief and light."""

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from leafid.synthetic.canvas import Canvas, Layer, draw_noise
from leafid.synthetic.leaf import Leaf, Line
from leafid.synthetic.outline import Points
from leafid.synthetic.species import LeafSpecies

_SHIFT = 4
"""Fractional bits of the coordinates that OpenCV draws with."""

_DEAD = np.array([55.0, 80.0, 115.0])
_MARGIN = 2
"""Pixels around a leaf that belong to its layer."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """Colours of one leaf (blue, green, red), and the light on it."""

    blade: npt.NDArray[np.float64]
    vein: npt.NDArray[np.float64]
    stalk: npt.NDArray[np.float64]
    #: `contrast`, `relief`: of the veins, 0 to 1.
    contrast: float
    relief: float
    #: Direction that the light comes from, in radians (0 from the right, π/2 from below).
    light: float
    #: Of the light: 0 a scanner's lamp, 1 the sun.
    hardness: float


def choose_appearance(species: LeafSpecies, light: float, hardness: float, autumn: float) -> Appearance:
    """Choose how a leaf looks in summer (autumn 0), in full autumn colour (1) or dead and brown (2)."""
    blade = np.array(species.upper, float)
    blade += min(autumn, 1.0) * (np.array(species.autumn or species.upper, float) - blade)
    blade += max(autumn - 1.0, 0.0) * (_DEAD - blade)
    return Appearance(
        blade=blade,
        vein=0.6 * np.array(species.vein, float) + 0.4 * (1.3 * blade + 15),
        stalk=np.array(species.stalk, float) if autumn < 1.2 else 0.8 * blade,
        contrast=min(1.0, species.venation.contrast),
        relief=species.venation.relief,
        light=light,
        hardness=hardness,
    )


def make_matrix(scale: float, angle: float, squeeze: float = 1.0) -> Points:
    """Make the matrix (2, 2) that takes (across, along) of a leaf to (column, row) of a picture.

    `scale` is in pixels per unit of the leaf, `angle` clockwise in radians from a leaf with its tip up, and `squeeze`
    less than 1 for a leaf that is seen from the side.
    """
    cos, sin = np.cos(angle), np.sin(angle)
    return scale * np.array([[squeeze * cos, sin], [squeeze * sin, -cos]])


def paint_leaf(
    leaf: Leaf,
    matrix: Points,
    position: Points,
    appearance: Appearance,
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> Layer | None:
    """Paint a leaf into the part of a picture of `shape` that it covers; None where it lies outside the picture.

    `matrix` is that of `make_matrix`; `position` is the column and the row of the petiole's upper end.
    """
    low, high = leaf.compute_extent(matrix)
    col, row = np.maximum(np.floor(low + position).astype(int) - _MARGIN, 0)
    stop = np.ceil(high + position).astype(int) + _MARGIN + 1
    cols, rows = np.minimum(stop, [shape[1], shape[0]]) - [col, row]
    if rows < 1 or cols < 1:
        return None
    unit = float(np.sqrt(abs(np.linalg.det(matrix))))

    def to_fixed_point(points: Points) -> npt.NDArray[np.int32]:
        pixels = points @ matrix.T + position - [col, row]
        return np.round(pixels * 2**_SHIFT).astype(np.int32)

    alpha, veins, stalks = np.zeros((3, rows, cols), np.uint8)
    light = np.ones((rows, cols), np.float32)
    for blade in leaf.blades:
        contour = to_fixed_point(blade.contour)
        cv2.fillPoly(alpha, [contour], 255, cv2.LINE_AA, _SHIFT)
        # A leaflet hides the veins of those that lie below it.
        cv2.fillPoly(veins, [contour], 0, cv2.LINE_8, _SHIFT)
        for right_or_left, value in zip((blade.right, blade.left), _light_halves(matrix, appearance, rng), strict=True):
            cv2.fillPoly(light, [to_fixed_point(right_or_left)], value, cv2.LINE_8, _SHIFT)
        for vein in blade.veins:
            _draw_vein(veins, to_fixed_point(vein.points), vein, unit)
    for stalk in leaf.stalks:
        cv2.fillPoly(stalks, [to_fixed_point(_make_ribbon(stalk, 1 / unit))], 255, cv2.LINE_AA, _SHIFT)
    colour = _shade(alpha, veins, stalks, cv2.blur(light, (3, 3)), appearance, unit, rng)
    return Layer(int(row), int(col), colour, np.maximum(alpha, stalks) / np.float32(255))


def _light_halves(matrix: Points, appearance: Appearance, rng: np.random.Generator) -> tuple[float, float]:
    """Draw the brightness of the right and the left half of a blade: it is folded a little along its midrib."""
    across = matrix[:, 0] / np.hypot(*matrix[:, 0])
    sun = np.array([np.cos(appearance.light), np.sin(appearance.light)])
    fold = (0.05 + 0.16 * appearance.hardness) * rng.uniform(0.4, 1.0) * float(across @ sun)
    blade = 1 + rng.normal(0, 0.03 + 0.06 * appearance.hardness)
    return blade - fold, blade + fold


def _draw_vein(target: npt.NDArray[np.uint8], points: npt.NDArray[np.int32], vein: Line, unit: float) -> None:
    # A vein narrows from its first to its last point: a wide one is drawn in three pieces.
    pieces = 3 if vein.widths[0] * unit > 1.5 else 1
    ends = np.linspace(0, len(points) - 1, pieces + 1).astype(int)
    widths = unit * np.interp((np.arange(pieces) + 0.5) / pieces, [0, 1], vein.widths)
    for (start, end), width in zip(pairwise(ends), widths, strict=True):
        # A line thinner than a pixel is drawn fainter instead.
        value = int(255 * vein.strength * min(1.0, width**0.5))
        piece = [points[start : end + 1]]
        cv2.polylines(target, piece, False, value, max(1, round(width)), cv2.LINE_AA, _SHIFT)


def _make_ribbon(line: Line, pixel: float) -> Points:
    """Make the contour of a stalk, which is at least a pixel wide."""
    steps = np.gradient(line.points, axis=0)
    normal = np.column_stack([-steps[:, 1], steps[:, 0]]) / np.maximum(np.hypot(*steps.T), 1e-9)[:, None]
    half = np.maximum(np.linspace(*line.widths, len(steps)), pixel)[:, None] / 2
    return np.vstack([line.points + half * normal, (line.points - half * normal)[::-1]])


def _shade(
    alpha: npt.NDArray[np.uint8],
    veins: npt.NDArray[np.uint8],
    stalks: npt.NDArray[np.uint8],
    light: npt.NDArray[np.float32],
    appearance: Appearance,
    unit: float,
    rng: np.random.Generator,
) -> Canvas:
    rows, cols = alpha.shape
    vein = veins[..., None] / np.float32(255)
    # The blade swells between its veins, and undulates.
    swelling = cv2.GaussianBlur(vein, (0, 0), max(0.6, unit * 0.012)) * (unit * 0.035 * appearance.relief)
    undulation = draw_noise(rows, cols, max(4.0, unit * 0.16), rng, 2) * (unit * 0.004 * (0.5 + appearance.hardness))
    height = (undulation - swelling).astype(np.float32)
    facing = -np.cos(appearance.light) * cv2.Sobel(height, cv2.CV_32F, 1, 0, scale=0.125)
    facing -= np.sin(appearance.light) * cv2.Sobel(height, cv2.CV_32F, 0, 1, scale=0.125)
    relit = (light + 0.8 * np.clip(facing, -0.4, 0.4))[..., None]
    relit += 0.03 * draw_noise(rows, cols, max(1.2, unit * 0.008), rng)[..., None]
    relit += 0.03 * draw_noise(rows, cols, max(3.0, unit * 0.05), rng, 2)[..., None]
    # Near its margin a blade is thinner, hence a little lighter.
    inner = cv2.GaussianBlur(alpha, (0, 0), max(0.8, unit * 0.015)) / np.float32(255)
    thinness = 0.14 * np.clip(2 - 2 * inner, 0, 1)
    hue = 0.04 * draw_noise(rows, cols, max(6.0, unit * 0.25), rng, 2)
    colour = appearance.blade * (1 + thinness[..., None] + hue[..., None] * np.array([-0.6, 0.1, 1.0]))
    colour += appearance.contrast * vein * (appearance.vein - colour)
    # Veins are rounded and catch light from everywhere: the relief shows less on them.
    colour *= relit + 0.6 * vein * (1 - relit)
    stalk = stalks[..., None] / 255 * (1 - 0.75 * alpha[..., None] / 255)
    rounding = cv2.GaussianBlur(stalks, (0, 0), 1.0)[..., None] / 255
    colour += stalk * (appearance.stalk * (0.65 + 0.45 * rounding) - colour)
    return np.clip(colour, 0, 255).astype(np.float32)
