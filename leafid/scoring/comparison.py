"""Compares runs with each other on the same pictures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.grouping import group_by
from leafid.learning.averages import average_score
from leafid.scoring.plant_task import JudgedRun, PlantMetric, select_types
from leafid.scoring.resampling import correct_holm, randomisation_test
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth


@dataclass(frozen=True, slots=True)
class RunComparison:
    """How a first run differs from a second."""

    #: `first`, `second`: the runs' names.
    first: str
    second: str
    first_score: float
    second_score: float
    #: `p`, `corrected_p`: two-sided, by paired randomisation; corrected by Holm's method for the number of pairs.
    p: float
    corrected_p: float
    #: `wins`, `ties`, `losses`: number of species, or other units, on which the first is better, as good, worse.
    wins: int
    ties: int
    losses: int


def compare_runs(
    truth: GroundTruth,
    runs: Sequence[JudgedRun],
    metric: PlantMetric,
    *,
    acquisition_type: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[RunComparison]:
    """Compare every two runs, first with second, first with third, …, on one type or on the mean of the types.

    A picture that a run lacks counts 0. Less than two runs, or a type without pictures, raise a ValueError.
    """
    weights, units = weigh_pictures(truth, metric, acquisition_type), truth.encode("unit")[1]
    counted = np.flatnonzero(weights)
    values = [run.score_pictures(metric) for run in runs]
    return compare_values(
        [run.name for run in runs],
        [(weights * value)[counted] for value in values],
        units[counted],
        by_unit=[score_species(truth, value, acquisition_type) for value in values],
        resamples=resamples,
        seed=seed,
    )


def compare_values(
    names: Sequence[str],
    values: Sequence[ArrayLike],
    units: ArrayLike,
    *,
    higher_is_better: bool = True,
    by_unit: Sequence[NDArray[np.float64]] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[RunComparison]:
    """Compare every two runs of any task, by a score that is the sum of their values.

    `values` has, for each run, what each picture contributes to its score, (n,); `units` are what is swapped between
    runs: each picture's plant, document … What is won or lost are the units, or what `by_unit` scores, NaN where
    nothing counts.
    """
    if len(names) < 2:
        raise ValueError(f"expected two or more runs to compare, found {len(names)}")
    arrays = [np.asarray(value, np.float64) for value in values]
    index = np.unique(np.asarray(units), return_inverse=True)[1]
    sign = 1 if higher_is_better else -1
    won = by_unit or [np.bincount(index, weights=sign * value).astype(np.float64) for value in arrays]
    n_units = int((~np.isnan(won[0])).sum())
    pairs = []
    for a, b in combinations(range(len(names)), 2):
        margin = np.nan_to_num(won[a] - won[b])
        wins, losses = int((margin > 1e-12).sum()), int((margin < -1e-12).sum())
        p = randomisation_test(arrays[a] - arrays[b], index, resamples=resamples, seed=seed)
        scores = math.fsum(arrays[a]), math.fsum(arrays[b])
        pairs.append(RunComparison(names[a], names[b], *scores, p, p, wins, n_units - wins - losses, losses))
    corrected = correct_holm([pair.p for pair in pairs]).tolist()
    return [replace(pair, corrected_p=p) for pair, p in zip(pairs, corrected, strict=True)]


def weigh_pictures(truth: GroundTruth, metric: PlantMetric, acquisition_type: str | None = None) -> NDArray[np.float64]:
    """Compute how much each picture weighs in a type's score, or in the mean of the types; the sum is 1."""
    types = select_types(truth, acquisition_type).values()
    result = np.zeros(len(truth))
    for indices in types:
        weights, groups = metric.weigh(truth, indices)
        result[indices] = weights / (groups.max() + 1) / len(types)
    return result


def score_species(
    truth: GroundTruth, values: NDArray[np.float64], acquisition_type: str | None = None
) -> NDArray[np.float64]:
    """Compute S of each species from the pictures' scores, over all pictures or those of one type; NaN without any.

    The result is in the order of ``truth.encode("species")``.
    """
    authors, plants = truth.encode("author")[1], truth.encode("plant")[1]
    counted = (index for index, type_ in enumerate(truth.type) if acquisition_type in (None, type_))
    groups = group_by(counted, truth.species.__getitem__)
    members = [groups.get(name, []) for name in truth.encode("species")[0]]
    return np.array([average_score(values[own], authors[own], plants[own]) for own in members])


def make_comparison_table(
    comparisons: Sequence[RunComparison],
    name: str,
    *,
    scope: str = "",
    units: str = "plants",
    won: str = "",
    resamples: int = 10_000,
    seed: int = 0,
) -> Table:
    """Tabulate how every two runs differ in a score.

    `scope` is the acquisition type, or what else was compared; `units` were swapped between the runs, and `won` (by
    default the same) were won or lost.
    """
    columns = ["run A", "run B", f"{name} of A", f"{name} of B", "A - B", "p", "p (Holm)", "A wins", "ties", "B wins"]
    rows: list[list[Cell]] = [
        [
            *(c.first, c.second, c.first_score, c.second_score, c.first_score - c.second_score, c.p, c.corrected_p),
            *(c.wins, c.ties, c.losses),
        ]
        for c in comparisons
    ]
    notes = [
        f"p: paired randomisation over {units}, {resamples} resamples, seed {seed}; "
        f"Holm's correction for {len(comparisons)} comparison{'s' if len(comparisons) > 1 else ''}",
        f"wins, ties: {won or units} on which a run is better, or both are as good",
    ]
    return Table(", ".join(filter(None, ["Comparison", name, scope])), columns, rows, notes)
