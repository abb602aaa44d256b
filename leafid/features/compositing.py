"""Staged photos: the leaf of a scan or scan-like picture as it might be met on the tree, among others of its kind."""

from __future__ import annotations

import zlib
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from leafid.segmentation.result import Image, Segmentation, downsample2


class _Leaves(NamedTuple):
    """What leaves are drawn from, uniformly: their length, how narrow they look from aside, how much light they get."""

    length: tuple[float, float]
    narrowed: tuple[float, float]
    light: tuple[float, float]


# Four to three, and upright this often; all lengths are parts of the shorter side.
_SHAPE, _UPRIGHT_SHARE = 0.75, 0.4
# Of a branch and of a leaf nearly alone: how many other leaves there are, the end exclusive, and how long leaves are.
_N_OTHERS = {"branch": (6, 14), "leaf": (0, 3)}
_LENGTH = {"branch": (0.35, 0.7), "leaf": (0.6, 0.95)}
# Of that length; the one on top lies near the middle.
_MIDDLE, _ON_TOP = (0.38, 0.62), _Leaves((1.0, 1.2), (0.6, 1.0), (0.75, 1.1))
_OTHERS = _Leaves((0.6, 1.1), (0.35, 1.0), (0.45, 1.0))
# Behind all, on a ground of the leaf's colour or of none, leaves are out of focus by as much.
_N_BEHIND, _BEHIND, _OUT_OF_FOCUS = (4, 16), _Leaves((0.2, 0.9), (0.35, 1.0), (0.3, 1.1)), (0.013, 0.033)
_OWN_COLOUR_SHARE, _GROUND = 0.6, (30, 220)
# Perspective: how much larger a leaf's near end is than its far one; light: exponent, and fall to a side.
_TILT, _GAMMA, _FALL = 0.32, 0.4, 0.25
# How far and how deeply a leaf shades what is under it; how unsharp some photos are.
_SHADOW, _SHADE = 0.02, 0.5
_UNSHARP, _UNSHARP_SHARE = (0.0007, 0.0017), 0.5


def composite_photo(image: Image, leaf: Segmentation, number: int, longest_side: int) -> Image:
    """Set a leaf that was cut from its sheet among copies of itself, as on the tree.

    Photos taken on the tree are few, of few plants, and scans of the same species many. What a scan lacks of a photo is
    what is made here: leaves seen from aside, that overlap and shade each other, in uneven light, before leaves out of
    focus. Of an odd number it is a branch, of an even one a leaf nearly alone.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        BGR.
    leaf : Segmentation
        Of that image.
    number : int
        From 1. Equal pictures give equal photos of a number, wherever they are kept.
    longest_side : int
        Of the photo, in pixels.

    Returns
    -------
    ndarray of uint8, shape (rows, cols, 3)
        Four to three, lying or upright; the picture as it is where there is no leaf.

    References
    ----------
    .. [1] D. Dwibedi, I. Misra, M. Hebert, "Cut, paste and learn: surprisingly easy synthesis for instance detection",
       ICCV 2017, doi:10.1109/ICCV.2017.146
    """
    if not leaf.mask.any():
        return image
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    kind = "branch" if number % 2 else "leaf"
    shorter = max(1, round(longest_side * _SHAPE))
    rows, cols = (longest_side, shorter) if random.random() < _UPRIGHT_SHARE else (shorter, longest_side)
    leaves = _cut_out(image, leaf)
    photo = _background(leaves, random, rows, cols)
    length, shadow = random.uniform(*_LENGTH[kind]) * shorter, _SHADOW * shorter
    for _ in range(random.integers(*_N_OTHERS[kind])):
        _lay(photo, leaves, random, (0, 1), length, _OTHERS, shadow)
    _lay(photo, leaves, random, _MIDDLE, length, _ON_TOP, shadow)
    if random.random() < _UNSHARP_SHARE:
        photo = cv2.GaussianBlur(photo, (0, 0), shorter * random.uniform(*_UNSHARP))
    return photo


def _cut_out(image: Image, leaf: Segmentation) -> list[Image]:
    """Cut the leaf out on black, with the mask as a fourth channel; at its size, at half of it, and so on."""
    row0, row1, col0, col1 = leaf.box
    mask = leaf.mask[row0:row1, col0:col1].astype(np.uint8) * np.uint8(255)
    leaves = [cv2.bitwise_and(cv2.merge([image[row0:row1, col0:col1], mask]), cv2.cvtColor(mask, cv2.COLOR_GRAY2BGRA))]
    while max(leaves[-1].shape[:2]) > 100 and min(leaves[-1].shape[:2]) > 1:
        leaves.append(downsample2(leaves[-1]))
    return leaves


def _background(leaves: list[Image], random: np.random.Generator, rows: int, cols: int) -> Image:
    small_rows, small_cols = max(1, rows // 4), max(1, cols // 4)
    shorter = min(small_rows, small_cols)
    own = np.array(cv2.mean(leaves[-1][..., :3], leaves[-1][..., 3])[:3])
    ground = own if random.random() < _OWN_COLOUR_SHARE else random.uniform(*_GROUND) * random.uniform(0.85, 1.15, 3)
    clouds = cv2.resize(
        random.uniform(0, 1, (4, 5, 3)).astype(np.float32), (small_cols, small_rows), interpolation=cv2.INTER_CUBIC
    )
    light = (0.6 + 0.8 * clouds.mean(axis=2, keepdims=True)) * (0.9 + 0.2 * clouds)
    behind = np.clip(ground * random.uniform(0.15, 1.1) * light, 0, 255).astype(np.uint8)
    for _ in range(random.integers(*_N_BEHIND)):
        _lay(behind, leaves[-1:], random, (0, 1), shorter, _BEHIND)
    behind = cv2.GaussianBlur(behind, (0, 0), shorter * random.uniform(*_OUT_OF_FOCUS))
    return cv2.resize(behind, (cols, rows), interpolation=cv2.INTER_LINEAR)


def _lay(
    photo: Image,
    leaves: list[Image],
    random: np.random.Generator,
    where: tuple[float, float],
    length: float,
    drawn: _Leaves,
    shadow: float = 0,
) -> None:
    """Lay a leaf, seen from a side drawn at random, over part of a photo, and its shadow of that width under it."""
    place = random.uniform(*where) * photo.shape[1], random.uniform(*where) * photo.shape[0]
    length *= random.uniform(*drawn.length)
    # Not reduced by more than a half, which linear interpolation can still do.
    leaf = next((one for one in reversed(leaves) if max(one.shape[:2]) >= length / 1.2), leaves[0])
    rows, cols = leaf.shape[:2]
    matrix = _view(rows, cols, random, place, length, drawn.narrowed)
    lit = _lit(leaf, random, random.uniform(*drawn.light))
    shadow_by = random.uniform(-shadow, shadow, 2).round().astype(int)
    corners = cv2.perspectiveTransform(np.array([[[0, 0], [cols, 0], [cols, rows], [0, rows]]], np.float64), matrix)[0]
    margin = 2 * shadow + 2
    first = np.maximum(np.floor(corners.min(axis=0) - margin), 0).astype(int)
    end = np.minimum(np.ceil(corners.max(axis=0) + margin), photo.shape[1::-1]).astype(int)
    if (end - first < 2).any():
        return
    size = int(end[0] - first[0]), int(end[1] - first[1])
    moved = np.array([[1, 0, -first[0]], [0, 1, -first[1]], [0, 0, 1]]) @ matrix
    seen = cv2.warpPerspective(lit, moved, size, flags=cv2.INTER_LINEAR)
    coverage = cv2.extractChannel(seen, 3)
    left = cv2.bitwise_not(coverage)
    if shadow:
        shaded = cv2.blur(_moved(coverage, *shadow_by), (2 * round(shadow) + 1,) * 2)
        left = cv2.multiply(left, cv2.convertScaleAbs(shaded, alpha=-_SHADE, beta=255), scale=1 / 255)
    part = photo[first[1] : end[1], first[0] : end[0]]
    under = cv2.multiply(part, cv2.cvtColor(left, cv2.COLOR_GRAY2BGR), scale=1 / 255)
    # On black, the leaf is already as bright as it covers what is under it.
    part[...] = cv2.add(under, cv2.cvtColor(seen, cv2.COLOR_BGRA2BGR))


def _lit(leaf: Image, random: np.random.Generator, light: float) -> Image:
    rows, cols = leaf.shape[:2]
    values = (np.arange(256) / 255) ** np.exp(random.uniform(-_GAMMA, _GAMMA)) * (255 * light)
    # Over 255 is white; the mask stays as it is.
    table = np.dstack([np.clip(values, 0, 255)] * 3 + [np.arange(256)]).astype(np.uint8)
    across, down = random.uniform(-_FALL, _FALL, 2)
    along_cols = (1 + across * np.linspace(-1, 1, cols)).astype(np.float32)
    falling = along_cols[None] + (down * np.linspace(-1, 1, rows)).astype(np.float32)[:, None]
    factor = cv2.merge([falling, falling, falling, np.ones_like(falling)])
    return cv2.multiply(cv2.LUT(leaf, table.reshape(256, 1, 4)), factor, dtype=cv2.CV_8U)


def _view(
    rows: int,
    cols: int,
    random: np.random.Generator,
    place: tuple[float, float],
    length: float,
    narrowed: tuple[float, float],
) -> NDArray[np.float64]:
    """From a leaf's pixels to the photo's: turned, mirrored or not, narrowed along some direction, in perspective."""
    turn, direction = random.uniform(0, 2 * np.pi), random.uniform(0, np.pi)
    narrow = np.diag([random.uniform(*narrowed), 1])
    mirror = np.diag([-1.0 if random.random() < 0.5 else 1.0, 1.0])
    size = length / max(rows, cols)
    seen = _rotation(direction) @ narrow @ _rotation(-direction) @ _rotation(turn) @ mirror * size
    tilt = random.uniform(-_TILT, _TILT, 2) / max(rows, cols)
    about = np.array([[1, 0, -(cols - 1) / 2], [0, 1, -(rows - 1) / 2], [0, 0, 1]])
    there = np.array([[1, 0, place[0]], [0, 1, place[1]], [0, 0, 1]])
    matrix: NDArray[np.float64] = there @ np.vstack([np.column_stack([seen, [0, 0]]), [*tilt, 1]]) @ about
    return matrix


def _rotation(angle: float) -> NDArray[np.float64]:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def _moved(coverage: Image, cols: int, rows: int) -> Image:
    height, width = coverage.shape
    moved = np.zeros_like(coverage)
    into = moved[max(rows, 0) : height + min(rows, 0), max(cols, 0) : width + min(cols, 0)]
    into[...] = coverage[max(-rows, 0) : height + min(-rows, 0), max(-cols, 0) : width + min(-cols, 0)]
    return moved
