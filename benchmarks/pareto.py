"""Draws docs/images/speed-*.svg, accuracy over time: ``python -m benchmarks.pareto RECIPE=MODEL …``.

Each MODEL is trained with a recipe; it keeps its scores on held-out plants. The times are those of the recipe in
baseline.json, from the file to the probabilities of all species.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from leafid.api import load_model
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
    figure = Figure((6.2, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([*times.values()], [*scores.values()], "o")
    for name, time in times.items():
        axes.annotate(name, (time, scores[name]), (6, 5), textcoords="offset points", fontsize=9)
    axes.set(xscale="log", xlabel="times the decoding of a picture", ylabel="top-1", title=type_)
    axes.grid()
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


if __name__ == "__main__":
    main()
