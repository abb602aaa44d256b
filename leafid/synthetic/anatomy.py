"""A whole leaf as contours, veins and stalks in its own coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from leafid.synthetic.outline import Points, blade_outline, half_width, lobe_axes
from leafid.synthetic.species import Arrangement, LeafSpecies, Lobing

_TURNING = 0.35 * np.linspace(0.0, 1.0, 9)
"""How far a side vein has turned towards the tip, at nine places along it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A vein or a stalk.

    Attributes
    ----------
    points : ndarray, shape (n, 2)
    widths : tuple of float
        At its two ends.
    strength : float
        How much it shows, 0 to 1.
    """

    points: Points
    widths: tuple[float, float]
    strength: float = 1.0


@dataclass(frozen=True, slots=True)
class Blade:
    """One blade or leaflet: its two halves, each from the stalk's end to the tip, and its veins."""

    right: Points
    left: Points
    veins: tuple[Line, ...]

    @property
    def contour(self) -> Points:
        """The closed contour, shape (n, 2)."""
        return np.vstack([self.right, self.left[-2::-1]])


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf; coordinates are (across, along), with the petiole's upper end at (0, 0) and the tip near (0, 1)."""

    blades: tuple[Blade, ...]
    stalks: tuple[Line, ...]

    @property
    def extent(self) -> tuple[Points, Points]:
        """The smallest and largest coordinates, each of shape (2,)."""
        points = np.vstack([blade.contour for blade in self.blades] + [stalk.points for stalk in self.stalks])
        return points.min(axis=0), points.max(axis=0)


def grow(species: LeafSpecies, rng: np.random.Generator) -> Leaf:
    """Make the geometry of one leaf.

    Parameters
    ----------
    species : LeafSpecies
        Of the leaf itself: plant and leaf variation already applied.
    rng : numpy.random.Generator

    Returns
    -------
    Leaf
    """
    build = {
        Arrangement.SIMPLE: _simple,
        Arrangement.PINNATE: _pinnate,
        Arrangement.PALMATE: _palmate,
    }[species.arrangement]
    blades, stalks = build(species, rng)
    stalks = [*stalks, _petiole(species, rng)]
    bend = 0.16 * float(np.clip(rng.standard_normal(), -2, 2))
    return Leaf(tuple(_bent_blade(blade, bend) for blade in blades), _mapped(stalks, partial(bent, curvature=bend)))


def bent(points: Points, curvature: float) -> Points:
    """Bend the leaf's axis into an arc of the given curvature; the petiole bends with it, less."""
    if abs(curvature) < 1e-6:
        return points
    share = np.where(points[:, 1] > 0, 1.0, 0.6)
    angle = points[:, 1] * share * curvature
    radius = 1.0 / (share * curvature)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([radius * (1 - cos) + points[:, 0] * cos, (radius - points[:, 0]) * sin], axis=1)


def placed(blade: Blade, at: tuple[float, float], angle: float, length: float) -> Blade:
    """Move a blade's stalk to `at`, turn it by `angle` (radians, from the axis to the right) and scale it."""
    turn = length * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def move(points: Points) -> Points:
        return points @ turn + np.array(at)

    return Blade(move(blade.right), move(blade.left), _mapped(blade.veins, move, length))


def _simple(species: LeafSpecies, rng: np.random.Generator) -> tuple[list[Blade], list[Line]]:
    return [_blade(species, rng, species.petiole_width * 0.75)], []


def _pinnate(species: LeafSpecies, rng: np.random.Generator) -> tuple[list[Blade], list[Line]]:
    pairs, length = species.leaflets, species.leaflet_length
    top = 1.0 - length
    stalk = species.petiole_width
    places = np.linspace(0.0, top - 0.55 * length / max(pairs, 2), pairs)
    blades = []
    for number, place in enumerate(places):
        middle = 1.0 - 0.22 * abs(2 * (number + 1) / (pairs + 1) - 1.0)
        for side in (-1, 1):
            at = float(place + rng.normal(0, 0.008))
            angle = side * np.radians(species.leaflet_angle * (1.08 - 0.25 * place) + rng.normal(0, 5))
            size = length * middle * rng.uniform(0.9, 1.08)
            leaflet = _blade(species, rng, stalk * 0.9, bend=0.25 * side)
            start = (side * (stalk / 2 + 0.012), at)
            blades.append(placed(leaflet, start, float(angle), float(size)))
    blades.append(placed(_blade(species, rng, stalk * 0.9), (0.0, top), float(rng.normal(0, 0.06)), length))
    rachis = Line(np.column_stack([np.zeros(12), np.linspace(0, top + 0.05 * length, 12)]), (stalk, stalk * 0.6))
    stubs = [
        Line(
            np.array([[0.0, b.right[0, 1] - 0.01], b.right[0] + 0.06 * (b.right[-1] - b.right[0])]), (stalk * 0.6,) * 2
        )
        for b in blades[:-1]
    ]
    return blades, [*stubs, rachis]


def _palmate(species: LeafSpecies, rng: np.random.Generator) -> tuple[list[Blade], list[Line]]:
    half = (species.leaflets - 1) / 2
    blades = []
    # The outer leaflets are drawn first: the middle one lies on top.
    for place in sorted(np.arange(species.leaflets) - half, key=abs, reverse=True):
        angle = np.radians(species.leaflet_angle * place) + rng.normal(0, 0.05)
        size = (1.0 - 0.17 * abs(place) ** 1.25 / max(half, 1) * 1.9) * rng.uniform(0.95, 1.03)
        leaflet = _blade(species, rng, species.petiole_width * 0.7, bend=0.15 * float(np.sign(place)))
        blades.append(placed(leaflet, (0.0, 0.0), float(angle), float(size)))
    return blades, []


def _petiole(species: LeafSpecies, rng: np.random.Generator) -> Line:
    length, width = species.petiole_length, species.petiole_width
    share = np.linspace(0.0, 1.0, 24)
    sway = length * rng.normal(0, 0.09) * share**2 + length * rng.normal(0, 0.03) * np.sin(np.pi * share * 1.5)
    points = np.column_stack([sway, 0.015 - (length + 0.015) * share])
    return Line(points, (width * 0.85, width * rng.uniform(1.1, 1.6)))


def _blade(species: LeafSpecies, rng: np.random.Generator, midrib: float, bend: float = 0.0) -> Blade:
    shape = species.outline
    right, left = blade_outline(shape, rng)
    veins = {
        Lobing.PALMATE: _palmate_veins,
        Lobing.FAN: _fan_veins,
    }.get(shape.lobing, _pinnate_veins)(species, right, rng, midrib)
    bend += 0.08 * float(np.clip(rng.standard_normal(), -2, 2))
    return _bent_blade(Blade(right, left, tuple(veins)), bend)


def _bent_blade(blade: Blade, curvature: float) -> Blade:
    bend = partial(bent, curvature=curvature)
    return Blade(bend(blade.right), bend(blade.left), _mapped(blade.veins, bend))


def _pinnate_veins(species: LeafSpecies, right: Points, rng: np.random.Generator, midrib: float) -> list[Line]:
    shape, venation = species.outline, species.venation
    tip = float(right[-1, 1])
    # On a leaflet the finest veins could not be seen.
    twigged = species.arrangement is Arrangement.SIMPLE
    veins = []
    for side in (-1, 1):
        starts = 0.92 * (np.arange(venation.pairs) + 0.25 + rng.uniform(-0.12, 0.12, venation.pairs)) / venation.pairs
        starts = starts**1.08
        for start in starts:
            angle = np.radians(venation.angle * (1.12 - 0.35 * start) + rng.normal(0, 2))
            reach = float(half_width(shape, np.array([min(start + 0.12, 0.95)]))[0]) * 1.25 / np.sin(angle) + 0.02
            veins.extend(_side_vein(np.array([0.0, start * tip]), side, 0.0, angle, reach, midrib, rng, twigged))
    if shape.cordate:
        veins.extend(
            _side_vein(np.zeros(2), side, 0.0, np.radians(100), 0.45 * shape.width, midrib, rng, False)[0]
            for side in (-1, 1)
        )
    axis = np.column_stack([np.zeros(10), np.linspace(0, 0.985 * tip, 10)])
    return [*veins, Line(axis, (midrib, midrib * 0.2))]


def _side_vein(
    start: Points,
    side: int,
    axis: float,
    angle: float,
    reach: float,
    midrib: float,
    rng: np.random.Generator,
    twigged: bool = True,
) -> list[Line]:
    # A side vein leaves the midrib steeply outwards and then turns towards the tip.
    turned = axis + side * (angle - _TURNING * angle**0.5)
    path = np.empty((len(turned), 2))
    path[0] = start
    path[1:, 0] = start[0] + reach / 8 * np.cumsum(np.sin(turned[:-1]))
    path[1:, 1] = start[1] + reach / 8 * np.cumsum(np.cos(turned[:-1]))
    main = Line(path, (midrib * 0.45, midrib * 0.12), 0.75)
    twigs: list[Line] = []
    for at in (3, 5) if twigged else ():
        for turn in (-1, 1):
            bearing = turned[at] + turn * rng.uniform(0.6, 0.9)
            end = path[at] + 0.22 * reach * np.array([np.sin(bearing), np.cos(bearing)])
            twigs.append(Line(np.array([path[at], end]), (midrib * 0.15, midrib * 0.08), 0.3))
    return [*twigs, main]


def _palmate_veins(species: LeafSpecies, right: Points, rng: np.random.Generator, midrib: float) -> list[Line]:
    angles, lengths = lobe_axes(species.outline)
    middle = float(right[-1, 1])
    mains, sides = [], []
    for number, (angle, length) in enumerate(zip(angles, lengths, strict=True)):
        for side in (-1, 1) if number else (1,):
            bearing = side * angle
            direction = np.array([np.sin(bearing), np.cos(bearing)])
            size = 0.98 * length * middle
            mains.append(Line(np.outer(np.linspace(0, size, 8), direction), (midrib * 0.9, midrib * 0.15)))
            for start in np.linspace(0.22, 0.8, species.venation.pairs):
                for hand in (-1, 1):
                    reach = size * 0.55 * (1.05 - start)
                    away = np.radians(species.venation.angle + rng.normal(0, 3))
                    at = direction * size * (start + rng.normal(0, 0.012))
                    sides.extend(_side_vein(at, hand, bearing, away, reach, midrib * 0.8, rng))
    return [*sides, *mains]


def _fan_veins(species: LeafSpecies, right: Points, rng: np.random.Generator, midrib: float) -> list[Line]:
    opening = species.outline.width / 2
    share = np.linspace(0.0, 1.0, 8)[:, None]
    veins = []
    for place in np.linspace(-0.97, 0.97, species.venation.pairs) + rng.normal(0, 0.008, species.venation.pairs):
        end = np.array([np.sin(place * opening), np.cos(place * opening)])
        control = np.array([0.25 * end[0], 0.42 * max(end[1], 0.3)])
        veins.append(Line(2 * share * (1 - share) * control + share**2 * end, (0.004, 0.003), 0.6))
    return veins


def _mapped(lines: Sequence[Line], change: Callable[[Points], Points], scale: float = 1.0) -> tuple[Line, ...]:
    """Apply one change to the points of many lines at once: a leaf may have hundreds."""
    if not lines:
        return ()
    ends = np.cumsum([len(line.points) for line in lines])[:-1]
    parts = np.split(change(np.vstack([line.points for line in lines])), ends)
    return tuple(
        Line(part, (line.widths[0] * scale, line.widths[1] * scale), line.strength)
        for part, line in zip(parts, lines, strict=True)
    )
