"""The geometry of a whole leaf: contours, veins and stalks in the leaf's own coordinates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from leafid.synthetic.outline import Points, compute_blade_outline, compute_half_width, compute_lobe_axes
from leafid.synthetic.species import Arrangement, LeafSpecies, Lobing

_TURNING = 0.35 * np.linspace(0.0, 1.0, 9)
"""Angle by which a side vein has turned towards the tip, at nine positions along it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A vein or a stalk: its points, its widths at the two ends, and its visibility (0 to 1)."""

    points: Points
    widths: tuple[float, float]
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Blade:
    """One blade or leaflet: its two halves, each from the end of the stalk to the tip, and its veins."""

    right: Points
    left: Points
    veins: tuple[Line, ...]

    @property
    def contour(self) -> Points:
        """The closed contour, shape (n, 2)."""
        return np.vstack([self.right, self.left[-2::-1]])


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf in coordinates (across, along): the upper end of the petiole at (0, 0), the tip near (0, 1).

    The petiole is the last of the stalks.
    """

    blades: tuple[Blade, ...]
    stalks: tuple[Line, ...]

    def compute_extent(self, matrix: Points) -> tuple[Points, Points]:
        """Compute the smallest and largest coordinates, each of shape (2,), after a linear map (2, 2)."""
        points = [blade.contour for blade in self.blades]
        for stalk in self.stalks:
            points += [stalk.points - max(stalk.widths), stalk.points + max(stalk.widths)]
        mapped = np.vstack(points) @ matrix.T
        return mapped.min(axis=0), mapped.max(axis=0)


def grow_leaf(species: LeafSpecies, rng: np.random.Generator) -> Leaf:
    """Make the geometry of one leaf from its description, with the variation of plant and leaf applied."""
    blades, stalks = _BUILDERS[species.arrangement](species, rng)
    curvature = 0.16 * float(np.clip(rng.standard_normal(), -2, 2))
    return Leaf(
        tuple(_bend_blade(blade, curvature) for blade in blades),
        _map_lines([*stalks, _make_petiole(species, rng)], partial(bend_points, curvature=curvature)),
    )


def bend_points(points: Points, curvature: float) -> Points:
    """Bend the leaf's axis into an arc of the given curvature, and the petiole into a wider one."""
    if abs(curvature) < 1e-6:
        return points
    share = np.where(points[:, 1] > 0, 1.0, 0.6)
    angle = points[:, 1] * share * curvature
    radius = 1.0 / (share * curvature)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([radius * (1 - cos) + points[:, 0] * cos, (radius - points[:, 0]) * sin], axis=1)


def _build_simple(species: LeafSpecies, rng: np.random.Generator) -> tuple[list[Blade], list[Line]]:
    return [_make_blade(species, rng, species.petiole_width * 0.75)], []


def _build_pinnate(species: LeafSpecies, rng: np.random.Generator) -> tuple[list[Blade], list[Line]]:
    pairs, length, stalk = species.leaflets, species.leaflet_length, species.petiole_width
    top = 1.0 - length
    blades = []
    for number, height in enumerate(np.linspace(0.0, top - 0.55 * length / max(pairs, 2), pairs)):
        # The leaflets in the middle of the leaf are the longest.
        middle = 1.0 - 0.22 * abs(2 * (number + 1) / (pairs + 1) - 1.0)
        for side in (-1, 1):
            start = (side * (stalk / 2 + 0.012), float(height + rng.normal(0, 0.008)))
            angle = side * np.radians(species.leaflet_angle * (1.08 - 0.25 * height) + rng.normal(0, 5))
            size = length * middle * rng.uniform(0.9, 1.08)
            blades.append(_move_blade(_make_blade(species, rng, stalk * 0.9, 0.25 * side), start, angle, size))
    stubs = [
        Line(np.array([[0.0, blade.right[0, 1] - 0.01], blade.right[0]]), (stalk * 0.6, stalk * 0.6))
        for blade in blades
    ]
    blades.append(_move_blade(_make_blade(species, rng, stalk * 0.9), (0.0, top), rng.normal(0, 0.06), length))
    rachis = Line(np.column_stack([np.zeros(12), np.linspace(0, top + 0.05 * length, 12)]), (stalk, stalk * 0.6))
    return blades, [*stubs, rachis]


def _build_palmate(species: LeafSpecies, rng: np.random.Generator) -> tuple[list[Blade], list[Line]]:
    half = (species.leaflets - 1) / 2
    blades = []
    # The outer leaflets come first: the middle one lies on top.
    for offset in sorted(np.arange(species.leaflets) - half, key=abs, reverse=True):
        angle = np.radians(species.leaflet_angle * offset) + rng.normal(0, 0.05)
        size = (1.0 - 0.32 * abs(offset) ** 1.25 / max(half, 1)) * rng.uniform(0.95, 1.03)
        leaflet = _make_blade(species, rng, species.petiole_width * 0.7, 0.15 * float(np.sign(offset)))
        blades.append(_move_blade(leaflet, (0.0, 0.0), angle, size))
    return blades, []


def _make_petiole(species: LeafSpecies, rng: np.random.Generator) -> Line:
    length, width = species.petiole_length, species.petiole_width
    share = np.linspace(0.0, 1.0, 24)
    sway = length * (rng.normal(0, 0.09) * share**2 + rng.normal(0, 0.03) * np.sin(np.pi * share * 1.5))
    points = np.column_stack([sway, 0.015 - (length + 0.015) * share])
    return Line(points, (width * 0.85, width * rng.uniform(1.1, 1.6)))


def _make_blade(species: LeafSpecies, rng: np.random.Generator, midrib: float, curvature: float = 0.0) -> Blade:
    right, left = compute_blade_outline(species.outline, rng)
    make_veins = {Lobing.PALMATE: _make_palmate_veins, Lobing.FAN: _make_fan_veins}.get(
        species.outline.lobing, _make_pinnate_veins
    )
    veins = make_veins(species, float(right[-1, 1]), midrib, rng)
    curvature += 0.08 * float(np.clip(rng.standard_normal(), -2, 2))
    return _bend_blade(Blade(right, left, tuple(veins)), curvature)


def _make_pinnate_veins(species: LeafSpecies, tip: float, midrib: float, rng: np.random.Generator) -> list[Line]:
    outline, venation = species.outline, species.venation
    veins = []
    for side in (-1, 1):
        starts = 0.92 * (np.arange(venation.pairs) + 0.25 + rng.uniform(-0.12, 0.12, venation.pairs)) / venation.pairs
        for start in starts**1.08:
            angle = np.radians(venation.angle * (1.12 - 0.35 * start) + rng.normal(0, 2))
            width = float(compute_half_width(outline, np.array([min(start + 0.12, 0.95)]))[0])
            reach = 1.25 * width / np.sin(angle) + 0.02
            # The finest veins of a leaflet could not be seen.
            is_twigged = species.arrangement is Arrangement.SIMPLE
            veins += _make_side_vein(np.array([0.0, start * tip]), side, 0.0, angle, reach, midrib, rng, is_twigged)
    axis = np.column_stack([np.zeros(10), np.linspace(0, 0.985 * tip, 10)])
    return [*veins, Line(axis, (midrib, midrib * 0.2))]


def _make_side_vein(
    start: Points,
    side: int,
    axis: float,
    angle: float,
    reach: float,
    midrib: float,
    rng: np.random.Generator,
    is_twigged: bool,
) -> list[Line]:
    # A side vein leaves the midrib steeply outwards and then turns towards the tip.
    bearing = axis + side * (angle - _TURNING * angle**0.5)
    steps = reach / 8 * np.column_stack([np.sin(bearing[:-1]), np.cos(bearing[:-1])])
    path = start + np.vstack([[0.0, 0.0], np.cumsum(steps, axis=0)])
    twigs = []
    for index in (3, 5) if is_twigged else ():
        for turn in (-1, 1):
            away = bearing[index] + turn * rng.uniform(0.6, 0.9)
            end = path[index] + 0.22 * reach * np.array([np.sin(away), np.cos(away)])
            twigs.append(Line(np.array([path[index], end]), (midrib * 0.15, midrib * 0.08), 0.3))
    return [*twigs, Line(path, (midrib * 0.45, midrib * 0.12), 0.75)]


def _make_palmate_veins(species: LeafSpecies, tip: float, midrib: float, rng: np.random.Generator) -> list[Line]:
    mains, sides = [], []
    for number, (angle, length) in enumerate(zip(*compute_lobe_axes(species.outline), strict=True)):
        for bearing in (-angle, angle) if number else (0.0,):
            direction = np.array([np.sin(bearing), np.cos(bearing)])
            size = 0.98 * length * tip
            mains.append(Line(np.outer(np.linspace(0, size, 8), direction), (midrib * 0.9, midrib * 0.15)))
            for start in np.linspace(0.22, 0.8, species.venation.pairs):
                for side in (-1, 1):
                    away = np.radians(species.venation.angle + rng.normal(0, 3))
                    reach = size * 0.55 * (1.05 - start)
                    sides += _make_side_vein(direction * size * start, side, bearing, away, reach, midrib, rng, True)
    return [*sides, *mains]


def _make_fan_veins(species: LeafSpecies, tip: float, midrib: float, rng: np.random.Generator) -> list[Line]:
    opening = species.outline.width / 2
    share = np.linspace(0.0, 1.0, 8)[:, None]
    veins = []
    for angle in opening * np.linspace(-0.97, 0.97, species.venation.pairs):
        end = np.array([np.sin(angle), np.cos(angle)])
        control = np.array([0.25 * end[0], 0.42 * max(end[1], 0.3)])
        veins.append(Line(2 * share * (1 - share) * control + share**2 * end, (0.004, 0.003), 0.6))
    return veins


def _move_blade(blade: Blade, start: tuple[float, float], angle: float, length: float) -> Blade:
    """Move the end of a blade's stalk to `start`, turn the blade by `angle` (radians, to the right) and scale it."""
    matrix = length * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def move(points: Points) -> Points:
        return points @ matrix + np.array(start)

    return Blade(move(blade.right), move(blade.left), _map_lines(blade.veins, move, length))


def _bend_blade(blade: Blade, curvature: float) -> Blade:
    bend = partial(bend_points, curvature=curvature)
    return Blade(bend(blade.right), bend(blade.left), _map_lines(blade.veins, bend))


def _map_lines(lines: Sequence[Line], change: Callable[[Points], Points], scale: float = 1.0) -> tuple[Line, ...]:
    """Apply one change to the points of all lines at once, since a leaf may have hundreds."""
    ends = np.cumsum([len(line.points) for line in lines])[:-1]
    parts = np.split(change(np.vstack([line.points for line in lines])), ends)
    return tuple(
        Line(part, (line.widths[0] * scale, line.widths[1] * scale), line.strength)
        for part, line in zip(parts, lines, strict=True)
    )


_BUILDERS = {
    Arrangement.SIMPLE: _build_simple,
    Arrangement.PINNATE: _build_pinnate,
    Arrangement.PALMATE: _build_palmate,
}
