"""The table of an experiment: accuracy with intervals and significance, time and memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leafid.evaluation.experiment import Cell
from leafid.evaluation.resampling import Bootstrap, bootstrap_scores, correct_holm, randomisation_test
from leafid.report.tables import Cell as TableCell
from leafid.report.tables import Table


def make_experiment_table(cells: Sequence[Cell], baseline: str, bootstrap: Bootstrap) -> Table:
    """Tabulate each recipe on each collection, type and setting of a protocol.

    Accuracies are means over seeds; a picture of a species that was not trained on counts as wrong. Differences from
    the baseline are tested by paired randomisation over plants, with Holm's correction within a collection, type and
    setting.
    """
    blocks: dict[tuple[str, str, str], dict[str, list[tuple[Cell, str]]]] = {}
    for cell in cells:
        for setting in cell.ranks:
            protocol = f"{cell.protocol}, {setting}" if setting else cell.protocol
            block = blocks.setdefault((cell.collection, cell.type, protocol), {})
            block.setdefault(cell.recipe, []).append((cell, setting))
    rows: list[list[TableCell]] = []
    for key, block in blocks.items():
        rows += _make_rows(key, block, baseline, bootstrap)
    columns = ["collection", "type", "protocol", "recipe", "pictures", "top-1", "top-1 low", "top-1 high", "top-5"]
    columns += ["difference", "p (Holm)", "ms a picture", "MB", "s"]
    notes = [
        f"top-1, top-5: means over {len({cell.seed for cell in cells})} seeds; low, high: "
        f"{bootstrap.confidence:.0%} interval, bootstrap over plants, {bootstrap.resamples} resamples",
        f"difference: from {baseline}; p: paired randomisation over plants, Holm's correction within a setting",
        "ms: to identify a picture in one process without a cache; MB: peak memory of the main process; s: all folds "
        "of a seed, with the features that were cached",
    ]
    return Table("Experiment", columns, rows, notes)


def _make_rows(
    key: tuple[str, str, str],
    block: dict[str, list[tuple[Cell, str]]],
    baseline: str,
    bootstrap: Bootstrap,
) -> list[list[TableCell]]:
    pictures = sorted(
        {(name, plant) for own in block.values() for cell, s in own for name, plant, _, _ in cell.ranks[s]}
    )
    names, plants = [name for name, _ in pictures], np.array([plant for _, plant in pictures])
    authors = np.zeros(len(names), int)
    values = {recipe: _average_ranks(own, names) for recipe, own in block.items()}
    p_values = {
        recipe: randomisation_test((top1 - values[baseline][0]) / len(names), authors, plants, seed=bootstrap.seed)
        for recipe, (top1, _) in values.items()
        if baseline in values and recipe != baseline
    }
    corrected = dict(zip(p_values, correct_holm([*p_values.values()]).tolist(), strict=True)) if p_values else {}
    rows: list[list[TableCell]] = []
    for recipe, (top1, top5) in values.items():
        samples = bootstrap_scores([top1], ["pictures"], authors, plants, bootstrap)
        low, high = (None, None) if samples is None else bootstrap.compute_interval(samples[0])
        difference = float(top1.mean() - values[baseline][0].mean()) if recipe in corrected else None
        own = [cell for cell, _ in block[recipe]]
        times = [cell.seconds_a_picture for cell in own if cell.seconds_a_picture is not None]
        peaks = [cell.peak_megabytes for cell in own if cell.peak_megabytes is not None]
        rows.append(
            [
                *(*key, recipe, len(names), float(top1.mean()), low, high, float(top5.mean()), difference),
                *(corrected.get(recipe), round(1000 * float(np.median(times))) if times else None),
                *(round(max(peaks)) if peaks else None, round(float(np.mean([cell.seconds for cell in own])))),
            ]
        )
    return rows


def _average_ranks(cells: Sequence[tuple[Cell, str]], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Average the shares of seeds with each picture's species at rank 1, and among the first five: float64 (n,)."""
    position = {name: index for index, name in enumerate(names)}
    shares = np.zeros((2, len(names)))
    for cell, setting in cells:
        for name, _, _, rank in cell.ranks[setting]:
            shares[:, position[name]] += (rank == 1, 1 <= rank <= 5)
    top1, top5 = shares / len(cells)
    return top1, top5
