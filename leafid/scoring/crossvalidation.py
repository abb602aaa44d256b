"""Tables of the held-out answers of a cross-validation, and runs of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tabulate import tabulate

from leafid.errors import ProblemsError
from leafid.grouping import group_by
from leafid.model.answer import rank_species
from leafid.model.validation import FoldAnswers
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


def make_reliability_table(answers: Sequence[FoldAnswers]) -> Table:
    """Tabulate how reliable probabilities are, by type."""
    named = {}
    for type_, of_type in group_by(answers, lambda own: str(own.type)).items():
        known = [own.held_out.select_known() for own in of_type]
        confidence = np.concatenate([own.probabilities.max(axis=1) for own in known])
        is_correct = np.concatenate([own.probabilities.argmax(axis=1) == own.labels for own in known])
        units = [picture.group for own in known for picture in own.pictures]
        named[type_] = FirstSpecies(confidence, is_correct, units)
    return calibration.make_reliability_table(named, Bootstrap())


def collect_runs(answers: Sequence[FoldAnswers]) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Collect the rankings of all pictures, of every type, by the name of their setting and seed.

    A `ProblemsError` is raised when two pictures have one name, or a run file can't hold it.
    """
    runs: dict[str, dict[str, list[tuple[str, float]]]] = {}
    problems = []
    for own in answers:
        name = f"{own.setting.replace(' ', '-')}-seed-{own.seed}".lstrip("-")
        run = runs.setdefault(name, {})
        for picture, row in zip(own.held_out.pictures, own.held_out.probabilities, strict=True):
            if picture.name in run:
                problems.append(f"{picture.file}: expected picture names that differ, found {picture.name} twice")
            if problem := find_name_problem(picture.name):
                problems.append(f"{picture.file}: {problem}; rename the file")
            run[picture.name] = rank_species(row, own.held_out.species)
    if problems:
        raise ProblemsError(dict.fromkeys(problems))
    return runs
