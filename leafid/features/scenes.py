"""Scenes without a leaf, and twigs with needles or scale leaves, drawn or cut out of scikit-image's pictures."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from leafid.segmentation.result import Image

#: Pictures of scikit-image that a model learns from, and those that are kept for testing.
LEARNED_PICTURES = (
    "brick.png",
    "camera.png",
    "chelsea.png",
    "coffee.png",
    "coins.png",
    "horse.png",
    "ihc.png",
    "motorcycle_left.png",
    "page.png",
    "retina.jpg",
)
HELD_BACK_PICTURES = (
    "astronaut.png",
    "cell.png",
    "clock_motion.png",
    "color.png",
    "grass.png",
    "gravel.png",
    "hubble_deep_field.jpg",
    "microaneurysms.png",
    "moon.png",
    "rocket.jpg",
    "text.png",
)


def draw_mosaic(height: int, width: int, random: np.random.Generator) -> Image:
    """Draw opaque shapes of all sizes over each other: edges and sizes are distributed as in natural scenes.

    References
    ----------
    .. [1] A. B. Lee, D. Mumford, J. Huang, "Occlusion models for natural images: a statistical study of a
       scale-invariant dead leaves model", IJCV 41, 2001, doi:10.1023/A:1011109015675
    """
    canvas = draw_clouds(height, width, random)
    palette = draw_colours(int(random.integers(2, 7)), random)
    side = min(height, width)
    is_round = random.random() < 0.5
    for _ in range(int(random.integers(20, 400))):
        # Areas per octave are equal: radii have a density of r⁻³.
        radius = side * 0.015 / np.sqrt(random.uniform(0.0006, 1))
        centre = random.uniform(0, 1, 2) * (width, height)
        n_corners = 24 if is_round else int(random.integers(3, 7))
        angles = np.sort(random.uniform(0, 2 * np.pi, n_corners)) if not is_round else np.linspace(0, 2 * np.pi, 24)
        ratio = random.uniform(0.3, 1)
        points = centre + radius * np.column_stack([np.cos(angles), ratio * np.sin(angles)])
        colour = np.clip(palette[random.integers(len(palette))] + random.normal(0, 20, 3), 0, 255)
        cv2.fillPoly(canvas, [np.round(points).astype(np.int32)], colour.tolist(), cv2.LINE_AA)
    shading = draw_clouds(height, width, random).astype(np.float32).mean(axis=2, keepdims=True) / 255
    shaded = canvas * (1 - random.uniform(0, 0.7) * shading) + random.normal(0, random.uniform(0, 8), canvas.shape)
    return blur(np.clip(shaded, 0, 255).astype(np.uint8), random)


def draw_masonry(height: int, width: int, random: np.random.Generator) -> Image:
    """Draw a wall of bricks, tiles or planks, seen at an angle."""
    canvas = np.empty((height, width, 3), np.float32)
    canvas[:] = draw_colours(1, random)
    row = int(random.integers(12, 90))
    column = int(row * random.uniform(1, 6))
    gap = max(1, int(row * random.uniform(0.03, 0.2)))
    base = draw_colours(1, random)[0]
    for number, top in enumerate(range(0, height, row)):
        start = -int(column * (0.5 * (number % 2) if random.random() < 0.8 else random.random()))
        for left in range(start, width, column):
            colour = np.clip(base + random.normal(0, 15) + random.normal(0, 6, 3), 0, 255)
            canvas[top : top + row - gap, max(0, left) : max(0, left + column - gap)] = colour
    canvas *= 0.6 + 0.8 * draw_clouds(height, width, random).astype(np.float32).mean(axis=2, keepdims=True) / 255
    canvas += random.normal(0, random.uniform(1, 10), canvas.shape)
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    moved = corners + random.uniform(-0.25, 0.25, (4, 2)).astype(np.float32) * (width, height)
    warp = cv2.getPerspectiveTransform(moved.astype(np.float32), corners)
    return cv2.warpPerspective(
        np.clip(canvas, 0, 255).astype(np.uint8), warp, (width, height), borderMode=cv2.BORDER_REFLECT
    )


def draw_grain(height: int, width: int, random: np.random.Generator) -> Image:
    """Draw wood, cloth, fur or water: noise that is stretched in one direction."""
    noise = random.normal(0, 1, (height, width)).astype(np.float32)
    along, across = random.uniform(6, 60), random.uniform(0.5, 4)
    grain = cv2.GaussianBlur(noise, (0, 0), sigmaX=along, sigmaY=across)
    grain = (grain - grain.min()) / max(float(np.ptp(grain)), 1e-6)
    if random.random() < 0.5:
        grain = 0.5 + 0.5 * np.sin(grain * random.uniform(10, 60))
    low, high = draw_colours(2, random)
    drawn = low + (high - low) * grain[..., None] + random.normal(0, random.uniform(0, 8), (height, width, 3))
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), random.uniform(0, 180), 1.5)
    return cv2.warpAffine(np.clip(drawn, 0, 255).astype(np.uint8), turn, (width, height), borderMode=cv2.BORDER_REFLECT)


def cut_photograph(names: Sequence[str], height: int, width: int, random: np.random.Generator) -> Image:
    """Cut a part out of one of some pictures of scikit-image, mirrored at random, in other light."""
    image = read_bundled_picture(names[int(random.integers(len(names)))])
    rows, cols = image.shape[:2]
    share = random.uniform(0.4, 1)
    part_rows, part_cols = int(rows * share), int(cols * share)
    row, col = int(random.integers(0, rows - part_rows + 1)), int(random.integers(0, cols - part_cols + 1))
    part = image[row : row + part_rows, col : col + part_cols]
    if random.random() < 0.5:
        part = part[:, ::-1]
    if random.random() < 0.2:
        part = 255 - part
    scale = max(height, width) / max(part.shape[:2])
    resized = cv2.resize(np.ascontiguousarray(part), None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
    gains = random.uniform(0.7, 1.3) * random.uniform(0.85, 1.15, 3)
    return np.clip(resized * gains, 0, 255).astype(np.uint8)


@cache
def read_bundled_picture(name: str) -> Image:
    """Read a picture that is part of scikit-image."""
    import PIL.Image
    import skimage

    # With Pillow, as OpenCV warns of the colour profiles of two of them.
    with PIL.Image.open(Path(skimage.__file__).parent / "data" / name) as picture:
        return np.ascontiguousarray(np.asarray(picture.convert("RGB"))[..., ::-1])


def draw_colours(number: int, random: np.random.Generator) -> np.ndarray:
    """Draw colours, float64 (number, 3), BGR in 0 to 255, most of them dull."""
    grey = random.uniform(15, 240, (number, 1))
    return np.clip(grey + random.exponential(0.35) * random.uniform(-128, 128, (number, 3)), 0, 255)


def draw_clouds(height: int, width: int, random: np.random.Generator) -> Image:
    """Draw a field of noise, from white to cloudy, between two colours."""
    n_channels = int(random.choice([1, 3]))
    field = np.zeros((height, width, n_channels), np.float32)
    roughness = random.uniform(0.3, 1.2)
    for octave in range(7):
        side = 2 ** (octave + 1)
        layer = random.normal(0, roughness**octave, (side, side, n_channels)).astype(np.float32)
        field += cv2.resize(layer, (width, height), interpolation=cv2.INTER_CUBIC).reshape(field.shape)
    field -= field.min()
    field /= max(float(field.max()), 1e-6)
    low, high = draw_colours(2, random).astype(np.float32)
    return np.round(low + (high - low) * field).clip(0, 255).astype(np.uint8)


def blur(image: Image, random: np.random.Generator) -> Image:
    """Blur a picture a little, or not at all."""
    sigma = random.uniform(0, 2)
    return cv2.GaussianBlur(image, (0, 0), sigma) if sigma > 0.3 else image


def draw_needles(ground: Image, random: np.random.Generator) -> Image:
    """Draw single needles, a tuft of needles, or a twig with needles in two rows, on a ground."""
    canvas = ground.copy()
    start, angle, size, hue = _place_twig(canvas, random)
    kind = random.random()
    if kind < 0.25:
        length = size * random.uniform(0.1, 0.8)
        thickness = max(2, int(length * random.uniform(0.04, 0.14)))
        for _ in range(int(random.choice([1, 1, 1, 2, 3]))):
            turn = random.uniform(0, 2 * np.pi)
            middle = (0.5 + random.uniform(-0.2, 0.2, 2)) * canvas.shape[1::-1]
            base = middle - length / 2 * np.array([np.cos(turn), np.sin(turn)])
            _draw_needle(canvas, base, turn, length, thickness, hue, random)
    elif kind < 0.5:
        thickness = max(1, int(size * random.uniform(0.003, 0.02)))
        for _ in range(int(random.integers(2, 40))):
            spread = angle + random.normal(0, 0.35)
            _draw_needle(canvas, start, spread, size * random.uniform(0.6, 1), thickness, hue, random)
    else:
        _draw_two_rows(canvas, start, angle, size, hue, random)
    return blur(_cast_shadow(ground, canvas, random), random)


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
        path.append(path[-1] + size / count * np.array([np.cos(direction), np.sin(direction)]))
        taper = 1 - 0.6 * abs(2 * number / count - 0.8) ** 2
        for side in (-1, 1):
            turn = direction + side * (lean + random.normal(0, irregularity))
            _draw_needle(canvas, path[-1], turn, max(length * taper, 2), thickness, hue, random)
    stem = np.clip(hue * random.uniform(0.5, 1.2, 3), 0, 255).tolist()
    cv2.polylines(canvas, [np.round(path).astype(np.int32)], False, stem, max(1, thickness // 2), cv2.LINE_AA)


def _cast_shadow(ground: Image, canvas: Image, random: np.random.Generator) -> Image:
    """Darken the ground beside what is drawn on it."""
    is_drawn = (canvas != ground).any(axis=2)
    offset = random.normal(0, 0.01, 2) * max(ground.shape[:2])
    shift = np.array([[1, 0, offset[0]], [0, 1, offset[1]]], np.float32)
    moved = cv2.warpAffine(is_drawn.astype(np.float32), shift, is_drawn.shape[::-1])
    shadow = cv2.GaussianBlur(moved, (0, 0), random.uniform(1, 8)) * random.uniform(0, 0.5)
    shadow[is_drawn] = 0
    return np.round(canvas * (1 - shadow[..., None])).astype(np.uint8)


def draw_scale_leaves(ground: Image, random: np.random.Generator) -> Image:
    """Draw a twig that is covered with scale leaves, on a ground."""
    canvas = ground.copy()
    start, angle, size, hue = _place_twig(canvas, random)
    thickness = max(2, int(size * random.uniform(0.01, 0.04)))
    _draw_scales(canvas, start, angle, size, thickness, int(random.integers(2, 4)), hue, random)
    return blur(_cast_shadow(ground, canvas, random), random)


def _place_twig(canvas: Image, random: np.random.Generator) -> tuple[np.ndarray, float, float, np.ndarray]:
    """Choose where a twig begins, its direction in radians, its length in pixels, and its colour."""
    height, width = canvas.shape[:2]
    size = random.uniform(0.6, 0.95) * min(height, width)
    hue = np.array([random.uniform(20, 80), random.uniform(70, 160), random.uniform(30, 110)])
    angle = random.uniform(0, 2 * np.pi)
    start = np.array([width, height]) / 2 - 0.5 * size * np.array([np.cos(angle), np.sin(angle)])
    return start, angle, size, hue


def _draw_needle(
    canvas: Image,
    base: np.ndarray,
    angle: float,
    length: float,
    thickness: int,
    hue: np.ndarray,
    random: np.random.Generator,
) -> None:
    bend = random.normal(0, 0.1)
    steps = np.linspace(0, 1, 5)[:, None]
    turned = angle + bend * steps
    points = base + length * steps * np.hstack([np.cos(turned), np.sin(turned)])
    colour = np.clip(hue + random.normal(0, 12, 3), 0, 255).tolist()
    path = [np.round(points).astype(np.int32)]
    cv2.polylines(canvas, path, False, colour, thickness, cv2.LINE_AA)
    if thickness > 3:
        midrib = np.clip(np.array(colour) * random.uniform(0.7, 1.5), 0, 255).tolist()
        cv2.polylines(canvas, path, False, midrib, thickness // 4, cv2.LINE_AA)


def _draw_scales(
    canvas: Image,
    start: np.ndarray,
    angle: float,
    size: float,
    thickness: int,
    depth: int,
    hue: np.ndarray,
    random: np.random.Generator,
) -> None:
    """Draw a branch of scale leaves: short thick segments, and smaller branches on both sides."""
    count = 12
    point = start
    for number in range(count):
        direction = angle + random.normal(0, 0.05)
        end = point + size / count * np.array([np.cos(direction), np.sin(direction)])
        colour = np.clip(hue + random.normal(0, 12, 3), 0, 255).tolist()
        ends = np.round([point, end]).astype(np.int32)
        cv2.line(canvas, ends[0].tolist(), ends[1].tolist(), colour, thickness, cv2.LINE_AA)
        point = end
        if depth > 1 and number:
            side = 1 if number % 2 else -1
            smaller = size * 0.55 * (1 - number / count)
            _draw_scales(canvas, point, direction + side * 0.6, smaller, max(2, thickness // 2), depth - 1, hue, random)
