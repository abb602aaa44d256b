"""Composited photos: the leaf of a scan or scan-like picture among copies of itself, as on a tree."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.result import Image, Segmentation, downsample2, find_bounding_box


class _LeafRanges(NamedTuple):
    """Ranges of uniform random values: length, width (relative to the leaf's own) and brightness of leaves."""

    length: tuple[float, float]
    width: tuple[float, float]
    brightness: tuple[float, float]


# Ratio of the sides, and the share of upright photos. All lengths are relative to the shorter side.
_ASPECT, _UPRIGHT_SHARE = 0.75, 0.4
# Photos of a branch and of a nearly single leaf: number of other leaves (end exclusive) and length of leaves.
_N_OTHERS = {"branch": (6, 14), "leaf": (0, 3)}
_LENGTH = {"branch": (0.35, 0.7), "leaf": (0.6, 0.95)}
# The leaf on top, whose centre lies near the middle, and the others; their lengths are relative to that length.
_MIDDLE, _TOP_LEAF = (0.38, 0.62), _LeafRanges((1.0, 1.2), (0.6, 1.0), (0.75, 1.1))
_OTHER_LEAVES = _LeafRanges((0.6, 1.1), (0.35, 1.0), (0.45, 1.0))
# Leaves in the background, and the standard deviation of its blur.
_N_BACKGROUND, _BACKGROUND_LEAVES = (4, 16), _LeafRanges((0.2, 0.9), (0.35, 1.0), (0.3, 1.1))
_BACKGROUND_BLUR = (0.013, 0.033)
# Share of backgrounds in the leaf's own colour, and the grey level of the others.
_OWN_COLOUR_SHARE, _GREY_LEVEL = 0.6, (30, 220)
# Maximum enlargement of a leaf's near end by perspective, logarithm of the light's gamma, and its slope to a side.
_TILT, _GAMMA, _LIGHT_SLOPE = 0.32, 0.4, 0.25
# Maximum offset of a leaf's shadow, and its darkness.
_SHADOW, _SHADE = 0.02, 0.5
# Standard deviation of the blur of unsharp photos, and their share.
_BLUR, _BLURRED_SHARE = (0.0007, 0.0017), 0.5
# Exposure: the percentiles of grey that count as dark and as light, the least difference between them, the grey level
# that light parts get, and the share of the dark parts' grey level that is subtracted.
_DARK, _LIGHT, _MIN_CONTRAST, _LIGHT_LEVEL, _BLACK_POINT = 2, 97, 8, (150, 265), (0, 0.9)


def composite_photo(image: Image, leaf: Segmentation, number: int, longest_side: int) -> Image:
    """Composite a photo from copies of a leaf that was photographed or scanned on a sheet.

    There are few photos of leaves on the tree, of few plants, but many scans of the same species. A composited photo
    has what a scan lacks: leaves in perspective that overlap and shade each other, in uneven light, in front of leaves
    that are out of focus, exposed as by a camera. Odd numbers give a branch, even numbers a nearly single leaf; the
    result depends on the number and on the content of the image alone. It is four to three, landscape or upright, with
    `longest_side` in pixels; an image without a leaf is returned as it is.

    References
    ----------
    .. [1] D. Dwibedi, I. Misra, M. Hebert, "Cut, paste and learn: surprisingly easy synthesis for instance detection",
       ICCV 2017, doi:10.1109/ICCV.2017.146
    """
    if not leaf.mask.any():
        return image
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    kind = "branch" if number % 2 else "leaf"
    shorter = max(1, round(longest_side * _ASPECT))
    rows, cols = (longest_side, shorter) if random.random() < _UPRIGHT_SHARE else (shorter, longest_side)
    pyramid = _cut_out(image, leaf)
    photo = _paint_background(pyramid, random, rows, cols)
    length, shadow = random.uniform(*_LENGTH[kind]) * shorter, _SHADOW * shorter
    for _ in range(random.integers(*_N_OTHERS[kind])):
        _paste_leaf(photo, pyramid, random, (0, 1), length, _OTHER_LEAVES, shadow)
    _paste_leaf(photo, pyramid, random, _MIDDLE, length, _TOP_LEAF, shadow)
    if random.random() < _BLURRED_SHARE:
        photo = cv2.GaussianBlur(photo, (0, 0), shorter * random.uniform(*_BLUR))
    return _expose(photo, random)


def _cut_out(image: Image, leaf: Segmentation) -> list[Image]:
    """Cut the leaf out on black, with the mask as fourth channel; an image pyramid."""
    row0, row1, col0, col1 = find_bounding_box(leaf.mask)
    mask = leaf.mask[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    crop = cv2.merge([image[row0:row1, col0:col1], mask])
    pyramid = [cv2.bitwise_and(crop, cv2.cvtColor(mask, cv2.COLOR_GRAY2BGRA))]
    while max(pyramid[-1].shape[:2]) > 100 and min(pyramid[-1].shape[:2]) > 1:
        pyramid.append(downsample2(pyramid[-1]))
    return pyramid


def _paint_background(pyramid: list[Image], random: np.random.Generator, rows: int, cols: int) -> Image:
    small_rows, small_cols = max(1, rows // 4), max(1, cols // 4)
    shorter = min(small_rows, small_cols)
    colour = np.array(cv2.mean(pyramid[-1][..., :3], pyramid[-1][..., 3])[:3])
    if random.random() >= _OWN_COLOUR_SHARE:
        colour = random.uniform(*_GREY_LEVEL) * random.uniform(0.85, 1.15, 3)
    noise = random.uniform(0, 1, (4, 5, 3)).astype(np.float32)
    clouds = cv2.resize(noise, (small_cols, small_rows), interpolation=cv2.INTER_CUBIC)
    light = (0.6 + 0.8 * clouds.mean(axis=2, keepdims=True)) * (0.9 + 0.2 * clouds)
    background = np.clip(colour * random.uniform(0.15, 1.1) * light, 0, 255).astype(np.uint8)
    for _ in range(random.integers(*_N_BACKGROUND)):
        _paste_leaf(background, pyramid[-1:], random, (0, 1), shorter, _BACKGROUND_LEAVES)
    background = cv2.GaussianBlur(background, (0, 0), shorter * random.uniform(*_BACKGROUND_BLUR))
    return cv2.resize(background, (cols, rows), interpolation=cv2.INTER_LINEAR)


def _paste_leaf(
    photo: Image,
    pyramid: list[Image],
    random: np.random.Generator,
    centre_range: tuple[float, float],
    length: float,
    ranges: _LeafRanges,
    shadow: float = 0,
) -> None:
    """Paste a randomly tilted leaf into a photo, above a shadow with an offset of at most `shadow` pixels."""
    centre = random.uniform(*centre_range) * photo.shape[1], random.uniform(*centre_range) * photo.shape[0]
    length *= random.uniform(*ranges.length)
    # The smallest level that is enlarged by at most 1.2; it is reduced by less than 2, as linear interpolation needs.
    leaf = next((level for level in reversed(pyramid) if max(level.shape[:2]) >= length / 1.2), pyramid[0])
    rows, cols = leaf.shape[:2]
    matrix = _choose_perspective(rows, cols, random, centre, length, ranges.width)
    lit = _relight(leaf, random, random.uniform(*ranges.brightness))
    offset = random.uniform(-shadow, shadow, 2).round().astype(int)
    corners = cv2.perspectiveTransform(np.array([[[0, 0], [cols, 0], [cols, rows], [0, rows]]], np.float64), matrix)[0]
    margin = 2 * shadow + 2
    start = np.maximum(np.floor(corners.min(axis=0) - margin), 0).astype(int)
    end = np.minimum(np.ceil(corners.max(axis=0) + margin), photo.shape[1::-1]).astype(int)
    if (end - start < 2).any():
        return
    size = int(end[0] - start[0]), int(end[1] - start[1])
    to_crop = np.array([[1, 0, -start[0]], [0, 1, -start[1]], [0, 0, 1]]) @ matrix
    warped = cv2.warpPerspective(lit, to_crop, size, flags=cv2.INTER_LINEAR)
    coverage = cv2.extractChannel(warped, 3)
    transmission = cv2.bitwise_not(coverage)
    if shadow:
        shift = np.column_stack([np.eye(2), offset])
        shifted = cv2.warpAffine(coverage, shift, size, flags=cv2.INTER_NEAREST)
        shade = cv2.blur(shifted, (2 * round(shadow) + 1,) * 2)
        transmission = cv2.multiply(transmission, cv2.convertScaleAbs(shade, alpha=-_SHADE, beta=255), scale=1 / 255)
    crop = photo[start[1] : end[1], start[0] : end[0]]
    below = cv2.multiply(crop, cv2.cvtColor(transmission, cv2.COLOR_GRAY2BGR), scale=1 / 255)
    # The leaf was cut out on black, so that it is already multiplied by its coverage.
    crop[...] = cv2.add(below, cv2.cvtColor(warped, cv2.COLOR_BGRA2BGR))


def _relight(leaf: Image, random: np.random.Generator, brightness: float) -> Image:
    rows, cols = leaf.shape[:2]
    values = (np.arange(256) / 255) ** np.exp(random.uniform(-_GAMMA, _GAMMA)) * (255 * brightness)
    # Values above 255 become white; the mask stays as it is.
    table = np.dstack([np.clip(values, 0, 255)] * 3 + [np.arange(256)]).astype(np.uint8)
    across, down = random.uniform(-_LIGHT_SLOPE, _LIGHT_SLOPE, 2)
    along_cols = (1 + across * np.linspace(-1, 1, cols)).astype(np.float32)
    light = along_cols[None] + (down * np.linspace(-1, 1, rows)).astype(np.float32)[:, None]
    factor = cv2.merge([light, light, light, np.ones_like(light)])
    return cv2.multiply(cv2.LUT(leaf, table.reshape(256, 1, 4)), factor, dtype=cv2.CV_8U)


def _expose(photo: Image, random: np.random.Generator) -> Image:
    """Stretch the grey levels from dark to light: a camera exposes for the scene, a scanner for the white sheet."""
    grey = cv2.cvtColor(photo[::4, ::4], cv2.COLOR_BGR2GRAY)
    dark, light = np.percentile(grey, [_DARK, _LIGHT])
    level, black = random.uniform(*_LIGHT_LEVEL), dark * random.uniform(*_BLACK_POINT)
    table = (np.arange(256) - black) * (level / max(light - black, _MIN_CONTRAST))
    return cv2.LUT(photo, np.clip(table, 0, 255).astype(np.uint8))


def _choose_perspective(
    rows: int,
    cols: int,
    random: np.random.Generator,
    centre: tuple[float, float],
    length: float,
    width_range: tuple[float, float],
) -> NDArray[np.float64]:
    """Choose a matrix from a leaf's pixels to the photo's: rotated, maybe mirrored, narrowed and in perspective."""
    rotation, direction = random.uniform(0, 2 * np.pi), random.uniform(0, np.pi)
    narrowing = np.diag([random.uniform(*width_range), 1])
    mirroring = np.diag([-1.0 if random.random() < 0.5 else 1.0, 1.0])
    scale = length / max(rows, cols)
    linear = _rotate(direction) @ narrowing @ _rotate(-direction) @ _rotate(rotation) @ mirroring * scale
    tilt = random.uniform(-_TILT, _TILT, 2) / max(rows, cols)
    to_origin = np.array([[1, 0, -(cols - 1) / 2], [0, 1, -(rows - 1) / 2], [0, 0, 1]])
    to_centre = np.array([[1, 0, centre[0]], [0, 1, centre[1]], [0, 0, 1]])
    return to_centre @ np.vstack([np.column_stack([linear, [0, 0]]), [*tilt, 1]]) @ to_origin


def _rotate(angle: float) -> NDArray[np.float64]:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
