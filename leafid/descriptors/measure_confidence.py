"""The measures of leaves, and how sure each is, by what it depends on."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from leafid.descriptors.traits import measure_cut
from leafid.segmentation.condition import measure_condition
from leafid.segmentation.result import Segmentation

# Share of the confidence where the leaf may be several.
_SEVERAL = 0.5
# The sharpness (`leafid.segmentation.condition.Condition`) that shows fine teeth.
_SHARP = 0.6


@cache
def list_measures() -> dict[str, dict[str, str]]:
    """List all measures by name.

    Each has ``unit``, ``what it is``, ``source``, and what its confidence ``depends
    on`` besides the outline. A unit ``length`` is pixels or millimetres.
    """
    text = Path(__file__).with_name("measures.csv").read_text(encoding="utf-8")
    return {row.pop("measure"): row for row in csv.DictReader(text.splitlines())}


def compose_confidence(
    leaf: Segmentation, values: Mapping[str, float | None], direction: float
) -> dict[str, float]:
    """Compose the confidence of each value, from 0 to 1.

    It is the confidence of the outline, times that of what else the measure depends on
    (in ``measures.csv``). `direction` is the confidence of the direction of the midrib.
    A value that is None has the confidence 0.
    """
    sharpness = 1.0
    if leaf.picture is not None:
        sharpness = min(measure_condition(leaf.picture, leaf).sharpness / _SHARP, 1.0)
    cut = measure_cut(leaf.blade) / (values["width"] or 1.0)
    factors = {
        # Of what the border of the picture cuts, there is at least as much.
        "completeness": max(1 - cut, 0.0),
        "petiole": float(not measure_cut(leaf.petiole)),
        "direction": direction,
        # The longest extent is nearly the same in directions that are near each other.
        "extent": float(np.sqrt(direction)),
        "sharpness": sharpness,
    }
    outline = leaf.outline_confidence * (_SEVERAL if leaf.may_be_several else 1)
    confidence = dict.fromkeys(values, 0.0)
    for name, value in values.items():
        if value is not None:
            needs = list_measures().get(name, {}).get("depends on", "")
            parts = [factors[part] for part in needs.split()]
            confidence[name] = outline * float(np.prod(parts))
    return confidence
