"""The species that can be drawn, as ``catalogue.toml`` describes them, and how plants and leaves differ from them."""

import tomllib
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources
from typing import Any

import numpy as np

Colour = tuple[int, int, int]
"""Blue, green, red, each 0 to 255."""

# Standard deviation of the logarithm of each attribute from plant to plant.
_OUTLINE_SPREAD = {
    "width": 0.07,
    "base": 0.06,
    "tip": 0.06,
    "cordate": 0.15,
    "drip": 0.15,
    "lobe_depth": 0.12,
    "lobe_spread": 0.04,
    "lobe_falloff": 0.08,
    "teeth": 0.07,
    "tooth_depth": 0.12,
    "wave": 0.3,
}
_VENATION_SPREAD = {"pairs": 0.06, "angle": 0.05, "contrast": 0.15, "relief": 0.15}
_LEAF_SPREAD = {"leaflet_angle": 0.05, "petiole_length": 0.15, "petiole_width": 0.1}


class Lobing(StrEnum):
    """How a blade is divided."""

    NONE = "none"
    PINNATE = "pinnate"
    PALMATE = "palmate"
    FAN = "fan"


class Arrangement(StrEnum):
    """How the blades of a leaf are arranged."""

    SIMPLE = "simple"
    PINNATE = "pinnate"
    PALMATE = "palmate"


@dataclass(frozen=True, slots=True)
class Outline:
    """The contour of one blade; lengths are relative to the blade's length from stalk to tip.

    Half the width at height t (0 at the stalk, 1 at the tip) is proportional to ``t**base * (1 - t)**tip``.
    """

    #: Largest width of the blade, or of one lobe of a palmate blade; the opening angle of a fan, in radians.
    width: float
    #: `base`, `tip`: 0.5 is round, 1 a wedge, more is drawn out.
    base: float
    tip: float
    #: Distance by which the base hangs below the end of the stalk: 0.15 is a heart.
    cordate: float = 0.0
    #: Length of the narrow point at the tip.
    drip: float = 0.0
    #: Relative difference between the widths of the two sides.
    asymmetry: float = 0.0
    lobing: Lobing = Lobing.NONE
    #: Lobes of one side (pinnate) or of the whole blade (palmate).
    lobes: int = 0
    #: Depth of the sinuses between pinnate lobes relative to the half width, or of a fan's middle notch relative to its
    #: radius.
    lobe_depth: float = 0.0
    #: 0 for rounded pinnate lobes, 1 for pointed ones.
    lobe_point: float = 0.0
    #: Angle between neighbouring palmate lobes, in degrees.
    lobe_spread: float = 0.0
    #: Relative decrease in length from one palmate lobe to the next outer one.
    lobe_falloff: float = 0.0
    #: Angle between a palmate lobe's axis and the large tooth on either side of it, in degrees; 0 for none.
    lobe_teeth: float = 0.0
    #: Minimum distance of a palmate blade's contour from the end of the stalk, between its lobes.
    web: float = 0.0
    #: Teeth of one side.
    teeth: int = 0
    tooth_depth: float = 0.0
    #: 0.5 is scalloped, 1 a saw, more is spiny.
    tooth_sharpness: float = 1.0
    #: Share of the side, from the stalk on, without teeth.
    tooth_start: float = 0.12
    #: Whether the teeth carry smaller teeth.
    double_teeth: bool = False
    #: Relative amplitude of the margin's undulation.
    wave: float = 0.015


@dataclass(frozen=True, slots=True)
class Venation:
    """The veins of one blade."""

    #: Pairs of side veins; for a fan, the number of veins.
    pairs: int = 7
    #: Angle between a side vein and the midrib at the middle of the blade, in degrees.
    angle: float = 50.0
    #: Visibility of the veins' colour, 0 to 1.
    contrast: float = 0.5
    #: Depth of the veins in the blade, 0 to 1.
    relief: float = 0.5


@dataclass(frozen=True, slots=True)
class LeafSpecies:
    """A species as it can be drawn; a plant or a leaf is a variation of it."""

    genus: str
    epithet: str
    family: str
    order: str
    #: Three names, from the widest to the narrowest.
    clades: tuple[str, str, str]
    vernacular: str
    #: `outline`, `venation`: of the blade, or of each leaflet.
    outline: Outline
    venation: Venation = Venation()
    arrangement: Arrangement = Arrangement.SIMPLE
    #: Pairs of leaflets (pinnate), or their number (palmate).
    leaflets: int = 0
    #: Relative to the whole leaf (pinnate).
    leaflet_length: float = 0.3
    #: Angle between leaflet and rachis (pinnate) or between neighbouring leaflets (palmate), in degrees.
    leaflet_angle: float = 60.0
    #: `petiole_length`, `petiole_width`: relative to the length of the leaf without its petiole.
    petiole_length: float = 0.2
    petiole_width: float = 0.02
    #: Of the upper side of a green leaf.
    upper: Colour = (30, 85, 50)
    #: Of an old leaf; None for an evergreen.
    autumn: Colour | None = None
    vein: Colour = (95, 150, 130)
    stalk: Colour = (70, 120, 105)

    @property
    def name(self) -> str:
        """The species name as a run file writes it."""
        return f"{self.genus} {self.epithet}"


def vary(species: LeafSpecies, rng: np.random.Generator, amount: float = 1.0) -> LeafSpecies:
    """Return a species description that differs a little from the given one.

    A plant is a variation of its species, and a leaf is a smaller variation of its plant. An `amount` of 1 is the
    spread between plants of a species.
    """

    def draw_factor(spread: float) -> float:
        return float(np.exp(amount * spread * np.clip(rng.standard_normal(), -2.5, 2.5)))

    def scale(part: Any, spreads: dict[str, float]) -> dict[str, Any]:
        scaled = {name: getattr(part, name) * draw_factor(spread) for name, spread in spreads.items()}
        # Counts stay whole numbers.
        return {name: round(x) if isinstance(getattr(part, name), int) else x for name, x in scaled.items()}

    outline = replace(species.outline, **scale(species.outline, _OUTLINE_SPREAD))
    outline = replace(outline, asymmetry=outline.asymmetry + amount * 0.03 * float(rng.standard_normal()))
    brightness, warmth = draw_factor(0.10), amount * 6 * float(rng.standard_normal())

    def tint(colour: Colour) -> Colour:
        shifted = np.array(colour) * brightness + warmth * np.array([-0.5, 0.0, 1.0])
        blue, green, red = (int(value) for value in np.clip(np.round(shifted), 0, 255))
        return blue, green, red

    return replace(
        species,
        **scale(species, _LEAF_SPREAD),
        outline=outline,
        venation=replace(species.venation, **scale(species.venation, _VENATION_SPREAD)),
        upper=tint(species.upper),
        autumn=tint(species.autumn) if species.autumn else None,
        vein=tint(species.vein),
        stalk=tint(species.stalk),
    )


def _make_species(table: dict[str, Any]) -> LeafSpecies:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    outline = table["outline"]
    values["outline"] = Outline(**{**outline, "lobing": Lobing(outline.get("lobing", Lobing.NONE))})
    values["venation"] = Venation(**table.get("venation", {}))
    values["arrangement"] = Arrangement(table.get("arrangement", Arrangement.SIMPLE))
    return LeafSpecies(**values)


#: In the order of the file: a small sample takes the species from the top.
SPECIES: tuple[LeafSpecies, ...] = tuple(
    map(_make_species, tomllib.loads((resources.files(__package__) / "catalogue.toml").read_text("utf-8"))["species"])
)
