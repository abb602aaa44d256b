"""Leaves on their tree: one in front of everything, or a branch full of them."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from leafid.synthetic import backgrounds
from leafid.synthetic.anatomy import Leaf, grow
from leafid.synthetic.camera import Camera, Canvas
from leafid.synthetic.noise import smooth_field
from leafid.synthetic.outline import Points
from leafid.synthetic.painter import lay, look_of, paint, similarity
from leafid.synthetic.species import Arrangement, LeafSpecies, vary

_GROWN = 3
"""Different leaves of one picture; they appear turned, scaled and lit differently."""


def draw_branch(
    species: LeafSpecies, rng: np.random.Generator, rows: int, cols: int, camera: Camera, autumn: float
) -> tuple[Canvas, npt.NDArray[np.bool_], int]:
    """Draw a leaf or a branch outdoors.

    Parameters
    ----------
    species : LeafSpecies
        The plant.
    rng : numpy.random.Generator
    rows, cols : int
    camera : Camera
    autumn : float
        0 summer, 1 leaves in full colour, 2 dead leaves.

    Returns
    -------
    canvas : ndarray, shape (rows, cols, 3), float32
    mask : ndarray, shape (rows, cols), bool
        All leaves that are in focus.
    leaves : int
        How many these are.
    """
    size = max(rows, cols)
    kinds = [vary(species, rng, 0.6)]
    grown = [grow(kinds[0], rng)]
    flat = [blade.contour for blade in grown[0].blades[:8]]
    dead = autumn > 1.5
    canvas, lying = backgrounds.outdoors(rows, cols, flat, dead, rng)
    mask = np.zeros((rows, cols), bool)
    alone = dead or lying or rng.random() < 0.35
    if not alone:
        kinds += [vary(species, rng, 0.6) for _ in range(_GROWN - 1)]
        grown += [grow(kind, rng) for kind in kinds[1:]]
    light, hardness = camera.light + float(rng.normal(0, 0.4)), float(rng.uniform(0.35, 0.95))
    places, twig = _single(grown[0], rows, cols, rng) if alone else _branch(species, grown, rows, cols, rng)
    if not lying:
        _draw_twig(canvas, twig, size, rng)
    for number, (choice, matrix) in enumerate(places):
        front = (number + 1) / len(places)
        season = float(max(0.0, autumn + rng.normal(0, 0.25 if autumn else 0.04)))
        if autumn < 0.5 and rng.random() < 0.1:
            season = -1.0
        look = look_of(kinds[choice], rng, light, hardness, season)
        layer = paint(grown[choice], matrix, look, (rows, cols), rng)
        if layer is None:
            continue
        reach = size * (0.007 if lying else 0.02)
        away = (-reach * np.sin(light), -reach * np.cos(light))
        backgrounds.shadow(canvas, layer.alpha, layer.row, layer.col, away, reach * 0.5, 0.25 + 0.3 * hardness)
        brightness = np.float32((0.62 + 0.5 * front) * rng.uniform(0.88, 1.12) * (1 + 0.18 * hardness))
        lay(canvas, mask, layer, brightness)
    dapple = np.clip(smooth_field(rows, cols, size * 0.3, rng, 2), -1.5, 1.5)
    canvas *= (1 + np.float32(0.14 * hardness) * dapple)[..., None]
    return canvas, mask, len(places)


def _single(leaf: Leaf, rows: int, cols: int, rng: np.random.Generator) -> tuple[list[tuple[int, Points]], Points]:
    low, high = leaf.extent
    scale = rng.uniform(0.6, 0.95) * min(rows, cols) / float((high - low).max()) * 1.15
    angle = float(rng.normal(0, 0.7))
    middle = np.array([cols, rows]) * rng.uniform(0.44, 0.56, 2)
    squeeze = float(rng.uniform(0.75, 1.0))
    matrix = similarity(scale, angle, (0.0, 0.0), squeeze)
    centre = middle - matrix[:, :2] @ ((low + high) / 2)
    matrix[:, 2] = centre
    end = matrix[:, :2] @ leaf.stalks[-1].points[-1] + matrix[:, 2]
    across = angle + np.pi / 2 + rng.normal(0, 0.5)
    direction = 1.5 * max(rows, cols) * np.array([np.sin(across), -np.cos(across)])
    return [(0, matrix)], end + np.linspace(-1, 1, 41)[:, None] * direction


def _branch(
    species: LeafSpecies, grown: list[Leaf], rows: int, cols: int, rng: np.random.Generator
) -> tuple[list[tuple[int, Points]], Points]:
    """Place leaves along a twig, the nearest to the viewer last; also the twig's path."""
    compound = species.arrangement is not Arrangement.SIMPLE
    count = int(rng.integers(3, 6) if compound else rng.integers(5, 12))
    size = max(rows, cols)
    heading = float(rng.uniform(0, 2 * np.pi))
    direction = np.array([np.sin(heading), -np.cos(heading)])
    start = np.array([cols, rows]) * 0.5 - direction * size * rng.uniform(0.3, 0.45)
    reach = size * rng.uniform(0.6, 0.85)
    leaf_size = size * (rng.uniform(0.42, 0.6) if compound else rng.uniform(0.26, 0.46))
    places = []
    for number in range(count):
        share = (number + 0.5) / count
        side = 1 if number % 2 else -1
        at = start + direction * reach * share
        choice = int(rng.integers(len(grown)))
        low, high = grown[choice].extent
        scale = leaf_size * rng.uniform(0.75, 1.15) / float(high[1] - low[1])
        angle = heading + side * (np.radians(62) - 0.45 * share) + rng.normal(0, 0.25)
        squeeze = float(rng.uniform(0.6, 1.0))
        matrix = similarity(scale, float(angle), (0.0, 0.0), squeeze)
        # The petiole's lower end sits on the twig.
        matrix[:, 2] = at - matrix[:, :2] @ grown[choice].stalks[-1].points[-1]
        places.append((choice, matrix))
    twig = start + np.linspace(-1.2, 1.0 - 0.5 / count, 30)[:, None] * direction * reach
    return [places[index] for index in rng.permutation(count)], twig


def _draw_twig(canvas: Canvas, path: Points, size: int, rng: np.random.Generator) -> None:
    colour = np.array([rng.uniform(45, 70), rng.uniform(65, 95), rng.uniform(80, 105)])
    width = size * rng.uniform(0.01, 0.02)
    fixed = np.round(path * 16).astype(np.int32)
    for part, shade in ((1.0, 0.65), (0.6, 0.95), (0.25, 1.2)):
        cv2.polylines(canvas, [fixed], False, (colour * shade).tolist(), max(1, round(width * part)), cv2.LINE_AA, 4)
