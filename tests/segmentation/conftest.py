from collections.abc import Callable

import cv2
import numpy as np
import pytest

# A lobed outline with a stalk: no two of its turns or mirrors are alike.
_ANGLES = np.linspace(0, 2 * np.pi, 180, endpoint=False)
_RADII = 1 + 0.22 * np.cos(5 * _ANGLES + 0.4) + 0.12 * np.cos(_ANGLES)
_BLADE = np.stack([0.8 * _RADII * np.sin(_ANGLES), -_RADII * np.cos(_ANGLES)], axis=1)


def _fill(shape: tuple[int, int], points: np.ndarray) -> np.ndarray:
    mask = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [np.round(points * 16).astype(np.int32)], 1, shift=4)
    return mask.astype(bool)


@pytest.fixture(scope="session")
def drawn_leaf() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Draw a leaf on a sheet; returns the image and the leaf's true mask.

    `centre` is a part of rows and cols, `radius` of the shorter side, `turn` is in
    degrees clockwise, `shade` is how much of the light is lost from one corner to the
    other.
    """

    def draw(
        rows: int = 240,
        cols: int = 200,
        centre: tuple[float, float] = (0.5, 0.5),
        radius: float = 0.25,
        turn: float = 0.0,
        mirror: bool = False,
        sheet: tuple[int, int, int] = (235, 238, 240),
        leaf: tuple[int, int, int] = (40, 110, 60),
        shade: float = 0.0,
        stalk: bool = False,
        noise: float = 2.0,
        seed: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        side = min(rows, cols)
        cosine, sine = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        to_picture = np.array([[cosine, sine], [-sine, cosine]]) * radius * side
        middle = np.array([centre[1] * cols, centre[0] * rows])
        outline = _BLADE * ([-1, 1] if mirror else [1, 1])
        mask = _fill((rows, cols), outline @ to_picture + middle)
        if stalk:
            # 4 % of √area wide: well below what counts as a petiole's greatest width, 8
            # %.
            mask |= _fill(
                (rows, cols),
                np.array([[-0.035, 0.5], [0.035, 0.5], [0.035, 1.7], [-0.035, 1.7]])
                @ to_picture
                + middle,
            )
        image = np.where(mask[..., None], np.array(leaf, float), np.array(sheet, float))
        row, col = np.mgrid[0:rows, 0:cols]
        image *= (1 - shade * (row / rows + col / cols) / 2)[..., None]
        image += np.random.default_rng(seed).normal(0, noise, image.shape)
        return np.clip(np.round(image), 0, 255).astype(np.uint8), mask

    return draw


@pytest.fixture(scope="session")
def iou() -> Callable[[np.ndarray, np.ndarray], float]:
    """Compute the intersection over union of two masks."""
    return lambda mask, true: (
        np.count_nonzero(mask & true) / max(np.count_nonzero(mask | true), 1)
    )
