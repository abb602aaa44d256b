"""The scores of the ImageCLEF plant tasks: means of means, so that no author and no plant outweighs the others.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF 2011; package README, section 4.
.. [2] H. Goëau et al., "The ImageCLEF 2012 plant identification task", CLEF 2012.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.errors import LeafidError
from leafid.learning.averages import (
    accuracy_score,
    average_by_group,
    average_score,
    encode,
    index_plants,
    per_plant_score,
    top_k_scores,
)
from leafid.metrics.registry import Metric


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
