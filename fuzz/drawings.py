"""Draws masks and contours that are unusual: very long, thin, split, or one pixel."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

Image = np.ndarray
_SHEET = 245


def _make_sheet(random: np.random.Generator, rows: int = 360, cols: int = 480) -> Image:
    return np.full((rows, cols, 3), _SHEET - random.integers(0, 30), np.uint8)


def draw_text(random: np.random.Generator) -> Image:
    """Draw a page of text."""
    image = _make_sheet(random)
    size = random.uniform(0.3, 0.8)
    for row in range(15, 360, int(22 * size) + 4):
        words = "".join(
            chr(random.integers(97, 123)) if random.random() > 0.15 else " "
            for _ in range(70)
        )
        cv2.putText(
            image,
            words,
            (8, row),
            cv2.FONT_HERSHEY_SIMPLEX,
            size,
            (20, 20, 20),
            1,
            cv2.LINE_AA,
        )
    return image


def draw_lines(random: np.random.Generator) -> Image:
    """Draw some lines, of which many cross."""
    image = _make_sheet(random)
    for points in random.integers(0, 480, (random.integers(1, 60), 4)).tolist():
        cv2.line(
            image,
            (points[0], points[1]),
            (points[2], points[3]),
            (30, 60, 20),
            int(random.integers(1, 4)),
        )
    return image


def draw_checkerboard(random: np.random.Generator) -> Image:
    """Draw a checkerboard, down to single pixels."""
    rows, cols = np.indices((360, 480)) // random.choice([1, 2, 5, 20, 60])
    return np.repeat(
        (((rows + cols) % 2) * 215 + 20).astype(np.uint8)[..., None], 3, axis=2
    )


def draw_maze(random: np.random.Generator) -> Image:
    """Draw a maze: one region with a contour of very many points."""
    cells = random.random((45, 60)) < 0.5
    image = _make_sheet(random)
    for row, col in np.ndindex(cells.shape):
        down, across = 8 * row, 8 * col
        end = (across + 8, down + 8) if cells[row, col] else (across + 8, down)
        start = (across, down) if cells[row, col] else (across, down + 8)
        cv2.line(image, start, end, (40, 110, 50), 3)
    return image


def draw_spiral(random: np.random.Generator) -> Image:
    """Draw a spiral, a region that is nothing but contour."""
    image = _make_sheet(random, 700, 700)
    angles = np.arange(0, random.uniform(20, 110) * np.pi, 0.02)
    points = np.stack(
        [350 + angles * np.cos(angles), 350 + angles * np.sin(angles)], axis=1
    )
    cv2.polylines(
        image,
        [points.astype(np.int32)],
        False,
        (40, 120, 60),
        int(random.integers(1, 3)),
    )
    return image


def draw_comb(random: np.random.Generator) -> Image:
    """Draw a green comb, with teeth of one pixel over the whole picture."""
    image = _make_sheet(random, 1200, 1600)
    image[40:1160, 40:1560:2] = (50, 130, 60)
    image[600 : 600 + random.integers(2, 30), 40:1560] = (50, 130, 60)
    return image


def draw_pixels(random: np.random.Generator) -> Image:
    """Draw green regions of one or a few pixels, from one to thousands."""
    image = _make_sheet(random)
    for row, col in random.integers(1, 358, (int(random.choice([1, 2, 30, 5000])), 2)):
        image[row : row + random.integers(1, 4), col : col + random.integers(1, 4)] = (
            40,
            130,
            50,
        )
    return image


def draw_noise(random: np.random.Generator) -> Image:
    """Draw noise, fine or coarse."""
    side = int(random.choice([4, 40, 400]))
    noise = random.integers(0, 256, (side, side, 3), dtype=np.uint8)
    return cv2.resize(
        noise,
        (400, 400),
        interpolation=random.choice([cv2.INTER_NEAREST, cv2.INTER_CUBIC]),
    )


def draw_stroke(random: np.random.Generator) -> Image:
    """Draw one stroke of a pixel's width, straight or along the border."""
    image = _make_sheet(random)
    if random.random() < 0.5:
        cv2.rectangle(image, (0, 0), (479, 359), (30, 120, 40), 1)
    else:
        cv2.line(image, (5, 180), (475, int(random.integers(0, 360))), (30, 120, 40), 1)
    return image


def draw_band(random: np.random.Generator) -> Image:
    """Draw a picture of the least height or width that is read."""
    image = random.integers(
        0, 256, (int(random.integers(16, 20)), 900, 3), dtype=np.uint8
    )
    return (
        image if random.random() < 0.5 else np.ascontiguousarray(image.swapaxes(0, 1))
    )


def draw_flat(random: np.random.Generator) -> Image:
    """Draw a single colour."""
    return np.full((200, 300, 3), random.integers(0, 256, 3), np.uint8)


def draw_rings(random: np.random.Generator) -> Image:
    """Draw rings inside rings: regions with holes."""
    image = _make_sheet(random)
    for radius in range(170, 5, -int(random.integers(4, 20))):
        cv2.circle(
            image,
            (240, 180),
            radius,
            (40, 130, 50) if radius // 10 % 2 else (240, 240, 240),
            -1,
        )
    return image


DRAWINGS: dict[str, Callable[[np.random.Generator], Image]] = {
    "text": draw_text,
    "lines": draw_lines,
    "checkerboard": draw_checkerboard,
    "maze": draw_maze,
    "spiral": draw_spiral,
    "comb": draw_comb,
    "pixels": draw_pixels,
    "noise": draw_noise,
    "stroke": draw_stroke,
    "band": draw_band,
    "flat": draw_flat,
    "rings": draw_rings,
}
