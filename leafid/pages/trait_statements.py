"""What is said of measured traits, in the terms of botanists.

Words and thresholds are those of the Manual of Leaf Architecture (`leafid.descriptors.traits`) where it has them: the
position of the greatest width (elliptic: in the middle fifth), the angles of apex and base (acute: below 90°), lobes
and teeth (divided by sinuses of more or less than a quarter of the way to the midvein), acuminate, straight and convex
ends, cordate bases. It compares curves by eye; the thresholds of bulges are leafid's own.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from leafid.descriptors.traits import is_fan


class Statement(NamedTuple):
    """What is said of a trait: margin = toothed, detail = fine."""

    trait: str
    #: "" where the number says all.
    term: str = ""
    #: A size, or the sides of an end; "" where nothing more is said.
    detail: str = ""
    #: What was measured or counted; None where the term says all.
    number: float | None = None

    @property
    def kind(self) -> tuple[str, str]:
        """Term and detail without sizes, which differ between leaves of a species."""
        return self.term, "" if self.detail in _SIZES else self.detail


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

# Details that are sizes.
_SIZES = {"fine", "coarse"}
# Of a petiole, and of the sinus of a base, in lengths of the blade.
_MIN_PETIOLE = 0.05
_MIN_SINUS = 0.03


def state_traits(values: Mapping[str, float]) -> list[Statement]:
    """State measured traits, from the whole leaf to its details.

    `values` are those of `leafid.descriptors.traits.measure_reliable_traits`.
    """
    return [
        *_state_leaflets(values),
        *_state_form(values),
        *_state_lobes(values),
        *_state_margin(values),
        *_state_ends(values),
    ]


def _state_leaflets(values: Mapping[str, float]) -> Iterator[Statement]:
    number = round(values.get("leaflets", 0))
    if values.get("compound", number > 1):
        yield Statement("compound", "compound")
    elif number:
        yield Statement("compound", "simple")
    # Leaflets and teeth that are small or overlap are missed; few are seen that aren't there.
    if number > 1:
        yield Statement("leaflets", number=number)


def _state_form(values: Mapping[str, float]) -> Iterator[Statement]:
    if "length_width" not in values:
        return
    if form := _name_form(values):
        yield Statement("form", form)
    ratio = values["length_width"]
    side = "long" if ratio >= 1 else "wide"
    yield Statement("length_width", side, number=max(ratio, 1 / ratio))


def _state_lobes(values: Mapping[str, float]) -> Iterator[Statement]:
    """State lobes; those of a wide blade whose base isn't cut in may be palmate or pinnate."""
    if not (number := round(values.get("lobes", 0))):
        return
    is_cordate = values.get("base_extension", 0) >= _MIN_SINUS
    is_palmate = values.get("lobe_depth", 0) < 0
    if is_palmate != is_cordate:
        yield Statement("lobes", "lobed")
    elif is_palmate:
        yield Statement("lobes", "palmate", number=number)
    else:
        yield Statement("lobes", "pinnate")


def _state_margin(values: Mapping[str, float]) -> Iterator[Statement]:
    if "tooth_depth" not in values:
        return
    height, number = values["tooth_depth"], round(values.get("teeth", 0))
    # Between lobes, teeth can't be told from small lobes.
    is_plain = not height or values.get("lobes")
    size = "fine" if height < 1.2 else "coarse" if height >= 1.6 else ""
    yield Statement(
        "margin", "toothed" if height else "entire", "" if is_plain else size
    )
    if number and not is_plain:
        yield Statement("teeth", number=number)


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


def _state_ends(values: Mapping[str, float]) -> Iterator[Statement]:
    if "apex_angle" in values and not is_fan(values):
        if values["apex_extension"] >= 0.05:
            yield Statement("apex", "emarginate")
        else:
            bulge = values["apex_bulge"]
            yield _state_end("apex", values["apex_angle"], bulge, "acuminate")
    if "base_angle" in values and not is_fan(values):
        if (sinus := values["base_extension"]) >= _MIN_SINUS:
            yield Statement("base", "cordate", "deep" if sinus >= 0.25 else "", sinus)
        else:
            # By the width of the petiole, a base bulges more than an apex. The sides of a lobed one are lobes.
            above = values["base_bulge"] - 0.08 if "base_bulge" in values else None
            yield _state_end("base", values["base_angle"], above, "concave")
    if (petiole := values.get("petiole", 0)) >= _MIN_PETIOLE:
        yield Statement("petiole", number=petiole)


def _state_end(end: str, angle: float, bulge: float | None, concave: str) -> Statement:
    """State the form of an end by its angle, in degrees, and the bulge of its margin: 0 is straight."""
    term = "acute" if angle < 87 else "obtuse" if angle > 93 else "right"
    if bulge is None:
        return Statement(end, term, number=angle)
    if (bulge >= 0.2 and angle >= 75) or (bulge >= 0.15 and angle >= 90):
        return Statement(end, "rounded", number=angle)
    sides = concave if bulge < -0.015 else "straight" if bulge < 0.05 else "convex"
    return Statement(end, term, sides, angle)
