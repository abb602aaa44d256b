"""The scores of the ImageCLEF plant tasks: means of means, so that no author and no plant outweighs the others.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF 2011; package README, section 4.
.. [2] H. Goëau et al., "The ImageCLEF 2012 plant identification task", CLEF 2012.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.metrics.averages import index_plants, top_k_scores
from leafid.pictures.names import parse_genus
from leafid.pictures.picture import AcquisitionType
from leafid.scoring.resampling import Bootstrap, WeightedScore, bootstrap_scores
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import UNKNOWN, GroundTruth, find_indices

#: What pictures can be grouped by.
GROUPS = ("species", "genus", "family", "author", "plant")
MEAN_OF_TYPES, ALL = "mean of types", "all pictures"
#: The order of acquisition types in tables.
TYPE_ORDER = (*map(str, AcquisitionType), UNKNOWN)
#: The ways to average pictures: over authors and their plants, over plants, over pictures.
AVERAGES = ("S", "plants", "pictures")


def inverse_rank_scores(rank: ArrayLike) -> NDArray[np.float64]:
    """Score each picture 1 / rank of the correct species, 0 where it isn't named, as the 2012 and 2013 tasks did.

    Examples
    --------
    >>> inverse_rank_scores([1, 4, 0])
    array([1.  , 0.25, 0.  ])
    """
    ranks = np.asarray(rank, np.float64)
    return np.divide(1.0, ranks, out=np.zeros_like(ranks), where=ranks > 0)


def weigh_in_groups(
    average: str, authors: ArrayLike, plants: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Compute how much each picture weighs in its group, and the group: its author for S, else one group of all.

    One of `AVERAGES` is the mean over the groups of the weighted sums in each.
    """
    names = np.asarray(plants)
    groups = np.asarray(authors) if average == "S" else np.zeros(len(names), np.intp)
    # In a mean over pictures each one counts as if it showed a plant by itself.
    owners, plant = index_plants(groups, np.arange(len(names)) if average == "pictures" else names)
    pictures_of_plant, plants_of_group = np.bincount(plant), np.bincount(owners)
    return 1 / (plants_of_group[owners][plant] * pictures_of_plant[plant]), owners[plant]


@dataclass(frozen=True)
class PlantMetric:
    """A metric of the plant task: a score for each picture, and how the pictures are averaged."""

    name: str
    #: Scores ranks of the correct taxon, int (n,): float64 (n,) in [0, 1].
    score_pictures: Callable[[ArrayLike], NDArray[np.float64]] = top_k_scores
    #: One of `AVERAGES`.
    average: str = "S"
    #: One of {"species", "genus", "family"}: what has to be correct.
    level: str = "species"

    @property
    def column(self) -> str:
        """The heading of the metric in tables."""
        return self.name if self.level == "species" else f"S of {self.level}"

    def weigh(self, truth: GroundTruth, chosen: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Apply `weigh_in_groups` to some pictures of a ground truth."""
        plants = "plant" if self.average == "plants" else "official_plant"
        return weigh_in_groups(self.average, truth.encode("author")[1][chosen], truth.encode(plants)[1][chosen])


_BASIC_METRICS = (
    PlantMetric("S"),
    PlantMetric("inverse-rank", inverse_rank_scores),
    PlantMetric("per-plant", average="plants"),
)
#: The S of genus and family, which count a picture where the first species is of the correct one.
LEVEL_METRICS = {level: PlantMetric(level, level=level) for level in ("genus", "family")}


def list_plant_metrics(tops: Sequence[int] = (1, 5)) -> list[PlantMetric]:
    """List the metrics that score every run of the plant task, S first; `tops` are the k of top-k accuracies."""
    return [*_BASIC_METRICS, *(_make_top_k(k) for k in sorted({1, *tops}))]


def find_plant_metric(name: str) -> PlantMetric:
    """Find a metric by its name; an unknown one raises a `LeafidError`."""
    if re.fullmatch("top-[1-9][0-9]{0,8}", name):
        return _make_top_k(int(name.removeprefix("top-")))
    known = {metric.name: metric for metric in (*_BASIC_METRICS, *LEVEL_METRICS.values())}
    if name not in known:
        raise LeafidError(f"expected a metric of the plant task ({', '.join(known)}, top-K), found {name!r}")
    return known[name]


def _make_top_k(k: int) -> PlantMetric:
    return PlantMetric(f"top-{k}", partial(top_k_scores, k=k), "pictures")


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What a run answers for each picture of the ground truth, in its order."""

    #: The name of the run.
    name: str
    #: int32 (n,): the rank of the correct species, from 1; 0 where the run doesn't name it.
    rank: NDArray[np.int32]
    #: int64 (n,): how many species the run names.
    size: NDArray[np.int64]
    #: `genus_correct`, `family_correct`: bool (n,), whether the species of rank 1 is of the correct genus, family.
    genus_correct: NDArray[np.bool_]
    family_correct: NDArray[np.bool_]

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Whether the run has the picture: bool (n,)."""
        return self.size > 0

    def score_pictures(self, metric: PlantMetric) -> NDArray[np.float64]:
        """Score each picture: float64 (n,) in [0, 1]."""
        # A correct genus or family counts as rank 1, any other as not named.
        ranks = {"species": self.rank, "genus": self.genus_correct, "family": self.family_correct}
        return metric.score_pictures(ranks[metric.level])


def judge_run(run: Run, truth: GroundTruth) -> JudgedRun:
    """Judge a run by the ground truth. Predictions of other pictures are ignored.

    The genus of a predicted species is the beginning of its name, its family is that of the genus in the ground truth,
    or else of a list: a predicted species need not have a picture there.
    """
    predictions, picture, species = truth.locate(run)
    is_hit = species == truth.encode("species")[1][picture]
    rank = np.zeros(len(truth), np.int32)
    # Ranks rise within a picture: written in reverse order, the best rank of a repeated species remains.
    rank[picture[is_hit][::-1]] = predictions.rank[is_hit][::-1]
    size = np.bincount(picture, minlength=len(truth))
    first = np.flatnonzero(predictions.rank == 1)
    genera = [parse_genus(name) for name in run.species]
    families = [truth.known.family_of.get(name, UNKNOWN) for name in genera]

    def is_correct(taxa: Sequence[str], level: str) -> NDArray[np.bool_]:
        taxon_names, labels = truth.encode(level)
        predicted = find_indices(taxa, taxon_names)[predictions.species_index[first]]
        expected = labels[picture[first]]
        is_known = np.array([name != UNKNOWN for name in taxon_names])[expected]
        is_right = np.zeros(len(truth), bool)
        # The correct species is right even if the ground truth has two families of its genus.
        is_right[picture[first]] = ((predicted == expected) | is_hit[first]) & is_known
        return is_right

    return JudgedRun(run.name, rank, size, is_correct(genera, "genus"), is_correct(families, "family"))


@dataclass(frozen=True)
class ScoreOptions:
    """What is scored of the pictures of a ground truth."""

    metrics: Sequence[PlantMetric]
    #: Leave out the pictures that the run lacks, as the official scorer does; otherwise they count 0.
    leave_out_missing: bool = False
    #: How confidence intervals are computed, and of which scores: "S", "all" or "none".
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    intervals: str = "S"

    def has_interval(self, metric: PlantMetric) -> bool:
        """Tell whether a score is shown with its interval."""
        return self.intervals == "all" or self.intervals == metric.name == "S"


def make_score_table(
    truth: GroundTruth, runs: Sequence[JudgedRun], options: ScoreOptions, group: str = "type"
) -> Table:
    """Tabulate the scores of each run on each acquisition type, or each of `GROUPS`, with their numbers of pictures.

    The types that have pictures, in `TYPE_ORDER`, are followed by `MEAN_OF_TYPES`, for whose interval the plants of all
    types are drawn together, and `ALL`. Where there is one type, only that is scored, or `ALL` if it is unknown. Rows
    of genera and families begin with the S of genus or family, which is NaN where that is unknown. A score is NaN where
    no picture counts, its interval also where there is a single plant.
    """
    level = [LEVEL_METRICS[group]] if group in LEVEL_METRICS else []
    options = replace(options, metrics=[*level, *(metric for metric in options.metrics if metric not in level)])
    headings = ["run", group, "pictures", "missing", "plants"]
    for metric in options.metrics:
        title = metric.column
        headings += [title, f"{title} low", f"{title} high"] if options.has_interval(metric) else [title]
    rows: list[list[Cell]] = []
    for run in runs:
        for name, parts in _split_by(truth, group).items():
            counts, scores = _score_parts(truth, run, options, parts)
            if level and name == UNKNOWN:
                scores[0] = [float("nan")] * len(scores[0])
            rows.append([run.name, name, *counts, *(cell for cells in scores for cell in cells)])
    bootstrap = options.bootstrap
    notes = [
        f"low, high: {100 * bootstrap.confidence:g}% interval, bootstrap over plants, {bootstrap.resamples} resamples, "
        f"seed {bootstrap.seed}"
    ]
    title = f"Scores by {'acquisition type' if group == 'type' else group}"
    return Table(title, headings, rows, notes if any(map(options.has_interval, options.metrics)) else ())


def _score_parts(
    truth: GroundTruth, run: JudgedRun, options: ScoreOptions, parts: Sequence[NDArray[np.intp]]
) -> tuple[tuple[int, int, int], list[list[float]]]:
    """Average scores over parts of the pictures.

    Returns how many pictures count, how many the run lacks, and of how many plants they are; and for each metric the
    score, with the ends of its interval if that is shown.
    """
    missing = sum(int((~run.covered[part]).sum()) for part in parts)
    counted = [part[run.covered[part]] if options.leave_out_missing else part for part in parts]
    plants = truth.encode("plant")[1]
    drawn = np.unique(plants[np.concatenate(counted)])
    drawn_index = np.searchsorted(drawn, plants)
    weighted = [
        WeightedScore(run.score_pictures(metric)[part], *metric.weigh(truth, part), drawn_index[part])
        for metric in options.metrics
        for part in counted
    ]
    shape = len(options.metrics), len(parts)
    means = _average_parts(np.array([score.compute() for score in weighted]).reshape(shape))
    shown = [index for index, metric in enumerate(options.metrics) if options.has_interval(metric)]
    samples = bootstrap_scores(weighted, len(drawn), options.bootstrap) if shown else None
    resampled = None if samples is None else _average_parts(samples.reshape(*shape, -1))
    scores = [[mean] for mean in means.tolist()]
    for index in shown:
        scores[index] += [np.nan] * 2 if resampled is None else options.bootstrap.compute_interval(resampled[index])
    return (sum(map(len, counted)), missing, len(drawn)), scores


def _average_parts(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average over the second axis; NaN, a part without pictures or of which no plant is drawn, is left out."""
    counts = (~np.isnan(scores)).sum(axis=1)
    return np.nansum(scores, axis=1) / np.where(counts, counts, np.nan)


def select_types(truth: GroundTruth, acquisition_type: str | None = None) -> dict[str, NDArray[np.intp]]:
    """Select the pictures of each acquisition type in `TYPE_ORDER`, or of one, which must have pictures."""
    types = np.array(truth.type)
    groups = {name: np.flatnonzero(types == name) for name in TYPE_ORDER if acquisition_type in (None, name)}
    return {name: indices for name, indices in groups.items() if len(indices)}


def _split_by(truth: GroundTruth, group: str) -> dict[str, list[NDArray[np.intp]]]:
    """Split the pictures into the groups of a score table: the parts over which each one's scores are averaged."""
    if group != "type":
        column = getattr(truth, "official_plant" if group == "plant" else group)
        parts = group_by(range(len(truth)), column.__getitem__)
        return {name: [np.array(parts[name])] for name in sorted(parts)}
    types = select_types(truth)
    if len(types) == 1:
        return {ALL if name == UNKNOWN else name: [indices] for name, indices in types.items()}
    return {name: [indices] for name, indices in types.items()} | {
        MEAN_OF_TYPES: [*types.values()],
        ALL: [np.arange(len(truth))],
    }
