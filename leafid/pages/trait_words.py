"""Botanical words for measured traits.

Words and thresholds are those of the Manual of Leaf Architecture (`leafid.descriptors.traits`) where it has them: the
position of the greatest width (elliptic: in the middle fifth), the angles of apex and base (acute: below 90°), lobes
and teeth (divided by sinuses of more or less than a quarter of the way to the midvein), acuminate, straight and convex
ends, cordate bases. It compares curves by eye; the thresholds of bulges are leafid's own.
"""

from collections.abc import Mapping
from typing import NamedTuple

from leafid.descriptors.traits import is_fan


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
    "base_extension": TraitTitle(
        "depth of the base's sinus, of the length", "%", 3, 100
    ),
    "petiole": TraitTitle("petiole to blade", "", 0.1),
}


def describe_traits(values: Mapping[str, float]) -> dict[str, str]:
    """Describe measured traits in words with their numbers, by name, from the whole leaf to its details.

    `values` are those of `leafid.descriptors.traits.measure_reliable_traits`.
    """
    described = {}
    # Leaflets and teeth that are small or overlap are missed; few are seen that aren't there.
    number = round(values.get("leaflets", 0))
    if values.get("compound", number > 1):
        described["leaflets"] = (
            f"compound leaf of {number} or more leaflets"
            if number > 1
            else "compound leaf"
        )
    elif number:
        described["leaflets"] = "simple leaf"
    if "length_width" in values:
        described["length_width"] = _describe_proportions(values)
    if number := round(values.get("lobes", 0)):
        described["lobes"] = _describe_lobes(values, number)
    if "tooth_depth" in values:
        described["teeth"] = _describe_margin(values)
    if "apex_angle" in values and not is_fan(values):
        described["apex_angle"] = _describe_apex(values)
    if "base_angle" in values and not is_fan(values):
        described["base_angle"] = _describe_base(values)
    if values.get("petiole", 0) >= 0.05:
        described["petiole"] = f"petiole {values['petiole']:.2f} of the blade"
    return described


def _describe_lobes(values: Mapping[str, float], number: int) -> str:
    """Describe lobes; those of a wide blade whose base isn't cut in may be palmate or pinnate."""
    is_cordate = values.get("base_extension", 0) >= 0.03
    if values.get("lobe_depth", 0) < 0:
        return f"palmately lobed, about {number} lobes" if is_cordate else "lobed"
    return "lobed" if is_cordate else "pinnately lobed"


def _describe_margin(values: Mapping[str, float]) -> str:
    height, number = values["tooth_depth"], round(values.get("teeth", 0))
    if not height:
        return "margin entire"
    # Between lobes, teeth can't be told from small lobes.
    if values.get("lobes"):
        return "margin toothed"
    size = "finely " if height < 1.2 else "coarsely " if height >= 1.6 else ""
    return (
        f"margin {size}toothed, {number} or more teeth"
        if number
        else f"margin {size}toothed"
    )


def _describe_proportions(values: Mapping[str, float]) -> str:
    ratio = values["length_width"]
    length = (
        f"{ratio:.1f} times as long as wide"
        if ratio >= 1
        else f"{1 / ratio:.1f} times as wide as long"
    )
    if 0.95 < ratio < 1.05:
        length = "as long as wide"
    form = _name_form(values)
    return f"{form}, {length}" if form else length


def _name_form(values: Mapping[str, float]) -> str:
    """Name the form of an unlobed blade; "" near a threshold, where two leaves of one twig would have two names."""
    ratio, widest = values["length_width"], values.get("widest")
    if ratio >= 10:
        return "linear"
    if widest is None or values.get("lobes"):
        return ""
    apex, sinus = values.get("apex_angle", 0.0), values.get("base_extension", 0.0)
    if is_fan(values):
        return "fan-shaped"
    if sinus >= 0.08 and widest < 0.45 and ratio < 1.5 and apex < 115:
        return "heart-shaped"
    if sinus >= 0.08 and ratio < 0.85:
        return "kidney-shaped"
    if 0.8 <= ratio <= 1.25 and apex >= 100 and values["base_angle"] >= 95:
        return "orbicular"
    if values["parallel"] >= 1 / 3 and ratio >= 1.5:
        return "oblong"
    if (ratio >= 4 and widest < 0.6) or (ratio >= 3 and widest < 0.44):
        return "lanceolate"
    forms = {
        "ovate": widest <= 0.39,
        "elliptic": 0.44 <= widest <= 0.56,
        "obovate": widest >= 0.6,
    }
    return next((form for form, is_so in forms.items() if is_so), "")


def _describe_apex(values: Mapping[str, float]) -> str:
    if values["apex_extension"] >= 0.05:
        return "apex emarginate"
    return (
        f"apex {_describe_end(values['apex_angle'], values['apex_bulge'], 'acuminate')}"
    )


def _describe_base(values: Mapping[str, float]) -> str:
    extension = values["base_extension"]
    if extension >= 0.03:
        word = "deeply cordate" if extension >= 0.25 else "cordate"
        return f"base {word}, its sinus {100 * extension:.0f}% of the length deep"
    # By the width of the petiole, a base bulges more than an apex. The sides of a lobed one are lobes.
    bulge = values["base_bulge"] - 0.08 if "base_bulge" in values else None
    return f"base {_describe_end(values['base_angle'], bulge, 'concave')}"


def _describe_end(angle: float, bulge: float | None, concave: str) -> str:
    """Describe an end by its angle, in degrees, and the bulge of its margin: 0 is straight."""
    words = ["acute"] if angle < 87 else ["obtuse"] if angle > 93 else []
    if bulge is not None and (
        (bulge >= 0.2 and angle >= 75) or (bulge >= 0.15 and angle >= 90)
    ):
        words = ["rounded"]
    elif bulge is not None:
        words.append(
            concave if bulge < -0.015 else "straight" if bulge < 0.05 else "convex"
        )
    return ", ".join([*words, f"{angle:.0f}°"])
