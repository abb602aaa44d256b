"""The result of an experiment: accuracy with intervals and significance, time and memory, as a table and as a page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.evaluation.experiment import Cell
from leafid.evaluation.resampling import (
    Bootstrap,
    WeightedScore,
    bootstrap_scores,
    correct_holm,
    randomisation_test,
)
from leafid.grouping import group_by
from leafid.learning.averages import average_score, per_plant_score
from leafid.report import plots
from leafid.report.rendering import render_page
from leafid.report.tables import Cell as TableCell
from leafid.report.tables import Table

# Maximum number of recipes whose names fit beside their points.
_NAMED_POINTS = 12


@dataclass(frozen=True)
class Result:
    """A row of the table; scores are means over seeds."""

    collection: str
    type: str
    protocol: str
    #: Of the protocol: the number of training pictures or plants of each species, if it has several.
    setting: str
    recipe: str
    seeds: int
    pictures: int
    left_out: int
    top1: float
    top5: float
    per_plant: float
    #: S of the plant task.
    score: float
    #: Of top-1; NaN where no plant can be exchanged for another.
    interval: tuple[float, float]
    difference: float | None
    p: float | None
    milliseconds: float | None
    megabytes: float | None
    seconds: float

    @property
    def test(self) -> str:
        """The protocol with its setting."""
        return f"{self.protocol}, {self.setting}" if self.setting else self.protocol


def summarise_experiment(cells: Sequence[Cell], baseline: str, bootstrap: Bootstrap) -> list[Result]:
    """Score each recipe on each collection, type and setting of a protocol.

    Recipes are compared with the baseline on the same pictures, or protocols, if the baseline is one of these, by
    paired randomisation over plants. Left out are pictures whose species no recipe, or not every protocol, has training
    pictures of; where only some recipes have, the others are wrong.
    """
    compares_protocols = any(cell.protocol == baseline for cell in cells) and all(c.recipe != baseline for c in cells)
    blocks: dict[tuple[str, ...], dict[str, list[Cell]]] = {}
    for cell in cells:
        kept, compared = (cell.recipe, cell.protocol) if compares_protocols else (cell.protocol, cell.recipe)
        for setting in cell.ranks:
            block = blocks.setdefault((cell.collection, cell.type, kept, setting), {})
            block.setdefault(compared, []).append(cell)
    results: list[Result] = []
    for (*_, setting), block in blocks.items():
        results += _summarise_block(block, setting, baseline, bootstrap, needs_all=compares_protocols)
    return results


def _summarise_block(
    block: Mapping[str, Sequence[Cell]], setting: str, baseline: str, bootstrap: Bootstrap, *, needs_all: bool
) -> Iterator[Result]:
    rows = [(key, cell.seed, *row) for key, cells in block.items() for cell in cells for row in cell.ranks[setting]]
    found = {name: (plant, author) for _, _, name, plant, author, _ in rows}
    names, seeds = sorted(found), sorted({seed for _, seed, *_ in rows})
    # Of what is compared, by seed and picture; 0: the species has no training picture.
    rank_of = {(key, seed, name): rank for key, seed, name, _, _, rank in rows}
    ranks = np.array([[[rank_of.get((key, seed, name), 0) for name in names] for seed in seeds] for key in block])
    known = np.asarray((ranks > 0).any(axis=0))
    if needs_all:
        known = np.broadcast_to((ranks > 0).all(axis=(0, 1)), known.shape)
    is_scored = np.asarray(known.any(axis=0))
    if not is_scored.any():
        return
    names = [name for name, is_kept in zip(names, is_scored, strict=True) if is_kept]
    ranks, known = ranks[..., is_scored], known[:, is_scored]
    plants, authors = (np.array([found[name][column] for name in names]) for column in (0, 1))
    unit_names, units = np.unique(plants, return_inverse=True)
    one_group, equal_weights = np.zeros(len(names), np.intp), np.full(len(names), 1 / len(names))
    # A picture's share of the seeds in which it is known.
    top1 = dict(zip(block, ((ranks == 1) & known).sum(axis=1) / known.sum(axis=0), strict=True))
    top5 = dict(zip(block, ((ranks >= 1) & (ranks <= 5) & known).sum(axis=1) / known.sum(axis=0), strict=True))
    p_values = {
        name: randomisation_test((own - top1[baseline]) / len(names), units, seed=bootstrap.seed)
        for name, own in top1.items()
        if baseline in top1 and name != baseline
    }
    corrected = dict(zip(p_values, correct_holm([*p_values.values()]).tolist(), strict=True)) if p_values else {}
    for name, cells in block.items():
        weighted = WeightedScore(top1[name], equal_weights, one_group, units)
        samples = bootstrap_scores([weighted], len(unit_names), bootstrap)
        times = [cell.seconds_a_picture for cell in cells if cell.seconds_a_picture is not None]
        peaks = [cell.peak_megabytes for cell in cells if cell.peak_megabytes is not None]
        yield Result(
            *(cells[0].collection, cells[0].type, cells[0].protocol, setting, cells[0].recipe),
            *(len(cells), len(names), len(found) - len(names), float(top1[name].mean())),
            float(top5[name].mean()),
            per_plant_score(top1[name], authors, plants),
            average_score(top1[name], authors, plants),
            (float("nan"), float("nan")) if samples is None else bootstrap.compute_interval(samples[0]),
            float(top1[name].mean() - top1[baseline].mean()) if name in corrected else None,
            corrected.get(name),
            1000 * float(np.median(times)) if times else None,
            max(peaks, default=None),
            float(np.mean([cell.seconds for cell in cells])),
        )


def make_experiment_table(
    results: Sequence[Result], baseline: str, bootstrap: Bootstrap, *, is_complete: bool = True
) -> Table:
    """Tabulate results; unless it has to be complete, what all of them share is in the title alone."""
    keys = {
        "collection": [own.collection for own in results],
        "type": [own.type for own in results],
        "protocol": [own.test for own in results],
        "recipe": [own.recipe for own in results],
    }
    shared = [] if is_complete else [name for name, values in keys.items() if len(set(values)) == 1]
    columns = [name for name in keys if name not in shared]
    rows: list[list[TableCell]] = [
        [
            *(keys[name][index] for name in columns),
            *(own.pictures, own.left_out, own.score, own.top1, *own.interval, own.top5, own.per_plant),
            *(own.difference, own.p, *map(_round, (own.milliseconds, own.megabytes, own.seconds))),
        ]
        for index, own in enumerate(results)
    ]
    columns += ["pictures", "left out", "S", "top-1", "top-1 low", "top-1 high", "top-5", "per-plant"]
    columns += ["difference", "p (Holm)", "ms a picture", "MB", "s"]
    count = f"{results[0].seeds} seed{'s' if results[0].seeds > 1 else ''}"
    notes = [
        f"scores: means over {count}; low, high: {bootstrap.confidence:.0%} interval, bootstrap over plants, "
        f"{bootstrap.resamples} resamples; left out: no training picture of the species",
        f"difference: of top-1 from {baseline}; p: paired randomisation over plants, Holm's correction within a test",
        "ms: to identify a picture in one process without a cache; MB: peak memory of the main process; s: all folds "
        "of a seed, with the features that were cached",
    ]
    title = ", ".join(values[0] for name, values in keys.items() if name in shared)
    return Table(f"Experiment: {title}" if title else "Experiment", columns, rows, notes)


def make_experiment_page(title: str, summary: str, results: Sequence[Result], table: Table) -> str:
    """Make a page with the table, and with plots of each collection and type; it needs no other file."""
    sections = []
    for (collection, type_), own in group_by(results, lambda row: (row.collection, row.type)).items():
        plain = [row for row in own if not row.setting]
        curves = group_by([row for row in own if row.setting], lambda row: row.protocol)
        drawn = [*(_draw_points(plain) if plain else ()), *(_draw_curves(*item) for item in curves.items())]
        sections.append((f"{collection}, {type_}", drawn))
    return render_page("experiment.html", name=title, summary=summary, sections=sections, table=table)


def _draw_points(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Draw accuracies, and those of the first protocol over time; yields plots with their captions."""
    recipes, protocols = ({getattr(row, key) for row in results} for key in ("recipe", "protocol"))
    names = [
        row.recipe if len(protocols) == 1 else row.protocol if len(recipes) == 1 else f"{row.recipe}, {row.protocol}"
        for row in results
    ]
    about = f"{results[0].collection}, {results[0].type}"
    points = [(row.top1, *row.interval) for row in results]
    yield plots.draw_points(names, points, "top-1", about), "Accuracy, with intervals."
    timed = [row for row in results if row.milliseconds and row.protocol == results[0].protocol]
    if 1 < len(timed) <= _NAMED_POINTS:
        times = {row.recipe: row.milliseconds or 0.0 for row in timed}
        scores = {row.recipe: (row.top1, *row.interval) for row in timed}
        caption = "Accuracy over time: higher, and further left, is better."
        yield plots.draw_speed(times, scores, "top-1", about), caption


def _draw_curves(protocol: str, results: Sequence[Result]) -> tuple[str, str]:
    curves = {
        name: [(int(row.setting.split()[0]), row.top1, *row.interval) for row in own]
        for name, own in group_by(results, lambda row: row.recipe).items()
    }
    noun = results[-1].setting.split()[-1]
    about = f"{results[0].collection}, {results[0].type}, {protocol}"
    plot = plots.draw_learning_curves(curves, f"training {noun} of each species", "top-1", about)
    return plot, f"{protocol}: learning curves, with intervals."


def _round(number: float | None) -> int | None:
    return None if number is None else round(number)
