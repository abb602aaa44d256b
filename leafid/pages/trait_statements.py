"""What is said of measured traits, in the terms of botanists.

Words and thresholds are those of the Manual of Leaf Architecture (`leafid.descriptors.traits`) where it has them: the
position of the greatest width (elliptic: in the middle fifth), the angles of apex and base (acute: below 90°), lobes
and teeth (divided by sinuses of more or less than a quarter of the way to the midvein), acuminate, straight and convex
ends, cordate bases. It compares curves by eye; the thresholds of bulges are leafid's own.
"""

from collections.abc import Mapping
from math import inf
from typing import NamedTuple

from leafid.descriptors.traits import is_fan


class Statement(NamedTuple):
    """What is said of a trait: margin = toothed, detail = fine."""

    trait: str
    term: str
    #: A size, the sides of an end, or which side of a blade is the longer one; "" where nothing more is said.
    detail: str = ""
    #: What was measured or counted; None where the term says all.
    number: float | None = None

    @property
    def kind(self) -> tuple[str, str]:
        """Term and detail without sizes, which differ between leaves of a species."""
        term = "" if self.trait in _SIZED else self.term
        return term, "" if self.detail in _SIZES else self.detail


#: The traits that statements are about, from the whole leaf to its details.
TRAIT_ORDER = (
    *("compound", "leaflets", "form", "length_width", "lobes"),
    *("margin", "teeth", "apex", "base", "petiole"),
)


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

# Length over width of a blade, or its width over the length.
_LENGTHS = {
    1.05: "equal",
    1.15: "little",
    1.375: "quarter",
    1.625: "half",
    1.875: "three-quarters",
    2.25: "twice",
    2.75: "two and a half",
    inf: "several",
}
# Length of a petiole in lengths of the blade.
_SHARES = {
    0.08: "short",
    0.15: "tenth",
    0.225: "fifth",
    0.29: "quarter",
    0.41: "third",
    0.58: "half",
    0.71: "two thirds",
    0.8: "three quarters",
    0.95: "almost equal",
    1.05: "equal",
    inf: "longer",
}
_COUNTS = {10: "few", 20: "some", inf: "many"}
# Traits whose terms are sizes, and details that are.
_SIZED = {"length_width", "teeth", "petiole"}
_SIZES = {"fine", "coarse"}
# Of a petiole, and of the sinus of a base, in lengths of the blade.
_MIN_PETIOLE = 0.05
_MIN_SINUS = 0.03


def state_traits(values: Mapping[str, float]) -> list[Statement]:
    """State measured traits, from the whole leaf to its details.

    `values` are those of `leafid.descriptors.traits.measure_reliable_traits`.
    """
    statements = [*_state_leaflets(values), *_state_form(values)]
    if number := round(values.get("lobes", 0)):
        statements.append(_state_lobes(values, number))
    statements += _state_margin(values)
    if "apex_angle" in values and not is_fan(values):
        statements.append(_state_apex(values))
    if "base_angle" in values and not is_fan(values):
        statements.append(_state_base(values))
    petiole = values.get("petiole", 0)
    if petiole >= _MIN_PETIOLE:
        statements.append(
            Statement("petiole", _choose(_SHARES, petiole), number=petiole)
        )
    return statements


def _choose(terms: Mapping[float, str], value: float) -> str:
    """Choose the term of the first upper bound that is above a value."""
    return next(term for bound, term in terms.items() if value < bound)


def _state_leaflets(values: Mapping[str, float]) -> list[Statement]:
    number = round(values.get("leaflets", 0))
    if not values.get("compound", number > 1):
        return [Statement("compound", "simple")] if number else []
    statements = [Statement("compound", "compound")]
    # Leaflets and teeth that are small or overlap are missed; few are seen that aren't there.
    if number > 1:
        statements.append(Statement("leaflets", "several", number=number))
    return statements


def _state_form(values: Mapping[str, float]) -> list[Statement]:
    if "length_width" not in values:
        return []
    form = _name_form(values)
    statements = [Statement("form", form)] if form else []
    ratio = values["length_width"]
    times = max(ratio, 1 / ratio)
    term = _choose(_LENGTHS, times)
    if term == "equal":
        return [*statements, Statement("length_width", term)]
    detail = "long" if ratio > 1 else "wide"
    return [*statements, Statement("length_width", term, detail, times)]


def _state_lobes(values: Mapping[str, float], number: int) -> Statement:
    """State lobes; those of a wide blade whose base isn't cut in may be palmate or pinnate."""
    is_cordate = values.get("base_extension", 0) >= _MIN_SINUS
    is_palmate = values.get("lobe_depth", 0) < 0
    if is_palmate != is_cordate:
        return Statement("lobes", "lobed")
    if is_palmate:
        return Statement("lobes", "palmate", number=number)
    return Statement("lobes", "pinnate")


def _state_margin(values: Mapping[str, float]) -> list[Statement]:
    height, number = values.get("tooth_depth"), round(values.get("teeth", 0))
    if height is None:
        return []
    if not height:
        return [Statement("margin", "entire")]
    # Between lobes, teeth can't be told from small lobes.
    if values.get("lobes"):
        return [Statement("margin", "toothed")]
    size = "fine" if height < 1.2 else "coarse" if height >= 1.6 else ""
    statements = [Statement("margin", "toothed", size)]
    if number:
        statements.append(Statement("teeth", _choose(_COUNTS, number), number=number))
    return statements


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


def _state_apex(values: Mapping[str, float]) -> Statement:
    if values["apex_extension"] >= 0.05:
        return Statement("apex", "emarginate")
    return _state_end("apex", values["apex_angle"], values["apex_bulge"], "acuminate")


def _state_base(values: Mapping[str, float]) -> Statement:
    extension = values["base_extension"]
    if extension >= _MIN_SINUS:
        depth = "deep" if extension >= 0.25 else ""
        return Statement("base", "cordate", depth, extension)
    # By the width of the petiole, a base bulges more than an apex. The sides of a lobed one are lobes.
    bulge = values["base_bulge"] - 0.08 if "base_bulge" in values else None
    return _state_end("base", values["base_angle"], bulge, "concave")


def _state_end(end: str, angle: float, bulge: float | None, concave: str) -> Statement:
    """State the form of an end by its angle, in degrees, and the bulge of its margin: 0 is straight."""
    term = "acute" if angle < 87 else "obtuse" if angle > 93 else "right"
    if bulge is None:
        return Statement(end, term, number=angle)
    if (bulge >= 0.2 and angle >= 75) or (bulge >= 0.15 and angle >= 90):
        return Statement(end, "rounded", number=angle)
    sides = concave if bulge < -0.015 else "straight" if bulge < 0.05 else "convex"
    return Statement(end, term, sides, angle)
