"""What a report says about a run besides its scores: first answers, confusions, reliability, in tables too."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.learning.averages import average_by_group, top_k_scores
from leafid.scoring.plant_task import JudgedRun
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth

#: The first answers to a picture, with their scores; none where the run lacks it.
Ranking = list[tuple[str, float]]


@dataclass(frozen=True)
class Confusion:
    """A species that was taken for another."""

    species: str
    predicted: str
    #: The pictures, the most confident predictions first.
    pictures: tuple[str, ...]
    #: Of all pictures of the species.
    share: float


@dataclass(frozen=True)
class ConfusionMatrix:
    """How often each species got which first answer."""

    #: Sorted by family and name.
    species: tuple[str, ...]
    families: tuple[str, ...]
    #: int64 (n, n + 1): pictures of each species by their first answer; the last column is of all other answers.
    counts: NDArray[np.intp]
    #: Number of species that are left out, because others are confused more often.
    n_left_out: int


#: Mean probability and share of correct predictions of each bin that isn't empty, float64 (m,), and their numbers.
ReliabilityCurve = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]


def find_rankings(run: Run, truth: GroundTruth, most: int) -> list[Ranking]:
    """Find the first answers to each picture of the ground truth, in its order."""
    position = {name: index for index, name in enumerate(truth.pictures)}
    rankings: list[Ranking] = [[] for _ in truth.pictures]
    for row in np.flatnonzero(run.rank <= most):
        index = position.get(run.pictures[run.picture_index[row]])
        if index is not None:
            rankings[index].append((run.species[run.species_index[row]], float(run.score[row])))
    return rankings


def find_probabilities(
    rankings: Sequence[Ranking], truth: GroundTruth
) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Find the scores of the first answers, float64 (n,), and whether they are correct; None if no probabilities."""
    firsts = [(*own[0], species) for own, species in zip(rankings, truth.species, strict=True) if own]
    score = np.array([value for _, value, _ in firsts])
    if not len(score) or score.min() < 0 or score.max() > 1:
        return None
    return score, np.array([answer == species for answer, _, species in firsts])


def find_confusions(rankings: Sequence[Ranking], truth: GroundTruth) -> list[Confusion]:
    """List which species were taken for which, sorted by number of pictures, share of the species, and name."""
    wrong: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for ranking, species, picture in zip(rankings, truth.species, truth.pictures, strict=True):
        if ranking and ranking[0][0] != species:
            wrong[species, ranking[0][0]].append((-ranking[0][1], picture))
    confusions = [
        Confusion(
            species,
            predicted,
            tuple(name for _, name in sorted(own, key=itemgetter(0))),
            len(own) / truth.species.count(species),
        )
        for (species, predicted), own in wrong.items()
    ]
    return sorted(confusions, key=lambda c: (-len(c.pictures), -c.share, c.species, c.predicted))


def count_answers(rankings: Sequence[Ranking], truth: GroundTruth, most: int) -> ConfusionMatrix:
    """Count the first answers of each species, or of the `most` species that are confused most often."""
    pairs = Counter((species, own[0][0]) for own, species in zip(rankings, truth.species, strict=True) if own)
    errors: Counter[str] = Counter()
    for pair, count in pairs.items():
        if pair[0] != pair[1]:
            errors.update(dict.fromkeys(pair, count))
    family = dict(zip(truth.species, truth.family, strict=True))
    shown = sorted(sorted(family, key=lambda name: (-errors[name], name))[:most], key=lambda name: (family[name], name))
    index = {name: position for position, name in enumerate(shown)}
    counts = np.zeros((len(shown), len(shown) + 1), np.intp)
    for (species, answer), count in pairs.items():
        if species in index:
            counts[index[species], index.get(answer, len(shown))] += count
    return ConfusionMatrix(tuple(shown), tuple(family[name] for name in shown), counts, len(family) - len(shown))


def compute_reliability(probability: ArrayLike, correct: ArrayLike, n_bins: int = 10) -> ReliabilityCurve:
    """Compare the probabilities of predictions with how often they are correct, in bins of equal width.

    References
    ----------
    .. [1] C. Guo et al., "On calibration of modern neural networks", ICML 2017, section 2; arXiv:1706.04599.

    Examples
    --------
    >>> compute_reliability([0.9, 0.9, 0.1, 0.1], [True, False, False, False])
    (array([0.1, 0.9]), array([0. , 0.5]), array([2, 2]))
    """
    probabilities = np.asarray(probability, np.float64)
    bins = np.minimum((probabilities * n_bins).astype(np.intp), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins)
    used = count > 0
    mean_probability, accuracy = (average_by_group(own, bins, n_bins)[used] for own in (probabilities, correct))
    return mean_probability, accuracy, count[used]


def make_reliability_table(curves: Mapping[str, ReliabilityCurve]) -> Table:
    """Tabulate how often first answers of about the same probability are correct."""
    rows: list[list[Cell]] = [
        [name, *row]
        for name, curve in curves.items()
        for row in zip(*(column.tolist() for column in curve), strict=True)
    ]
    return Table("Reliability of the probabilities", ["run", "probability", "share correct", "answers"], rows)


def make_run_species_table(run: JudgedRun, confusions: Sequence[Confusion], truth: GroundTruth) -> Table:
    """Tabulate a run's scores on every species, the best first; a picture that the run lacks counts as wrong."""
    family = dict(zip(truth.species, truth.family, strict=True))
    # The most frequent confusion of a species comes first.
    worst = {confusion.species: confusion.predicted for confusion in reversed(confusions)}
    names, labels = truth.encode("species")
    shares = [average_by_group(top_k_scores(run.rank, k), labels).tolist() for k in (1, 5)]
    columns = zip(names, np.bincount(labels).tolist(), *shares, strict=True)
    scores = sorted(columns, key=lambda row: (-row[2], -row[3], row[0]))
    rows: list[list[Cell]] = [[name, family[name], *rest, worst.get(name)] for name, *rest in scores]
    headings = ["species", "family", "pictures", "top-1", "top-5", "most often taken for"]
    return Table(f"Species of {run.name}", headings, rows)


def make_confusion_table(run: str, confusions: Sequence[Confusion]) -> Table:
    """Tabulate which species a run took for which."""
    rows: list[list[Cell]] = [[c.species, c.predicted, len(c.pictures), c.share] for c in confusions]
    return Table(f"Confusions of {run}", ["species", "taken for", "pictures", "share of the species"], rows)


def make_picture_table(truth: GroundTruth, answers: Mapping[str, Sequence[Ranking]]) -> Table:
    """Tabulate the first answer of each run, with its score, for every picture."""
    columns = ["picture", "type", "species"]
    for name in answers:
        columns += [f"{name}: answer", f"{name}: score"]
    rows: list[list[Cell]] = []
    for index, name in enumerate(truth.pictures):
        row: list[Cell] = [name, truth.type[index], truth.species[index]]
        for ranking in answers.values():
            row += ranking[index][0] if ranking[index] else (None, None)
        rows.append(row)
    return Table("Pictures", columns, rows)
