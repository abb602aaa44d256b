"""Puts leaves into pictures of the three acquisition types."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leafid.collection.picture import AcquisitionType, Content
from leafid.synthetic import backgrounds
from leafid.synthetic.anatomy import Leaf, grow
from leafid.synthetic.branch import draw_branch
from leafid.synthetic.camera import Camera, Canvas, expose, random_camera
from leafid.synthetic.outline import Points
from leafid.synthetic.painter import Layer, lay, look_of, paint, similarity
from leafid.synthetic.species import LeafSpecies, vary

SMALLEST = 32
"""Pixels that a picture's longest side must have: below, a petiole could not be drawn."""


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture together with what is known of it because it was drawn.

    Attributes
    ----------
    image : ndarray, shape (rows, cols, 3), uint8
        Blue, green, red.
    mask : ndarray, shape (rows, cols), bool
        The leaf with its petiole; of a photo, all leaves that are in focus.
    type : AcquisitionType
    content : Content
    quality : int
        The JPEG quality that the camera would use.
    """

    image: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.bool_]
    type: AcquisitionType
    content: Content
    quality: int


def draw_picture(
    species: LeafSpecies,
    acquisition_type: AcquisitionType,
    rng: np.random.Generator,
    size: int = 800,
    camera: Camera | None = None,
    autumn: float = 0.0,
) -> DrawnPicture:
    """Draw a picture of a given acquisition type.

    Parameters
    ----------
    species : LeafSpecies
        A species of the catalogue, or a plant made of one by `vary`.
    acquisition_type : AcquisitionType
    rng : numpy.random.Generator
        The same state gives the same picture.
    size : int, default 800
        Longest side, in pixels; at least 32.
    camera : Camera, optional
        Of the picture's author; a random one by default.
    autumn : float, default 0
        0 summer, 1 leaves in full colour, 2 dead leaves.

    Returns
    -------
    DrawnPicture

    Raises
    ------
    ValueError
        When `size` is less than 32.

    Examples
    --------
    >>> import numpy as np
    >>> from leafid.collection.picture import AcquisitionType
    >>> from leafid.synthetic.catalogue import SPECIES
    >>> drawn = draw_picture(SPECIES[1], AcquisitionType.SCAN, np.random.default_rng(1), size=120)
    >>> max(drawn.image.shape[:2]), drawn.content.value
    (120, 'leaf')
    """
    if size < SMALLEST:
        raise ValueError(f"size: expected at least {SMALLEST} pixels, found {size}")
    camera = camera or random_camera(rng)
    content = Content.DEAD_LEAF if autumn > 1.5 else Content.LEAF
    if acquisition_type is AcquisitionType.PHOTO:
        rows, cols = _frame(size, rng, landscape=0.5)
        canvas, mask, leaves = draw_branch(species, rng, rows, cols, camera, autumn)
        if leaves > 1 and content is Content.LEAF:
            content = Content.FOLIAGE
    else:
        if acquisition_type is AcquisitionType.SCAN:
            # A scanner brings its own, even light.
            camera = replace(camera, balance=(1.0, 1.0, 1.0), exposure=1.02, noise=camera.noise / 2)
        draw = _scan if acquisition_type is AcquisitionType.SCAN else _scan_like
        canvas, mask = draw(species, rng, size, camera, autumn)
    return DrawnPicture(expose(canvas, camera, rng), mask, acquisition_type, content, camera.quality)


def _scan(
    species: LeafSpecies, rng: np.random.Generator, size: int, camera: Camera, autumn: float
) -> tuple[Canvas, npt.NDArray[np.bool_]]:
    one = vary(species, rng, 0.6)
    leaf = grow(one, rng)
    matrix, rows, cols = fitted(leaf, _turn(rng), size, rng, (0.02, 0.12))
    layer = _painted(leaf, matrix, one, (rows, cols), rng, -np.pi / 2, 0.12, _side(autumn, rng))
    canvas = backgrounds.scanner(rows, cols, camera, rng)
    near = (0.004 * size * rng.uniform(0.2, 1.6), 0.004 * size * rng.uniform(-1, 1))
    backgrounds.shadow(canvas, layer.alpha, layer.row, layer.col, near, 0.006 * size, rng.uniform(0.1, 0.45))
    mask = np.zeros((rows, cols), bool)
    lay(canvas, mask, layer)
    return canvas, mask


def _scan_like(
    species: LeafSpecies, rng: np.random.Generator, size: int, camera: Camera, autumn: float
) -> tuple[Canvas, npt.NDArray[np.bool_]]:
    one = vary(species, rng, 0.6)
    leaf = grow(one, rng)
    rows, cols = _frame(size, rng, landscape=0.15)
    angle = _turn(rng)
    low, high = _turned_extent(leaf, angle)
    # The leaf's outermost pixels are drawn half: keep them inside.
    frame = np.array([cols - 5, rows - 5])
    scale = rng.uniform(0.6, 0.92) * float(np.min(frame / (high - low)))
    room = frame - scale * (high - low)
    centre = room * rng.uniform(0.35, 0.65, 2) - scale * low + 2
    hardness = float(np.clip(camera.hardness * rng.uniform(0.7, 1.3), 0, 1))
    matrix = similarity(scale, angle, (float(centre[0]), float(centre[1])))
    layer = _painted(leaf, matrix, one, (rows, cols), rng, camera.light, hardness, _side(autumn, rng))
    canvas = backgrounds.sheet(rows, cols, camera, rng)
    # A leaf lies on the sheet, its edge lifted here and there: a wide faint shadow and a close one.
    lift = size * (0.004 + 0.016 * hardness * rng.uniform(0.2, 1.0))
    away = (-lift * np.sin(camera.light), -lift * np.cos(camera.light))
    spread = size * (0.004 + 0.012 * (1 - hardness))
    backgrounds.shadow(canvas, layer.alpha, layer.row, layer.col, away, spread, 0.2 + 0.35 * hardness)
    backgrounds.shadow(canvas, layer.alpha, layer.row, layer.col, (0, 0), 0.004 * size, 0.3)
    mask = np.zeros((rows, cols), bool)
    lay(canvas, mask, layer)
    gain = 0.75 + 0.25 * float(np.mean(camera.sheet)) / 235
    return canvas * np.float32(gain), mask


def _painted(
    leaf: Leaf,
    matrix: Points,
    species: LeafSpecies,
    shape: tuple[int, int],
    rng: np.random.Generator,
    light: float,
    hardness: float,
    season: float,
) -> Layer:
    layer = paint(leaf, matrix, look_of(species, rng, light, hardness, season), shape, rng)
    if layer is None:
        raise AssertionError("a leaf that was fitted into its picture lies outside of it")
    return layer


def fitted(
    leaf: Leaf, angle: float, size: int, rng: np.random.Generator, margins: tuple[float, float]
) -> tuple[Points, int, int]:
    """Find the matrix and the picture's size for a leaf that fills the picture up to its margins.

    Parameters
    ----------
    leaf : Leaf
    angle : float
        0 points the tip upwards; clockwise, in radians.
    size : int
        Longest side of the picture, in pixels; at least `SMALLEST`.
    rng : numpy.random.Generator
    margins : tuple of float
        Least and largest margin, as shares of the leaf's longest side.

    Returns
    -------
    matrix : ndarray of float64, shape (2, 3)
        From the leaf's coordinates to columns and rows, as `leafid.synthetic.painter.paint` takes it.
    rows, cols : int
    """
    low, high = _turned_extent(leaf, angle)
    before, after = rng.uniform(*margins, 2), rng.uniform(*margins, 2)
    longest = float((high - low).max())
    whole = (high - low) + (before + after) * longest
    # The leaf's outermost pixels are drawn half: keep them inside.
    scale = (size - 4) / float(whole.max())
    cols, rows = np.minimum(size, np.ceil(whole * scale).astype(int) + 4)
    if cols >= rows:
        cols = size
    else:
        rows = size
    centre = scale * (before * longest - low) + 2
    return similarity(scale, angle, (float(centre[0]), float(centre[1]))), int(rows), int(cols)


def _turned_extent(leaf: Leaf, angle: float) -> tuple[Points, Points]:
    matrix = similarity(1.0, angle, (0.0, 0.0))
    points = [blade.contour for blade in leaf.blades]
    for stalk in leaf.stalks:
        wide = max(stalk.widths)
        points += [stalk.points - wide, stalk.points + wide]
    turned = np.vstack(points) @ matrix[:, :2].T
    return turned.min(axis=0), turned.max(axis=0)


def _turn(rng: np.random.Generator) -> float:
    """People lay leaves upright, mostly; few upside down or across."""
    chance = rng.random()
    quarter = 0.0 if chance < 0.9 else np.pi if chance < 0.94 else np.pi / 2 if chance < 0.97 else -np.pi / 2
    return float(quarter + np.radians(rng.normal(0, 9)))


def _side(autumn: float, rng: np.random.Generator) -> float:
    if autumn < 0.3 and rng.random() < 0.22:
        return -1.0
    return float(max(0.0, autumn + rng.normal(0, 0.08 if autumn else 0.03)))


def _frame(size: int, rng: np.random.Generator, landscape: float) -> tuple[int, int]:
    short = max(2, round(size * (0.75 if rng.random() < 0.6 else 0.667)))
    return (short, size) if rng.random() < landscape else (size, short)
