"""What cross-validation answers, as runs that are scored like those of any system."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from leafid.grouping import count_noun, group_by
from leafid.pictures.picture import Picture
from leafid.scoring.judging import JudgedRun, judge_run
from leafid.scoring.reading.runs import Run, make_run
from leafid.scoring.reading.truth import make_ground_truth
from leafid.scoring.score_table import ScoreOptions, make_groups, make_score_table
from leafid.scoring.tables import Table
from leafid.studies.cross_validation import FoldAnswers


class HeldOutTruth:
    """The ground truth of the pictures that are answered, whose names need not differ in a collection."""

    def __init__(self, pictures: Sequence[Picture]) -> None:
        distinct = {picture.file: picture for picture in pictures}
        names = [picture.name for picture in distinct.values()]
        is_unique = len(set(names)) == len(names)
        #: What runs call each picture, by its file.
        self.names = {
            file: picture.name if is_unique else f"{number}.jpg"
            for number, (file, picture) in enumerate(distinct.items())
        }
        renamed = [
            replace(picture, file=Path(self.names[file]))
            for file, picture in distinct.items()
        ]
        self.truth = make_ground_truth(renamed if not is_unique else distinct.values())


def make_held_out_run(
    name: str, folds: Sequence[FoldAnswers], names: Mapping[Path, str]
) -> Run:
    """Make a run of the answers of one seed's folds, to pictures of any type."""
    species = sorted({name for fold in folds for name in fold.held_out.species})
    pictures = [
        names[picture.file] for fold in folds for picture in fold.held_out.pictures
    ]
    blocks = []
    for fold in folds:
        block = np.zeros((len(fold.held_out.pictures), len(species)))
        block[:, np.searchsorted(species, fold.held_out.species)] = (
            fold.held_out.probabilities
        )
        blocks.append(block)
    scores = np.concatenate(blocks)
    rows, columns = np.indices(scores.shape, float)
    table = np.stack([rows, columns, np.zeros_like(scores), scores, rows + 1], axis=-1)
    return make_run(name, pictures, species, table.reshape(-1, 5))


def judge_folds(
    name: str, folds: Sequence[FoldAnswers], truth: HeldOutTruth
) -> list[JudgedRun]:
    """Judge answers, by seed: only those to pictures count whose species has another plant in the fold's training."""
    runs = []
    for of_seed in group_by(folds, lambda fold: fold.seed).values():
        judged = judge_run(make_held_out_run(name, of_seed, truth.names), truth.truth)
        known = {
            truth.names[picture.file]
            for fold in of_seed
            for picture in fold.held_out.select_known().pictures
        }
        runs.append(
            replace(
                judged,
                is_known=np.array(
                    [picture in known for picture in truth.truth.pictures], bool
                ),
            )
        )
    return runs


def make_cross_validation_table(
    name: str, answers: Sequence[FoldAnswers], options: ScoreOptions
) -> Table:
    """Tabulate the scores of a recipe, or of each setting of the splits, means over the seeds."""
    truth = HeldOutTruth(
        [picture for fold in answers for picture in fold.held_out.pictures]
    )
    # A setting begins with its number of training pictures; fewer come first.
    ordered = sorted(
        answers, key=lambda fold: int(fold.setting.split()[0]) if fold.setting else 0
    )
    settings = group_by(ordered, lambda fold: fold.setting or name)
    runs = [judge_folds(setting, folds, truth) for setting, folds in settings.items()]
    table = make_score_table(
        "Held-out scores", "type", make_groups(truth.truth, runs), options
    )
    return add_held_out_notes(table, len(runs[0]))


def add_held_out_notes(table: Table, n_repeats: int) -> Table:
    """Add what the scores of cross-validation are."""
    seeds = f"means over {count_noun(n_repeats, 'seed')}; left out: no training picture of the species"
    scope = "intervals and tests are of these trained models on these folds"
    return replace(table, notes=[*table.notes, seeds, scope])
