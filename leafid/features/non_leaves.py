"""Pictures without a leaf, drawn from training pictures, to learn "no leaf" from.

Figures and needles are drawn on the sheets of training pictures, in their colours and
textures; mosaics and parts of photographs take nothing from them. Models that learn
from these few kinds reject writing, strokes, noise and grain as well as models that
also learn from such pictures; without the photographs they name more scenes.
"""

import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from numpy.random import Generator

from leafid.features.compositing import make_image, point_to, rotate
from leafid.pictures.decoding import read_image
from leafid.segmentation.pixels import make_square
from leafid.segmentation.result import Image, Mask

_PHOTOGRAPHS = Path(__file__).parent / "photographs"
_TESTED_PHOTOGRAPHS = ("astronaut", "rocket")
_LEARNED_PHOTOGRAPHS = sorted(
    {file.stem for file in _PHOTOGRAPHS.glob("*.jpg")}.difference(_TESTED_PHOTOGRAPHS)
)


def draw_non_leaf(image: Image, mask: Mask, number: int) -> Image:
    """Draw a picture without a leaf, uint8 (H, W, 3).

    It has the sheet, colours and texture of a training picture. `ALL_KINDS` has the
    numbers of drawings. The result depends on the number and on the content of the
    picture alone.
    """
    random = np.random.default_rng([number, zlib.crc32(image.tobytes())])
    return _DRAW[number](image, mask, random)


def _choose_size(random: Generator) -> tuple[int, int]:
    """Choose width and height; the longer side has 300 to 640 pixels."""
    longest = int(random.integers(300, 641))
    shorter = int(longest * random.uniform(0.6, 1))
    return (longest, shorter) if random.random() < 0.5 else (shorter, longest)


def _draw_ground(image: Image, mask: Mask, random: Generator) -> Image:
    """Draw a ground for things: a picture's sheet, a plain colour, or clouds."""
    kind = random.random()
    if kind < 0.6:
        return _cut_sheet(image, mask, random)
    size = _choose_size(random)
    if kind < 0.8:
        return _fill_plain(size, random.integers(0, 256, (1, 3)), random)
    return _draw_clouds(size, random)


def _cut_sheet(image: Image, mask: Mask, random: Generator) -> Image:
    """Cut the largest of some random rectangles without leaf out of a picture.

    Without any, one of its plain colour.
    """
    rows, cols = mask.shape
    margin = max(1, int(0.02 * max(rows, cols)))
    near = cv2.dilate(mask.view(np.uint8), make_square(2 * margin + 1))
    sheet = image[:0]
    for _ in range(60):
        row0, row1 = np.sort(random.integers(0, rows + 1, 2))
        col0, col1 = np.sort(random.integers(0, cols + 1, 2))
        part = image[row0:row1, col0:col1]
        if (
            min(part.shape[:2]) >= 16
            and part.size > sheet.size
            and not near[row0:row1, col0:col1].any()
        ):
            sheet = part
    size = _choose_size(random)[::-1]
    if sheet.size:
        return cv2.resize(sheet, size, interpolation=cv2.INTER_CUBIC)
    # Without any background, the leaf's colours have to do.
    return _fill_plain(size, image[~mask | mask.all()], random)


def _fill_plain(size: tuple[int, int], colours: np.ndarray, random: Generator) -> Image:
    """Fill a canvas with one of some colours, (n, 3), and a little noise."""
    colour = random.choice(colours).astype(np.float32)
    noise = _draw_noise(random, random.uniform(0, 4), (*size[::-1], 3))
    return make_image(colour + noise)


def _draw_figure(image: Image, mask: Mask, random: Generator) -> Image:
    """Draw discs, rectangles, polygons and stars, plain or with a leaf's texture."""
    ground = _draw_ground(image, mask, random)
    height, width = ground.shape[:2]
    area = np.zeros((height, width), np.uint8)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        n_points = random.choice(
            [4, 64, int(random.integers(3, 9)), 2 * int(random.integers(4, 9))]
        )
        points = point_to(np.arange(n_points) * 2 * np.pi / n_points).T
        if n_points % 2 == 0 and random.random() < 0.4:
            points[::2] *= random.uniform(0.3, 0.7)  # a star
        rotation = rotate(random.uniform(0, 2 * np.pi))
        radius = random.uniform(0.12, 0.4) * min(height, width)
        points = radius * (points * (1, random.uniform(0.3, 1))) @ rotation
        points += random.uniform(0.3, 0.7, 2) * (width, height)
        cv2.fillPoly(area, [points.round().astype(np.int32)], 255, cv2.LINE_AA)
    if random.random() < 0.4:
        texture = _tile_leaf_texture(image, mask, height, width)
    else:
        is_of_leaf = mask.any() and random.random() < 0.4
        colours = image[mask] if is_of_leaf else random.integers(0, 256, (1, 3))
        texture = _fill_plain((width, height), colours, random)
    share = area[..., None] / np.float32(255)
    return np.round(ground * (1 - share) + texture * share).astype(np.uint8)


def _tile_leaf_texture(image: Image, mask: Mask, height: int, width: int) -> Image:
    """Fill a canvas with mirrored copies of the largest square inside the leaf."""
    distance = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_C, 3)
    row, col = np.unravel_index(distance.argmax(), distance.shape)
    # Without any background, the distance is huge.
    radius = min(max(4, int(distance[row, col]) - 1), max(mask.shape))
    patch = image[
        max(0, row - radius) : row + radius, max(0, col - radius) : col + radius
    ]
    tiled = cv2.copyMakeBorder(patch, 0, height, 0, width, cv2.BORDER_REFLECT)
    return tiled[:height, :width]


def _draw_needle(
    canvas: Image,
    hue: np.ndarray,
    random: Generator,
    base: np.ndarray,
    angle: float,
    length: float,
    thickness: int,
) -> None:
    """Draw a bent line of nearly a hue, and a midrib where there is room for one."""
    steps = np.linspace(0, 1, 5)
    bent = point_to(angle + random.normal(0, 0.1) * steps)
    points = base + length * (steps * bent).T
    colour = np.clip(hue + random.normal(0, 12, 3), 0, 255)
    _draw_line(canvas, points, colour, thickness)
    if thickness > 3:
        midrib = colour * random.uniform(0.7, 1.5)
        _draw_line(canvas, points, midrib, thickness // 4)


def _draw_needles(image: Image, mask: Mask, random: Generator) -> Image:
    """Draw single needles, a tuft of needles, or a twig with two rows, with shadows."""
    ground = _draw_ground(image, mask, random)
    canvas = ground.copy()
    height, width = canvas.shape[:2]
    size = random.uniform(0.6, 0.95) * min(height, width)
    hue = random.uniform((20, 70, 30), (80, 160, 110))
    draw_needle = partial(_draw_needle, canvas, hue, random)
    angle = random.uniform(0, 2 * np.pi)
    start = np.array([width, height]) / 2 - 0.5 * size * point_to(angle)
    kind = random.random()
    if kind < 0.25:
        length = size * random.uniform(0.1, 0.8)
        thickness = max(2, int(length * random.uniform(0.04, 0.14)))
        for turn in random.uniform(0, 2 * np.pi, random.choice([1, 1, 1, 2, 3])):
            middle = random.uniform(0.3, 0.7, 2) * (width, height)
            draw_needle(middle - length / 2 * point_to(turn), turn, length, thickness)
    elif kind < 0.5:
        thickness = max(1, int(size * random.uniform(0.003, 0.02)))
        for turn in angle + random.normal(0, 0.35, random.integers(2, 40)):
            draw_needle(start, turn, size * random.uniform(0.6, 1), thickness)
    else:
        _draw_two_rows(canvas, hue, random, start, angle=angle, size=size)
    is_drawn = (canvas != ground).any(axis=2)
    offset = random.normal(0, 0.01, 2) * max(height, width)
    shift = np.array([[1, 0, offset[0]], [0, 1, offset[1]]], np.float32)
    shadow = cv2.warpAffine(is_drawn.astype(np.float32), shift, (width, height))
    shadow = (
        cv2.GaussianBlur(shadow, (0, 0), random.uniform(1, 8))
        * random.uniform(0, 0.5)
        * ~is_drawn
    )
    return _blur(np.round(canvas * (1 - shadow[..., None])).astype(np.uint8), random)


def _draw_two_rows(
    canvas: Image,
    hue: np.ndarray,
    random: Generator,
    start: np.ndarray,
    angle: float,
    size: float,
) -> None:
    """Draw a twig with needles on both sides."""
    length = size * random.uniform(0.04, 0.25)
    bend = random.normal(0, 0.5)
    count = random.integers(20, 90)
    # From needles with gaps between them to needles that cover each other.
    thickness = max(1, int(size / count * random.uniform(0.2, 1.1)))
    lean = random.uniform(0.5, 1.4)
    irregularity = random.uniform(0.02, 0.15)
    twig = [start]
    for number in range(count):
        direction = angle + bend * number / count
        twig.append(twig[-1] + size / count * point_to(direction))
        taper = 1 - 0.6 * abs(2 * number / count - 0.8) ** 2
        for side in (-1, 1):
            turn = direction + side * (lean + random.normal(0, irregularity))
            needle = max(length * taper, 2)
            _draw_needle(
                canvas,
                hue,
                random,
                base=twig[-1],
                angle=turn,
                length=needle,
                thickness=thickness,
            )
    colour = hue * random.uniform(0.5, 1.2, 3)
    _draw_line(canvas, np.array(twig), colour, max(1, thickness // 2))


def _draw_mosaic(_image: Image, _mask: Mask, random: Generator) -> Image:
    """Draw opaque shapes of all sizes over each other.

    Their edges and sizes are distributed as in natural scenes.

    References
    ----------
    .. [1] A. B. Lee, D. Mumford, J. Huang, "Occlusion models for natural images: a
       statistical study of a scale-invariant dead leaves model", IJCV 41, 2001,
       doi:10.1023/A:1011109015675
    """
    size = _choose_size(random)
    canvas = _draw_clouds(size, random)
    palette = _choose_colours(int(random.integers(2, 7)), random)
    is_round = random.random() < 0.5
    for _ in range(random.integers(20, 400)):
        # Areas per octave are equal: radii have a density of r⁻³.
        radius = min(size) * 0.015 / np.sqrt(random.uniform(0.0006, 1))
        angles = np.linspace(0, 2 * np.pi, 24)
        if not is_round:
            angles = np.sort(random.uniform(0, 2 * np.pi, random.integers(3, 7)))
        middle = random.uniform(0, 1, 2) * size
        points = middle + radius * point_to(angles).T * (1, random.uniform(0.3, 1))
        colour = np.clip(random.choice(palette) + random.normal(0, 20, 3), 0, 255)
        cv2.fillPoly(
            canvas, [points.round().astype(np.int32)], colour.tolist(), cv2.LINE_AA
        )
    shade = (
        _draw_clouds(size, random).mean(axis=2, keepdims=True, dtype=np.float32) / 255
    )
    shaded = canvas * (1 - np.float32(random.uniform(0, 0.7)) * shade)
    return _blur(
        make_image(shaded + _draw_noise(random, random.uniform(0, 8), canvas.shape)),
        random,
    )


def _cut_photograph(name: str, _image: Image, _mask: Mask, random: Generator) -> Image:
    """Cut a part out of a photograph, mirrored or negative, in other light."""
    photograph = read_image(_PHOTOGRAPHS / f"{name}.jpg")
    height, width = photograph.shape[:2]
    # Of a panorama, the part is about as wide as it is high.
    rows, cols = random.uniform(0.4, 1, 2) * (height, min(width, 1.5 * height))
    row, col = random.uniform(0, 1, 2) * (height - rows, width - cols)
    part = photograph[int(row) : int(row + rows), int(col) : int(col + cols)]
    if random.random() < 0.5:
        part = part[:, ::-1]
    if random.random() < 0.2:
        part = 255 - part
    scale = max(_choose_size(random)) / max(part.shape[:2])
    resized = cv2.resize(np.ascontiguousarray(part), None, fx=scale, fy=scale)
    gains = random.uniform(0.7, 1.3) * random.uniform(0.85, 1.15, 3)
    return make_image(resized * gains)


def _draw_pattern(_image: Image, _mask: Mask, random: Generator) -> Image:
    """Draw a checkerboard or stripes."""
    width, height = _choose_size(random)
    rows, cols = np.indices((height, width)) // random.integers(6, 80)
    is_first = ((rows * random.integers(2) + cols) % 2).astype(bool)
    return np.where(is_first[..., None], *_choose_colours(2, random)).astype(np.uint8)


def _choose_colours(number: int, random: Generator) -> np.ndarray:
    """Choose colours, float64 (number, 3), BGR in 0 to 255, most of them dull."""
    grey = random.uniform(15, 240, (number, 1))
    return np.clip(
        grey + random.exponential(0.35) * random.uniform(-128, 128, (number, 3)), 0, 255
    )


def _draw_clouds(size: tuple[int, int], random: Generator) -> Image:
    """Draw a field of noise, from white to cloudy, between two colours."""
    n_channels = random.choice([1, 3])
    field = np.zeros((1, 1, n_channels), np.float32)
    roughness = random.uniform(0.3, 1.2)
    for octave in range(7):
        side = 2 ** (octave + 1)
        coarser = np.atleast_3d(
            cv2.resize(field, (side, side), interpolation=cv2.INTER_CUBIC)
        )
        field = coarser + _draw_noise(random, roughness**octave, coarser.shape)
    field = np.atleast_3d(cv2.resize(field, size, interpolation=cv2.INTER_CUBIC))
    field -= field.min()
    field /= max(float(field.max()), 1e-6)
    low, high = _choose_colours(2, random).astype(np.float32)
    return make_image(np.round(low + (high - low) * field))


def _draw_noise(
    random: Generator, deviation: float, shape: tuple[int, ...]
) -> np.ndarray:
    """Draw normally distributed noise as float32, which is faster than float64."""
    return random.standard_normal(shape, np.float32) * np.float32(deviation)


def _blur(image: Image, random: Generator) -> Image:
    """Blur a picture a little, or not at all."""
    sigma = random.uniform(0, 2)
    return cv2.GaussianBlur(image, (0, 0), sigma) if sigma > 0.3 else image


def _draw_line(
    canvas: Image, points: np.ndarray, colour: np.ndarray, thickness: int
) -> None:
    """Draw a line through points, float64 (n, 2)."""
    path = points.round().astype(np.int32)
    level = np.clip(colour, 0, 255).tolist()
    cv2.polylines(canvas, [path], False, level, thickness, cv2.LINE_AA)


#: Numbers of the drawings of each kind that a model learns from. Twigs of conifers
#: count as pictures without a leaf, because the leaves of all species of the bundled
#: model are broad. The photographs have a number each, so that folds part them.
TRAINING_KINDS = {
    "figure": [0],
    "needles": [1],
    "mosaic": [2],
    "photograph": [*range(10, 10 + len(_LEARNED_PHOTOGRAPHS))],
}
#: Numbers of the drawings of each kind that is kept for testing.
TEST_KINDS = {
    "pattern": [4],
    "other photograph": [*range(6, 6 + len(_TESTED_PHOTOGRAPHS))],
}
ALL_KINDS = TRAINING_KINDS | TEST_KINDS
# Drawings by their numbers, which feature caches name and random draws start from: 3
# and 5 were others.
_DRAW: dict[int, Callable[[Image, Mask, Generator], Image]] = {
    0: _draw_figure,
    1: _draw_needles,
    2: _draw_mosaic,
    4: _draw_pattern,
}
for _kind, _names in (
    ("photograph", _LEARNED_PHOTOGRAPHS),
    ("other photograph", _TESTED_PHOTOGRAPHS),
):
    for _number, _name in zip(ALL_KINDS[_kind], _names, strict=True):
        _DRAW[_number] = partial(_cut_photograph, _name)
