"""Pictures with outlines that are hard to find: shadows, patterns, poor light."""

from collections.abc import Callable

import cv2
import numpy as np
from numpy.random import Generator

from benchmarks.altering import (
    TABLES,
    Altered,
    draw_table,
    find_sheet_colour,
    put_beside_charts,
    put_on_card,
    put_on_paper,
    soften,
)
from leafid.features.compositing import make_image
from leafid.segmentation.result import Image, Mask, find_bounding_box

#: Colours, BGR, of margins without green, of lines on paper, and of cloths.
_CREAMS = ((200, 232, 240), (170, 222, 232), (150, 210, 225), (222, 240, 245))
_INKS = ((200, 120, 60), (120, 120, 120), (40, 40, 40), (90, 80, 200), (170, 200, 120))
_CLOTHS = ((60, 110, 60), (70, 150, 90), (40, 80, 50), (120, 60, 40), (60, 60, 130))


def cast_shadow(image: Image, mask: Mask, random: Generator) -> Altered:
    """Cast a hard shadow, 30 to 80 % dark, by 2 to 12 % of the longer side."""
    row0, row1, col0, col1 = find_bounding_box(mask)
    reach = random.uniform(0.02, 0.12) * max(row1 - row0, col1 - col0)
    angle = random.uniform(0, 2 * np.pi)
    offset = np.array(
        [[1, 0, reach * np.cos(angle)], [0, 1, reach * np.sin(angle)]], np.float32
    )
    cast = cv2.warpAffine(mask.astype(np.float32), offset, mask.shape[::-1])
    shadow = cv2.GaussianBlur(cast, (0, 0), random.uniform(0.5, 2.5))
    light = 1 - random.uniform(0.3, 0.8) * shadow[..., None]
    return _place(image, mask, _take_off(image, mask) * light), mask


def bleach_margin(image: Image, mask: Mask, random: Generator) -> Altered:
    """Give the leaf a margin of cream, or spots of it, on a white sheet."""
    depth = cv2.distanceTransform(np.pad(mask, 1).view(np.uint8), cv2.DIST_L2, 5)
    depth = depth[1:-1, 1:-1] / max(float(depth.max()), 1.0)
    unevenness = cv2.GaussianBlur(random.normal(0, 1, mask.shape), (0, 0), 12)
    unevenness *= random.uniform(0, 0.15) / max(float(unevenness.std()), 1e-6)
    share = cv2.GaussianBlur(
        (depth + unevenness < random.uniform(0.1, 0.5)).astype(np.float32), (0, 0), 1.2
    )[..., None]
    texture = image - cv2.GaussianBlur(image, (0, 0), 6).astype(float)
    cream = np.array(_CREAMS[random.integers(len(_CREAMS))]) + 0.6 * texture
    leaf = image * (1 - share) + cream * share
    sheet = random.uniform(235, 252) + random.normal(0, 1.5, image.shape)
    return _place(make_image(leaf), mask, sheet), mask


def put_on_lines(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put the leaf on ruled or squared paper, with dark, pale or light lines."""
    rows, cols = mask.shape
    step, width = int(random.integers(14, 60)), int(random.integers(1, 4))
    is_dark = random.random() < 0.3
    paper = np.full((rows, cols, 3), 60.0 if is_dark else 240.0)
    colour = np.array(_INKS[random.integers(len(_INKS))], float)
    strength = random.uniform(0.3, 1)
    line = (1 - strength) * paper[0, 0] + strength * (220 if is_dark else colour)
    for start in range(int(random.integers(step)), rows, step):
        paper[start : start + width] = line
    if random.random() < 0.7:
        for start in range(int(random.integers(step)), cols, step):
            paper[:, start : start + width] = line
    return _put_on(image, mask, paper, random), mask


def put_on_cloth(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put the leaf on woven cloth, green or of another colour, with folds."""
    rows, cols = mask.shape
    row, col = np.mgrid[:rows, :cols]
    period = random.uniform(3, 9)
    weave = np.sin(2 * np.pi * row / period) + np.sin(2 * np.pi * col / period)
    folds = cv2.GaussianBlur(random.normal(0, 1, mask.shape), (0, 0), 30)
    light = 1 + random.uniform(0.02, 0.1) * weave + random.uniform(0, 4) * folds
    colour = np.array(_CLOTHS[random.integers(len(_CLOTHS))])
    return _put_on(image, mask, colour * light[..., None], random), mask


def put_on_wood(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put the leaf on a table without paper."""
    rows, cols = mask.shape
    return _put_on(image, mask, draw_table(rows, cols, random), random), mask


def put_on_soil(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put the leaf on stones, soil or gravel."""
    colour = np.array(TABLES[random.integers(len(TABLES))], float)
    grains = sum(
        cv2.GaussianBlur(random.normal(0, 1, mask.shape), (0, 0), size) * size
        for size in (1.5, 4, 10)
    )
    soil = colour * (1 + random.uniform(0.1, 0.4) * grains[..., None])
    return _put_on(image, mask, soil, random), mask


def put_on_any_card(image: Image, mask: Mask, random: Generator) -> Altered:
    """Put the leaf on card of any colour."""
    return put_on_card(image, mask, random.integers(20, 250, 3).tolist(), random), mask


def overexpose(image: Image, mask: Mask, random: Generator) -> Altered:
    """Expose the picture for too long, with a glare on a part of it."""
    row, col = random.uniform(0.2, 0.8, 2) * mask.shape
    rows, cols = np.mgrid[: mask.shape[0], : mask.shape[1]]
    reach = random.uniform(0.1, 0.4) * max(mask.shape)
    glare = np.exp(-((rows - row) ** 2 + (cols - col) ** 2) / (2 * reach**2))
    gain = random.uniform(1.2, 2.2) + random.uniform(0, 2) * glare[..., None]
    return make_image(image * gain), mask


def underexpose(image: Image, mask: Mask, random: Generator) -> Altered:
    """Expose the picture for too short a time, with the noise of a small camera."""
    dark = image * random.uniform(0.08, 0.4)
    return make_image(dark + random.normal(0, random.uniform(1, 6), image.shape)), mask


def take_colour(image: Image, mask: Mask, _random: Generator) -> Altered:
    """Turn the picture grey, as a photocopy is."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), mask


#: What stands between a leaf and its outline, by name.
DISTURBANCES: dict[str, Callable[[Image, Mask, Generator], Altered]] = {
    "hard shadow": cast_shadow,
    "cream margin": bleach_margin,
    "lined paper": put_on_lines,
    "cloth": put_on_cloth,
    "wood": put_on_wood,
    "soil": put_on_soil,
    "any card": put_on_any_card,
    "paper on table": put_on_paper,
    "charts": put_beside_charts,
    "overexposed": overexpose,
    "underexposed": underexpose,
    "grey": take_colour,
}


def _take_off(image: Image, mask: Mask) -> np.ndarray:
    """Paint the sheet where the leaf was, float (H, W, 3)."""
    wide = cv2.dilate(mask.view(np.uint8), np.ones((9, 9), np.uint8)).view(bool)
    sheet = image.astype(float)
    sheet[wide] = find_sheet_colour(image)
    return sheet


def _place(image: Image, mask: Mask, sheet: np.ndarray) -> Image:
    """Place the leaf on another sheet, with a soft edge."""
    share = soften(mask)
    return make_image(image * share + sheet * (1 - share))


def _put_on(image: Image, mask: Mask, ground: np.ndarray, random: Generator) -> Image:
    """Place the leaf on the ground with a soft shadow and the noise of a camera."""
    reach = 0.01 * max(mask.shape)
    near = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), reach)[..., None]
    lit = ground * (1 - random.uniform(0, 0.5) * near)
    return _place(image, mask, lit + random.normal(0, 2, image.shape))
