"""What cross-validation answers, as runs that are scored like any system's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from leafid.grouping import count_noun, group_by
from leafid.scoring.judging import JudgedRun, judge_run
from leafid.scoring.reading.run_formats import split_scores
from leafid.scoring.reading.runs import Run, make_run
from leafid.scoring.reading.truth import GroundTruth, make_ground_truth
from leafid.scoring.score_table import (
    ScoredGroup,
    ScoreOptions,
    make_groups,
    make_score_table,
)
from leafid.scoring.tables import Table
from leafid.studies.cross_validation import FoldAnswers
from leafid.textfiles import LineProblems


def make_held_out_truth(
    folds: Iterable[FoldAnswers],
) -> tuple[GroundTruth, dict[Path, str]]:
    """Make the ground truth of the pictures that are answered.

    With it comes what runs call each picture, by its file: the names of pictures need
    not differ in a collection.
    """
    pictures = {
        picture.file: picture for fold in folds for picture in fold.held_out.pictures
    }
    names = {file: picture.name for file, picture in pictures.items()}
    if len({*names.values()}) < len(names):
        for number, (file, picture) in enumerate(pictures.items()):
            names[file] = f"{number}.jpg"
            pictures[file] = replace(picture, file=Path(names[file]))
    return make_ground_truth(pictures.values()), names


def make_held_out_run(
    name: str, folds: Sequence[FoldAnswers], names: Mapping[Path, str]
) -> Run:
    """Make a run of the answers of one seed's folds, to pictures of any type."""
    answers = [fold.held_out for fold in folds]
    species = sorted({name for fold in answers for name in fold.species})
    pictures = [names[picture.file] for fold in answers for picture in fold.pictures]
    scores = np.zeros((len(pictures), len(species)))
    end = 0
    for fold in answers:
        start, end = end, end + len(fold.pictures)
        columns = np.searchsorted(species, fold.species)
        scores[start:end, columns] = fold.probabilities
    with LineProblems(name) as problems:
        return make_run(name, split_scores(scores, pictures, species), problems)


def judge_folds(
    name: str,
    folds: Sequence[FoldAnswers],
    truth: GroundTruth,
    names: Mapping[Path, str],
) -> list[JudgedRun]:
    """Judge answers, by seed.

    Only pictures count whose species has another plant in the fold's training.
    """
    runs = []
    for of_seed in group_by(folds, lambda fold: fold.seed).values():
        judged = judge_run(make_held_out_run(name, of_seed, names), truth)
        known = [
            names[picture.file]
            for fold in of_seed
            for picture in fold.held_out.select_known().pictures
        ]
        runs.append(replace(judged, is_known=np.isin(truth.pictures, known)))
    return runs


def make_cross_validation_table(
    name: str, answers: Sequence[FoldAnswers], options: ScoreOptions
) -> Table:
    """Tabulate the scores of a recipe, or of each setting in the order of the splits.

    Scores are means over the seeds.
    """
    truth, names = make_held_out_truth(answers)
    settings = group_by(answers, lambda fold: fold.setting or name)
    runs = [
        judge_folds(setting, folds, truth, names) for setting, folds in settings.items()
    ]
    groups = [
        *_group_by_collection(answers, truth, names, runs),
        *make_groups(truth, runs),
    ]
    table = make_score_table("Held-out scores", "type", groups, options)
    return add_held_out_notes(table, len(runs[0]))


def _group_by_collection(
    answers: Sequence[FoldAnswers],
    truth: GroundTruth,
    names: Mapping[Path, str],
    runs: Sequence[Sequence[JudgedRun]],
) -> list[ScoredGroup]:
    """Make a group of each type of each collection, if there are several."""
    titles = {}
    for fold in answers:
        for picture in fold.held_out.pictures:
            titles[names[picture.file]] = f"{picture.collection}: {picture.type}"
    if len({title.rpartition(":")[0] for title in titles.values()}) < 2:
        return []
    indices = group_by(range(len(truth)), lambda row: titles[truth.pictures[row]])
    groups = []
    for title, members in sorted(indices.items()):
        rows = np.array(members)
        scored = []
        for run in runs:
            scored.append([repeat.select(rows) for repeat in run])
        groups.append(ScoredGroup(title, scored, len(runs[0])))
    return groups


def add_held_out_notes(table: Table, n_repeats: int) -> Table:
    """Add what the scores of cross-validation are."""
    seeds = (
        f"means over {count_noun(n_repeats, 'seed')}; left out: no training picture of "
        "the species"
    )
    scope = "intervals and tests are of these trained models on these folds"
    return replace(table, notes=[*table.notes, seeds, scope])
