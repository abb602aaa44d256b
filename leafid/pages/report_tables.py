"""The tables of the report; `leafid.report.scores` has those that it shares with the evaluator."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from leafid.learning.averages import average_by_group, top_k_scores
from leafid.pages.plots import Curve
from leafid.pages.run_facts import Confusion, ReliabilityCurve
from leafid.pictures.picture import Picture
from leafid.pictures.statistics import gini_index, lorenz_curve
from leafid.scoring.plant_task import ALL, JudgedRun, select_types
from leafid.scoring.tables import Cell, Table
from leafid.scoring.truth import GroundTruth


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


def make_rank_table(curves: Mapping[str, Sequence[float]]) -> Table:
    """Tabulate the share of pictures with the correct species among the first k."""
    rows: list[list[Cell]] = [[k, *values] for k, values in enumerate(zip(*curves.values(), strict=True), 1)]
    return Table("Correct species among the first k", ["k", *curves], rows)


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


def count_training_pictures(pictures: Sequence[Picture]) -> dict[str, int]:
    """Count the training pictures of each species; empty where the collection has no training part."""
    return dict(Counter(picture.species for picture in pictures if picture.species and picture.part == "train"))


def make_lorenz_curves(truth: GroundTruth, pictures: Sequence[Picture]) -> dict[str, Curve]:
    """Make the Lorenz curves of the pictures over the species, of those that are scored and of each part."""
    counts = {"scored": Counter(truth.species)}
    for picture in pictures:
        if picture.part and picture.species:
            counts.setdefault(picture.part, Counter())[picture.species] += 1
    return {
        f"{name}, Gini {gini_index([*count.values()]):.2f}": lorenz_curve([*count.values()])
        for name, count in counts.items()
        # The part that is scored isn't drawn twice.
        if name == "scored" or count != counts["scored"]
    }
