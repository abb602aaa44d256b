"""A leaf to describe, and patches of it that are read pixel by pixel."""

import cv2
import numpy as np

SIDE = 16


def draw_leaf(size=120, teeth=9, centre=(60, 60), seed=0):
    """A toothed leaf on white with a rough surface, and its region."""
    angles = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    radii = 0.3 * size * (1 + 0.12 * ((angles * teeth / 2 / np.pi) % 1))
    outline = np.stack(
        [centre[1] + 0.8 * radii * np.cos(angles), centre[0] + radii * np.sin(angles)],
        axis=1,
    )
    region = cv2.fillPoly(
        np.zeros((size, size), np.uint8), [np.rint(outline).astype(np.int32)], 1
    )
    rough = cv2.GaussianBlur(
        np.random.default_rng(seed).random((size, size)), (0, 0), 2
    )
    grey = np.where(region, 60 + 300 * (rough - rough.mean()), 255)
    return np.uint8(np.clip(cv2.GaussianBlur(grey, (0, 0), 0.7), 0, 255)), region > 0


def split_gradient(down, right):
    """Split a gradient into components along the two nearest of 8 directions: (8,).

    They add up to it.
    """
    components = np.zeros(8)
    lower = int(np.arctan2(down, right) / (np.pi / 4) % 8) % 8
    angles = np.array([lower, lower + 1]) * np.pi / 4
    components[[lower, (lower + 1) % 8]] = np.linalg.solve(
        [np.cos(angles), np.sin(angles)], [right, down]
    )
    return components


def decompose_literally(grey):
    """Split each pixel's gradient along 8 directions: (H, W, 8).

    Grey values are in [0, 1].
    """
    values = grey.astype(float) / 255
    rows, cols = grey.shape
    gradients = np.zeros((rows, cols, 8))
    for row, col in np.ndindex(rows, cols):
        # Central differences; the picture is mirrored at its edge without repeating the
        # edge pixel.
        down = (
            values[row + 1 if row + 1 < rows else rows - 2, col]
            - values[abs(row - 1), col]
        )
        right = (
            values[row, col + 1 if col + 1 < cols else cols - 2]
            - values[row, abs(col - 1)]
        )
        gradients[row, col] = split_gradient(down, right)
    return gradients


def read_literally(grey, point, across, along):
    """Sum the gradients of a patch of 16 × 16 pixels over cells of 4 × 4: (4, 4, 8)."""
    samples = np.zeros((SIDE + 2, SIDE + 2))
    for row in range(SIDE + 2):
        for col in range(SIDE + 2):
            y, x = (
                point + across * (row - (SIDE + 1) / 2) + along * (col - (SIDE + 1) / 2)
            )
            top, left = int(np.floor(y)), int(np.floor(x))
            for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1)):
                inside = 0 <= top + dy < len(grey) and 0 <= left + dx < len(grey[0])
                weight = abs(1 - dy - (y - top)) * abs(1 - dx - (x - left))
                samples[row, col] += (
                    weight * (grey[top + dy, left + dx] if inside else 255) / 255
                )
    cells = np.zeros((4, 4, 8))
    for row in range(SIDE):
        for col in range(SIDE):
            down = samples[row + 2, col + 1] - samples[row, col + 1]
            right = samples[row + 1, col + 2] - samples[row + 1, col]
            cells[row // 4, col // 4] += split_gradient(down, right) / 16
    return cells
