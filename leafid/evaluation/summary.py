"""All the plant task's scores of a run: by acquisition type, their mean, and by group of pictures."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leafid.evaluation.judged_run import JudgedRun
from leafid.evaluation.resampling import Bootstrap, WeightedScore, bootstrap_scores
from leafid.learning.averages import macro_average
from leafid.metrics.plant_task import AVERAGES, PlantMetric, weigh_in_groups
from leafid.pictures.picture import AcquisitionType
from leafid.runs.ground_truth import UNKNOWN, GroundTruth

#: What pictures can be grouped by.
GROUPS = ("species", "genus", "family", "author", "plant", "content")

MEAN_OF_TYPES, ALL = "mean of types", "all pictures"

#: The order of acquisition types in tables.
TYPE_ORDER = (*map(str, AcquisitionType), UNKNOWN)

_NO_INTERVAL = (float("nan"), float("nan"))


@dataclass(frozen=True)
class GroupScores:
    """A run's scores on some pictures of the ground truth."""

    #: The acquisition type or group; `MEAN_OF_TYPES`, `ALL`.
    name: str
    #: `pictures`, `plants`, `missing`: how many pictures count, of how many plants, and how many of the group's
    #: pictures the run lacks.
    pictures: int
    plants: int
    missing: int
    #: One for each metric; NaN where no picture counts, or where nothing could be correct.
    scores: tuple[float, ...]
    #: The confidence interval of each score; NaN where there is none: not asked for, or there is a single plant.
    intervals: tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class RunScorer:
    """Scores one run on groups of pictures."""

    truth: GroundTruth
    run: JudgedRun
    metrics: Sequence[PlantMetric]
    _: KW_ONLY
    #: Leave out the pictures that the run lacks, as the official scorer does; otherwise they count 0.
    leave_out_missing: bool = False
    #: How confidence intervals are computed; None for none.
    bootstrap: Bootstrap | None = None

    def score_by(self, field: str) -> list[GroupScores]:
        """Score the pictures of each entry of one of `GROUPS`, sorted by name, or of each acquisition type.

        The types that have pictures, in `TYPE_ORDER`, are followed by `MEAN_OF_TYPES`, for whose interval the plants
        of all types are drawn together, and `ALL`. Where there is one type, only that is scored, or `ALL` if it is
        unknown.

        Of pictures whose genus or family is unknown, the score of that level is NaN.
        """
        if field == "type":
            return self._score_types()
        groups = _split_by(self.truth, field)
        found = [self._score(name, indices) for name, indices in groups.items()]
        return [self._blank_level(part, field) if part.name == UNKNOWN else part for part in found]

    def _score_types(self) -> list[GroupScores]:
        groups = select_types(self.truth)
        types = [self._score(name, indices) for name, indices in groups.items()]
        if len(types) == 1:
            return [replace(types[0], name=ALL) if types[0].name == UNKNOWN else types[0]]
        overall = self._score(ALL, np.arange(len(self.truth)))
        means = tuple(macro_average(column) for column in zip(*(part.scores for part in types), strict=True))
        intervals = self._compute_intervals([*groups.values()])
        return [*types, replace(overall, name=MEAN_OF_TYPES, scores=means, intervals=intervals), overall]

    def _blank_level(self, part: GroupScores, level: str) -> GroupScores:
        keep = [metric.level != level for metric in self.metrics]
        scores = tuple(score if kept else float("nan") for score, kept in zip(part.scores, keep, strict=True))
        intervals = tuple(found if kept else _NO_INTERVAL for found, kept in zip(part.intervals, keep, strict=True))
        return replace(part, scores=scores, intervals=intervals)

    def _score(self, name: str, indices: NDArray[np.intp]) -> GroupScores:
        is_covered = self.run.covered[indices]
        counted = self._select_counted(indices)
        authors, plants, units = self._select_columns(counted)
        scores = [
            AVERAGES[metric.average](value[counted], authors, units if metric.average == "plants" else plants)
            for metric, value in zip(self.metrics, self._values, strict=True)
        ]
        missing = int((~is_covered).sum())
        intervals = self._compute_intervals([indices])
        return GroupScores(name, len(counted), len(np.unique(units)), missing, tuple(scores), intervals)

    def _compute_intervals(self, parts: Sequence[NDArray[np.intp]]) -> tuple[tuple[float, float], ...]:
        """Compute the interval of each metric's mean over some parts of the pictures, whose plants are drawn together.

        A part is left out of a mean where none of its plants is drawn.
        """
        if not self.bootstrap:
            return (_NO_INTERVAL,) * len(self.metrics)
        counted = [own for part in parts if len(own := self._select_counted(part))]
        drawn = np.unique(self.truth.encode("unit")[1][np.concatenate(counted)]) if counted else np.empty(0)
        scores = []
        for metric, value in zip(self.metrics, self._values, strict=True):
            for own in counted:
                authors, plants, units = self._select_columns(own)
                weights, groups = weigh_in_groups(
                    metric.average, authors, units if metric.average == "plants" else plants
                )
                scores.append(WeightedScore(value[own], weights, groups, np.searchsorted(drawn, units)))
        samples = bootstrap_scores(scores, len(drawn), self.bootstrap)
        if samples is None:
            return (_NO_INTERVAL,) * len(self.metrics)
        by_metric = samples.reshape(len(self.metrics), len(counted), -1)
        n_parts = (~np.isnan(by_metric)).sum(axis=1)
        means = np.nansum(by_metric, axis=1) / np.where(n_parts, n_parts, np.nan)
        return tuple(map(self.bootstrap.compute_interval, means))

    def _select_counted(self, indices: NDArray[np.intp]) -> NDArray[np.intp]:
        return indices[self.run.covered[indices]] if self.leave_out_missing else indices

    def _select_columns(self, indices: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Select the authors, the plants of S, and the plants that are drawn."""
        authors, plants, units = (self.truth.encode(field)[1][indices] for field in ("author", "plant", "unit"))
        return authors, plants, units

    @cached_property
    def _values(self) -> list[NDArray[np.float64]]:
        return [self.run.score_pictures(metric) for metric in self.metrics]


def select_types(truth: GroundTruth, acquisition_type: str | None = None) -> dict[str, NDArray[np.intp]]:
    """Select the pictures of each acquisition type, or of one, which must have pictures, in `TYPE_ORDER`."""
    groups = _split_by(truth, "type")
    if acquisition_type is None:
        return {name: groups[name] for name in TYPE_ORDER if name in groups}
    if acquisition_type not in groups:
        raise ValueError(f"expected a type that the ground truth has ({', '.join(groups)}), found {acquisition_type!r}")
    return {acquisition_type: groups[acquisition_type]}


def _split_by(truth: GroundTruth, field: str) -> dict[str, NDArray[np.intp]]:
    """Split the indices of the pictures by a field, sorted by its entries."""
    names, index = truth.encode(field)
    order = np.argsort(index, kind="stable")
    parts = np.split(order, np.searchsorted(index[order], np.arange(1, len(names))))
    return dict(zip(names, parts, strict=True))
