"""Draws docs/images/speed-*.svg, accuracy over time: ``python -m benchmarks.pareto RECIPE=MODEL …``.

Each MODEL is trained with a recipe; it keeps its scores on held-out plants. The times are those of the recipe in
baseline.json, from the file to the probabilities of all species.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from leafid.api import load_model
from leafid.pages.plots import draw_speed, make_standalone
from leafid.pictures.picture import AcquisitionType

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BASELINE = Path(__file__).parent / "baseline.json"


def main() -> None:
    models = {recipe: load_model(file) for recipe, _, file in (word.partition("=") for word in sys.argv[1:])}
    costs = json.loads(BASELINE.read_text())["costs"]
    for type_ in AcquisitionType:
        scores = {name: model[type_].scores["top1"] for name, model in models.items() if type_ in model.types}
        (IMAGES / f"speed-{type_}.svg").write_text(draw_accuracy(str(type_), scores, costs))


def draw_accuracy(type_: str, scores: Mapping[str, float], costs: Mapping[str, Mapping[str, float]]) -> str:
    """Draw top-1 of recipes over their times, in multiples of decoding a real picture of a type; SVG."""
    times = {name: costs[f"real/{type_}/{name}/whole"]["ratio"] for name in scores}
    intervals = {name: (score, None, None) for name, score in scores.items()}
    plot = draw_speed(times, intervals, "top-1", type_, "times the decoding of")
    return make_standalone(plot)


if __name__ == "__main__":
    main()
