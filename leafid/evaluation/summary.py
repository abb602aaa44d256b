"""All the plant task's scores of a run: per acquisition type, their mean, and per group of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leafid.collection.picture import AcquisitionType
from leafid.evaluation.judged_run import JudgedRun
from leafid.evaluation.resampling import Bootstrap, bootstrap_scores
from leafid.metrics.plant_task import compute_average, inverse_rank_scores, mean_of_types, top_k_scores
from leafid.runs.ground_truth import UNKNOWN, GroundTruth

#: What pictures can be grouped by.
GROUPS = ("species", "genus", "family", "author", "plant", "content")

MEAN_OF_TYPES, ALL = "mean of types", "all pictures"

_TYPES = tuple(map(str, AcquisitionType))
_NO_INTERVAL = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Measure:
    """A score of pictures and how it is averaged.

    Attributes
    ----------
    name : str
        As the tables head it.
    score : callable
        Answers to float64 (n,) in [0, 1].
    average : {"S", "plants", "pictures"}
        See `compute_average`.
    """

    name: str
    score: Callable[[JudgedRun], NDArray[np.float64]]
    average: str


@dataclass(frozen=True)
class GroupScores:
    """Some pictures of the ground truth and a run's scores on them.

    Attributes
    ----------
    name : str
        The acquisition type or group; `MEAN_OF_TYPES`, `ALL`.
    pictures, plants, missing : int
        How many count, of how many plants, and how many of them the run says nothing of.
    scores : tuple of float
        One a measure; NaN where no picture counts, or where nothing could be right.
    intervals : tuple of (float, float)
        The confidence interval of each score; NaN where there is none: not asked for, or no author has two plants.
    """

    name: str
    pictures: int
    plants: int
    missing: int
    scores: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]


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
        Measure("S", partial(_top, 1), "S"),
        Measure("inverse-rank", lambda answers: inverse_rank_scores(answers.rank), "S"),
        Measure("per-plant", partial(_top, 1), "plants"),
        Measure("accuracy", partial(_top, 1), "pictures"),
    ]
    return found + [Measure(f"top-{k}", partial(_top, k), "pictures") for k in sorted(set(tops) - {1})]


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
        return Measure("S of genus", lambda answers: top_k_scores(answers.first_genus), "S")
    if group == "family":
        return Measure("S of family", lambda answers: top_k_scores(answers.first_family), "S")
    return None


def score_by_type(
    truth: GroundTruth,
    answers: JudgedRun,
    chosen: Sequence[Measure],
    *,
    leave_out_missing: bool = False,
    bootstrap: Bootstrap | None = None,
) -> list[GroupScores]:
    """Score each acquisition type, then their mean and all pictures together.

    Parameters
    ----------
    truth : Truth
    answers : Answers
    chosen : sequence of Measure
    leave_out_missing : bool, default False
        Leave out the pictures that the run lacks, as the official scorer does; by default they count 0.
    bootstrap : Bootstrap, optional
        Add confidence intervals. In the mean of types each type is resampled by itself.

    Returns
    -------
    list of Part
        The types that have pictures, sorted as scan, scan-like, photo; `MEAN_OF_TYPES`; `ALL`.
    """
    scorer = _Scorer(truth, answers, chosen, leave_out_missing, bootstrap)
    names, index = truth.column("type")
    order = sorted(names, key=lambda name: _TYPES.index(name) if name in _TYPES else len(_TYPES))
    types = [scorer.part(name, np.flatnonzero(index == names.index(name))) for name in order]
    everything = scorer.part(ALL, np.arange(len(truth)))
    scores = tuple(mean_of_types(column) for column in zip(*(part.scores for part, _ in types), strict=True))
    intervals = [_NO_INTERVAL] * len(chosen)
    samples = [sample for _, sample in types if sample is not None]
    if bootstrap and len(samples) == len(types):
        intervals = [bootstrap.interval(column) for column in np.mean(samples, axis=0)]
    whole = everything[0]
    mean = GroupScores(MEAN_OF_TYPES, whole.pictures, whole.plants, whole.missing, scores, tuple(intervals))
    return [*(part for part, _ in types), mean, whole]


def score_by_group(
    truth: GroundTruth,
    answers: JudgedRun,
    chosen: Sequence[Measure],
    group: str,
    *,
    leave_out_missing: bool = False,
    bootstrap: Bootstrap | None = None,
) -> list[GroupScores]:
    """Score each species, genus, family, author, plant, content or type by itself.

    Parameters
    ----------
    truth, answers, chosen, leave_out_missing, bootstrap
        As for `score_by_type`.
    group : str
        One of `GROUPS`, or ``type``.

    Returns
    -------
    list of Part
        Sorted by name; of the pictures whose family isn't known, S of family is NaN.
    """
    scorer = _Scorer(truth, answers, chosen, leave_out_missing, bootstrap)
    names, index = truth.column(group)
    order = np.argsort(index, kind="stable")
    bounds = np.searchsorted(index[order], np.arange(len(names) + 1)).tolist()
    parts = [scorer.part(name, order[bounds[place] : bounds[place + 1]])[0] for place, name in enumerate(names)]
    return [_without_level(part, chosen, group) if part.name == UNKNOWN else part for part in parts]


def _without_level(part: GroupScores, chosen: Sequence[Measure], group: str) -> GroupScores:
    """Take out the score of a level of which the right answer isn't known: nothing could be right."""
    level = level_measure(group)
    kept = [level is None or measure.name != level.name for measure in chosen]
    scores = tuple(score if keep else float("nan") for score, keep in zip(part.scores, kept, strict=True))
    intervals = tuple(one if keep else _NO_INTERVAL for one, keep in zip(part.intervals, kept, strict=True))
    return replace(part, scores=scores, intervals=intervals)


class _Scorer:
    """Scores parts of one run; what all parts share is computed once."""

    def __init__(
        self,
        truth: GroundTruth,
        answers: JudgedRun,
        chosen: Sequence[Measure],
        leave_out_missing: bool,
        bootstrap: Bootstrap | None,
    ) -> None:
        self.chosen = chosen
        self.values = [measure.score(answers) for measure in chosen]
        self.covered = answers.covered
        self.leave_out_missing = leave_out_missing
        self.bootstrap = bootstrap
        self.authors, self.plants = truth.column("author")[1], truth.column("plant")[1]

    def part(self, name: str, here: NDArray[np.intp]) -> tuple[GroupScores, NDArray[np.float64] | None]:
        """Score the pictures `here`, and give the resampled scores (measures, resamples) where there are some."""
        missing = int((~self.covered[here]).sum())
        counted = here[self.covered[here]] if self.leave_out_missing else here
        authors, plants = self.authors[counted], self.plants[counted]
        values = [value[counted] for value in self.values]
        scores = [
            compute_average(measure.average, value, authors, plants)
            for measure, value in zip(self.chosen, values, strict=True)
        ]
        samples, intervals = None, [_NO_INTERVAL] * len(values)
        if self.bootstrap:
            averages = [measure.average for measure in self.chosen]
            samples = bootstrap_scores(values, averages, authors, plants, self.bootstrap)
        if self.bootstrap and samples is not None:
            intervals = [self.bootstrap.interval(column) for column in samples]
        part = GroupScores(name, len(counted), len(np.unique(plants)), missing, tuple(scores), tuple(intervals))
        return part, samples


def _top(k: int, answers: JudgedRun) -> NDArray[np.float64]:
    return top_k_scores(answers.rank, k)
