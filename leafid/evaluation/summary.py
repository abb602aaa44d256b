"""All the plant task's scores of a run: per acquisition type, their mean, and per group of pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leafid.evaluation.answers import Answers
from leafid.evaluation.plant_task import (
    accuracy,
    average_score,
    inverse_rank,
    mean_of_types,
    plant_accuracy,
    success,
)
from leafid.runs.truth import Truth

#: What pictures can be grouped by.
GROUPS = ("species", "genus", "family", "author", "plant", "content")

MEAN_OF_TYPES, ALL = "mean of types", "all pictures"


@dataclass(frozen=True)
class Measure:
    """A score of pictures and how it is averaged.

    Attributes
    ----------
    name : str
        As the tables head it.
    score : callable
        Answers to float64 (n,) in [0, 1].
    average : callable
        ``(values, authors, plants) -> float``.
    """

    name: str
    score: Callable[[Answers], NDArray[np.float64]]
    average: Callable[[NDArray, NDArray, NDArray], float]


@dataclass(frozen=True)
class Part:
    """Some pictures of the ground truth and a run's scores on them.

    Attributes
    ----------
    name : str
        The acquisition type or group; `MEAN_OF_TYPES`, `ALL`.
    pictures, plants, missing : int
        How many count, of how many plants, and how many of them the run says nothing of.
    scores : tuple of float
        One a measure.
    """

    name: str
    pictures: int
    plants: int
    missing: int
    scores: tuple[float, ...]


def measures(tops: Sequence[int] = (1, 5)) -> list[Measure]:
    """List the measures of the plant task.

    Parameters
    ----------
    tops : sequence of int
        The k of top-k accuracy; top-1 is called accuracy.

    Returns
    -------
    list of Measure
        S first.
    """
    found = [
        Measure("S", lambda answers: success(answers.rank), average_score),
        Measure("S 1/rank", lambda answers: inverse_rank(answers.rank), average_score),
        Measure("per plant", lambda answers: success(answers.rank), plant_accuracy),
        Measure("accuracy", lambda answers: success(answers.rank), _over_pictures),
    ]
    for k in sorted(set(tops) - {1}):
        found.append(Measure(f"top-{k}", partial(_top, k), _over_pictures))
    return found


def level_measure(group: str) -> Measure | None:
    """Get the S that counts a picture where the first species is of the right genus or family.

    Parameters
    ----------
    group : str
        ``genus`` or ``family``; other groups have no such measure.

    Returns
    -------
    Measure or None
    """
    if group == "genus":
        return Measure("S of genus", lambda answers: success(answers.first_genus), average_score)
    if group == "family":
        return Measure("S of family", lambda answers: success(answers.first_family), average_score)
    return None


def by_type(
    truth: Truth, answers: Answers, chosen: Sequence[Measure], *, leave_out_missing: bool = False
) -> list[Part]:
    """Score each acquisition type, then their mean and all pictures together.

    Parameters
    ----------
    truth : Truth
    answers : Answers
    chosen : sequence of Measure
    leave_out_missing : bool, default False
        Leave out the pictures that the run lacks, as the official scorer does; by default they count 0.

    Returns
    -------
    list of Part
        The types that have pictures, sorted as scan, scan-like, photo; `MEAN_OF_TYPES`; `ALL`.
    """
    types = by_group(truth, answers, chosen, "type", leave_out_missing=leave_out_missing)
    (everything,) = _parts(truth, answers, chosen, {ALL: np.arange(len(truth))}, leave_out_missing)
    means = tuple(mean_of_types(column) for column in zip(*(part.scores for part in types), strict=True))
    order = ("scan", "scan-like", "photo")
    types.sort(key=lambda part: order.index(part.name) if part.name in order else len(order))
    mean = Part(MEAN_OF_TYPES, everything.pictures, everything.plants, everything.missing, means)
    return [*types, mean, everything]


def by_group(
    truth: Truth, answers: Answers, chosen: Sequence[Measure], group: str, *, leave_out_missing: bool = False
) -> list[Part]:
    """Score each species, genus, family, author, plant, content or type by itself.

    Parameters
    ----------
    truth, answers, chosen, leave_out_missing
        As for `by_type`.
    group : str
        One of `GROUPS`, or ``type``.

    Returns
    -------
    list of Part
        Sorted by name.
    """
    names, index = truth.column(group)
    order = np.argsort(index, kind="stable")
    bounds = np.searchsorted(index[order], np.arange(len(names) + 1)).tolist()
    members = {name: order[bounds[place] : bounds[place + 1]] for place, name in enumerate(names)}
    return _parts(truth, answers, chosen, members, leave_out_missing)


def _parts(
    truth: Truth,
    answers: Answers,
    chosen: Sequence[Measure],
    members: Mapping[str, NDArray[np.intp]],
    leave_out_missing: bool,
) -> list[Part]:
    authors, plants = truth.column("author")[1], truth.column("plant")[1]
    values = [measure.score(answers) for measure in chosen]
    parts = []
    for name, here in members.items():
        missing = int((~answers.covered[here]).sum())
        counted = here[answers.covered[here]] if leave_out_missing else here
        scores = tuple(
            measure.average(score[counted], authors[counted], plants[counted])
            for measure, score in zip(chosen, values, strict=True)
        )
        parts.append(Part(name, len(counted), len(np.unique(plants[counted])), missing, scores))
    return parts


def _top(k: int, answers: Answers) -> NDArray[np.float64]:
    return success(answers.rank, k)


def _over_pictures(values: NDArray, _authors: NDArray, _plants: NDArray) -> float:
    return accuracy(values)
