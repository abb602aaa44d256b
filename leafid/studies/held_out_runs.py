"""What cross-validation answers, as runs that are scored like any system's."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from leafid.files import open_output, write_text
from leafid.grouping import count_noun, group_by
from leafid.pictures.splitting.fold_files import format_folds
from leafid.pictures.splitting.folds import Folds
from leafid.scoring.judging import JudgedRun, judge_run
from leafid.scoring.reading.run_formats import WRITERS, split_scores
from leafid.scoring.reading.runs import Run, make_run
from leafid.scoring.reading.truth import GroundTruth, make_ground_truth
from leafid.scoring.score_table import ScoreOptions, make_groups, make_score_table
from leafid.scoring.tables import Table, format_csv
from leafid.studies.cross_validation import FoldAnswers
from leafid.textfiles import LineProblems

_log = logging.getLogger(__name__)


def make_held_out_truth(
    folds: Iterable[FoldAnswers],
) -> tuple[GroundTruth, dict[Path, str]]:
    """Make the ground truth of the pictures that are answered.

    Also returns the name that runs have for each picture, by its file: the names of
    pictures in a collection need not differ.
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
        start = end
        end += len(fold.pictures)
        columns = np.searchsorted(species, fold.species)
        scores[start:end, columns] = fold.probabilities
    with LineProblems(name) as problems:
        return make_run(name, split_scores(scores, pictures, species), problems)


def make_held_out_runs(answers: Iterable[FoldAnswers]) -> dict[str, Run]:
    """Make a run of the answers to pictures of all types, for each setting and seed.

    The runs are called after the collection, recipe, setting and seed.
    """
    runs = {}
    by_run = group_by(answers, lambda f: (f.collection, f.recipe, f.setting, f.seed))
    for (*words, seed), folds in by_run.items():
        _, names = make_held_out_truth(folds)
        words = [re.sub(r"\W+", "-", word).strip("-") for word in words if word]
        name = "-".join([*words, f"seed-{seed}"])
        runs[name] = make_held_out_run(name, folds, names)
    return runs


def write_held_out_runs(folder: Path, runs: Mapping[str, Run], folds: Folds) -> None:
    """Write runs and their folds to a folder."""
    for name, run in runs.items():
        file = folder / f"{name}.txt"
        with open_output(file) as stream:
            WRITERS["run"](run, stream)
        _log.info("%s: %s", file, count_noun(len(run.pictures), "picture"))
    # Settings differ in their training pictures, and test on the same pictures.
    tests = {(split.seed, split.fold): split.test for split in folds}
    rows = format_folds(folds.pictures, [(*key, test) for key, test in tests.items()])
    write_text(folder / "folds.csv", format_csv(rows))


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
    for repeat in group_by(folds, lambda fold: fold.seed).values():
        judged = judge_run(make_held_out_run(name, repeat, names), truth)
        known = [
            names[picture.file]
            for fold in repeat
            for picture in fold.held_out.select_known().pictures
        ]
        runs.append(replace(judged, is_known=np.isin(truth.pictures, known)))
    return runs


def make_cross_validation_table(
    name: str, answers: Sequence[FoldAnswers], options: ScoreOptions
) -> Table:
    """Tabulate the scores of a recipe, or of each setting in the order of the splits.

    Scores are means over the seeds. Each type of several collections has a row.
    """
    truth, names = make_held_out_truth(answers)
    settings = group_by(answers, lambda fold: fold.setting or name)
    runs = [
        judge_folds(setting, folds, truth, names) for setting, folds in settings.items()
    ]
    groups = make_groups(truth, runs)
    title_of = {}
    for fold in answers:
        for picture in fold.held_out.pictures:
            title_of[names[picture.file]] = f"{picture.collection}: {picture.type}"
    if len({title.rpartition(":")[0] for title in title_of.values()}) > 1:
        titles = [title_of[name] for name in truth.pictures]
        groups = [*make_groups(truth, runs, "collection", titles), *groups]
    table = make_score_table("Held-out scores", "type", groups, options)
    return add_held_out_notes(table, len(runs[0]))


def add_held_out_notes(table: Table, n_repeats: int) -> Table:
    """Add notes on what the scores of a cross-validation mean."""
    seeds = (
        f"means over {count_noun(n_repeats, 'seed')}; left out: no training picture of "
        "the species"
    )
    scope = "intervals and tests are of these trained models on these folds"
    return replace(table, notes=[*table.notes, seeds, scope])
