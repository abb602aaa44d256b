"""How a species' leaf is described, and how plants and leaves differ from that description."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

Colour = tuple[int, int, int]
"""Blue, green, red, each 0 to 255."""


class Lobing(StrEnum):
    """How a blade is divided."""

    NONE = "none"
    PINNATE = "pinnate"
    PALMATE = "palmate"
    FAN = "fan"


class Arrangement(StrEnum):
    """How many blades a leaf has, and where they sit."""

    SIMPLE = "simple"
    PINNATE = "pinnate"
    PALMATE = "palmate"


@dataclass(frozen=True, slots=True)
class Outline:
    """The contour of one blade; lengths are relative to the blade's length from stalk to tip.

    Half the width at height t (0 at the stalk, 1 at the tip) is proportional to ``t**base * (1 - t)**tip``.

    Attributes
    ----------
    width : float
        Largest width. Of one lobe where the blade is palmate; the opening angle in radians where it is a fan.
    base, tip : float
        0.5 is round, 1 a wedge, more is drawn out.
    cordate : float
        How far the base hangs below the stalk's end: 0 not at all, 0.15 a heart.
    drip : float
        Length of a narrow point added to the tip.
    asymmetry : float
        How much wider one side is than the other.
    lobing : Lobing
    lobes : int
        Lobes a side (pinnate) or in all (palmate).
    lobe_depth : float
        Depth of the sinuses between pinnate lobes relative to the half width, or of a fan's middle notch relative to
        its radius.
    lobe_point : float
        0 for rounded pinnate lobes, 1 for pointed ones.
    lobe_spread : float
        Angle between neighbouring palmate lobes, in degrees.
    lobe_falloff : float
        How much shorter each palmate lobe is than its inner neighbour.
    lobe_teeth : float
        Angle between a palmate lobe's axis and the large tooth at each of its sides, in degrees; 0 for none.
    web : float
        Least distance of a palmate blade's contour from the stalk's end, within its lobes.
    teeth : int
        Teeth a side.
    tooth_depth : float
    tooth_sharpness : float
        0.5 is scalloped, 1 a saw, more is spiny.
    tooth_start : float
        Share of the side, from the stalk on, that has no teeth.
    double_teeth : bool
        Smaller teeth on the teeth.
    wave : float
        How much the margin undulates.
    """

    width: float
    base: float
    tip: float
    cordate: float = 0.0
    drip: float = 0.0
    asymmetry: float = 0.0
    lobing: Lobing = Lobing.NONE
    lobes: int = 0
    lobe_depth: float = 0.0
    lobe_point: float = 0.0
    lobe_spread: float = 0.0
    lobe_falloff: float = 0.0
    lobe_teeth: float = 0.0
    web: float = 0.0
    teeth: int = 0
    tooth_depth: float = 0.0
    tooth_sharpness: float = 1.0
    tooth_start: float = 0.12
    double_teeth: bool = False
    wave: float = 0.015


@dataclass(frozen=True, slots=True)
class Venation:
    """The veins of one blade.

    Attributes
    ----------
    pairs : int
        Side veins a side; of a fan, veins in all.
    angle : float
        Between a side vein and the midrib at the blade's middle, in degrees.
    contrast : float
        How much the veins' colour shows, 0 to 1.
    relief : float
        How deep the veins are sunk into the blade, 0 to 1.
    """

    pairs: int = 7
    angle: float = 50.0
    contrast: float = 0.5
    relief: float = 0.5


@dataclass(frozen=True, slots=True)
class LeafSpecies:
    """All that is needed to draw a species, or a plant or leaf of it.

    Attributes
    ----------
    genus, epithet, family, order : str
    clades : tuple of str
        Three names, from the widest to the narrowest.
    vernacular : str
    outline : Outline
        Of the blade, or of each leaflet.
    venation : Venation
    arrangement : Arrangement
    leaflets : int
        Pairs (pinnate) or leaflets in all (palmate).
    leaflet_length : float
        Relative to the whole leaf (pinnate).
    leaflet_angle : float
        Between leaflet and leaf stalk (pinnate) or between neighbouring leaflets (palmate), in degrees.
    petiole_length, petiole_width : float
        Relative to the leaf's length without the petiole.
    upper, lower, autumn, vein, stalk : Colour
        Of the two sides of a green leaf, of an old leaf, of veins and stalks.
    gloss : float
        0 to 1.
    """

    genus: str
    epithet: str
    family: str
    order: str
    clades: tuple[str, str, str]
    vernacular: str
    outline: Outline
    venation: Venation = Venation()
    arrangement: Arrangement = Arrangement.SIMPLE
    leaflets: int = 0
    leaflet_length: float = 0.3
    leaflet_angle: float = 60.0
    petiole_length: float = 0.2
    petiole_width: float = 0.02
    upper: Colour = (30, 85, 50)
    lower: Colour = (85, 130, 110)
    autumn: Colour = (40, 150, 200)
    vein: Colour = (95, 150, 130)
    stalk: Colour = (70, 120, 105)
    gloss: float = 0.3

    @property
    def name(self) -> str:
        """The species name as a run file writes it."""
        return f"{self.genus} {self.epithet}"


def vary(species: LeafSpecies, rng: np.random.Generator, amount: float = 1.0) -> LeafSpecies:
    """Return a description that differs a little from the given one.

    Once for a plant, then once a leaf: leaves of one plant are more alike than those of different plants.

    Parameters
    ----------
    species : LeafSpecies
    rng : numpy.random.Generator
    amount : float, default 1
        0 returns the same description; 1 is how much plants of a species differ.

    Returns
    -------
    LeafSpecies
    """

    def factor(spread: float) -> float:
        return float(np.exp(amount * spread * np.clip(rng.standard_normal(), -2.5, 2.5)))

    def count(number: int, spread: float) -> int:
        return max(1, round(number * factor(spread))) if number else 0

    shape = species.outline
    outline = replace(
        shape,
        width=shape.width * factor(0.08 if shape.lobing is not Lobing.FAN else 0.05),
        base=shape.base * factor(0.06),
        tip=shape.tip * factor(0.06),
        cordate=shape.cordate * factor(0.15),
        drip=shape.drip * factor(0.15),
        asymmetry=shape.asymmetry + amount * 0.03 * float(rng.standard_normal()),
        lobe_depth=min(0.8, shape.lobe_depth * factor(0.12)),
        lobe_spread=shape.lobe_spread * factor(0.04),
        lobe_falloff=shape.lobe_falloff * factor(0.08),
        lobes=count(shape.lobes, 0.06) if shape.lobing is Lobing.PINNATE else shape.lobes,
        teeth=count(shape.teeth, 0.07),
        tooth_depth=shape.tooth_depth * factor(0.12),
        wave=shape.wave * factor(0.3),
    )
    veins = species.venation
    venation = replace(
        veins,
        pairs=count(veins.pairs, 0.06),
        angle=veins.angle * factor(0.05),
        contrast=min(1.0, veins.contrast * factor(0.15)),
        relief=min(1.0, veins.relief * factor(0.15)),
    )
    pairs = species.arrangement is Arrangement.PINNATE
    brightness, warmth = factor(0.10), amount * 6 * float(rng.standard_normal())
    return replace(
        species,
        outline=outline,
        venation=venation,
        leaflets=count(species.leaflets, 0.1) if pairs else species.leaflets,
        leaflet_angle=species.leaflet_angle * factor(0.05),
        petiole_length=species.petiole_length * factor(0.15),
        petiole_width=species.petiole_width * factor(0.1),
        upper=_shifted(species.upper, brightness, warmth),
        lower=_shifted(species.lower, brightness, warmth),
        autumn=_shifted(species.autumn, brightness, 2 * warmth),
        vein=_shifted(species.vein, brightness, warmth),
        stalk=_shifted(species.stalk, brightness, 2 * warmth),
        gloss=min(1.0, species.gloss * factor(0.2)),
    )


def _shifted(colour: Colour, brightness: float, warmth: float) -> Colour:
    blue, green, red = (
        min(255, max(0, round(value * brightness + shift)))
        for value, shift in zip(colour, (-warmth / 2, 0.0, warmth), strict=True)
    )
    return blue, green, red
