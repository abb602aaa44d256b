"""Paints a leaf's geometry: colour, veins, relief, gloss and damage."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from leafid.synthetic.anatomy import Leaf, Line
from leafid.synthetic.noise import smooth_field
from leafid.synthetic.outline import Points
from leafid.synthetic.species import Colour, LeafSpecies

_SHIFT = 4


@dataclass(frozen=True, slots=True)
class Look:
    """How one leaf looks.

    Attributes
    ----------
    blade, vein, stalk : Colour
    contrast, relief, gloss : float
        0 to 1.
    age : float
        0 for a whole leaf, 1 for one full of spots and holes.
    light : float
        Direction that the light comes from, in radians (0 from the right, π/2 from below).
    hardness : float
        Of the light: 0 a scanner's lamp, 1 the sun.
    """

    blade: Colour
    vein: Colour
    stalk: Colour
    contrast: float
    relief: float
    gloss: float
    age: float
    light: float
    hardness: float


@dataclass(frozen=True, slots=True)
class Layer:
    """A painted leaf, to be laid onto a picture.

    Attributes
    ----------
    row, col : int
        Where its upper left corner lies in the picture; it is inside the picture.
    colour : ndarray, shape (rows, cols, 3), float32
        0 to 255.
    alpha : ndarray, shape (rows, cols), float32
        0 to 1: how much of the pixel the leaf covers.
    """

    row: int
    col: int
    colour: npt.NDArray[np.float32]
    alpha: npt.NDArray[np.float32]


def look_of(species: LeafSpecies, rng: np.random.Generator, light: float, hardness: float, season: float) -> Look:
    """Choose how a leaf looks.

    Parameters
    ----------
    species : LeafSpecies
    rng : numpy.random.Generator
    light, hardness : float
        See `Look`.
    season : float
        0 a green upper side; -1 a lower side; up to 1 the more of autumn; 2 dead and brown.
    """
    season = min(season, 2.0)
    base = np.array(species.upper, float)
    if season < 0:
        base = 0.4 * base + 0.6 * np.array(species.lower, float)
    autumn = np.clip(season, 0, 1)
    base = (1 - autumn) * base + autumn * np.array(species.autumn, float)
    if season > 1:
        base = (2 - season) * base + (season - 1) * np.array([55, 80, 115.0])
    vein = 0.6 * np.array(species.vein, float) + 0.4 * (base * 1.3 + 15)
    relief = species.venation.relief * (1.2 if season < 0 else 1.0)
    return Look(
        blade=_colour(base),
        vein=_colour(vein),
        stalk=species.stalk if season < 1.2 else _colour(base * 0.8),
        contrast=species.venation.contrast * (1.15 if season < 0 else 1.0),
        relief=relief,
        gloss=species.gloss * (0.15 if season < 0 or season > 0.6 else 1.0),
        age=float(np.clip(abs(rng.normal(0, 0.22)) + 0.5 * max(season, 0), 0, 1)),
        light=light,
        hardness=hardness,
    )


def paint(
    leaf: Leaf, matrix: Points, look: Look, shape: tuple[int, int], rng: np.random.Generator, margin: int = 2
) -> Layer | None:
    """Paint a leaf into the part of a picture that it covers.

    Parameters
    ----------
    leaf : Leaf
    matrix : ndarray, shape (2, 3)
        Takes (across, along, 1) to (col, row) of the picture.
    look : Look
    shape : tuple of int
        Rows and columns of the picture.
    rng : numpy.random.Generator
    margin : int, default 2
        Pixels around the leaf that belong to the layer.

    Returns
    -------
    Layer or None
        None where no part of the leaf is inside the picture.
    """
    contours = [_apply(matrix, blade.contour) for blade in leaf.blades]
    unit = float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))
    stalks = [_ribbon(stalk, matrix, unit) for stalk in leaf.stalks]
    everything = np.vstack([*contours, *stalks])
    low = np.floor(everything.min(axis=0)).astype(int) - margin
    high = np.ceil(everything.max(axis=0)).astype(int) + margin + 1
    col, row = np.maximum(low, 0)
    cols, rows = np.minimum(high, [shape[1], shape[0]]) - [col, row]
    if rows < 1 or cols < 1:
        return None
    origin = np.array([col, row], float)

    alpha = np.zeros((rows, cols), np.uint8)
    tone = np.full((rows, cols), 128, np.uint8)
    veins = np.zeros((rows, cols), np.uint8)
    stem = np.zeros((rows, cols), np.uint8)
    for ribbon in stalks:
        cv2.fillPoly(stem, [_fixed(ribbon - origin)], 255, cv2.LINE_AA, _SHIFT)
    sun = np.array([np.cos(look.light), np.sin(look.light)])
    for blade, contour in zip(leaf.blades, contours, strict=True):
        polygon = _fixed(contour - origin)
        cv2.fillPoly(alpha, [polygon], 255, cv2.LINE_AA, _SHIFT)
        _fill_halves(tone, blade.right, blade.left, matrix, origin, sun, look.hardness, rng)
        if len(leaf.blades) > 1:
            # A leaflet hides the veins of those that lie below it.
            cv2.fillPoly(veins, [polygon], 0, cv2.LINE_8, _SHIFT)
        _draw_lines(veins, blade.veins, matrix, origin, unit)
    cover = np.maximum(alpha, stem)
    colour = _shaded(alpha, stem, tone, veins, look, unit, sun, rng)
    return Layer(int(row), int(col), colour, cover.astype(np.float32) / np.float32(255))


def lay(
    canvas: npt.NDArray[np.float32],
    mask: npt.NDArray[np.bool_],
    layer: Layer,
    brightness: np.float32 | float = 1,
) -> None:
    """Lay a painted leaf onto a picture (rows, cols, 3), its colours times a brightness, and a mask, in place."""
    rows, cols = layer.alpha.shape
    window = np.s_[layer.row : layer.row + rows, layer.col : layer.col + cols]
    canvas[window] += layer.alpha[..., None] * (layer.colour * brightness - canvas[window])
    mask[window] |= layer.alpha >= 0.5


def similarity(scale: float, angle: float, centre: tuple[float, float], squeeze: float = 1.0) -> Points:
    """Make the matrix that puts a leaf into a picture.

    Parameters
    ----------
    scale : float
        Pixels a unit of the leaf.
    angle : float
        0 points the tip upwards; clockwise, in radians.
    centre : tuple of float
        Column and row of the petiole's upper end.
    squeeze : float, default 1
        Less than 1 where the leaf is seen from the side.

    Returns
    -------
    ndarray, shape (2, 3)
    """
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[scale * squeeze * cos, scale * sin, centre[0]], [scale * squeeze * sin, -scale * cos, centre[1]]])


def _shaded(
    alpha: npt.NDArray[np.uint8],
    stem: npt.NDArray[np.uint8],
    tone: npt.NDArray[np.uint8],
    veins: npt.NDArray[np.uint8],
    look: Look,
    unit: float,
    sun: Points,
    rng: np.random.Generator,
) -> npt.NDArray[np.float32]:
    rows, cols = alpha.shape
    vein = veins.astype(np.float32) / np.float32(255)
    wide = cv2.GaussianBlur(vein, (0, 0), max(0.6, unit * 0.012))
    undulation = smooth_field(rows, cols, max(4.0, unit * 0.16), rng, 2)
    # Height of the blade: it swells between the veins, and undulates.
    height = -wide * (unit * 0.035 * look.relief) + undulation * (unit * 0.004 * (0.5 + look.hardness))
    slope_cols = cv2.Sobel(height, cv2.CV_32F, 1, 0, scale=0.125)
    slope_rows = cv2.Sobel(height, cv2.CV_32F, 0, 1, scale=0.125)
    facing = np.float32(-sun[0]) * slope_cols + np.float32(-sun[1]) * slope_rows
    light = 1 + np.clip(facing, -0.4, 0.4) * np.float32(0.8)
    light += (cv2.blur(tone, (3, 3)).astype(np.float32) - 128) / np.float32(128)
    light += np.float32(0.03) * smooth_field(rows, cols, max(1.2, unit * 0.008), rng)
    light += np.float32(0.03) * smooth_field(rows, cols, max(3.0, unit * 0.05), rng, 2)
    # Near the margin a blade is a little lighter and yellower: thinner.
    inner = cv2.GaussianBlur(alpha, (0, 0), max(0.8, unit * 0.015)).astype(np.float32) / np.float32(255)
    thin = np.clip(1 - (inner - 0.5) * 2, 0, 1) * np.float32(0.14)

    colour = np.empty((rows, cols, 3), np.float32)
    mixing = vein * np.float32(look.contrast)
    hue = np.float32(0.04) * smooth_field(rows, cols, max(6.0, unit * 0.25), rng, 2)
    tints = (-0.6, 0.1, 1.0)
    for channel in range(3):
        base = np.float32(look.blade[channel]) * (1 + hue * np.float32(tints[channel]) + thin)
        colour[..., channel] = base + mixing * (np.float32(look.vein[channel]) - base)
    _damage(colour, look, unit, rng)
    # Veins are rounded and catch light from everywhere: the relief shows less on them.
    light += np.float32(0.6) * vein * (1 - light)
    colour *= light[..., None]
    if look.gloss > 0.05:
        shine = np.clip(undulation + 6 * facing - np.float32(0.9), 0, None) ** 1.5
        strength = look.gloss * (12 + 55 * look.hardness)
        colour += np.minimum(shine * np.float32(strength), np.float32(120))[..., None]
    stalk = stem.astype(np.float32)[..., None] / 255 * (1 - 0.75 * alpha.astype(np.float32)[..., None] / 255)
    rounding = cv2.GaussianBlur(stem, (0, 0), 1.0).astype(np.float32)[..., None] / 255
    colour += stalk * (np.array(look.stalk, np.float32) * (0.65 + 0.45 * rounding) - colour)
    return np.clip(colour, 0, 255, out=colour)


def _damage(colour: npt.NDArray[np.float32], look: Look, unit: float, rng: np.random.Generator) -> None:
    rows, cols = colour.shape[:2]
    if look.age > 0.25:
        stain = np.clip(smooth_field(rows, cols, max(4.0, unit * 0.09), rng, 3) - 2.1 + 0.9 * look.age, 0, 0.8)
        colour += stain[..., None] * (np.array([45, 75, 110], np.float32) - colour)
    for _ in range(int(rng.poisson(8 * look.age))):
        place = (int(rng.integers(0, cols)), int(rng.integers(0, rows)))
        size = max(1, round(unit * float(rng.uniform(0.004, 0.014))))
        shade = float(rng.uniform(0.5, 1.0))
        cv2.circle(colour, place, size, (40 * shade, 62 * shade, 95 * shade), -1, cv2.LINE_AA)


def _fill_halves(
    tone: npt.NDArray[np.uint8],
    right: Points,
    left: Points,
    matrix: Points,
    origin: Points,
    sun: Points,
    hardness: float,
    rng: np.random.Generator,
) -> None:
    """Give the two halves of a blade their light: it is folded a little along its midrib."""
    across = _apply(matrix, np.array([[0.0, 0.0], [1.0, 0.0]]))
    outward = across[1] - across[0]
    turned = float(outward @ sun) / max(float(np.hypot(*outward)), 1e-9)
    fold = (0.05 + 0.16 * hardness) * rng.uniform(0.4, 1.0)
    blade = rng.normal(0, 0.03 + 0.06 * hardness)
    for half, side in ((right, 1.0), (left, -1.0)):
        value = 128 * (1 + blade - side * fold * turned)
        # One pixel of contour closes the gap that two polygons leave along the midrib.
        points = _fixed(_apply(matrix, half) - origin)
        cv2.fillPoly(tone, [points], int(np.clip(value, 30, 225)), cv2.LINE_8, _SHIFT)


def _draw_lines(
    target: npt.NDArray[np.uint8], lines: tuple[Line, ...], matrix: Points, origin: Points, unit: float
) -> None:
    ends = np.cumsum([len(line.points) for line in lines])[:-1]
    parts = np.split(_fixed(_apply(matrix, np.vstack([line.points for line in lines])) - origin), ends)
    for line, points in zip(lines, parts, strict=True):
        pieces = 3 if line.widths[0] * unit > 1.5 else 1
        for piece in range(pieces):
            start, end = piece * (len(points) - 1) // pieces, (piece + 1) * (len(points) - 1) // pieces
            width = unit * (line.widths[0] + (piece + 0.5) / pieces * (line.widths[1] - line.widths[0]))
            # A line thinner than a pixel is drawn fainter instead.
            value = int(255 * line.strength * min(1.0, width**0.5))
            if value > 6:
                cv2.polylines(
                    target, [points[start : end + 1]], False, value, max(1, round(width)), cv2.LINE_AA, _SHIFT
                )


def _ribbon(line: Line, matrix: Points, unit: float) -> Points:
    points = _apply(matrix, line.points)
    steps = np.gradient(points, axis=0)
    normal = np.column_stack([-steps[:, 1], steps[:, 0]]) / np.maximum(np.hypot(*steps.T), 1e-9)[:, None]
    half = np.maximum(np.linspace(*line.widths, len(points)) * unit, 1.0)[:, None] / 2
    return np.vstack([points + half * normal, (points - half * normal)[::-1]])


def _apply(matrix: Points, points: Points) -> Points:
    return points @ matrix[:, :2].T + matrix[:, 2]


def _fixed(points: Points) -> npt.NDArray[np.int32]:
    return np.round(points * 2**_SHIFT).astype(np.int32)


def _colour(values: npt.NDArray[np.float64]) -> Colour:
    blue, green, red = (int(v) for v in np.clip(values, 0, 255))
    return blue, green, red
