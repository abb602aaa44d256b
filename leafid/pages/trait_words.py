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

# Ranges of the position of the greatest width, and of ratios and angles.
_OVATE, _OBOVATE = 0.4, 0.6
_PARALLEL = 1 / 3
_LINEAR = 10.0
_CORDATE, _LOBATE = 0.03, 0.25
_EMARGINATE = 0.05
_PETIOLATE = 0.05
# Bulges of an end's margin, in widths: 0 is straight. A base bulges by the petiole's width more than an apex.
_CONCAVE, _STRAIGHT, _ROUND = -0.015, 0.05, 0.15
_BASE_EXTRA = 0.08


class TraitTitle(NamedTuple):
    """How a trait is called in tables."""

    title: str
    unit: str
    #: The smallest difference between two species that is worth mentioning.
    noticeable: float
    #: Turns a measured value into one in the unit.
    scale: float = 1


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
    if "teeth" in values:
        number = round(values["teeth"])
        described["teeth"] = "margin entire"
        if number:
            height = values["tooth_depth"]
            described["teeth"] = f"margin toothed, about {number} teeth, {height:.1f}% of the width high"
    if "apex_angle" in values:
        described["apex_angle"] = _describe_apex(values)
    if "base_angle" in values:
        described["base_angle"] = _describe_base(values)
    if values.get("petiole", 0) >= _PETIOLATE:
        described["petiole"] = f"petiole {values['petiole']:.1f} of the blade"
    return described


def _describe_proportions(values: Mapping[str, float]) -> str:
    ratio = values["length_width"]
    length = f"{ratio:.1f} times as long as wide" if ratio >= 1 else f"{1 / ratio:.1f} times as wide as long"
    if 0.95 < ratio < 1.05:
        length = "as long as wide"
    form = _name_form(values)
    return f"{form}, {length}" if form else length


def _name_form(values: Mapping[str, float]) -> str:
    if values["length_width"] >= _LINEAR:
        return "linear"
    if values.get("lobes") or "widest" not in values:
        return ""
    if values["parallel"] >= _PARALLEL:
        return "oblong"
    return "ovate" if values["widest"] < _OVATE else "obovate" if values["widest"] > _OBOVATE else "elliptic"


def _describe_apex(values: Mapping[str, float]) -> str:
    angle, bulge = values["apex_angle"], values["apex_bulge"]
    if values["apex_extension"] >= _EMARGINATE:
        return "apex emarginate"
    return f"apex {_describe_end(angle, bulge, 'acuminate')}, {angle:.0f}°"


def _describe_base(values: Mapping[str, float]) -> str:
    angle, extension = values["base_angle"], values["base_extension"]
    if extension >= _CORDATE:
        word = "lobate" if extension >= _LOBATE else "cordate"
        return f"base {word}, its sinus {100 * extension:.0f}% of the length deep"
    words = _describe_end(angle, values["base_bulge"] - _BASE_EXTRA, "concave")
    return f"base {words}, {angle:.0f}°"


def _describe_end(angle: float, bulge: float, concave: str) -> str:
    width = "acute" if angle < 90 else "obtuse"
    if bulge < _CONCAVE:
        return f"{width}, {concave}"
    if bulge < _STRAIGHT:
        return f"{width}, straight"
    return "rounded" if bulge >= _ROUND and angle >= 90 else f"{width}, convex"
