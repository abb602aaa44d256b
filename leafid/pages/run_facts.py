"""What a report says about a run besides its scores: top predictions, confusions, reliability, in tables too."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafid.learning.averages import average_by_group, top_k_scores
from leafid.scoring.plant_task import ALL, JudgedRun, select_types
from leafid.scoring.runs import Run
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth


@dataclass(frozen=True)
class TopPredictions:
    """The species of rank 1 of each picture of the ground truth, in its order."""

    #: None where the run lacks the picture.
    species: tuple[str | None, ...]
    #: float64 (n,): its score; NaN where there is none.
    score: NDArray[np.float64]
    #: bool (n,).
    correct: NDArray[np.bool_]

    @property
    def is_answered(self) -> NDArray[np.bool_]:
        """Whether the run has the picture: bool (n,)."""
        return ~np.isnan(self.score)

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores lie from 0 to 1, so that they can be compared with the share of correct predictions."""
        known = self.score[self.is_answered]
        return bool(len(known) and known.min() >= 0 and known.max() <= 1)


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


def find_top_predictions(run: Run, truth: GroundTruth) -> TopPredictions:
    """Find the species of rank 1 for each picture of the ground truth; predictions of other pictures are ignored."""
    firsts = [ranking[0] if ranking else (None, np.nan) for ranking in find_rankings(run, truth, 1)]
    species = tuple(name for name, _ in firsts)
    score = np.array([value for _, value in firsts], np.float64)
    correct = np.array([found == label for found, label in zip(species, truth.species, strict=True)], bool)
    return TopPredictions(species, score, correct)


def find_rankings(run: Run, truth: GroundTruth, most: int) -> list[list[tuple[str, float]]]:
    """Find the first species, with their scores, for each picture of the ground truth; none where the run lacks it."""
    position = {name: index for index, name in enumerate(truth.pictures)}
    rankings: list[list[tuple[str, float]]] = [[] for _ in truth.pictures]
    for row in np.flatnonzero(run.rank <= most):
        index = position.get(run.pictures[run.picture_index[row]])
        if index is not None:
            rankings[index].append((run.species[run.species_index[row]], float(run.score[row])))
    return rankings


def find_confusions(top: TopPredictions, truth: GroundTruth) -> list[Confusion]:
    """List which species were taken for which, sorted by number of pictures, share of the species, and name."""
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, (predicted, species) in enumerate(zip(top.species, truth.species, strict=True)):
        if predicted is not None and predicted != species:
            members[species, predicted].append(index)
    confusions = [
        Confusion(
            species,
            predicted,
            tuple(truth.pictures[i] for i in sorted(indices, key=lambda i: -top.score[i])),
            len(indices) / truth.species.count(species),
        )
        for (species, predicted), indices in members.items()
    ]
    return sorted(confusions, key=lambda c: (-len(c.pictures), -c.share, c.species, c.predicted))


def count_answers(top: TopPredictions, truth: GroundTruth, most: int) -> ConfusionMatrix:
    """Count the first answers of each species, or of the `most` species that are confused most often."""
    pairs = Counter(zip(truth.species, top.species, strict=True))
    errors: Counter[str] = Counter()
    for (species, answer), count in pairs.items():
        if answer != species:
            errors[species] += count
            if answer is not None:
                errors[answer] += count
    family = dict(zip(truth.species, truth.family, strict=True))
    shown = sorted(sorted(family, key=lambda name: (-errors[name], name))[:most], key=lambda name: (family[name], name))
    index = {name: position for position, name in enumerate(shown)}
    counts = np.zeros((len(shown), len(shown) + 1), np.intp)
    for (species, answer), count in pairs.items():
        if species in index and answer is not None:
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


def make_count_table(truth: GroundTruth) -> Table:
    """Count what was scored, by acquisition type."""
    groups = select_types(truth)
    if len(groups) > 1:
        groups[ALL] = np.arange(len(truth))
    columns = {"species": truth.species, "plants": truth.unit, "authors": truth.author}
    rows: list[list[Cell]] = [
        [name, len(indices), *(len({column[index] for index in indices}) for column in columns.values())]
        for name, indices in groups.items()
    ]
    return Table("Pictures by acquisition type", ["type", "pictures", *columns], rows)


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


def make_picture_table(truth: GroundTruth, answers: Mapping[str, Sequence[Sequence[tuple[str, float]]]]) -> Table:
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
