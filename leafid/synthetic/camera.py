"""What scanners, cameras and light do to a picture; one author's pictures have it in common."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from leafid.synthetic.species import Colour

Canvas = npt.NDArray[np.float32]
"""Shape (rows, cols, 3), blue, green, red, 0 to 255."""


@dataclass(frozen=True, slots=True)
class Camera:
    """How an author takes pictures.

    Attributes
    ----------
    scanner : Colour
        What the scanner makes of white.
    sheet : Colour
        Of the sheet that leaves are laid on.
    balance : tuple of float
        Gains of blue, green and red.
    exposure : float
        1 is right.
    noise : float
        Standard deviation at medium grey, in grey levels.
    blur : float
        Relative to the picture's longest side.
    light : float
        Direction that the light comes from, in radians (0 from the right, π/2 from below).
    hardness : float
        Of the light on the sheet: 0 an overcast sky, 1 the sun.
    quality : int
        Of the JPEG files, 0 to 100.
    """

    scanner: Colour
    sheet: Colour
    balance: tuple[float, float, float]
    exposure: float
    noise: float
    blur: float
    light: float
    hardness: float
    quality: int


def random_camera(rng: np.random.Generator) -> Camera:
    """Choose an author's way of taking pictures."""
    sheets = (
        (240, 244, 246),
        (196, 220, 236),
        (226, 218, 212),
        (238, 234, 228),
        (176, 184, 190),
        (214, 222, 226),
        (248, 246, 244),
    )
    white = int(rng.integers(246, 256))
    warmth = float(rng.normal(0, 0.035))
    return Camera(
        scanner=(white, min(255, white + int(rng.integers(-2, 2))), min(255, white + int(rng.integers(-4, 3)))),
        sheet=sheets[int(rng.integers(len(sheets)))],
        balance=(1 - warmth, 1.0, 1 + warmth),
        exposure=float(rng.normal(1.0, 0.06)),
        noise=float(rng.uniform(1.0, 3.5)),
        blur=float(rng.uniform(0.0003, 0.0013)),
        light=float(rng.uniform(-2.6, -0.5)),
        hardness=float(rng.uniform(0.15, 0.7)),
        quality=int(rng.integers(74, 88)),
    )


def expose(canvas: Canvas, camera: Camera, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Turn a scene into the picture that a camera gives.

    Parameters
    ----------
    canvas : ndarray, shape (rows, cols, 3), float32
        Overwritten.
    camera : Camera
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (rows, cols, 3), uint8
    """
    rows, cols = canvas.shape[:2]
    sigma = camera.blur * max(rows, cols)
    if sigma > 0.25:
        canvas = cv2.GaussianBlur(canvas, (0, 0), sigma)
    canvas *= np.array(camera.balance, np.float32) * np.float32(camera.exposure * rng.normal(1, 0.03))
    grain = np.float32(camera.noise) * rng.standard_normal((rows, cols), dtype=np.float32)
    for channel, shift in enumerate((0, 7, 13)):
        # The channels share most of the noise; a shifted copy serves as the part that they don't.
        canvas[..., channel] += grain + np.float32(0.5) * np.roll(grain, shift, axis=1)
    return np.clip(canvas + np.float32(0.5), 0, 255).astype(np.uint8)
