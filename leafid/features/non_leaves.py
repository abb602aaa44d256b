"""Pictures that show no leaf, drawn from training pictures: what a model learns to answer with "no leaf".

Empty sheets and shuffled tiles come from the training pictures themselves; figures, writing and strokes are drawn in
their colours and textures; `leafid.features.scenes` draws the rest.
"""

import zlib
from collections.abc import Callable
from functools import partial

import cv2
import numpy as np

from leafid.features import scenes
from leafid.segmentation.result import Image, Mask

Kind = Callable[[Image, Mask, np.random.Generator], Image]

#: Raised with every change to what is drawn: cached vectors of such pictures are then unused.
DRAWING_VERSION = 2
#: Side of a drawn picture, in pixels; the longer one is drawn between these.
_MIN_SIDE, _MAX_SIDE = 300, 800
#: A sheet is cut out where no leaf is nearer than this share of the picture's side.
_SHEET_MARGIN = 0.02
_FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_SCRIPT_SIMPLEX)
_LETTERS = np.array(list("aaaabcdeeeeefghiiiilmnnnooopqrrrsssttttuuvwxyz"))


def draw_non_leaf(image: Image, mask: Mask, number: int) -> Image:
    """Draw a picture without a leaf, uint8 (H, W, 3), from the sheet, colours and texture of a training picture.

    The number chooses the kind: consecutive numbers go through all `KINDS`. The result depends on it and on the content
    of the picture alone.
    """
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    return list(ALL_KINDS.values())[number](image, mask, random)


def _draw_size(random: np.random.Generator) -> tuple[int, int]:
    longest = int(random.integers(_MIN_SIDE, _MAX_SIDE + 1))
    shorter = int(longest * random.uniform(0.6, 1))
    return (longest, shorter) if random.random() < 0.5 else (shorter, longest)


def _cut_sheet(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    """Cut the largest of some random rectangles without leaf out of a picture; without any, one of its plain colour."""
    rows, cols = mask.shape
    margin = max(1, int(_SHEET_MARGIN * max(rows, cols)))
    near = cv2.dilate(mask.astype(np.uint8), np.ones((2 * margin + 1, 2 * margin + 1), np.uint8))
    covered = cv2.integral(near)
    best, best_area = None, 0
    for _ in range(60):
        row0, row1 = np.sort(random.integers(0, rows + 1, 2))
        col0, col1 = np.sort(random.integers(0, cols + 1, 2))
        area = (row1 - row0) * (col1 - col0)
        empty = covered[row1, col1] - covered[row0, col1] - covered[row1, col0] + covered[row0, col0] == 0
        if empty and area > best_area and min(row1 - row0, col1 - col0) >= 16:
            best, best_area = (slice(row0, row1), slice(col0, col1)), area
    height, width = _draw_size(random)
    if best is None:
        return _fill_plain(height, width, image[~mask] if (~mask).any() else image.reshape(-1, 3), random)
    return cv2.resize(image[best], (width, height), interpolation=cv2.INTER_CUBIC)


def _fill_plain(height: int, width: int, colours: np.ndarray, random: np.random.Generator) -> Image:
    canvas = np.empty((height, width, 3), np.float32)
    canvas[:] = colours[random.integers(len(colours))]
    canvas += random.normal(0, random.uniform(0, 4), canvas.shape)
    return np.clip(canvas, 0, 255).astype(np.uint8)


def _draw_ground(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    kind = random.random()
    if kind < 0.6:
        return _cut_sheet(image, mask, random)
    width, height = _draw_size(random)
    if kind < 0.8:
        return _fill_plain(height, width, random.integers(0, 256, (1, 3)), random)
    return scenes.draw_clouds(height, width, random)


def _draw_colour(image: Image, mask: Mask, random: np.random.Generator) -> tuple[int, int, int]:
    if mask.any() and random.random() < 0.4:
        rows, cols = np.nonzero(mask)
        pick = random.integers(len(rows))
        colour = image[rows[pick], cols[pick]]
    else:
        colour = random.integers(0, 256, 3)
    blue, green, red = (int(value) for value in colour)
    return blue, green, red


def _shuffle_tiles(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    n_tiles = int(random.integers(3, 9))
    side = min(image.shape[:2]) // n_tiles
    rows, cols = image.shape[0] // side, image.shape[1] // side
    tiles = (
        image[: rows * side, : cols * side].reshape(rows, side, cols, side, 3).swapaxes(1, 2).reshape(-1, side, side, 3)
    )
    tiles = random.permutation(tiles)
    if random.random() < 0.5:
        tiles = np.stack([np.rot90(tile, int(random.integers(4))) for tile in tiles])
    shuffled = tiles.reshape(rows, cols, side, side, 3).swapaxes(1, 2).reshape(rows * side, cols * side, 3)
    return np.ascontiguousarray(255 - shuffled if random.random() < 0.3 else shuffled)


def _draw_figure(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    """Draw discs, rectangles, stars and polygons on a sheet, plain or filled with the texture of a leaf."""
    canvas = _draw_ground(image, mask, random)
    height, width = canvas.shape[:2]
    area = np.zeros((height, width), np.uint8)
    for _ in range(int(random.integers(1, 4)) if random.random() < 0.4 else 1):
        centre = (random.uniform(0.3, 0.7, 2) * (width, height)).astype(int)
        radius = random.uniform(0.12, 0.4) * min(height, width)
        kind = random.integers(4)
        angle = random.uniform(0, 2 * np.pi)
        if kind == 0:
            axes = (int(radius), int(radius * random.choice([1, random.uniform(0.3, 1)])))
            cv2.ellipse(area, centre.tolist(), axes, float(np.degrees(angle)), 0, 360, 255, -1, cv2.LINE_AA)
            continue
        if kind == 1:
            ratio = random.uniform(0.15, 1)
            points = np.array([[-1, -ratio], [1, -ratio], [1, ratio], [-1, ratio]]) * radius
        elif kind == 2:
            n_points = int(random.integers(3, 9))
            points = radius * random.uniform(0.5, 1, (n_points, 1)) * _unit_circle(n_points)
        else:
            n_points = 2 * int(random.integers(4, 9))
            points = (
                radius
                * np.where(np.arange(n_points) % 2, random.uniform(0.3, 0.7), 1)[:, None]
                * _unit_circle(n_points)
            )
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        cv2.fillPoly(area, [np.round(points @ turn + centre).astype(np.int32)], 255, cv2.LINE_AA)
    if random.random() < 0.4:
        texture = _tile_leaf_texture(image, mask, height, width)
    else:
        texture = _fill_plain(height, width, np.array([_draw_colour(image, mask, random)]), random)
    share = area[..., None] / np.float32(255)
    return np.round(canvas * (1 - share) + texture * share).astype(np.uint8)


def _tile_leaf_texture(image: Image, mask: Mask, height: int, width: int) -> Image:
    """Fill a canvas with mirrored copies of the largest square inside the leaf."""
    distance = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_C, 3)
    row, col = np.unravel_index(distance.argmax(), distance.shape)
    radius = max(4, int(distance[row, col]) - 1)
    patch = image[max(0, row - radius) : row + radius, max(0, col - radius) : col + radius]
    tile = np.vstack([np.hstack([patch, patch[:, ::-1]]), np.hstack([patch[::-1], patch[::-1, ::-1]])])
    repeats = -(-height // tile.shape[0]), -(-width // tile.shape[1]), 1
    return np.ascontiguousarray(np.tile(tile, repeats)[:height, :width])


def _unit_circle(n_points: int) -> np.ndarray:
    angles = np.arange(n_points) * 2 * np.pi / n_points
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _draw_writing(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    canvas = _draw_ground(image, mask, random).copy()
    height, width = canvas.shape[:2]
    scale = random.uniform(0.4, 2.5)
    font = _FONTS[int(random.integers(len(_FONTS)))]
    colour = (30, 30, 30) if random.random() < 0.6 else _draw_colour(image, mask, random)
    thickness = int(random.integers(1, 4))
    step = int(34 * scale)
    for baseline in range(step, height, step):
        words = "".join(random.choice(_LETTERS, 80))
        length = int(random.integers(6, 80))
        text = " ".join(words[start : start + int(random.integers(2, 9))] for start in range(0, length, 7))
        cv2.putText(canvas, text, (int(0.05 * width), baseline), font, scale, colour, thickness, cv2.LINE_AA)
    return canvas


def _draw_strokes(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    """Draw lines, grids or scribbles on a sheet."""
    canvas = _draw_ground(image, mask, random).copy()
    height, width = canvas.shape[:2]
    colour = _draw_colour(image, mask, random)
    thickness = int(random.integers(1, 12))
    if random.random() < 0.4:
        step = int(random.integers(15, 120))
        for offset in range(step, max(height, width), step):
            cv2.line(canvas, (0, offset), (width, offset), colour, thickness)
            cv2.line(canvas, (offset, 0), (offset, height), colour, thickness)
        return canvas
    for _ in range(int(random.integers(1, 12))):
        step = random.uniform(0.02, 0.12) * max(height, width)
        path = random.normal(0, step, (int(random.integers(2, 40)), 2)).cumsum(axis=0)
        points = np.round(path + random.uniform(0, 1, 2) * (width, height)).astype(np.int32)
        cv2.polylines(canvas, [points], random.random() < 0.3, colour, thickness, cv2.LINE_AA)
    return canvas


def _draw_pattern(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    """Draw a checkerboard or stripes."""
    width, height = _draw_size(random)
    rows, cols = np.indices((height, width)) // int(random.integers(6, 80))
    is_first = ((rows * random.integers(2) + cols) % 2).astype(bool)
    return np.where(is_first[..., None], *scenes.draw_colours(2, random)).astype(np.uint8)


def _draw_needles(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    return scenes.draw_needles(_draw_ground(image, mask, random), random)


def _draw_scale_leaves(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    return scenes.draw_scale_leaves(_draw_ground(image, mask, random), random)


def _make_scene(draw: Callable[[int, int, np.random.Generator], Image]) -> Kind:
    """Make a kind of picture that takes nothing from a training picture."""

    def draw_scene(image: Image, mask: Mask, random: np.random.Generator) -> Image:
        width, height = _draw_size(random)
        return draw(height, width, random)

    return draw_scene


#: Kinds of pictures that a model learns from, by name. Twigs of conifers count as pictures without a leaf, because the
#: leaves of all species of the bundled model are broad.
KINDS: dict[str, Kind] = {
    "sheet": _cut_sheet,
    "tiles": _shuffle_tiles,
    "figure": _draw_figure,
    "writing": _draw_writing,
    "strokes": _draw_strokes,
    "clouds": _make_scene(scenes.draw_clouds),
    "mosaic": _make_scene(scenes.draw_mosaic),
    "masonry": _make_scene(scenes.draw_masonry),
    "grain": _make_scene(scenes.draw_grain),
    "photograph": _make_scene(partial(scenes.cut_photograph, scenes.LEARNED_PICTURES)),
    "needles": _draw_needles,
    "scale leaves": _draw_scale_leaves,
}
#: Kinds that are kept for testing.
HELD_BACK_KINDS: dict[str, Kind] = {
    "other photograph": _make_scene(partial(scenes.cut_photograph, scenes.HELD_BACK_PICTURES)),
    "pattern": _draw_pattern,
}
ALL_KINDS = KINDS | HELD_BACK_KINDS
