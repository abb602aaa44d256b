"""The metrics of runs, one object each, and the list of all of them.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF 2011; package README, section 4.
.. [2] H. Goëau et al., "The ImageCLEF 2012 plant identification task", CLEF 2012.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.errors import LeafidError, UsageError
from leafid.metrics.averages import accuracy_score, index_plants, top_k_scores
from leafid.scoring.confidence import (
    CONFIDENT,
    area_under_roc,
    expected_calibration_error,
    false_positive_rate,
    open_set_classification_rate,
)
from leafid.scoring.judging import JudgedRun
from leafid.scoring.resampling import Statistics, nan_mean, sum_by_plant
from leafid.scoring.tables import read_metrics

#: How pictures are averaged: over authors and their plants, over plants, over pictures, over the correct species.
Average = Literal["S", "plants", "pictures", "species"]
#: The lowest probability that log-loss takes, as scikit-learn's.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A score of a run: the mean of what its pictures score, or of all pictures together.

    What it is, who defined it and where it is shown stands in ``metrics.csv``.
    """

    #: Scores each picture: float (n,); and how pictures are averaged.
    score_pictures: Callable[[JudgedRun], Floats] | None = None
    average: Average = "pictures"
    #: Scores all pictures together, where no mean of what they score does: by sums over this number of plants, or at
    #: once; the latter has no interval and no test.
    gather: Callable[[JudgedRun, int], Statistics] | None = None
    score_together: Callable[[JudgedRun], float] | None = None
    needs_probabilities: bool = False
    name: str = ""
    description: str = ""
    is_error: bool = False

    def check_scores(self, run: JudgedRun) -> None:
        """Raise a `LeafidError` if the metric needs probabilities, and the run's scores are none."""
        if self.needs_probabilities and run.problem:
            raise LeafidError(
                f"{run.problem}; {self.name} is computed from probabilities"
            )

    def compute_statistics(self, run: JudgedRun, n_plants: int) -> Statistics:
        """Compute the statistics of a run's answers, of which only those to pictures of known species may count.

        Raises what `check_scores` does.
        """
        self.check_scores(run)
        if self.score_together:
            score = self.score_together(run)
            return Statistics(
                sum_by_plant([], [], [], (0, n_plants)),
                lambda sums: np.full(sums.shape[1], score),
            )
        known = run.select(run.is_known)
        if self.gather:
            return self.gather(known, n_plants)
        assert self.score_pictures
        return average_pictures(
            self.score_pictures(known), self.average, known, n_plants
        )


def average_pictures(
    values: Floats, average: Average, run: JudgedRun, n_plants: int
) -> Statistics:
    """Average what the pictures score, float (n,), in one of the ways of `Average`."""
    weights, groups = weigh_in_groups(average, run)
    n_groups = int(groups.max(initial=-1)) + 1
    # Above are the sums of the weighted values of each group, below those of the weights.
    rows = np.concatenate([groups, n_groups + groups])
    sums = sum_by_plant(
        [*weights * values, *weights],
        rows,
        np.tile(run.plant, 2),
        (2 * n_groups, n_plants),
    )

    def finish(sums: Floats) -> Floats:
        totals = sums[n_groups:]
        # A group none of whose plants is drawn is left out.
        return nan_mean(
            np.divide(
                sums[:n_groups],
                totals,
                out=np.full_like(totals, np.nan),
                where=totals > 0,
            )
        )

    return Statistics(sums, finish)


def weigh_in_groups(
    average: Average, run: JudgedRun
) -> tuple[Floats, NDArray[np.intp]]:
    """Compute how much each picture weighs in its group, and the group: int (n,).

    The score is the mean over the groups of the weighted means in each: over authors for S, over species, or in one
    group of all.
    """
    if average == "species":
        return np.ones(len(run.rank)), np.unique(run.label, return_inverse=True)[1]
    groups = run.author if average == "S" else np.zeros(len(run.rank), np.intp)
    # In a mean over pictures each one counts as if it showed a plant by itself.
    plants = {
        "S": run.official_plant,
        "plants": run.plant,
        "pictures": np.arange(len(run.rank)),
    }[average]
    owners, plant = index_plants(groups, plants)
    pictures_of_plant, plants_of_group = np.bincount(plant), np.bincount(owners)
    return 1 / (plants_of_group[owners][plant] * pictures_of_plant[plant]), owners[
        plant
    ]


def inverse_rank_scores(rank: ArrayLike) -> Floats:
    """Score each picture 1 / rank of the correct species, 0 where it isn't named, as the 2012 and 2013 tasks did.

    Examples
    --------
    >>> inverse_rank_scores([1, 4, 0])
    array([1.  , 0.25, 0.  ])
    """
    ranks = np.asarray(rank, np.float64)
    return np.divide(1.0, ranks, out=np.zeros_like(ranks), where=ranks > 0)


def _f1(run: JudgedRun, n_plants: int, is_weighted: bool) -> Statistics:
    """Average over the species of the ground truth the harmonic mean of precision and recall."""
    n_species = int(max(run.label.max(initial=-1), run.first.max(initial=-1))) + 1
    named, correct = run.first >= 0, run.first == run.label
    # How often each species is named correctly, named, and shown.
    rows = [run.label[correct], n_species + run.first[named], 2 * n_species + run.label]
    plants = np.concatenate([run.plant[correct], run.plant[named], run.plant])
    sums = sum_by_plant(
        np.ones(len(plants)), np.concatenate(rows), plants, (3 * n_species, n_plants)
    )

    def finish(sums: Floats) -> Floats:
        n_correct, n_named, n_shown = np.split(sums, 3)
        scores = np.divide(
            2 * n_correct,
            n_named + n_shown,
            out=np.full_like(n_shown, np.nan),
            where=n_shown > 0,
        )
        return (
            np.nansum(scores * n_shown, axis=0) / n_shown.sum(axis=0)
            if is_weighted
            else nan_mean(scores)
        )

    return Statistics(sums, finish)


def _calibration_error(run: JudgedRun) -> float:
    known = run.select(run.is_known)
    # The pictures of a single plant are correct or wrong together.
    return (
        expected_calibration_error(known.confidence, known.rank == 1)
        if len({*known.plant}) > 1
        else float("nan")
    )


def _compare_known(function: Callable[..., float]) -> Callable[[JudgedRun], float]:
    """Score how well a picture's highest score tells known species from unknown ones."""

    def score(run: JudgedRun) -> float:
        # A run rejects a picture that it lacks, or for which it names the unknown species first.
        is_rejected = ~run.covered | np.isin(run.first, run.label[~run.is_known])
        best = np.where(is_rejected, -np.inf, run.confidence)
        return function(
            best[run.is_known], best[~run.is_known], run.rank[run.is_known] == 1
        )

    return score


#: How the metrics of ``metrics.csv`` are computed, besides ``top-K`` and ``macro-top-K``.
_METRICS = {
    "S": Metric(lambda run: top_k_scores(run.rank), "S"),
    "inverse-rank": Metric(lambda run: inverse_rank_scores(run.rank), "S"),
    "S-genus": Metric(lambda run: run.genus_correct.astype(np.float64), "S"),
    "S-family": Metric(lambda run: run.family_correct.astype(np.float64), "S"),
    "per-plant": Metric(lambda run: top_k_scores(run.rank), "plants"),
    "mrr": Metric(lambda run: inverse_rank_scores(run.rank)),
    "balanced-accuracy": Metric(lambda run: top_k_scores(run.rank), "species"),
    "macro-f1": Metric(gather=partial(_f1, is_weighted=False)),
    "weighted-f1": Metric(gather=partial(_f1, is_weighted=True)),
    "log-loss": Metric(
        lambda run: -np.log(np.maximum(run.probability, LEAST_PROBABILITY)),
        needs_probabilities=True,
    ),
    "brier": Metric(
        lambda run: run.squares - 2 * run.probability + 1, needs_probabilities=True
    ),
    "confidence": Metric(lambda run: run.confidence, needs_probabilities=True),
    "ece": Metric(score_together=_calibration_error, needs_probabilities=True),
    "auroc": Metric(
        score_together=_compare_known(lambda a, b, _: area_under_roc(a, b))
    ),
    "oscr": Metric(
        score_together=_compare_known(
            lambda a, b, hits: open_set_classification_rate(a, hits, b)
        )
    ),
    "fpr-95": Metric(
        score_together=_compare_known(lambda a, b, _: false_positive_rate(a, b))
    ),
    "confident-unknown": Metric(
        score_together=_compare_known(lambda _a, b, _: accuracy_score(b >= CONFIDENT)),
        needs_probabilities=True,
    ),
    "coverage": Metric(lambda run: (run.rank > 0).astype(np.float64)),
    "macro-coverage": Metric(lambda run: (run.rank > 0).astype(np.float64), "species"),
    "set-size": Metric(lambda run: run.size.astype(np.float64)),
    "empty-sets": Metric(lambda run: (~run.covered).astype(np.float64)),
}
#: The names of the metrics that are shown where nobody asks for others; and those of sets, and of unknown species.
DEFAULT_METRICS = ("S", "top-1", "top-5")
SET_METRICS = ("coverage", "macro-coverage", "set-size", "empty-sets")
OPEN_WORLD_METRICS = ("top-1", "auroc", "oscr", "fpr-95")


def find_metric(name: str) -> Metric:
    """Find a metric by its name, such as ``S`` or ``top-5``; a `UsageError` lists the names where there is none."""
    if match := re.fullmatch("(macro-)?top-([1-9][0-9]{0,8})", name):
        k = int(match[2])
        metric = Metric(
            lambda run: top_k_scores(run.rank, k), "species" if match[1] else "pictures"
        )
    elif name in _METRICS:
        metric = _METRICS[name]
    else:
        names = ", ".join(
            row["metric"]
            for row in read_metrics()
            if row["command"] in ("evaluate", "evaluate --metrics")
        )
        raise UsageError(
            f"expected a metric ({names}; any whole number from 1 as K), found {name!r}"
        )
    family = f"{match[1] or ''}top-K" if match else name
    (row,) = [row for row in read_metrics() if row["metric"] == family]
    return replace(
        metric,
        name=name,
        description=row["what it is"],
        is_error=row["better"] == "lower",
    )


def find_metrics(names: Sequence[str] | None) -> list[Metric]:
    """Find metrics by their names, each once; by default `DEFAULT_METRICS`."""
    return [find_metric(name) for name in dict.fromkeys(names or DEFAULT_METRICS)]
