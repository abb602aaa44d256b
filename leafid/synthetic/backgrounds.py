"""What lies behind a leaf: a scanner's lid, a sheet of paper, the outdoors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from leafid.synthetic.camera import Camera, Canvas
from leafid.synthetic.noise import slope, smooth_field
from leafid.synthetic.outline import Points


def scanner(rows: int, cols: int, camera: Camera, rng: np.random.Generator) -> Canvas:
    """Draw a scanner's lid: nearly white, with dust.

    Returns
    -------
    ndarray, shape (rows, cols, 3), float32
    """
    canvas = np.empty((rows, cols, 3), np.float32)
    canvas[:] = camera.scanner
    fall = np.float32(rng.uniform(0, 4)) * (slope(rows, cols, float(rng.uniform(0, 6.3))) + 1)
    canvas -= fall[..., None] * np.array([0.4, 0.8, 1.0], np.float32)
    size = max(rows, cols)
    for _ in range(int(rng.poisson(5))):
        place = (int(rng.integers(cols)), int(rng.integers(rows)))
        shade = float(rng.uniform(110, 225))
        cv2.circle(canvas, place, int(size * rng.uniform(0, 0.004)), (shade, shade, shade), -1, cv2.LINE_AA)
    return canvas


def sheet(rows: int, cols: int, camera: Camera, rng: np.random.Generator) -> Canvas:
    """Draw a plain sheet in uneven light.

    Returns
    -------
    ndarray, shape (rows, cols, 3), float32
    """
    size = max(rows, cols)
    light = np.float32(rng.uniform(0.01, 0.09)) * slope(rows, cols, camera.light)
    across = np.linspace(-1, 1, cols, dtype=np.float32)[None, :] - np.float32(rng.normal(0, 0.3))
    down = np.linspace(-1, 1, rows, dtype=np.float32)[:, None] - np.float32(rng.normal(0, 0.3))
    light = light - np.float32(rng.uniform(0.01, 0.08)) * (across**2 + down**2)
    light += np.float32(0.012) * smooth_field(rows, cols, size * 0.4, rng, 2)
    light += np.float32(0.006) * smooth_field(rows, cols, max(1.5, size * 0.004), rng)
    brightness = rng.uniform(0.9, 1.05)
    colour = np.clip(np.array(camera.sheet, np.float32) * np.float32(brightness) + rng.normal(0, 3), 0, 252)
    canvas = (1 + light)[..., None] * colour.astype(np.float32)
    if rng.random() < 0.06:
        # The sheet was a little too small, or the hand not quite steady.
        edge = int(cols * rng.uniform(0.012, 0.03))
        canvas[:, cols - edge :] = rng.uniform(40, 110)
    return canvas


def outdoors(
    rows: int, cols: int, contours: Sequence[Points], dead: bool, rng: np.random.Generator
) -> tuple[Canvas, bool]:
    """Draw what is behind a leaf on its tree: foliage, shade, the ground, the sky or a wall.

    Parameters
    ----------
    rows, cols : int
    contours : sequence of ndarray, shape (n, 2)
        Leaves of the same tree, about 1 long; they stand out of focus behind the subject.
    dead : bool
        Dead leaves lie on the ground.
    rng : numpy.random.Generator

    Returns
    -------
    canvas : ndarray, shape (rows, cols, 3), float32
    lying : bool
        A leaf would lie on this background, not hang in front of it.
    """
    weights = np.array([0.1, 0.1, 0.7, 0.0, 0.1] if dead else [0.42, 0.26, 0.12, 0.12, 0.08])
    draw = _OUTDOORS[int(rng.choice(len(_OUTDOORS), p=weights))]
    return draw(rows, cols, contours, rng), draw in (_ground, _wall)


def shadow(
    canvas: Canvas,
    alpha: npt.NDArray[np.float32],
    row: int,
    col: int,
    offset: tuple[float, float],
    softness: float,
    strength: float,
) -> None:
    """Darken a picture where a leaf's shadow falls.

    Parameters
    ----------
    canvas : ndarray, shape (rows, cols, 3), float32
        Changed in place.
    alpha : ndarray, shape (leaf rows, leaf cols), float32
        The leaf, 0 to 1.
    row, col : int
        Upper left corner of the leaf in the picture.
    offset : tuple of float
        Rows and columns from the leaf to its shadow.
    softness : float
        Standard deviation of the blur, in pixels.
    strength : float
        0 no shadow, 1 black.
    """
    reach = int(np.ceil(3 * softness + max(abs(offset[0]), abs(offset[1])))) + 1
    rows, cols = canvas.shape[:2]
    top, left = max(0, row - reach), max(0, col - reach)
    bottom = min(rows, row + alpha.shape[0] + reach)
    right = min(cols, col + alpha.shape[1] + reach)
    move = np.array([[1, 0, col - left + offset[1]], [0, 1, row - top + offset[0]]], np.float64)
    dark = cv2.warpAffine(alpha, move, (right - left, bottom - top))
    dark = cv2.GaussianBlur(dark, (0, 0), max(softness, 0.3))
    canvas[top:bottom, left:right] *= (1 - np.float32(strength) * dark)[..., None]


def _foliage(rows: int, cols: int, contours: Sequence[Points], rng: np.random.Generator) -> Canvas:
    size = max(rows, cols)
    small = _field_colour(rows, cols, (22, 50, 34), 0.45, rng)
    brightness = rng.uniform(0.7, 1.3)
    for depth in np.linspace(0, 1, 70):
        shade = brightness * (0.35 + 0.75 * depth) * rng.uniform(0.5, 1.15)
        green = np.array([rng.uniform(28, 62), rng.uniform(85, 135), rng.uniform(45, 95)]) * shade
        _scatter(small, contours, green, rng.uniform(0.12, 0.3), rng)
    return _unsharp(small, rows, cols, size * rng.uniform(0.008, 0.022))


def _shade(rows: int, cols: int, contours: Sequence[Points], rng: np.random.Generator) -> Canvas:
    small = _field_colour(rows, cols, (14, 17, 15), 0.5, rng)
    for _ in range(int(rng.integers(4, 26))):
        green = np.array([16, 42, 26]) * rng.uniform(0.5, 1.5)
        _scatter(small, contours, green, rng.uniform(0.12, 0.3), rng)
    return _unsharp(small, rows, cols, max(rows, cols) * rng.uniform(0.005, 0.014))


def _ground(rows: int, cols: int, contours: Sequence[Points], rng: np.random.Generator) -> Canvas:
    size = max(rows, cols)
    small = _field_colour(rows, cols, (50, 70, 88), 0.35, rng)
    for _ in range(60):
        brown = (np.array([42, 72, 108]) + rng.uniform(0, 1) * np.array([28, 32, 30])) * rng.uniform(0.5, 1.25)
        _scatter(small, contours, brown, rng.uniform(0.12, 0.26), rng)
    canvas = _unsharp(small, rows, cols, size * 0.002)
    canvas *= (1 + np.float32(0.12) * smooth_field(rows, cols, max(2.0, size * 0.012), rng, 3))[..., None]
    return canvas


def _sky(rows: int, cols: int, contours: Sequence[Points], rng: np.random.Generator) -> Canvas:
    size = max(rows, cols)
    clouds = np.clip(0.35 + 0.4 * smooth_field(rows, cols, size * 0.4, rng, 3), 0, 1)[..., None]
    blue = np.array([215, 165, 115], np.float32) * (1 - np.float32(0.12) * slope(rows, cols, np.pi / 2)[..., None])
    small = cv2.resize(blue + clouds * (np.float32(235) - blue), (cols // 2, rows // 2), interpolation=cv2.INTER_AREA)
    small = np.ascontiguousarray(small, np.float32)
    for _ in range(int(rng.integers(0, 14))):
        _scatter(small, contours, np.array([40, 75, 55]) * rng.uniform(0.5, 1.3), rng.uniform(0.08, 0.2), rng)
    return _unsharp(small, rows, cols, size * rng.uniform(0.003, 0.01))


def _wall(rows: int, cols: int, contours: Sequence[Points], rng: np.random.Generator) -> Canvas:
    size = max(rows, cols)
    grain = smooth_field(rows, cols, max(2.5, size * 0.014), rng, 3, 0.7)
    stain = smooth_field(rows, cols, size * 0.3, rng, 2)
    grey = np.array([1.0, 1.03, 1.06], np.float32) * np.float32(rng.uniform(90, 170))
    return (1 + np.float32(0.11) * grain + np.float32(0.05) * stain)[..., None] * grey


def _field_colour(
    rows: int, cols: int, colour: tuple[float, float, float], contrast: float, rng: np.random.Generator
) -> Canvas:
    """Half-size canvas of one colour in blotches of light."""
    rows, cols = max(2, rows // 2), max(2, cols // 2)
    light = np.clip(1 + contrast * smooth_field(rows, cols, max(rows, cols) * 0.25, rng, 3), 0.15, 2.2)
    return light[..., None] * np.array(colour, np.float32)


def _scatter(
    canvas: Canvas,
    contours: Sequence[Points],
    colour: npt.NDArray[np.float64],
    scale: float,
    rng: np.random.Generator,
) -> None:
    """Draw one flat leaf somewhere, with one half lighter than the other."""
    rows, cols = canvas.shape[:2]
    contour = contours[int(rng.integers(len(contours)))]
    angle, squeeze = rng.uniform(0, 6.3), rng.uniform(0.4, 1.0)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    place = rng.uniform(-0.05, 1.05, 2) * [cols, rows]
    points = (contour * [squeeze, 1.0]) @ turn * (scale * max(rows, cols)) + place
    fixed = np.round(points * 16).astype(np.int32)
    cv2.fillPoly(canvas, [fixed], colour.tolist(), cv2.LINE_8, 4)
    cv2.fillPoly(canvas, [fixed[: len(fixed) // 2]], (colour * rng.uniform(0.8, 1.25)).tolist(), cv2.LINE_8, 4)


def _unsharp(small: Canvas, rows: int, cols: int, sigma: float) -> Canvas:
    blurred = cv2.GaussianBlur(small, (0, 0), max(0.6, sigma / 2))
    return cv2.resize(blurred, (cols, rows), interpolation=cv2.INTER_LINEAR)


_OUTDOORS: tuple[Callable[[int, int, Sequence[Points], np.random.Generator], Canvas], ...] = (
    _foliage,
    _shade,
    _ground,
    _sky,
    _wall,
)
