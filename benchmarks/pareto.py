"""What accuracy costs: recipes by the time of an answer and the share of correct ones.

    python -m benchmarks.pareto imageclef2011 --output pareto.svg

For each acquisition type, it prints shipped recipes and the default one without each of
its experts: the time of an answer, relative to decoding the picture, and top-1 of a
cross-validation (five folds of plants, one seed, shared codebooks). It draws all but
baseline-bow; a recipe on the line has no other one that is both faster and more
accurate.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from matplotlib.figure import Figure
from msgspec.structs import replace
from tabulate import tabulate
from threadpoolctl import threadpool_limits

import leafid
from benchmarks import stages
from benchmarks.measure import summarise_times, time_alternately
from benchmarks.pictures import Prepared, select_pictures
from leafid.features.feature_cache import FeatureCache, choose_cache_folder
from leafid.features.loader import FeatureLoader
from leafid.features.recipe import Recipe, load_recipe
from leafid.model.held_out import held_out_scores
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.splitting.protocol import SplitProtocol
from leafid.studies.cross_validation import cross_validate

_ROUNDS = 5
_N_TIMED = 8


class Point(NamedTuple):
    """A recipe with its cost, in times of decoding, and its top-1."""

    name: str
    cost: float
    top1: float


def find_front(points: Sequence[Point]) -> list[Point]:
    """Find the points that no other one excels in both, by rising cost."""
    front: list[Point] = []
    for point in sorted(points, key=lambda point: (point.cost, -point.top1)):
        if not front or point.top1 > front[-1].top1:
            front.append(point)
    return front


def main() -> None:
    """Print a table, and draw a plot for each acquisition type."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", type=Path)
    parser.add_argument("--output", type=Path, default=Path("pareto.svg"))
    options = parser.parse_args()
    pictures = [
        p
        for p in leafid.read_collection(options.collection).pictures
        if p.species and p.type
    ]
    timed = select_pictures(options.collection, _N_TIMED)
    loader = FeatureLoader(FeatureCache(choose_cache_folder()), jobs=-1)
    splits = list(SplitProtocol("", "folds").make_splits(pictures, [0]))
    by_type: dict[AcquisitionType, list[Point]] = {}
    for type_ in AcquisitionType:
        for name, recipe in _list_recipes(type_):
            answers = list(
                cross_validate(
                    pictures, {type_: recipe}, loader, splits, shared_codebooks=True
                )
            )
            top1 = held_out_scores([fold.held_out for fold in answers])["top-1"]
            identifier = stages.make_untrained_identifier(recipe, timed)
            by_type.setdefault(type_, []).append(
                Point(name, _measure_cost(identifier, timed[type_]), top1)
            )
    rows = [
        [type_, name, f"{cost:.1f}", f"{top1:.3f}"]
        for type_, points in by_type.items()
        for name, cost, top1 in points
    ]
    print(
        tabulate(
            rows,
            ["type", "recipe", "× decode", "top-1"],
            "github",
            disable_numparse=True,
        )
    )
    # It is far below the others, which would be drawn over one another.
    drawn = {
        type_: [point for point in points if point.name != "baseline-bow"]
        for type_, points in by_type.items()
    }
    draw_fronts(drawn).savefig(options.output)


def _list_recipes(type_: AcquisitionType) -> Iterator[tuple[str, Recipe]]:
    for name in ("default", "fast", "baseline-bow"):
        yield name, load_recipe(name, type_)
    recipe = load_recipe("default", type_)
    for name in recipe.experts:
        yield (
            f"without {name}",
            replace(
                recipe,
                experts={
                    key: expert for key, expert in recipe.experts.items() if key != name
                },
            ),
        )


def _measure_cost(
    identifier: stages.Identifier, pictures: Sequence[leafid.Picture]
) -> float:
    cv2.setNumThreads(1)
    times = []
    with threadpool_limits(1):
        for picture in pictures:
            call = {"whole": lambda picture=picture: stages.answer(identifier, picture)}
            times.append(
                time_alternately(call, stages.decode(Prepared(picture)), _ROUNDS)[
                    "whole"
                ]
            )
    return summarise_times(np.stack(times), 0.0).ratio


def draw_fronts(by_type: dict[AcquisitionType, list[Point]]) -> Figure:
    """Draw the points of each type, their names, and a line through the front."""
    figure = Figure((11, 3.6), layout="constrained")
    for axes, (type_, points) in zip(
        figure.subplots(1, len(by_type)), by_type.items(), strict=True
    ):
        front = find_front(points)
        axes.step(
            [point.cost for point in front],
            [point.top1 for point in front],
            where="post",
            color="#00785a",
            lw=1,
        )
        for point in points:
            is_best = point in front
            axes.plot(
                point.cost,
                point.top1,
                "o",
                color="#00785a" if is_best else "#999999",
                ms=5,
            )
            # Names of the front stand above its line, the names of its first point and
            # of all other points below them.
            is_above = point in front[1:]
            axes.annotate(
                point.name,
                (point.cost, point.top1),
                (-4, 4) if is_above else (4, -4),
                ha="left" if not is_above or point == front[-1] else "right",
                va="bottom" if is_above else "top",
                textcoords="offset points",
                fontsize=8,
            )
        axes.set(
            title=str(type_),
            xlabel="time of an answer / time of decoding",
            ylabel="top-1",
        )
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(0.4, 0.12)
    return figure


if __name__ == "__main__":
    main()
