"""Tables of the held-out answers of a cross-validation, and runs of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tabulate import tabulate

from leafid.errors import LeafidError
from leafid.grouping import group_by
from leafid.model.answer import rank_species
from leafid.model.validation import FoldAnswers
from leafid.scoring import calibration
from leafid.scoring.calibration import FirstSpecies
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.tables import Cell, Table

#: Titles of the scores of `leafid.learning.held_out.held_out_scores`.
SCORE_TITLES = {"S": "S", "top1": "top-1", "top5": "top-5", "per_plant": "per-plant"}


def make_score_table(scores: Mapping[str, Mapping[str, Any]]) -> Table:
    """Tabulate `cross_validated_scores` by the name of the group."""
    pairs = [(title, f"{title} sd") for title in SCORE_TITLES.values()]
    rows: list[list[Cell]] = []
    for name, own in scores.items():
        found = [own.get(key, {"mean": None, "fold_sd": None}) for key in SCORE_TITLES]
        rows.append([name, *(score[key] for score in found for key in ("mean", "fold_sd")), *_count_pictures(own)])
    columns = ["type", *(title for pair in pairs for title in pair), "pictures", "left out"]
    notes = ["means over seeds; sd: standard deviation over all folds", "left out: no training picture of the species"]
    return Table("Held-out scores", columns, rows, notes)


def format_scores(scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Format the same scores for a terminal, as "mean ± standard deviation over folds", or "-" without one."""
    rows = []
    for name, own in scores.items():
        found = [own.get(key) for key in SCORE_TITLES]
        cells = [f"{score['mean']:.3f} ± {score['fold_sd']:.3f}" if score else "-" for score in found]
        rows.append([name, *cells, *_count_pictures(own)])
    titles = ["type", *SCORE_TITLES.values(), "pictures", "left out"]
    alignment = ("left", *["right"] * (len(titles) - 1))
    return tabulate(rows, titles, "plain", colalign=alignment, disable_numparse=True)


def _count_pictures(scores: Mapping[str, Any]) -> list[int]:
    """Count the pictures that are scored and those that are left out, by the mean over the seeds."""
    counts = [(repeat["pictures"], repeat["unseen"]) for repeat in scores["repeats"]]
    return np.mean(counts or [(0, 0)], axis=0).round().astype(int).tolist()


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
    """Collect the rankings of all pictures, of every type, by the name of their setting and seed."""
    runs: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for own in answers:
        run = runs.setdefault(f"{own.setting.replace(' ', '-')}-seed-{own.seed}".lstrip("-"), {})
        for picture, row in zip(own.held_out.pictures, own.held_out.probabilities, strict=True):
            if picture.name in run:
                raise LeafidError(f"{picture.file}: expected picture names that differ, found {picture.name} twice")
            run[picture.name] = rank_species(row, own.held_out.species)
    return runs
