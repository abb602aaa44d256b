"""The metrics of runs, one object each, and the list of all of them.

References
----------
.. [1] H. Goëau et al., "The ImageCLEF 2011 plant images classification task", CLEF
   2011; package README, section 4.
.. [2] H. Goëau et al., "The ImageCLEF 2012 plant identification task", CLEF 2012.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from leafid.errors import UsageError
from leafid.metrics.averages import (
    Booleans,
    Floats,
    Indices,
    accuracy_score,
    divide,
    index_plants,
    inverse_rank_scores,
    top_k_scores,
)
from leafid.metrics.classification import (
    f1_scores,
    kappa_score,
    matthews_score,
    precision_scores,
)
from leafid.metrics.confidence import (
    CONFIDENT,
    decompose_brier,
    expected_calibration_error,
    false_positive_rate,
    open_set_classification_rate,
    selective_accuracies,
)
from leafid.scoring.judging import JudgedRun
from leafid.scoring.resampling import Statistics
from leafid.scoring.tables import read_metrics

#: How pictures are averaged: over authors and their plants, over plants, over pictures,
#: over the correct species.
Average = Literal["S", "plants", "pictures", "species"]
#: The lowest probability that log-loss takes, as scikit-learn's.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Metric:
    """A score of a run: a mean over pictures, or a statistic of all together.

    What it is, who defined it and where it is shown stands in ``metrics.csv``.
    """

    #: Scores each picture, (n,); and how pictures are averaged.
    score_pictures: Callable[[JudgedRun], NDArray[Any]] | None = None
    average: Average = "pictures"
    #: Scores names, where a score is no mean over pictures: from counts of pictures in
    #: which each of k names is correct, given, and shown, float (k, m), a score of each
    #: name, float (k, m), or of all names, float (m,). There is no interval.
    score_names: Callable[[Floats, Floats, Floats], Floats] | None = None
    #: Scores all pictures at once, without an interval or a test.
    score_all: Callable[[JudgedRun], float] | None = None
    needs_probabilities: bool = False
    name: str = ""
    description: str = ""
    is_error: bool = False
    #: The highest score that a picture can have, the lowest being 0.
    highest: float = 1

    def check_scores(self, run: JudgedRun) -> None:
        """Raise a `LeafidError` if the metric needs probabilities that a run lacks."""
        if self.needs_probabilities:
            run.check_probabilities(self.name)

    def compute_statistics(
        self, run: JudgedRun, n_plants: int, names: Indices
    ) -> Statistics:
        """Compute the statistics of a run's answers to pictures of known species.

        A metric of all answers counts the others, too. `names` are the values of
        `JudgedRun.label` and `JudgedRun.first` that are scored, the same for runs that
        are compared: int (k,), rising. Others count as -1. Raises what `check_scores`
        does.
        """
        self.check_scores(run)
        if self.score_all:
            score = self.score_all(run)
            return Statistics(
                csr_array((0, n_plants)), lambda sums: np.full(sums.shape[1], score)
            )
        known = run.select(run.is_known)
        if self.score_names:
            return self._average_names(known, n_plants, names)
        assert self.score_pictures
        return average_pictures(
            self.score_pictures(known), self.average, known, n_plants, self.highest
        )

    def _average_names(
        self, run: JudgedRun, n_plants: int, names: Indices
    ) -> Statistics:
        """Score names, averaged over species, each once or as often as it is shown."""
        label, first = (
            np.searchsorted(names, np.where(np.isin(column, names), column, -1))
            for column in (run.label, run.first)
        )
        correct = label == first
        rows = np.concatenate(
            [label[correct], first + len(names), label + 2 * len(names)]
        )
        plants = np.concatenate([run.plant[correct], run.plant, run.plant])
        shape = (3 * len(names), n_plants)

        def to_scores(sums: Floats) -> Floats:
            counts = np.split(sums, 3)
            weights = np.where(names[:, None] >= 0, counts[2], 0)
            if self.average == "species":
                weights = np.sign(weights)
            assert self.score_names
            scores = weights * self.score_names(*counts)
            return divide(scores.sum(axis=0), weights.sum(axis=0))

        sums = csr_array((np.ones(len(rows)), (rows, plants)), shape)
        return Statistics(sums, to_scores)


def average_pictures(
    values: NDArray[Any],
    average: Average,
    run: JudgedRun,
    n_plants: int,
    highest: float = 1,
) -> Statistics:
    """Average what the pictures score, (n,), in one of the ways of `Average`.

    The score is the mean over groups of the mean over their plants of the mean over
    each plant's pictures. Values are from 0 to the highest one; if that is infinite,
    one more plant has the highest of these pictures.
    """
    numbers = np.arange(len(run.rank))
    groups = {"S": run.author, "species": run.label}.get(average, numbers * 0)
    # In a mean over pictures or species, each picture counts as if it showed a plant by
    # itself.
    plants = {"S": run.official_plant, "plants": run.plant}.get(average, numbers)
    owners, plant = index_plants(groups, plants)
    plants_of_group = np.bincount(owners)
    pictures_of_plant = np.bincount(plant)
    n_groups = max(len(plants_of_group), 1)
    weights = 1 / (n_groups * plants_of_group[owners] * pictures_of_plant)[plant]
    cells = (np.repeat([0, 1], len(values)), np.tile(run.plant, 2))
    sums = csr_array((np.append(weights * values, weights), cells), (2, n_plants))
    # One more plant can be of any group, and weighs as much as the plants there do on
    # average.
    shares = 1 / np.bincount(index_plants(groups, run.plant)[0])
    if np.isinf(highest):
        highest = values.max(initial=0)
    further = shares.sum() / n_groups**2 * np.array([[0, highest], [1, 1]])
    return Statistics(sums, lambda sums: divide(*sums), further)


def _score_first(run: JudgedRun) -> Floats:
    return top_k_scores(run.rank)


def _score_named(run: JudgedRun) -> Booleans:
    return run.rank > 0


def _calibration_error(run: JudgedRun, is_equal_width: bool = False) -> float:
    known = run.select(run.is_known)
    if len({*known.plant}) < 2:
        # The pictures of a single plant are correct or wrong together.
        return np.nan
    return expected_calibration_error(
        known.first_score, known.rank == 1, is_equal_width=is_equal_width
    )


def _score_brier_part(run: JudgedRun, part: int) -> float:
    known = run.select(run.is_known)
    return decompose_brier(known.first_score, known.rank == 1)[part]


def split_scores(run: JudgedRun) -> tuple[Floats, Floats]:
    """Split the pictures' highest scores by whether their species is known."""
    # A run rejects a picture that it lacks, or for which it names the unknown species
    # first.
    is_rejected = ~run.covered | np.isin(run.first, run.label[~run.is_known])
    best = np.where(is_rejected, -np.inf, run.first_score)
    return best[run.is_known], best[~run.is_known]


def _score_open_set(run: JudgedRun) -> float:
    is_correct = run.rank[run.is_known] == 1
    return open_set_classification_rate(*split_scores(run), is_correct)


def score_selectively(run: JudgedRun) -> Floats:
    """Compute the accuracy of the most confident answers to known species, (n,).

    Pictures that a run lacks or rejects come last.
    """
    return selective_accuracies(split_scores(run)[0], run.rank[run.is_known] == 1)


def _score_confident(run: JudgedRun, percentage: int) -> float:
    accuracies = score_selectively(run)
    n_answers = -(-len(accuracies) * percentage // 100)
    return float(accuracies[n_answers - 1]) if n_answers else np.nan


#: How the metrics of ``metrics.csv`` are computed, besides ``top-K``, ``macro-top-K``
#: and ``accuracy-at-P``.
_METRICS = {
    "S": Metric(_score_first, "S"),
    "inverse-rank": Metric(lambda run: inverse_rank_scores(run.rank), "S"),
    "S-genus": Metric(lambda run: run.genus_correct, "S"),
    "S-family": Metric(lambda run: run.family_correct, "S"),
    "per-plant": Metric(_score_first, "plants"),
    "mrr": Metric(lambda run: inverse_rank_scores(run.rank)),
    "balanced-accuracy": Metric(_score_first, "species"),
    "recall": Metric(_score_first, "species"),
    "precision": Metric(average="species", score_names=precision_scores),
    "f1": Metric(average="species", score_names=f1_scores),
    "macro-f1": Metric(average="species", score_names=f1_scores),
    "weighted-f1": Metric(score_names=f1_scores),
    "kappa": Metric(score_names=kappa_score),
    "mcc": Metric(score_names=matthews_score),
    "log-loss": Metric(
        lambda run: -np.log(np.maximum(run.probability, LEAST_PROBABILITY)),
        needs_probabilities=True,
        highest=np.inf,
    ),
    "brier": Metric(
        lambda run: run.squares - 2 * run.probability + 1,
        needs_probabilities=True,
        highest=2,
    ),
    "confidence": Metric(lambda run: run.first_score, needs_probabilities=True),
    "ece": Metric(score_all=_calibration_error, needs_probabilities=True),
    "ece-width": Metric(
        score_all=partial(_calibration_error, is_equal_width=True),
        needs_probabilities=True,
    ),
    "aurc": Metric(score_all=lambda run: 1 - accuracy_score(score_selectively(run))),
    "auroc": Metric(
        score_all=lambda run: open_set_classification_rate(*split_scores(run))
    ),
    "oscr": Metric(score_all=_score_open_set),
    "fpr-95": Metric(score_all=lambda run: false_positive_rate(*split_scores(run))),
    "confident-unknown": Metric(
        score_all=lambda run: accuracy_score(split_scores(run)[1] >= CONFIDENT),
        needs_probabilities=True,
    ),
    "coverage": Metric(_score_named),
    "macro-coverage": Metric(_score_named, "species"),
    "set-size": Metric(lambda run: run.size, highest=np.inf),
    "empty-sets": Metric(lambda run: ~run.covered),
}
for _index, _part in enumerate(("reliability", "resolution", "uncertainty")):
    _METRICS[f"brier-{_part}"] = Metric(
        score_all=partial(_score_brier_part, part=_index), needs_probabilities=True
    )
#: The names of the metrics that are shown where nobody asks for others, of the metrics
#: of sets, and of the metrics that tell known species from unknown ones.
DEFAULT_METRICS = ("S", "top-1", "top-5")
SET_METRICS = ("coverage", "macro-coverage", "set-size", "empty-sets")
OPEN_WORLD_METRICS = ("top-1", "auroc", "oscr", "fpr-95")


def find_metric(name: str) -> Metric:
    """Find a metric by its name, such as ``S`` or ``top-5``.

    A `UsageError` lists the names where there is none.
    """
    family = name
    if match := re.fullmatch("(macro-)?top-([1-9][0-9]{0,8})", name):
        k = int(match[2])
        metric = Metric(
            lambda run: top_k_scores(run.rank, k), "species" if match[1] else "pictures"
        )
        family = f"{match[1] or ''}top-K"
    elif match := re.fullmatch("accuracy-at-(100|[1-9][0-9]?)", name):
        metric = Metric(score_all=partial(_score_confident, percentage=int(match[1])))
        family = "accuracy-at-P"
    elif name in _METRICS:
        metric = _METRICS[name]
    else:
        names = ", ".join(
            row["metric"]
            for row in read_metrics()
            if row["command"] in ("evaluate", "evaluate --metrics")
        )
        raise UsageError(
            f"expected a metric ({names}; any whole number from 1 as K, to 100 as P), "
            f"found {name!r}"
        )
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
