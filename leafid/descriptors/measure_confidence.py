"""How sure each measure of a leaf is, by what it depends on."""

from collections.abc import Iterable, Mapping

import numpy as np

from leafid.descriptors.traits import measure_cut
from leafid.segmentation.condition import measure_condition
from leafid.segmentation.result import Segmentation

# What each measure depends on, besides the outline.
_DEPENDS_ON = {
    "area": ("completeness",),
    "perimeter": ("completeness", "sharpness"),
    "length": ("completeness", "extent"),
    "width": ("completeness", "direction"),
    "petiole_length": ("completeness", "petiole"),
    "aspect": ("completeness", "direction"),
    "circularity": ("completeness", "sharpness"),
    "solidity": ("completeness",),
    "symmetry": ("completeness",),
    "leaflets": ("completeness",),
    "lobes": ("completeness",),
    "teeth": ("completeness", "sharpness"),
    "tooth_height": ("direction", "sharpness"),
}
# Share of the confidence where the leaf may be several.
_SEVERAL = 0.5
# The sharpness (`leafid.segmentation.condition.Condition`) of pictures in which fine teeth are seen.
_SHARP = 0.6


def compose_confidence(
    leaf: Segmentation, values: Mapping[str, float | None], direction: float
) -> dict[str, float]:
    """Compose the confidence of each measure, from 0 to 1, from that of the outline and of what else it depends on.

    `direction` is the confidence of the direction of the midrib. A value that is None has the confidence 0.
    """
    cut = measure_cut(leaf.blade) / (values["width"] or 1.0)
    parts = {
        # Of what the border of the picture cuts, there is at least as much.
        "completeness": max(1 - cut, 0.0),
        "petiole": float(not measure_cut(leaf.petiole)),
        "direction": direction,
        # The longest extent of a leaf is nearly the same in directions that are near to each other.
        "extent": float(np.sqrt(direction)),
        "sharpness": _measure_sharpness(leaf),
    }
    outline = leaf.outline_confidence * (_SEVERAL if leaf.may_be_several else 1)
    return {
        name: 0.0
        if value is None
        else outline * _multiply(parts[part] for part in _DEPENDS_ON.get(name, ()))
        for name, value in values.items()
    }


def _multiply(factors: Iterable[float]) -> float:
    return float(np.prod(list(factors)))


def _measure_sharpness(leaf: Segmentation) -> float:
    if leaf.picture is None:
        return 1.0
    return min(measure_condition(leaf.picture, leaf).sharpness / _SHARP, 1.0)
