"""Composited photos: the leaf of a sheet among copies of itself, as on a tree.

Other pictures for training are drawn with the same perspective and light.
"""

import zlib
from itertools import repeat
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.random import Generator

from leafid.schema import parse_toml
from leafid.segmentation.result import (
    Image,
    Segmentation,
    find_bounding_box,
    list_halves,
)
from leafid.textfiles import read_text

_FILE = Path(__file__).with_name("ranges.toml")
#: Ranges of random numbers by their table and name in ``ranges.toml``.
RANGES = parse_toml(read_text(_FILE), dict[str, dict[str, tuple[Any, Any]]], _FILE)
# The maximum enlargement of a leaf's near end by perspective.
_TILT = 0.32
# The maximum logarithm of the light's gamma.
_GAMMA = 0.4
# The maximum slope of the light from the middle to a side.
_LIGHT_SLOPE = 0.25


def composite_photo(
    image: Image, leaf: Segmentation, number: int, longest_side: int
) -> Image:
    """Composite a photo from copies of a leaf photographed or scanned on a sheet.

    There are few photos of leaves on the tree, of few plants, but many scans of the
    same species. A composited photo has what a scan lacks: leaves in perspective that
    overlap and shade each other, in uneven light, in front of leaves that are out of
    focus, exposed as by a camera. Odd numbers give a branch, even numbers a nearly
    single leaf; the result depends on the number and on the content of the image alone.
    It is four to three, landscape or upright, with `longest_side` in pixels; an image
    without a leaf is returned unaltered.

    References
    ----------
    .. [1] D. Dwibedi, I. Misra, M. Hebert, "Cut, paste and learn: surprisingly easy
       synthesis for instance detection", ICCV 2017, doi:10.1109/ICCV.2017.146
    """
    if not leaf.mask.any():
        return image
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    kind = "branch" if number % 2 else "leaf"
    shorter = max(1, round(longest_side * 0.75))
    rows, cols = (
        (longest_side, shorter) if random.random() < 0.4 else (shorter, longest_side)
    )
    pyramid = _cut_out(image, leaf)
    photo = _paint_background(pyramid, random, rows, cols)
    length = random.uniform(*RANGES[kind]["length"]) * shorter
    shadow = 0.02 * shorter
    n_further = random.integers(*RANGES[kind]["number"])
    for place in (*repeat("further", n_further), "top"):
        _paste_leaf(
            photo, pyramid, random=random, place=place, length=length, shadow=shadow
        )
    if random.random() < 0.5:
        photo = cv2.GaussianBlur(
            photo, (0, 0), shorter * random.uniform(0.0007, 0.0017)
        )
    return _expose(photo, random)


def _cut_out(image: Image, leaf: Segmentation) -> list[Image]:
    """Cut the leaf out on black, with the mask as fourth channel; an image pyramid."""
    row0, row1, col0, col1 = find_bounding_box(leaf.mask)
    opaque = cv2.cvtColor(image[row0:row1, col0:col1], cv2.COLOR_BGR2BGRA)
    return list_halves(opaque * leaf.mask[row0:row1, col0:col1, None], 100)


def _paint_background(
    pyramid: list[Image], random: Generator, rows: int, cols: int
) -> Image:
    """Paint clouds of the leaf's colour or a greyish one, and leaves out of focus."""
    small_rows = max(1, rows // 4)
    small_cols = max(1, cols // 4)
    shorter = min(small_rows, small_cols)
    colour = np.array(cv2.mean(pyramid[-1][..., :3], pyramid[-1][..., 3])[:3])
    is_greyish = random.random() >= 0.6
    if is_greyish:
        colour = random.uniform(30, 220) * random.uniform(0.85, 1.15, 3)
    noise = random.uniform(0, 1, (4, 5, 3)).astype(np.float32)
    clouds = cv2.resize(noise, (small_cols, small_rows), interpolation=cv2.INTER_CUBIC)
    light = (0.6 + 0.8 * clouds.mean(axis=2, keepdims=True)) * (0.9 + 0.2 * clouds)
    background = make_image(colour * random.uniform(0.15, 1.1) * light)
    for _ in range(random.integers(*RANGES["background"]["number"])):
        _paste_leaf(
            background,
            pyramid[-1:],
            random=random,
            place="background",
            length=shorter,
            shadow=0,
        )
    background = cv2.GaussianBlur(
        background, (0, 0), shorter * random.uniform(0.013, 0.033)
    )
    return cv2.resize(background, (cols, rows))


def _paste_leaf(
    photo: Image,
    pyramid: list[Image],
    random: Generator,
    place: str,
    length: float,
    shadow: float,
) -> None:
    """Paste a randomly tilted leaf into a photo, above its shadow.

    The shadow has an offset of at most `shadow` pixels.
    """
    lit, matrix = _vary_leaf(
        pyramid, random, place=place, length=length, photo_size=photo.shape[1::-1]
    )
    rows, cols = lit.shape[:2]
    offset = random.uniform(-shadow, shadow, 2).round().astype(int)
    corners = cv2.perspectiveTransform(
        np.array([[[0, 0], [cols, 0], [cols, rows], [0, rows]]], np.float64), matrix
    )[0]
    margin = 2 * shadow + 2
    start = np.maximum(np.floor(corners.min(axis=0) - margin), 0).astype(int)
    end = np.minimum(np.ceil(corners.max(axis=0) + margin), photo.shape[1::-1]).astype(
        int
    )
    size = (end - start).tolist()
    if min(size) < 2:
        return
    to_crop = np.array([[1, 0, -start[0]], [0, 1, -start[1]], [0, 0, 1]]) @ matrix
    warped = cv2.warpPerspective(lit, to_crop, size)
    coverage = cv2.extractChannel(warped, 3)
    transmission = cv2.bitwise_not(coverage)
    if shadow:
        shift = np.column_stack([np.eye(2), offset])
        shifted = cv2.warpAffine(coverage, shift, size, flags=cv2.INTER_NEAREST)
        shade = cv2.blur(shifted, (2 * round(shadow) + 1,) * 2)
        transmission = cv2.multiply(
            transmission,
            cv2.convertScaleAbs(shade, alpha=-0.5, beta=255),
            scale=1 / 255,
        )
    crop = photo[start[1] : end[1], start[0] : end[0]]
    below = cv2.multiply(
        crop, cv2.cvtColor(transmission, cv2.COLOR_GRAY2BGR), scale=1 / 255
    )
    # The leaf was cut out on black, so that it is already multiplied by its coverage.
    crop[...] = cv2.add(below, cv2.cvtColor(warped, cv2.COLOR_BGRA2BGR))


def _vary_leaf(
    pyramid: list[Image],
    random: Generator,
    place: str,
    length: float,
    photo_size: tuple[int, ...],
) -> tuple[Image, np.ndarray]:
    """Choose a leaf in random light, and the matrix from its pixels to a photo's.

    The matrix is float64 (3, 3).
    """
    ranges = RANGES[place]
    centre = random.uniform(*ranges["centre"], 2) * photo_size
    length *= random.uniform(*ranges["length"])
    # The smallest level that is enlarged by at most 1.2 is reduced by less than 2, as
    # linear interpolation needs.
    leaf = next(
        (level for level in reversed(pyramid) if max(level.shape[:2]) >= length / 1.2),
        pyramid[0],
    )
    rows, cols = leaf.shape[:2]
    # It is maybe mirrored, rotated, narrowed and seen in perspective.
    rotation = random.uniform(0, 2 * np.pi)
    direction = random.uniform(0, np.pi)
    narrowing = narrow(direction, random.uniform(*ranges["width"]))
    mirroring = np.diag([-1.0 if random.random() < 0.5 else 1.0, 1.0])
    linear = narrowing @ rotate(rotation) @ mirroring * (length / max(rows, cols))
    tilt = random.uniform(-_TILT, _TILT, 2) / max(rows, cols)
    matrix = project(linear, tilt, np.array([cols - 1, rows - 1]) / 2, centre)
    brightness = random.uniform(*ranges["brightness"])
    values = bend_levels(np.exp(random.uniform(-_GAMMA, _GAMMA)), brightness)
    levels = make_image(np.dstack([values] * 3 + [np.arange(256)])).reshape(256, 1, 4)
    return relight(
        leaf, levels, max_slope=_LIGHT_SLOPE, random=random, precision=np.float32
    ), matrix


def _expose(photo: Image, random: Generator) -> Image:
    """Stretch the grey levels from dark to light.

    A camera exposes for the scene, a scanner for the white sheet.
    """
    dark, light = np.percentile(
        cv2.cvtColor(photo[::4, ::4], cv2.COLOR_BGR2GRAY), [2, 97]
    )
    level = random.uniform(150, 265)
    black = dark * random.uniform(0, 0.9)
    return cv2.LUT(
        photo, make_image((np.arange(256) - black) * (level / max(light - black, 8)))
    )


def make_image(values: np.ndarray) -> Image:
    """Cut values off at 0 and 255 and make them uint8."""
    return np.clip(values, 0, 255).astype(np.uint8)


def point_to(angle: float | np.ndarray) -> np.ndarray:
    """Return the unit vectors of angles, float64 (2,) or (2, n)."""
    return np.array([np.cos(angle), np.sin(angle)])


def rotate(angle: float) -> np.ndarray:
    """Return the matrix, float64 (2, 2), that rotates positions by an angle."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def narrow(direction: float, width: float) -> np.ndarray:
    """Return the matrix, float64 (2, 2), that narrows things along a direction."""
    axis = point_to(direction)
    return np.eye(2) - (1 - width) * np.outer(axis, axis)


def bend_levels(gamma: float, brightness: float = 1.0) -> np.ndarray:
    """Return what a gamma and a brightness make of the grey levels: float64 (256,)."""
    return (np.arange(256) / 255) ** gamma * (255 * brightness)


def project(
    linear: np.ndarray, tilt: np.ndarray, middle: np.ndarray, centre: np.ndarray
) -> np.ndarray:
    """Return the matrix, float64 (3, 3), of a perspective from `middle` to `centre`.

    Around the middle, positions are multiplied by `linear`, then divided by their
    distance from the camera, which is 1 plus their product with `tilt`.
    """
    to_origin = np.eye(3)
    around = np.eye(3)
    to_centre = np.eye(3)
    to_origin[:2, 2] = -middle
    to_centre[:2, 2] = centre
    around[:2, :2] = linear
    around[2, :2] = tilt
    return to_centre @ around @ to_origin


def relight(
    image: Image,
    levels: np.ndarray,
    max_slope: float,
    random: Generator,
    precision: type,
) -> Image:
    """Map the grey levels of a picture by a table; light falls off towards a side.

    Values above 255 are white. A fourth channel is a mask, which stays the same. The
    slopes along columns and rows are added in a precision, float32 or float64, on which
    the last bits of training pictures depend.
    """
    rows, cols = image.shape[:2]
    across, down = random.uniform(-max_slope, max_slope, 2)
    along_cols = (1 + across * np.linspace(-1, 1, cols)).astype(precision)
    along_rows = (down * np.linspace(-1, 1, rows)).astype(precision)
    light = (along_cols[None] + along_rows[:, None]).astype(np.float32)
    factor = cv2.merge([light] * 3 + [np.ones_like(light)] * (image.shape[2] - 3))
    return cv2.multiply(cv2.LUT(image, levels), factor, dtype=cv2.CV_8U)
