"""Puts leaves into pictures of the three acquisition types."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from leafid.pictures.picture import AcquisitionType, Content
from leafid.synthetic.canvas import Camera, Canvas, blend_layer, cast_shadow, draw_camera, draw_noise, expose
from leafid.synthetic.leaf import Leaf, grow_leaf
from leafid.synthetic.outline import Points
from leafid.synthetic.painter import choose_appearance, make_matrix, paint_leaf
from leafid.synthetic.species import Arrangement, LeafSpecies, vary

MIN_SIDE = 32
"""Minimum longest side of a picture, in pixels: below, a petiole could not be drawn."""

_LEAF_VARIATION = 0.6
"""Variation between the leaves of a plant, relative to that between plants."""


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A drawn picture."""

    #: Shape (rows, cols, 3), uint8: blue, green, red.
    image: npt.NDArray[np.uint8]
    #: Shape (rows, cols), bool: the leaf with its petiole; in a photo, all leaves in the foreground.
    mask: npt.NDArray[np.bool_]
    content: Content
    #: The JPEG quality of the author's camera.
    quality: int


def draw_picture(
    species: LeafSpecies,
    acquisition_type: AcquisitionType,
    rng: np.random.Generator,
    size: int = 800,
    camera: Camera | None = None,
    autumn: float = 0.0,
) -> DrawnPicture:
    """Draw a picture of a species of the catalogue, or of a plant made from it by `vary`; `rng` decides all else.

    `size` is the longest side in pixels; `camera` that of the picture's author, a random one by default; `autumn` 0 for
    summer, 1 for leaves in full colour, 2 for dead leaves. A size below 32 raises a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> from leafid.pictures.picture import AcquisitionType
    >>> from leafid.synthetic.species import SPECIES
    >>> drawn = draw_picture(SPECIES[1], AcquisitionType.SCAN, np.random.default_rng(1), size=120)
    >>> max(drawn.image.shape[:2]), drawn.content.value
    (120, 'leaf')
    """
    if size < MIN_SIDE:
        raise ValueError(f"size: expected at least {MIN_SIDE} pixels, found {size}")
    camera = camera or draw_camera(rng)
    content = Content.DEAD_LEAF if autumn > 1.5 else Content.LEAF
    if acquisition_type is AcquisitionType.SCAN:
        canvas, mask = _draw_scan(species, rng, size, camera, autumn)
        # A scanner brings a light of its own.
        return DrawnPicture(expose(canvas, 0.0, camera.noise / 2, rng), mask, content, camera.quality)
    if acquisition_type is AcquisitionType.SCAN_LIKE:
        canvas, mask = _draw_scan_like(species, rng, size, camera, autumn)
    else:
        canvas, mask, n_leaves = _draw_photo(species, rng, size, camera, autumn)
        if n_leaves > 1 and content is Content.LEAF:
            content = Content.FOLIAGE
    return DrawnPicture(expose(canvas, camera.warmth, camera.noise, rng), mask, content, camera.quality)


def _draw_scan(
    species: LeafSpecies, rng: np.random.Generator, size: int, camera: Camera, autumn: float
) -> tuple[Canvas, npt.NDArray[np.bool_]]:
    leaf_species = vary(species, rng, _LEAF_VARIATION)
    leaf = grow_leaf(leaf_species, rng)
    angle = _choose_angle(rng)
    low, high = leaf.compute_extent(make_matrix(1.0, angle))
    before, after = rng.uniform(0.02, 0.12, (2, 2)) * (high - low).max()
    extent = high - low + before + after
    # The outermost pixels of the leaf are covered by half: two pixels on each side keep them inside.
    scale = (size - 4) / float(extent.max())
    cols, rows = (round(float(length)) + 4 for length in scale * extent)
    canvas = np.full((rows, cols, 3), camera.white, np.float32)
    return _lay_leaf(
        canvas, leaf_species, leaf, (scale, angle), scale * (before - low) + 2, (-np.pi / 2, 0.1), autumn, rng
    )


def _draw_scan_like(
    species: LeafSpecies, rng: np.random.Generator, size: int, camera: Camera, autumn: float
) -> tuple[Canvas, npt.NDArray[np.bool_]]:
    leaf_species = vary(species, rng, _LEAF_VARIATION)
    leaf = grow_leaf(leaf_species, rng)
    rows, cols = _choose_frame(size, rng, landscape=0.15)
    angle = _choose_angle(rng)
    low, high = leaf.compute_extent(make_matrix(1.0, angle))
    frame = np.array([cols - 5, rows - 5])
    scale = rng.uniform(0.6, 0.92) * float(np.min(frame / (high - low)))
    position = (frame - scale * (high - low)) * rng.uniform(0.35, 0.65, 2) - scale * low + 2
    hardness = float(np.clip(camera.hardness * rng.uniform(0.7, 1.3), 0, 1))
    canvas = _draw_sheet(rows, cols, camera, rng)
    return _lay_leaf(canvas, leaf_species, leaf, (scale, angle), position, (camera.light, hardness), autumn, rng)


def _lay_leaf(
    canvas: Canvas,
    species: LeafSpecies,
    leaf: Leaf,
    scale_and_angle: tuple[float, float],
    position: Points,
    light_and_hardness: tuple[float, float],
    autumn: float,
    rng: np.random.Generator,
) -> tuple[Canvas, npt.NDArray[np.bool_]]:
    """Lay one leaf with its shadows onto a plain ground; return the canvas and the leaf's mask."""
    light, hardness = light_and_hardness
    shape, size = canvas.shape[:2], max(canvas.shape)
    appearance = choose_appearance(species, light, hardness, max(0.0, autumn + rng.normal(0, 0.05)))
    layer = paint_leaf(leaf, make_matrix(*scale_and_angle), position, appearance, shape, rng)
    assert layer is not None, "the leaf lies inside its picture"
    # The edge of the leaf is lifted here and there: it casts a wide faint shadow and a close one.
    lift = size * (0.001 + 0.018 * hardness * rng.uniform(0.2, 1.0))
    away = (-lift * np.cos(light), -lift * np.sin(light))
    cast_shadow(canvas, layer, away, size * (0.004 + 0.01 * hardness), 0.1 + 0.5 * hardness)
    cast_shadow(canvas, layer, (0.0, 0.0), 0.004 * size, 0.1 + 0.4 * hardness)
    mask = np.zeros(shape, bool)
    blend_layer(canvas, mask, layer)
    return canvas, mask


def _draw_sheet(rows: int, cols: int, camera: Camera, rng: np.random.Generator) -> Canvas:
    """Draw a plain sheet in uneven light."""
    down, across = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, cols), indexing="ij")
    light = 1 + rng.uniform(0.01, 0.09) * (np.cos(camera.light) * across + np.sin(camera.light) * down)
    light -= rng.uniform(0.01, 0.08) * ((across - rng.normal(0, 0.3)) ** 2 + (down - rng.normal(0, 0.3)) ** 2)
    light += 0.012 * draw_noise(rows, cols, max(rows, cols) * 0.4, rng, 2)
    colour = np.clip(rng.uniform(0.9, 1.03) * np.array(camera.sheet), 0, 252)
    return (light[..., None] * colour).astype(np.float32)


def _draw_photo(
    species: LeafSpecies, rng: np.random.Generator, size: int, camera: Camera, autumn: float
) -> tuple[Canvas, npt.NDArray[np.bool_], int]:
    """Draw a leaf on the ground or on its tree, or a branch full of leaves; also return the number of leaves."""
    rows, cols = _choose_frame(size, rng, landscape=0.5)
    kinds = [vary(species, rng, _LEAF_VARIATION) for _ in range(3)]
    leaves = [grow_leaf(kind, rng) for kind in kinds]
    contours = [blade.contour for blade in leaves[0].blades[:8]]
    is_lying = rng.random() < (0.7 if autumn > 1.5 else 0.12)
    canvas = _draw_blurred_leaves(rows, cols, contours, is_lying, rng)
    if is_lying or autumn > 1.5 or rng.random() < 0.35:
        placed, twig = _place_leaf(leaves[0], rows, cols, rng)
    else:
        placed, twig = _place_branch(leaves, species.arrangement is not Arrangement.SIMPLE, rows, cols, rng)
    if not is_lying:
        _draw_twig(canvas, twig, size * rng.uniform(0.01, 0.02), rng)
    light, hardness = camera.light + float(rng.normal(0, 0.4)), float(rng.uniform(0.35, 0.95))
    mask = np.zeros((rows, cols), bool)
    for number, (choice, matrix, position) in enumerate(placed):
        appearance = choose_appearance(kinds[choice], light, hardness, max(0.0, autumn + rng.normal(0, 0.1)))
        layer = paint_leaf(leaves[choice], matrix, position, appearance, (rows, cols), rng)
        if layer is None:
            continue
        reach = size * (0.007 if is_lying else 0.02)
        away = (-reach * np.cos(light), -reach * np.sin(light))
        cast_shadow(canvas, layer, away, reach * 0.5, 0.25 + 0.3 * hardness)
        depth = (number + 1) / len(placed)
        blend_layer(canvas, mask, layer, (0.62 + 0.5 * depth) * rng.uniform(0.88, 1.12) * (1 + 0.18 * hardness))
    dapple = np.clip(draw_noise(rows, cols, size * 0.3, rng, 2), -1.5, 1.5)
    canvas *= (1 + np.float32(0.14 * hardness) * dapple)[..., None]
    return canvas, mask, len(placed)


def _draw_blurred_leaves(
    rows: int, cols: int, contours: Sequence[Points], is_ground: bool, rng: np.random.Generator
) -> Canvas:
    """Draw the ground with dead leaves, or foliage out of focus, from leaf contours of about length 1."""
    size = max(rows, cols)
    base = (50, 70, 88) if is_ground else (22, 50, 34)
    light = 1 + 0.4 * draw_noise(rows, cols, size * 0.25, rng, 3)
    canvas = np.clip(light[..., None] * np.array(base), 3, 160).astype(np.float32)
    colour = np.array([55, 85, 120]) if is_ground else np.array([45, 110, 70])
    # Some photos are taken against the shade, in which few leaves are seen.
    brightness = rng.uniform(0.7, 1.3) if is_ground or rng.random() < 0.7 else 0.25
    for depth in np.linspace(0, 1, 60):
        shade = brightness * (0.4 + 0.7 * depth) * rng.uniform(0.5, 1.15) * colour * rng.uniform(0.75, 1.25, 3)
        matrix = make_matrix(size * rng.uniform(0.12, 0.3), rng.uniform(0, 2 * np.pi), rng.uniform(0.4, 1.0))
        contour = contours[int(rng.integers(len(contours)))] @ matrix.T + rng.uniform(-0.05, 1.05, 2) * [cols, rows]
        points = np.round(contour * 16).astype(np.int32)
        cv2.fillPoly(canvas, [points], shade.tolist(), cv2.LINE_8, 4)
        # One half of a leaf is lighter than the other.
        cv2.fillPoly(canvas, [points[: len(points) // 2]], (shade * rng.uniform(0.8, 1.25)).tolist(), cv2.LINE_8, 4)
    if is_ground:
        canvas *= (1 + np.float32(0.12) * draw_noise(rows, cols, max(2.0, size * 0.012), rng, 3))[..., None]
    softness = size * (0.002 if is_ground else rng.uniform(0.008, 0.02))
    return cv2.GaussianBlur(canvas, (0, 0), max(0.6, softness)).astype(np.float32, copy=False)


def _place_leaf(
    leaf: Leaf, rows: int, cols: int, rng: np.random.Generator
) -> tuple[list[tuple[int, Points, Points]], Points]:
    """Place one leaf in the middle of a picture; also return the path of the twig that it hangs on."""
    low, high = leaf.compute_extent(np.eye(2))
    scale = rng.uniform(0.69, 1.1) * min(rows, cols) / float((high - low).max())
    angle = float(rng.normal(0, 0.7))
    matrix = make_matrix(scale, angle, rng.uniform(0.75, 1.0))
    position = np.array([cols, rows]) * rng.uniform(0.44, 0.56, 2) - matrix @ ((low + high) / 2)
    across = angle + np.pi / 2 + rng.normal(0, 0.5)
    direction = 1.5 * max(rows, cols) * np.array([np.sin(across), -np.cos(across)])
    petiole_end = matrix @ leaf.stalks[-1].points[-1] + position
    return [(0, matrix, position)], petiole_end + np.array([[-1.0], [1.0]]) * direction


def _place_branch(
    leaves: Sequence[Leaf], is_compound: bool, rows: int, cols: int, rng: np.random.Generator
) -> tuple[list[tuple[int, Points, Points]], Points]:
    """Place leaves along a twig, the nearest to the viewer last; also return the path of the twig."""
    size = max(rows, cols)
    count = int(rng.integers(3, 6) if is_compound else rng.integers(5, 12))
    leaf_size = size * (rng.uniform(0.42, 0.6) if is_compound else rng.uniform(0.26, 0.46))
    heading = float(rng.uniform(0, 2 * np.pi))
    direction = size * rng.uniform(0.6, 0.85) * np.array([np.sin(heading), -np.cos(heading)])
    start = np.array([cols, rows]) / 2 - rng.uniform(0.5, 0.6) * direction
    placed = []
    for number in rng.permutation(count):
        share = (number + 0.5) / count
        choice = int(rng.integers(len(leaves)))
        low, high = leaves[choice].compute_extent(np.eye(2))
        side = 1 if number % 2 else -1
        angle = heading + side * (np.radians(62) - 0.45 * share) + rng.normal(0, 0.25)
        scale = leaf_size * rng.uniform(0.75, 1.15) / float(high[1] - low[1])
        matrix = make_matrix(scale, angle, rng.uniform(0.6, 1.0))
        # The lower end of the petiole sits on the twig.
        placed.append((choice, matrix, start + share * direction - matrix @ leaves[choice].stalks[-1].points[-1]))
    return placed, start + np.array([[-1.2], [1.0 - 0.5 / count]]) * direction


def _draw_twig(canvas: Canvas, path: Points, width: float, rng: np.random.Generator) -> None:
    colour = np.array([rng.uniform(45, 70), rng.uniform(65, 95), rng.uniform(80, 105)])
    points = np.round(path * 16).astype(np.int32)
    for part, shade in ((1.0, 0.65), (0.6, 0.95), (0.25, 1.2)):
        cv2.polylines(canvas, [points], False, (colour * shade).tolist(), max(1, round(width * part)), cv2.LINE_AA, 4)


def _choose_angle(rng: np.random.Generator) -> float:
    """Choose how a leaf is laid: mostly upright, sometimes upside down or across."""
    quarter = rng.choice([0.0, np.pi, np.pi / 2, -np.pi / 2], p=[0.9, 0.04, 0.03, 0.03])
    return float(quarter + np.radians(rng.normal(0, 9)))


def _choose_frame(size: int, rng: np.random.Generator, landscape: float) -> tuple[int, int]:
    """Choose rows and columns; `landscape` is the probability of a wide picture."""
    short = round(size * (0.75 if rng.random() < 0.6 else 0.667))
    return (short, size) if rng.random() < landscape else (size, short)
