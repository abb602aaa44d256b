"""Pictures in the making: noise, leaves laid onto a background, shadows, and what a camera does to them."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from leafid.synthetic.species import Colour

Canvas = npt.NDArray[np.float32]
"""Shape (rows, cols, 3): blue, green, red, 0 to 255."""

_SHEETS = ((230, 236, 238), (196, 220, 236), (226, 218, 212), (176, 184, 190), (214, 222, 226))


@dataclass(frozen=True, slots=True)
class Layer:
    """A painted leaf, to be laid onto a canvas."""

    #: `row`, `col`: position of its upper left corner in the canvas; it lies inside the canvas.
    row: int
    col: int
    #: Shape (rows, cols, 3), float32: 0 to 255.
    colour: Canvas
    #: Shape (rows, cols), float32: share of each pixel that the leaf covers.
    alpha: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Camera:
    """How an author takes pictures: all pictures of one author have it in common."""

    #: Grey level of the scanner's lid.
    white: int
    #: Of the sheet that leaves are laid on.
    sheet: Colour
    #: Relative gain of red and loss of blue.
    warmth: float
    #: Standard deviation in grey levels.
    noise: float
    #: Direction that the light comes from, in radians (0 from the right, π/2 from below).
    light: float
    #: Of the light on the sheet: 0 an overcast sky, 1 the sun.
    hardness: float
    #: Of the JPEG files, 0 to 100.
    quality: int


def draw_camera(rng: np.random.Generator) -> Camera:
    """Draw an author's way of taking pictures."""
    return Camera(
        white=int(rng.integers(251, 256)),
        sheet=_SHEETS[int(rng.integers(len(_SHEETS)))],
        warmth=float(rng.normal(0, 0.035)),
        noise=float(rng.uniform(1.0, 3.5)),
        light=float(rng.uniform(-2.6, -0.5)),
        hardness=float(rng.uniform(0.15, 0.7)),
        quality=int(rng.integers(74, 88)),
    )


def expose(canvas: Canvas, warmth: float, noise: float, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Turn a canvas into the picture (uint8) that a camera of the given warmth and noise takes."""
    gains = rng.normal(1.0, 0.03) * np.array([1 - warmth, 1.0, 1 + warmth])
    grain = noise * rng.standard_normal((*canvas.shape[:2], 1), dtype=np.float32)
    return np.clip(canvas * gains.astype(np.float32) + grain + np.float32(0.5), 0, 255).astype(np.uint8)


def draw_noise(
    rows: int, cols: int, grain: float, rng: np.random.Generator, octaves: int = 1
) -> npt.NDArray[np.float32]:
    """Draw a field of value noise, float32 (rows, cols), with values around 0 and a standard deviation of about 1.

    `grain` is the size of the largest blotches in pixels; each further octave has half the grain and half the amplitude
    of the one before.
    """
    total = np.zeros((rows, cols), np.float32)
    for octave in range(octaves):
        size = max(1.0, grain / 2**octave)
        coarse = rng.standard_normal((int(rows / size) + 3, int(cols / size) + 3), dtype=np.float32)
        shape = (max(cols, round(coarse.shape[1] * size)), max(rows, round(coarse.shape[0] * size)))
        total += cv2.resize(coarse, shape, interpolation=cv2.INTER_CUBIC)[:rows, :cols] / np.float32(2**octave)
    return total


def blend_layer(canvas: Canvas, mask: npt.NDArray[np.bool_], layer: Layer, brightness: float = 1.0) -> None:
    """Lay a painted leaf onto a canvas and a mask, in place, its colours multiplied by a brightness."""
    rows, cols = layer.alpha.shape
    window = np.s_[layer.row : layer.row + rows, layer.col : layer.col + cols]
    canvas[window] += layer.alpha[..., None] * (layer.colour * np.float32(brightness) - canvas[window])
    mask[window] |= layer.alpha >= 0.5


def cast_shadow(canvas: Canvas, layer: Layer, offset: tuple[float, float], softness: float, strength: float) -> None:
    """Darken a canvas, in place, where the shadow of a leaf falls.

    `offset` is columns and rows from the leaf to its shadow, `softness` the standard deviation of the blur in pixels,
    and `strength` 0 for no shadow, 1 for black.
    """
    rows, cols = canvas.shape[:2]
    move = np.array([[1, 0, layer.col + offset[0]], [0, 1, layer.row + offset[1]]], np.float64)
    dark = cv2.GaussianBlur(cv2.warpAffine(layer.alpha, move, (cols, rows)), (0, 0), max(softness, 0.3))
    canvas *= (1 - np.float32(strength) * dark)[..., None]
