"""Pictures that show no leaf, drawn from training pictures: what a model learns to answer with "no leaf".

Figures and needles are drawn on the sheets of training pictures, in their colours and textures; mosaics, masonry and
parts of photographs take nothing from them. Models that learn from these five reject writing, strokes, noise and grain
as well as models that also learn from such pictures; without the photographs they name more scenes.
"""

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import simplejpeg

from leafid.segmentation.result import Image, Mask

Kind = Callable[[Image, Mask, np.random.Generator], Image]

#: Raised with every change to what is drawn: cached vectors of such pictures are then unused.
DRAWING_VERSION = 6
# Range of the longer side of a drawn picture, in pixels.
_MIN_SIDE, _MAX_SIDE = 300, 640
# A sheet is cut out where no leaf is nearer than this share of the picture's side.
_SHEET_MARGIN = 0.02
_PHOTOGRAPHS = Path(__file__).parent / "photographs"
# Photographs that a model learns from, and those that are kept for testing.
_LEARNED_PHOTOGRAPHS = tuple(
    f"{name}.jpg" for name in ("brick", "camera", "chelsea", "coffee", "grass", "gravel", "retina")
)
_HELD_BACK_PHOTOGRAPHS = ("astronaut.jpg", "rocket.jpg")


def draw_non_leaf(image: Image, mask: Mask, number: int) -> Image:
    """Draw a picture without a leaf, uint8 (H, W, 3), from the sheet, colours and texture of a training picture.

    The number chooses one of `ALL_KINDS`. The result depends on it and on the content of the picture alone.
    """
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    return list(ALL_KINDS.values())[number](image, mask, random)


def _choose_size(random: np.random.Generator) -> tuple[int, int]:
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
        is_empty = covered[row1, col1] - covered[row0, col1] - covered[row1, col0] + covered[row0, col0] == 0
        if is_empty and area > best_area and min(row1 - row0, col1 - col0) >= 16:
            best, best_area = (slice(row0, row1), slice(col0, col1)), area
    height, width = _choose_size(random)
    if best is None:
        return _fill_plain(height, width, image[~mask] if (~mask).any() else image.reshape(-1, 3), random)
    return cv2.resize(image[best], (width, height), interpolation=cv2.INTER_CUBIC)


def _fill_plain(height: int, width: int, colours: np.ndarray, random: np.random.Generator) -> Image:
    """Fill a canvas with one of some colours, uint8 (n, 3), and a little noise."""
    canvas = np.empty((height, width, 3), np.float32)
    canvas[:] = colours[random.integers(len(colours))]
    canvas += _draw_noise(random, random.uniform(0, 4), canvas.shape)
    return np.clip(canvas, 0, 255).astype(np.uint8)


def _draw_ground(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    """Draw what things lie on: the sheet of a picture, a plain colour, or clouds."""
    kind = random.random()
    if kind < 0.6:
        return _cut_sheet(image, mask, random)
    width, height = _choose_size(random)
    if kind < 0.8:
        return _fill_plain(height, width, random.integers(0, 256, (1, 3)), random)
    return _draw_clouds(height, width, random)


def _draw_figure(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    """Draw discs, rectangles, polygons and stars on a ground, plain or filled with the texture of a leaf."""
    canvas = _draw_ground(image, mask, random)
    height, width = canvas.shape[:2]
    area = np.zeros((height, width), np.uint8)
    for _ in range(int(random.choice([1, 1, 1, 2, 3]))):
        n_points = int(random.choice([4, 64, int(random.integers(3, 9)), 2 * int(random.integers(4, 9))]))
        angles = np.arange(n_points) * 2 * np.pi / n_points
        points = np.column_stack([np.cos(angles), np.sin(angles)])
        if n_points % 2 == 0 and random.random() < 0.4:
            points[::2] *= random.uniform(0.3, 0.7)  # a star
        turn = random.uniform(0, 2 * np.pi)
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        radius = random.uniform(0.12, 0.4) * min(height, width)
        points = radius * (points * (1, random.uniform(0.3, 1))) @ rotation
        centre = random.uniform(0.3, 0.7, 2) * (width, height)
        cv2.fillPoly(area, [np.round(points + centre).astype(np.int32)], 255, cv2.LINE_AA)
    if random.random() < 0.4:
        texture = _tile_leaf_texture(image, mask, height, width)
    else:
        is_of_leaf = mask.any() and random.random() < 0.4
        texture = _fill_plain(height, width, image[mask] if is_of_leaf else random.integers(0, 256, (1, 3)), random)
    share = area[..., None] / np.float32(255)
    return np.round(canvas * (1 - share) + texture * share).astype(np.uint8)


def _tile_leaf_texture(image: Image, mask: Mask, height: int, width: int) -> Image:
    """Fill a canvas with mirrored copies of the largest square inside the leaf."""
    distance = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_C, 3)
    row, col = np.unravel_index(distance.argmax(), distance.shape)
    # Without any background, the distance is huge.
    radius = min(max(4, int(distance[row, col]) - 1), max(mask.shape))
    patch = image[max(0, row - radius) : row + radius, max(0, col - radius) : col + radius]
    tile = np.vstack([np.hstack([patch, patch[:, ::-1]]), np.hstack([patch[::-1], patch[::-1, ::-1]])])
    repeats = -(-height // tile.shape[0]), -(-width // tile.shape[1]), 1
    return np.ascontiguousarray(np.tile(tile, repeats)[:height, :width])


def _draw_needles(image: Image, mask: Mask, random: np.random.Generator) -> Image:
    """Draw single needles, a tuft of needles, or a twig with needles in two rows, on a ground with their shadow."""
    ground = _draw_ground(image, mask, random)
    canvas = ground.copy()
    height, width = canvas.shape[:2]
    size = random.uniform(0.6, 0.95) * min(height, width)
    hue = np.array([random.uniform(20, 80), random.uniform(70, 160), random.uniform(30, 110)])
    angle = random.uniform(0, 2 * np.pi)
    start = np.array([width, height]) / 2 - 0.5 * size * _point_to(angle)
    kind = random.random()
    if kind < 0.25:
        length = size * random.uniform(0.1, 0.8)
        thickness = max(2, int(length * random.uniform(0.04, 0.14)))
        for turn in random.uniform(0, 2 * np.pi, int(random.choice([1, 1, 1, 2, 3]))):
            middle = random.uniform(0.3, 0.7, 2) * (width, height)
            _draw_needle(canvas, middle - length / 2 * _point_to(turn), turn, length, thickness, hue, random)
    elif kind < 0.5:
        thickness = max(1, int(size * random.uniform(0.003, 0.02)))
        for turn in angle + random.normal(0, 0.35, int(random.integers(2, 40))):
            _draw_needle(canvas, start, turn, size * random.uniform(0.6, 1), thickness, hue, random)
    else:
        _draw_two_rows(canvas, start, angle, size, hue, random)
    is_drawn = (canvas != ground).any(axis=2)
    offset = random.normal(0, 0.01, 2) * max(height, width)
    shift = np.array([[1, 0, offset[0]], [0, 1, offset[1]]], np.float32)
    shadow = cv2.warpAffine(is_drawn.astype(np.float32), shift, (width, height))
    shadow = cv2.GaussianBlur(shadow, (0, 0), random.uniform(1, 8)) * random.uniform(0, 0.5) * ~is_drawn
    return _blur(np.round(canvas * (1 - shadow[..., None])).astype(np.uint8), random)


def _draw_two_rows(
    canvas: Image, start: np.ndarray, angle: float, size: float, hue: np.ndarray, random: np.random.Generator
) -> None:
    length = size * random.uniform(0.04, 0.25)
    bend = random.normal(0, 0.5)
    count = int(random.integers(20, 90))
    # From needles with gaps between them to needles that cover each other.
    thickness = max(1, int(size / count * random.uniform(0.2, 1.1)))
    lean = random.uniform(0.5, 1.4)
    irregularity = random.uniform(0.02, 0.15)
    path = [start]
    for number in range(count):
        direction = angle + bend * number / count
        path.append(path[-1] + size / count * _point_to(direction))
        taper = 1 - 0.6 * abs(2 * number / count - 0.8) ** 2
        for side in (-1, 1):
            turn = direction + side * (lean + random.normal(0, irregularity))
            _draw_needle(canvas, path[-1], turn, max(length * taper, 2), thickness, hue, random)
    stem = np.clip(hue * random.uniform(0.5, 1.2, 3), 0, 255).tolist()
    cv2.polylines(canvas, [np.round(path).astype(np.int32)], False, stem, max(1, thickness // 2), cv2.LINE_AA)


def _draw_needle(
    canvas: Image,
    base: np.ndarray,
    angle: float,
    length: float,
    thickness: int,
    hue: np.ndarray,
    random: np.random.Generator,
) -> None:
    steps = np.linspace(0, 1, 5)
    points = base + length * (steps * _point_to(angle + random.normal(0, 0.1) * steps)).T
    path = [np.round(points).astype(np.int32)]
    colour = np.clip(hue + random.normal(0, 12, 3), 0, 255)
    cv2.polylines(canvas, path, False, colour.tolist(), thickness, cv2.LINE_AA)
    if thickness > 3:
        midrib = np.clip(colour * random.uniform(0.7, 1.5), 0, 255)
        cv2.polylines(canvas, path, False, midrib.tolist(), thickness // 4, cv2.LINE_AA)


def _point_to(angle: float | np.ndarray) -> np.ndarray:
    """Return the unit vectors of angles, float64 (2,) or (2, n)."""
    return np.array([np.cos(angle), np.sin(angle)])


def _draw_mosaic(_image: Image, _mask: Mask, random: np.random.Generator) -> Image:
    """Draw opaque shapes of all sizes over each other: edges and sizes are distributed as in natural scenes.

    References
    ----------
    .. [1] A. B. Lee, D. Mumford, J. Huang, "Occlusion models for natural images: a statistical study of a
       scale-invariant dead leaves model", IJCV 41, 2001, doi:10.1023/A:1011109015675
    """
    width, height = _choose_size(random)
    canvas = _draw_clouds(height, width, random)
    palette = _choose_colours(int(random.integers(2, 7)), random)
    is_round = random.random() < 0.5
    for _ in range(int(random.integers(20, 400))):
        # Areas per octave are equal: radii have a density of r⁻³.
        radius = min(height, width) * 0.015 / np.sqrt(random.uniform(0.0006, 1))
        n_corners = 24 if is_round else int(random.integers(3, 7))
        angles = np.linspace(0, 2 * np.pi, 24) if is_round else np.sort(random.uniform(0, 2 * np.pi, n_corners))
        points = random.uniform(0, 1, 2) * (width, height) + radius * _point_to(angles).T * (1, random.uniform(0.3, 1))
        colour = np.clip(palette[random.integers(len(palette))] + random.normal(0, 20, 3), 0, 255)
        cv2.fillPoly(canvas, [np.round(points).astype(np.int32)], colour.tolist(), cv2.LINE_AA)
    shading = _draw_clouds(height, width, random).mean(axis=2, keepdims=True, dtype=np.float32) / 255
    shaded = canvas * (1 - np.float32(random.uniform(0, 0.7)) * shading)
    shaded += _draw_noise(random, random.uniform(0, 8), canvas.shape)
    return _blur(np.clip(shaded, 0, 255).astype(np.uint8), random)


def _draw_masonry(_image: Image, _mask: Mask, random: np.random.Generator) -> Image:
    """Draw a wall of bricks, tiles or planks, seen at an angle."""
    width, height = _choose_size(random)
    canvas = np.empty((height, width, 3), np.float32)
    canvas[:], base = _choose_colours(2, random)
    row = int(random.integers(12, 90))
    column = int(row * random.uniform(1, 6))
    gap = max(1, int(row * random.uniform(0.03, 0.2)))
    for number, top in enumerate(range(0, height, row)):
        start = -int(column * (0.5 * (number % 2) if random.random() < 0.8 else random.random()))
        for left in range(start, width, column):
            colour = np.clip(base + random.normal(0, 15) + random.normal(0, 6, 3), 0, 255)
            canvas[top : top + row - gap, max(0, left) : max(0, left + column - gap)] = colour
    canvas *= 0.6 + 0.8 * _draw_clouds(height, width, random).mean(axis=2, keepdims=True, dtype=np.float32) / 255
    canvas += _draw_noise(random, random.uniform(1, 10), canvas.shape)
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    moved = corners + random.uniform(-0.25, 0.25, (4, 2)) * (width, height)
    warp = cv2.getPerspectiveTransform(moved.astype(np.float32), corners)
    drawn = np.clip(canvas, 0, 255).astype(np.uint8)
    return cv2.warpPerspective(drawn, warp, (width, height), borderMode=cv2.BORDER_REFLECT)


def _cut_photograph(names: Sequence[str], _image: Image, _mask: Mask, random: np.random.Generator) -> Image:
    """Cut a part out of one of some photographs, mirrored or negative at random, in other light."""
    name = names[int(random.integers(len(names)))]
    photograph = simplejpeg.decode_jpeg((_PHOTOGRAPHS / name).read_bytes(), "BGR")
    share = random.uniform(0.4, 1)
    rows, cols = (int(share * side) for side in photograph.shape[:2])
    row, col = (int(random.uniform(0, 1 - share) * side) for side in photograph.shape[:2])
    part = photograph[row : row + rows, col : col + cols, :]
    if random.random() < 0.5:
        part = part[:, ::-1]
    if random.random() < 0.2:
        part = 255 - part
    scale = max(_choose_size(random)) / max(rows, cols)
    resized = cv2.resize(np.ascontiguousarray(part), None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
    gains = random.uniform(0.7, 1.3) * random.uniform(0.85, 1.15, 3)
    return np.clip(resized * gains, 0, 255).astype(np.uint8)


def _draw_pattern(_image: Image, _mask: Mask, random: np.random.Generator) -> Image:
    """Draw a checkerboard or stripes."""
    width, height = _choose_size(random)
    rows, cols = np.indices((height, width)) // int(random.integers(6, 80))
    is_first = ((rows * random.integers(2) + cols) % 2).astype(bool)
    return np.where(is_first[..., None], *_choose_colours(2, random)).astype(np.uint8)


def _choose_colours(number: int, random: np.random.Generator) -> np.ndarray:
    """Choose colours, float64 (number, 3), BGR in 0 to 255, most of them dull."""
    grey = random.uniform(15, 240, (number, 1))
    return np.clip(grey + random.exponential(0.35) * random.uniform(-128, 128, (number, 3)), 0, 255)


def _draw_clouds(height: int, width: int, random: np.random.Generator) -> Image:
    """Draw a field of noise, from white to cloudy, between two colours."""
    n_channels = int(random.choice([1, 3]))
    field = np.zeros((1, 1, n_channels), np.float32)
    roughness = random.uniform(0.3, 1.2)
    for octave in range(7):
        side = 2 ** (octave + 1)
        coarser = cv2.resize(field, (side, side), interpolation=cv2.INTER_CUBIC).reshape(side, side, n_channels)
        field = coarser + _draw_noise(random, roughness**octave, coarser.shape)
    field = cv2.resize(field, (width, height), interpolation=cv2.INTER_CUBIC).reshape(height, width, n_channels)
    field -= field.min()
    field /= max(float(field.max()), 1e-6)
    low, high = _choose_colours(2, random).astype(np.float32)
    return np.round(low + (high - low) * field).clip(0, 255).astype(np.uint8)


def _draw_noise(random: np.random.Generator, deviation: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draw normally distributed noise of a standard deviation, float32: faster than as float64."""
    return random.standard_normal(shape, np.float32) * np.float32(deviation)


def _blur(image: Image, random: np.random.Generator) -> Image:
    """Blur a picture a little, or not at all."""
    sigma = random.uniform(0, 2)
    return cv2.GaussianBlur(image, (0, 0), sigma) if sigma > 0.3 else image


#: All kinds of pictures, by name. Their order numbers the vectors in feature caches: new kinds come last.
ALL_KINDS: dict[str, Kind] = {
    "figure": _draw_figure,
    "needles": _draw_needles,
    "mosaic": _draw_mosaic,
    "masonry": _draw_masonry,
    "pattern": _draw_pattern,
    "photograph": partial(_cut_photograph, _LEARNED_PHOTOGRAPHS),
    "other photograph": partial(_cut_photograph, _HELD_BACK_PHOTOGRAPHS),
}
#: Kinds that are kept for testing.
HELD_BACK_KINDS = {kind: ALL_KINDS[kind] for kind in ("pattern", "other photograph")}
#: Kinds that a model learns from. Twigs of conifers count as pictures without a leaf, because the leaves of all species
#: of the bundled model are broad.
KINDS = {kind: draw for kind, draw in ALL_KINDS.items() if kind not in HELD_BACK_KINDS}
