"""What a report says about a run besides its scores: first answers and confusions, in tables too."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from leafid.metrics.averages import average_by_group, top_k_scores
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
    #: What share of the species' pictures they are.
    share: float


def find_rankings(run: Run, truth: GroundTruth, most: int) -> list[Ranking]:
    """Find the first answers to each picture of the ground truth, in its order."""
    rankings: list[Ranking] = [[] for _ in truth.pictures]
    known, picture, _ = truth.locate(run)
    for row in np.flatnonzero(known.rank <= most):
        rankings[picture[row]].append((known.species[known.species_index[row]], float(known.score[row])))
    return rankings


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
            tuple(name for _, name in sorted(pictures, key=itemgetter(0))),
            len(pictures) / truth.species.count(species),
        )
        for (species, predicted), pictures in wrong.items()
    ]
    return sorted(confusions, key=lambda c: (-len(c.pictures), -c.share, c.species, c.predicted))


def count_answers(
    rankings: Sequence[Ranking], truth: GroundTruth, confusions: Sequence[Confusion], most: int
) -> tuple[list[str], NDArray[np.intp]]:
    """Count the first answers of each species, or of the `most` species that are confused most often.

    Return the species, sorted, and the pictures of each by their first answer, (n, n + 1); the last column is of all
    other answers.
    """
    errors: Counter[str] = Counter()
    for confusion in confusions:
        errors.update(dict.fromkeys((confusion.species, confusion.predicted), len(confusion.pictures)))
    shown = sorted(sorted(set(truth.species), key=lambda name: (-errors[name], name))[:most])
    index = {name: position for position, name in enumerate(shown)}
    counts = np.zeros((len(shown), len(shown) + 1), np.intp)
    for ranking, species in zip(rankings, truth.species, strict=True):
        if ranking and species in index:
            counts[index[species], index.get(ranking[0][0], -1)] += 1
    return shown, counts


def make_run_species_table(run: JudgedRun, confusions: Sequence[Confusion], truth: GroundTruth) -> Table:
    """Tabulate a run's scores on every species, the best first; a picture that the run lacks counts as wrong."""
    family = dict(zip(truth.species, truth.family, strict=True))
    # The most frequent confusion of a species comes first.
    worst = {confusion.species: confusion.predicted for confusion in reversed(confusions)}
    names, labels = truth.encode("species")
    shares = [average_by_group(top_k_scores(run.rank, k), labels).tolist() for k in (1, 5)]
    columns = zip(names, np.bincount(labels).tolist(), *shares, strict=True)
    scores = sorted(columns, key=lambda row: (-row[2], -row[3], row[0]))
    rows: list[list[Cell]] = [[name, family[name], *numbers, worst.get(name)] for name, *numbers in scores]
    headings = ["species", "family", "pictures", "top-1", "top-5", "most often taken for"]
    return Table(f"Species of {run.name}", headings, rows)


def make_confusion_table(run: str, confusions: Sequence[Confusion]) -> Table:
    """Tabulate which species a run took for which."""
    rows: list[list[Cell]] = [[c.species, c.predicted, len(c.pictures), c.share] for c in confusions]
    return Table(f"Confusions of {run}", ["species", "taken for", "pictures", "share of the species"], rows)


def make_picture_table(truth: GroundTruth, answers: Mapping[str, Sequence[Ranking]]) -> Table:
    """Tabulate the first answer of each run, with its score, for every picture."""
    columns = [f"{name}: {column}" for name in answers for column in ("answer", "score")]
    pictures = zip(truth.pictures, truth.type, truth.species, strict=True)
    rows: list[list[Cell]] = [
        [*picture, *chain.from_iterable(run[index][0] if run[index] else (None, None) for run in answers.values())]
        for index, picture in enumerate(pictures)
    ]
    return Table("Pictures", ["picture", "type", "species", *columns], rows)
