"""Tables of held-out answers: scores of each group of them, of each species, and confusions; and runs of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from tabulate import tabulate

from leafid.errors import ProblemsError
from leafid.grouping import group_by
from leafid.learning.held_out import rank_labels
from leafid.model.answer import rank_species
from leafid.model.crossvalidation import FoldAnswers
from leafid.pictures.picture import Picture
from leafid.scoring import calibration, plants
from leafid.scoring.calibration import FirstSpecies
from leafid.scoring.plants import PlantPictures, collect_plants
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.runs import find_name_problem
from leafid.scoring.tables import Cell, Table

#: Titles of the scores of `leafid.learning.held_out.held_out_scores`.
SCORE_TITLES = {"S": "S", "top1": "top-1", "top5": "top-5", "per_plant": "per-plant"}


def make_score_table(scores: Mapping[str, Mapping[str, Any]]) -> Table:
    """Tabulate `cross_validated_scores` by the name of the group."""
    columns = [
        "type",
        *(name for title in SCORE_TITLES.values() for name in (title, f"{title} sd")),
        "pictures",
        "left out",
    ]
    rows: list[list[Cell]] = []
    for name, own in scores.items():
        found = [own.get(key, {"mean": None, "fold_sd": None}) for key in SCORE_TITLES]
        cells = [cell for score in found for cell in (score["mean"], score["fold_sd"])]
        rows.append([name, *cells, *_count_pictures(own)])
    notes = ["means over seeds; sd: standard deviation over all folds", "left out: no training picture of the species"]
    return Table("Held-out scores", columns, rows, notes)


def format_scores(scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Format the same scores for a terminal, as "mean ± standard deviation"."""
    rows = [[name, *format_score_cells(own), *_count_pictures(own)] for name, own in scores.items()]
    titles = ["type", *SCORE_TITLES.values(), "pictures", "left out"]
    alignment = ("left", *["right"] * (len(titles) - 1))
    return tabulate(rows, titles, "plain", colalign=alignment, disable_numparse=True)


def format_score_cells(scores: Mapping[str, Any]) -> list[str]:
    """Format each score of `cross_validated_scores` as "mean ± standard deviation over folds", or "-" without one."""
    return [
        f"{scores[key]['mean']:.3f} ± {scores[key]['fold_sd']:.3f}" if key in scores else "-" for key in SCORE_TITLES
    ]


def _count_pictures(scores: Mapping[str, Any]) -> list[int]:
    """Count the pictures that are scored and those that are left out, by the mean over the seeds."""
    counts = [(repeat["pictures"], repeat["unseen"]) for repeat in scores["repeats"]]
    return np.mean(counts or [(0, 0)], axis=0).round().astype(int).tolist()


def make_species_table(groups: Mapping[str, Sequence[FoldAnswers]]) -> Table:
    """Tabulate the accuracy on each species, over all seeds, and what it is taken for most often."""
    rows: list[list[Cell]] = []
    for name, answers in groups.items():
        ranks: dict[str, list[int]] = {}
        taken: dict[str, Counter[str]] = {}
        for species, predicted, rank in _list_answers(answers):
            ranks.setdefault(species, []).append(rank)
            taken.setdefault(species, Counter()).update([predicted] if predicted != species else [])
        n_seeds = len({own.seed for own in answers})
        for species, found in sorted(ranks.items()):
            shares = [sum(0 < rank <= k for rank in found) / len(found) for k in (1, 5)]
            most = next((other for other, _ in taken[species].most_common(1)), None)
            rows.append([name, species, len(found) // n_seeds, *shares, most])
    return Table("Scores by species", ["type", "species", "pictures", "top-1", "top-5", "taken for"], rows)


def make_confusion_table(groups: Mapping[str, Sequence[FoldAnswers]]) -> Table:
    """Tabulate which species are taken for which, over all seeds, the most frequent first."""
    rows: list[list[Cell]] = []
    for name, answers in groups.items():
        pairs = list(_list_answers(answers))
        totals = Counter(species for species, _, _ in pairs)
        confused = Counter((species, predicted) for species, predicted, _ in pairs if species != predicted)
        rows += [[name, *pair, count, count / totals[pair[0]]] for pair, count in confused.most_common()]
    return Table("Confusions", ["type", "species", "taken for", "answers", "share of the species"], rows)


def make_plant_table(answers: Sequence[FoldAnswers]) -> Table:
    """Tabulate the scores of plants of all folds and seeds, identified from several pictures of a type."""
    groups: dict[str, list[PlantPictures]] = {}
    for own in answers:
        known = own.held_out.select_known()
        authors = [picture.author or "" for picture in known.pictures]
        names = [picture.group for picture in known.pictures]
        types = [str(own.type)] * len(names)
        found = collect_plants(known.probabilities, known.labels, types, authors, names, own.plant_exponent)
        for name, of_type in found.items():
            groups.setdefault(name, []).extend(of_type)
    return plants.make_plant_table(groups)


def make_reliability_table(answers: Sequence[FoldAnswers], pictures: Sequence[Picture]) -> Table:
    """Tabulate how reliable probabilities are, by type, and of those the species with one training plant."""
    plants_of = group_by({(str(picture.species), picture.group) for picture in pictures}, lambda pair: pair[0])
    tested: dict[tuple[int, int], set[str]] = {}
    for own in answers:
        tested.setdefault((own.seed, own.fold), set()).update(picture.group for picture in own.held_out.pictures)
    groups: dict[str, list[tuple[float, bool, str]]] = {}
    for own in answers:
        known = own.held_out.select_known()
        confidence, best = known.probabilities.max(axis=1).tolist(), known.probabilities.argmax(axis=1)
        for picture, value, column, label in zip(known.pictures, confidence, best, known.labels, strict=True):
            row = value, bool(column == label), picture.group
            groups.setdefault(str(own.type), []).append(row)
            trained = {plant for _, plant in plants_of[known.species[column]]} - tested[own.seed, own.fold]
            if len(trained) == 1:
                groups.setdefault(f"{own.type}, named by one plant", []).append(row)
    named = {}
    for name, rows in groups.items():
        values, is_correct, units = zip(*rows, strict=True)
        named[name] = FirstSpecies(np.array(values), np.array(is_correct), units)
    return calibration.make_reliability_table(named, Bootstrap())


def _list_answers(answers: Sequence[FoldAnswers]) -> Iterator[tuple[str, str, int]]:
    """Yield the species of each picture, the first answer, and the rank of the species, 0 if it is not known."""
    for own in answers:
        firsts = own.held_out.probabilities.argmax(axis=1).tolist()
        for picture, first, rank in zip(own.held_out.pictures, firsts, rank_labels(own.held_out).tolist(), strict=True):
            yield str(picture.species), own.held_out.species[first], rank


def collect_runs(answers: Sequence[FoldAnswers]) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Collect the rankings of all pictures, of every type, by the name of their setting and seed.

    A `ProblemsError` is raised when two pictures have one name, or a run file can't hold it.
    """
    runs: dict[str, dict[str, list[tuple[str, float]]]] = {}
    problems: dict[str, None] = {}
    for own in answers:
        name = f"{own.setting.replace(' ', '-')}-seed-{own.seed}".lstrip("-")
        run = runs.setdefault(name, {})
        for picture, row in zip(own.held_out.pictures, own.held_out.probabilities, strict=True):
            if picture.name in run:
                problems[f"{picture.file}: expected picture names that differ, found {picture.name} twice"] = None
            if problem := find_name_problem(picture.name):
                problems[f"{picture.file}: {problem}; rename the file"] = None
            run[picture.name] = rank_species(row, own.held_out.species)
    if problems:
        raise ProblemsError(problems)
    return runs
