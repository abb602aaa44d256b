"""Compares runs with each other on the same pictures."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from leafid.grouping import count_noun
from leafid.scoring.plant_task import MEAN_OF_TYPES, JudgedRun, PlantMetric, select_types
from leafid.scoring.resampling import correct_holm, randomisation_test
from leafid.scoring.tables import Table
from leafid.scoring.truth import GroundTruth


def make_comparison_table(
    truth: GroundTruth,
    runs: Sequence[JudgedRun],
    metric: PlantMetric,
    *,
    acquisition_type: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Table:
    """Compare every two runs, first with second, first with third, …, on one type or on the mean of the types.

    p is two-sided, by paired randomisation over plants; a picture that a run lacks counts 0.
    """
    weights, plants = weigh_pictures(truth, metric, acquisition_type), truth.encode("plant")[1]
    counted = np.flatnonzero(weights)
    values = [run.score_pictures(metric) for run in runs]
    parts = [(weights * value)[counted] for value in values]
    pairs = list(combinations(range(len(runs)), 2))
    p_values = [
        randomisation_test(parts[a] - parts[b], plants[counted], resamples=resamples, seed=seed) for a, b in pairs
    ]
    rows = []
    for (a, b), p, corrected in zip(pairs, p_values, correct_holm(p_values).tolist(), strict=True):
        scores = math.fsum(parts[a]), math.fsum(parts[b])
        rows.append([runs[a].name, runs[b].name, *scores, scores[0] - scores[1], p, corrected])
    name = metric.column
    columns = ["run A", "run B", f"{name} of A", f"{name} of B", "A - B", "p", "p (Holm)"]
    notes = [
        f"p: paired randomisation over plants, {resamples} resamples, seed {seed}; "
        f"Holm's correction for {count_noun(len(rows), 'comparison')}"
    ]
    return Table(f"Comparison, {name}, {acquisition_type or MEAN_OF_TYPES}", columns, rows, notes)


def weigh_pictures(truth: GroundTruth, metric: PlantMetric, acquisition_type: str | None = None) -> NDArray[np.float64]:
    """Compute how much each picture weighs in a type's score, or in the mean of the types; the sum is 1."""
    types = select_types(truth, acquisition_type).values()
    result = np.zeros(len(truth))
    for indices in types:
        weights, groups = metric.weigh(truth, indices)
        result[indices] = weights / (groups.max() + 1) / len(types)
    return result
