"""Compares runs with each other on the same pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from leafid.evaluation.judged_run import JudgedRun
from leafid.evaluation.resampling import correct_holm, randomisation_test
from leafid.evaluation.summary import Measure
from leafid.metrics.plant_task import average_score_by_group, compute_average, compute_weights, mean_of_types
from leafid.runs.ground_truth import GroundTruth


@dataclass(frozen=True, slots=True)
class RunComparison:
    """How a first run differs from a second.

    Attributes
    ----------
    first, second : str
        The runs' names.
    first_score, second_score : float
    p, corrected_p : float
        Two-sided, by paired randomisation over plants; corrected by Holm for the number of pairs.
    win, tie, loss : int
        Species on which the first scores higher, the same, lower.
    """

    first: str
    second: str
    first_score: float
    second_score: float
    p: float
    corrected_p: float
    win: int
    tie: int
    loss: int


def compare_runs(
    truth: GroundTruth,
    runs: Sequence[JudgedRun],
    measure: Measure,
    *,
    acquisition_type: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[RunComparison]:
    """Compare every two runs.

    Parameters
    ----------
    truth : Truth
    runs : sequence of Answers
        Two or more. A picture that a run lacks counts 0.
    measure : Measure
    acquisition_type : str, optional
        Only pictures of this acquisition type. By default the score is the mean of the types.
    resamples : int, default 10000
    seed : int, default 0

    Returns
    -------
    list of Pair
        First with second, first with third, …

    Raises
    ------
    ValueError
        When there are less than two runs, or no pictures of that type.
    """
    if len(runs) < 2:
        raise ValueError(f"expected two or more runs to compare, found {len(runs)}")
    types = _types(truth, acquisition_type)
    weights = weigh_pictures(truth, measure.average, acquisition_type)
    here = np.flatnonzero(weights)
    _, authors = truth.column("author")
    _, plants = truth.column("plant")
    values = [measure.score(run) for run in runs]
    scores = [
        mean_of_types([compute_average(measure.average, value[part], authors[part], plants[part]) for part in types])
        for value in values
    ]
    species = [score_species(truth, value, acquisition_type) for value in values]
    pairs = []
    for a, b in combinations(range(len(runs)), 2):
        difference = (weights * (values[a] - values[b]))[here]
        p = randomisation_test(difference, authors[here], plants[here], resamples=resamples, seed=seed)
        margin = np.nan_to_num(species[a] - species[b])
        present = ~np.isnan(species[a])
        win, loss = int((margin > 1e-12).sum()), int((margin < -1e-12).sum())
        tie = int(present.sum()) - win - loss
        pairs.append(RunComparison(runs[a].name, runs[b].name, scores[a], scores[b], p, p, win, tie, loss))
    corrected = correct_holm([pair.p for pair in pairs])
    return [
        RunComparison(p.first, p.second, p.first_score, p.second_score, p.p, float(c), p.win, p.tie, p.loss)
        for p, c in zip(pairs, corrected, strict=True)
    ]


def weigh_pictures(truth: GroundTruth, average: str, acquisition_type: str | None = None) -> NDArray[np.float64]:
    """Tell how much each picture weighs in a type's score, or in the mean of the types.

    Parameters
    ----------
    truth : Truth
    average : {"S", "plants", "pictures"}
    acquisition_type : str, optional
        An acquisition type.

    Returns
    -------
    float64 (n,)
        Summing to 1; 0 for pictures of other types.

    Raises
    ------
    ValueError
        When there are no pictures of that type.
    """
    types = _types(truth, acquisition_type)
    _, authors = truth.column("author")
    _, plants = truth.column("plant")
    weights = np.zeros(len(truth))
    for here in types:
        weights[here] = compute_weights(average, authors[here], plants[here]) / len(types)
    return weights


def score_species(
    truth: GroundTruth, values: NDArray[np.float64], acquisition_type: str | None = None
) -> NDArray[np.float64]:
    """Score each species by itself, over all its pictures or those of one type.

    Parameters
    ----------
    truth : Truth
    values : float64 (n,)
        The pictures' scores.
    acquisition_type : str, optional

    Returns
    -------
    float64 (number of species,)
        S of each species, in the order of ``truth.column("species")``; NaN for one without pictures of that type.
    """
    names, species = truth.column("species")
    _, authors = truth.column("author")
    _, plants = truth.column("plant")
    here = np.array([acquisition_type in (None, own) for own in truth.type], bool)
    scores = np.full(len(names), np.nan)
    found = average_score_by_group(values[here], authors[here], plants[here], species[here])
    scores[: len(found)] = found
    return scores


def _types(truth: GroundTruth, acquisition_type: str | None) -> list[NDArray[np.intp]]:
    """List the pictures of each type that counts."""
    names, index = truth.column("type")
    if acquisition_type is not None and acquisition_type not in names:
        raise ValueError(f"expected a type that the ground truth has ({', '.join(names)}), found {acquisition_type!r}")
    chosen = names if acquisition_type is None else (acquisition_type,)
    return [np.flatnonzero(index == names.index(name)) for name in chosen]
