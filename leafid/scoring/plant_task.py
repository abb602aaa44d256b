"""The scores of the ImageCLEF plant tasks: means of means, so that no author and no plant outweighs the others.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF 2011; package README, section 4.
.. [2] H. Goëau et al., "The ImageCLEF 2012 plant identification task", CLEF 2012.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.errors import LeafidError
from leafid.learning.averages import (
    accuracy_score,
    average_by_group,
    average_score,
    encode,
    index_plants,
    macro_average,
    per_plant_score,
    top_k_scores,
)
from leafid.pictures.names import parse_genus
from leafid.pictures.picture import AcquisitionType
from leafid.scoring.metrics import Metric
from leafid.scoring.resampling import Bootstrap, WeightedScore, bootstrap_scores
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import UNKNOWN, GroundTruth


def inverse_rank_scores(rank: ArrayLike) -> NDArray[np.float64]:
    """Score each picture 1 / rank of the correct species, 0 where it isn't named, as the 2012 and 2013 tasks did.

    Examples
    --------
    >>> inverse_rank_scores([1, 4, 0])
    array([1.  , 0.25, 0.  ])
    """
    ranks = np.asarray(rank, np.float64)
    return np.divide(1.0, ranks, out=np.zeros_like(ranks), where=ranks > 0)


def average_score_by_group(
    values: ArrayLike, authors: ArrayLike, plants: ArrayLike, groups: ArrayLike
) -> NDArray[np.float64]:
    """Compute `average_score` for each group of pictures, numbered from 0; NaN for a number that no picture has.

    Examples
    --------
    >>> average_score_by_group([1, 0, 1], ["ann", "ann", "bob"], ["a", "b", "c"], [0, 0, 1])
    array([0.5, 1. ])
    """
    group_index = np.asarray(groups, np.intp)
    author_index = encode(authors)
    n_authors = author_index.max(initial=0) + 1
    # An author's pictures in two groups are averaged separately, as if two authors had taken them.
    group_authors, author_of_picture = np.unique(group_index * n_authors + author_index, return_inverse=True)
    owners, unit = index_plants(author_of_picture, plants)
    author_scores = average_by_group(average_by_group(values, unit), owners)
    return average_by_group(author_scores, group_authors // n_authors, group_index.max(initial=-1) + 1)


#: The ways to average pictures; all take values, authors and plants.
AVERAGES: dict[str, Callable[[ArrayLike, ArrayLike, ArrayLike], float]] = {
    "S": average_score,
    "plants": per_plant_score,
    "pictures": lambda values, _authors, _plants: accuracy_score(values),
}


def compute_weights(average: str, authors: ArrayLike, plants: ArrayLike) -> NDArray[np.float64]:
    """Compute how much each picture weighs in one of `AVERAGES`; the weights sum to 1.

    Examples
    --------
    >>> compute_weights("S", ["ann", "ann", "bob"], ["a", "a", "b"])
    array([0.25, 0.25, 0.5 ])
    """
    weights, groups = weigh_in_groups(average, authors, plants)
    return weights / max(groups.max(initial=-1) + 1, 1)


def weigh_in_groups(
    average: str, authors: ArrayLike, plants: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Compute how much each picture weighs in its group, and the group: its author for S, else one group of all.

    One of `AVERAGES` is the mean over the groups of the weighted sums in each.
    """
    if average == "S":
        owners, unit = index_plants(authors, plants)
        pictures_of_unit, plants_of_author = np.bincount(unit), np.bincount(owners)
        return 1 / (plants_of_author[owners][unit] * pictures_of_unit[unit]), owners[unit]
    plant_index = encode(plants)
    group = np.zeros(len(plant_index), np.intp)
    if average == "pictures":
        return np.full(len(group), 1 / max(len(group), 1)), group
    if average == "plants":
        pictures_of_plant = np.bincount(plant_index)
        return 1 / (len(pictures_of_plant) * pictures_of_plant[plant_index]), group
    raise ValueError(f"expected an average ({', '.join(AVERAGES)}), found {average!r}")


@dataclass(frozen=True)
class PlantMetric(Metric):
    """A metric of the plant task: a score for each picture, and how the pictures are averaged."""

    #: From the ranks, authors and plants of pictures to a float.
    compute: Callable[..., float] = field(init=False, repr=False, compare=False)
    _: KW_ONLY
    citation: str = "Goëau et al., ImageCLEF 2011 plant task"
    command: str = "evaluate"
    #: Ranks of the correct taxon, int (n,), to scores, float64 (n,) in [0, 1].
    score_pictures: Callable[[ArrayLike], NDArray[np.float64]] = top_k_scores
    #: One of {"S", "plants", "pictures"}: see `AVERAGES`.
    average: str = "pictures"
    #: One of {"species", "genus", "family"}: what has to be correct.
    level: str = "species"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "compute", self._compute)

    def _compute(self, rank: ArrayLike, authors: ArrayLike, plants: ArrayLike) -> float:
        return AVERAGES[self.average](self.score_pictures(rank), authors, plants)


def list_plant_metrics(tops: Sequence[int] = (1, 5)) -> list[PlantMetric]:
    """List the metrics that score every run of the plant task, S first; `tops` are the k of top-k accuracies."""
    return [*_EVERY_RUN, *(_make_top_k(k) for k in sorted({1, *tops}))]


def find_plant_metric(name: str) -> PlantMetric:
    """Find a metric by its name, or by its heading in tables; an unknown one raises a `LeafidError`."""
    if re.fullmatch("top-[1-9][0-9]{0,8}", name):
        return _make_top_k(int(name.removeprefix("top-")))
    for metric in (*_EVERY_RUN, *LEVEL_METRICS.values()):
        if name in (metric.name, metric.column):
            return metric
    names = ", ".join(metric.name for metric in METRICS)
    raise LeafidError(f"expected a metric of the plant task ({names}), found {name!r}")


def _make_top_k(k: int) -> PlantMetric:
    return replace(_TOP_K, name=f"top-{k}", column="", score_pictures=partial(top_k_scores, k=k))


_EVERY_RUN = (
    PlantMetric(
        "S", "average classification score: mean over authors, their plants, each plant's pictures", average="S"
    ),
    PlantMetric(
        "inverse-rank",
        "as S, where a picture counts 1 / rank of the correct species",
        citation="Goëau et al., ImageCLEF 2012 plant task",
        score_pictures=inverse_rank_scores,
        average="S",
    ),
    PlantMetric("per-plant", "mean over plants of the share of correct pictures", average="plants"),
)


_TOP_K = PlantMetric(
    "top-K", "share of pictures with the correct species among the first K", citation="Lapin et al., PAMI 2018"
)


#: The S of genus and family, which count a picture where the first species is of the correct one.
LEVEL_METRICS = {
    level: PlantMetric(
        level,
        f"as S, where the first species need only be of the correct {level}",
        command=f"evaluate --by {level}",
        column=f"S of {level}",
        average="S",
        level=level,
    )
    for level in ("genus", "family")
}


METRICS = (*_EVERY_RUN, _TOP_K, *LEVEL_METRICS.values())


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What a run answers for each picture of the ground truth, in its order."""

    #: The run's.
    name: str
    #: int32 (n,): the rank of the correct species, from 1; 0 where the run doesn't name it.
    rank: NDArray[np.int32]
    #: int64 (n,): how many species the run names.
    size: NDArray[np.int64]
    #: bool (n,): whether the run names any.
    covered: NDArray[np.bool_]
    #: `genus_correct`, `family_correct`: bool (n,), whether the species of rank 1 is of the correct genus, family.
    genus_correct: NDArray[np.bool_]
    family_correct: NDArray[np.bool_]
    #: As the run's.
    repeated: int = 0

    @property
    def n_missing(self) -> int:
        """Number of pictures that the run lacks."""
        return int((~self.covered).sum())

    def score_pictures(self, metric: PlantMetric) -> NDArray[np.float64]:
        """Score each picture: float64 (n,) in [0, 1]."""
        # A correct genus or family counts as rank 1, any other as not named.
        ranks = {"species": self.rank, "genus": self.genus_correct, "family": self.family_correct}
        return metric.score_pictures(ranks[metric.level])


def judge_run(run: Run, truth: GroundTruth) -> JudgedRun:
    """Judge a run by the ground truth. Predictions of other pictures are ignored.

    The genus of a predicted species is the beginning of its name, its family is that of the genus in the ground truth:
    a predicted species need not have a picture there.
    """
    picture = find_indices(run.pictures, truth.pictures)[run.picture_index]
    names, correct = truth.encode("species")
    species = find_indices(run.species, names)[run.species_index]
    in_truth = picture >= 0
    hits = np.flatnonzero(in_truth & (species == correct[np.where(in_truth, picture, 0)]))
    rank = np.zeros(len(truth), np.int32)
    # Ranks rise within a picture: written in reverse order, the best rank of a repeated species remains.
    rank[picture[hits][::-1]] = run.rank[hits][::-1]
    size = np.bincount(picture[in_truth], minlength=len(truth))
    top = np.flatnonzero(in_truth & (run.rank == 1))
    genera = [parse_genus(name) for name in run.species]
    families = [truth.family_of.get(name, UNKNOWN) for name in genera]

    def is_correct(taxa: Sequence[str], level: str) -> NDArray[np.bool_]:
        taxon_names, labels = truth.encode(level)
        predicted, expected = find_indices(taxa, taxon_names)[run.species_index[top]], labels[picture[top]]
        is_known = np.array([name != UNKNOWN for name in taxon_names])[expected]
        found = np.zeros(len(truth), bool)
        found[picture[top]] = (predicted == expected) & is_known
        return found

    return JudgedRun(
        run.name,
        rank,
        size,
        size > 0,
        is_correct(genera, "genus"),
        is_correct(families, "family"),
        run.repeated,
    )


def find_indices(names: Sequence[str], known: Sequence[str]) -> NDArray[np.intp]:
    """Find each name's index among the known ones, -1 for others."""
    index = {name: position for position, name in enumerate(known)}
    return np.array([index.get(name, -1) for name in names], np.intp)


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


@dataclass(frozen=True)
class TableOptions:
    """What the tables of scores show."""

    metrics: Sequence[PlantMetric]
    #: As the official scorer does.
    leave_out_missing: bool = False
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    #: One of {"S", "all", "none"}: the scores that are shown with confidence intervals.
    intervals: str = "S"


def make_score_table(
    truth: GroundTruth, runs: Sequence[JudgedRun], options: TableOptions, group: str = "type"
) -> Table:
    """Tabulate the scores of each run on each acquisition type, or each of `GROUPS`."""
    metrics = [*([LEVEL_METRICS[group]] if group in LEVEL_METRICS else []), *options.metrics]
    has_interval = [options.intervals == "all" or options.intervals == metric.name == "S" for metric in metrics]
    bootstrap = None if options.intervals == "none" else options.bootstrap
    headings = ["run", group, "pictures", "missing", "plants"]
    for metric, is_wide in zip(metrics, has_interval, strict=True):
        title = metric.column
        headings += [title, f"{title} low", f"{title} high"] if is_wide else [title]
    rows: list[list[Cell]] = []
    for run in runs:
        scorer = RunScorer(truth, run, metrics, leave_out_missing=options.leave_out_missing, bootstrap=bootstrap)
        for part in scorer.score_by(group):
            rows.append([run.name, part.name, part.pictures, part.missing, part.plants])
            for score, interval, is_wide in zip(part.scores, part.intervals, has_interval, strict=True):
                rows[-1] += [score, *interval] if is_wide else [score]
    notes = bootstrap and [
        f"low, high: {bootstrap.confidence:.0%} interval, bootstrap over plants, "
        f"{bootstrap.resamples} resamples, seed {bootstrap.seed}"
    ]
    return Table(f"Scores by {'acquisition type' if group == 'type' else group}", headings, rows, notes or ())
