"""Botanical words for measured traits.

Words and thresholds are those of the Manual of Leaf Architecture [1]_ where it has them: the position of the greatest
width (elliptic: in the middle fifth), the angles of apex and base (acute: below 90°), lobes and teeth (divided by
sinuses of more or less than a quarter of the way to the midvein), acuminate, straight and convex ends, cordate and
lobate bases. It compares curves by eye; the thresholds of bulges are leafid's own.

References
----------
.. [1] B. Ellis, D. C. Daly, L. J. Hickey, K. R. Johnson, J. D. Mitchell, P. Wilf, S. L. Wing, "Manual of Leaf
   Architecture", Cornell University Press, 2009, ISBN 978-0-8014-7518-4.
"""

from collections.abc import Mapping
from typing import NamedTuple


class TraitTitle(NamedTuple):
    """How a trait is called in tables."""

    title: str
    unit: str
    #: The smallest difference between two species that is worth mentioning.
    noticeable: float
    #: Turns a measured value into one in the unit.
    scale: float = 1


#: Height of a tooth, in percent of the blade's width, below which a margin is finely toothed.
FINE_TOOTH = 2.5

#: Traits that species are compared by.
TRAITS: Mapping[str, TraitTitle] = {
    "leaflets": TraitTitle("leaflets", "", 1.5),
    "length_width": TraitTitle("length to width", "", 0.2),
    "widest": TraitTitle("greatest width (base 0%, tip 100%)", "%", 5, 100),
    "lobes": TraitTitle("lobes", "", 1.5),
    "teeth": TraitTitle("teeth", "", 5),
    "tooth_depth": TraitTitle("height of the teeth, of the width", "%", 0.5),
    "apex_angle": TraitTitle("angle of the apex", "°", 8),
    "base_angle": TraitTitle("angle of the base", "°", 8),
    "base_extension": TraitTitle("depth of the base's sinus, of the length", "%", 3, 100),
    "petiole": TraitTitle("petiole to blade", "", 0.1),
}


def describe_traits(values: Mapping[str, float]) -> dict[str, str]:
    """Describe measured traits in words with their numbers, by name, from the whole leaf to its details.

    `values` are those of `leafid.descriptors.traits.measure_reliable_traits`.
    """
    described = {}
    if "leaflets" in values:
        number = round(values["leaflets"])
        described["leaflets"] = "simple leaf" if number <= 1 else f"compound leaf of about {number} leaflets"
    if "length_width" in values:
        described["length_width"] = _describe_proportions(values)
    if number := round(values.get("lobes", 0)):
        arrangement = "palmately" if values.get("lobe_depth", 0) < 0 else "pinnately"
        described["lobes"] = f"{arrangement} lobed, about {number} lobes"
    if "tooth_depth" in values:
        described["teeth"] = _describe_margin(values)
    if "apex_angle" in values:
        described["apex_angle"] = _describe_apex(values)
    if "base_angle" in values:
        described["base_angle"] = _describe_base(values)
    if values.get("petiole", 0) >= 0.05:
        described["petiole"] = f"petiole {values['petiole']:.1f} of the blade"
    return described


def _describe_margin(values: Mapping[str, float]) -> str:
    height = values["tooth_depth"]
    if not height:
        return "margin entire"
    size = f"{height:.1f}% of the width high"
    if number := round(values.get("teeth", 0)):
        return f"margin toothed, about {number} teeth, {size}"
    return f"margin {'finely' if height < FINE_TOOTH else 'coarsely'} toothed, teeth {size}"


def _describe_proportions(values: Mapping[str, float]) -> str:
    ratio = values["length_width"]
    length = f"{ratio:.1f} times as long as wide" if ratio >= 1 else f"{1 / ratio:.1f} times as wide as long"
    if 0.95 < ratio < 1.05:
        length = "as long as wide"
    form = _name_form(values)
    return f"{form}, {length}" if form else length


def _name_form(values: Mapping[str, float]) -> str:
    if values["length_width"] >= 10:
        return "linear"
    if values.get("lobes") or "widest" not in values:
        return ""
    if values["parallel"] >= 1 / 3:
        return "oblong"
    return "ovate" if values["widest"] < 0.4 else "obovate" if values["widest"] > 0.6 else "elliptic"


def _describe_apex(values: Mapping[str, float]) -> str:
    if values["apex_extension"] >= 0.05:
        return "apex emarginate"
    return f"apex {_describe_end(values['apex_angle'], values['apex_bulge'], 'acuminate')}"


def _describe_base(values: Mapping[str, float]) -> str:
    extension = values["base_extension"]
    if extension >= 0.03:
        word = "lobate" if extension >= 0.25 else "cordate"
        return f"base {word}, its sinus {100 * extension:.0f}% of the length deep"
    # By the width of the petiole, a base bulges more than an apex.
    return f"base {_describe_end(values['base_angle'], values['base_bulge'] - 0.08, 'concave')}"


def _describe_end(angle: float, bulge: float, concave: str) -> str:
    """Describe an end by its angle, in degrees, and the bulge of its margin: 0 is straight."""
    if bulge >= 0.15 and angle >= 90:
        return f"rounded, {angle:.0f}°"
    width = "acute" if angle < 90 else "obtuse"
    margin = concave if bulge < -0.015 else "straight" if bulge < 0.05 else "convex"
    return f"{width}, {margin}, {angle:.0f}°"
