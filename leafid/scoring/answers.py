"""What runs answer to single pictures: scores, confusions, and where runs differ."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from leafid.errors import UsageError
from leafid.metrics.averages import Booleans
from leafid.scoring.judging import JudgedRun
from leafid.scoring.reading.truth import GroundTruth
from leafid.scoring.score_table import ScoreOptions
from leafid.scoring.tables import Cell, Rows, Table

#: What `Confusion.list_cells` lists. The names of the pictures are for CSV and JSON.
CONFUSION_COLUMNS = (
    "species",
    "taken for",
    "pictures",
    "share of the species",
    "picture names",
)
CONFUSION_DETAILS = frozenset({"picture names"})


@dataclass(frozen=True)
class Confusion:
    """A species that was taken for another."""

    species: str
    predicted: str
    #: The pictures, the most confident predictions first.
    pictures: tuple[str, ...]
    #: What share of the species' pictures they are.
    share: float

    def list_cells(self) -> list[Cell]:
        """List the cells of its row, with the names of its pictures in one cell."""
        pictures = self.pictures
        names = " ".join(pictures)
        return [self.species, self.predicted, len(pictures), self.share, names]


def find_confusions(run: JudgedRun, truth: GroundTruth) -> list[Confusion]:
    """List which species were taken for which.

    They are sorted by number of pictures, share of the species, and name.
    """
    wrong = np.flatnonzero(run.covered & (run.rank != 1))
    wrong = wrong[np.argsort(-run.first_score[wrong], kind="stable")]
    n_pictures = Counter(truth.species)
    pictures = defaultdict(list)
    for index in wrong.tolist():
        pair = (truth.species[index], run.answer[index])
        pictures[pair].append(truth.pictures[index])
    confusions = []
    for (species, predicted), names in pictures.items():
        share = len(names) / n_pictures[species]
        confusions.append(Confusion(species, predicted, tuple(names), share))
    return sorted(
        confusions, key=lambda c: (-len(c.pictures), -c.share, c.species, c.predicted)
    )


def make_confusion_table(truth: GroundTruth, runs: Sequence[JudgedRun]) -> Table:
    """Tabulate which species runs take for which, with the names of the pictures.

    Pictures of unknown species don't count.
    """
    known_truth = truth.select_known()
    rows: Rows = []
    for run in runs:
        for confusion in find_confusions(run.select(run.is_known), known_truth):
            rows.append([run.title, *confusion.list_cells()])
    columns = ["run", *CONFUSION_COLUMNS]
    return Table("Confusions", columns, rows, details=CONFUSION_DETAILS)


def make_picture_score_table(
    truth: GroundTruth, runs: Sequence[JudgedRun], options: ScoreOptions
) -> Table:
    """Tabulate the scores of each picture by each metric that is a mean over pictures.

    Only pictures of known species have scores. A `UsageError` is raised where a metric
    is no such mean.
    """
    rows: Rows = []
    for run in runs:
        columns = [truth.pictures, truth.type, truth.species, run.answer, run.rank]
        for metric in options.metrics:
            metric.check_scores(run)
            if metric.score_pictures is None:
                raise UsageError(
                    f"expected metrics that score single pictures, found {metric.name}"
                )
            columns.append(metric.score_pictures(run).astype(np.float64))
        cells = [column[run.is_known].tolist() for column in columns]
        rows += [[run.title, *row] for row in zip(*cells, strict=True)]
    headings = ["run", "picture", "type", "species", "answer", "rank"]
    headings += [metric.name for metric in options.metrics]
    return Table("Scores of pictures", headings, rows, n_keys=2)


def make_answer_table(truth: GroundTruth, runs: Sequence[JudgedRun]) -> Table:
    """Tabulate the first answer of each run, with its score, for every picture."""
    columns = ["picture", "type", "species"]
    cells = [truth.pictures, truth.type, truth.species]
    for run in runs:
        columns += [f"{run.name}: answer", f"{run.name}: score"]
        scores = run.first_score.astype(object)
        scores[~run.covered] = None
        cells += [run.answer, scores]
    return Table("Pictures", columns, [*map(list, zip(*cells, strict=True))])


def find_differing(runs: Sequence[JudgedRun]) -> Booleans:
    """Find the pictures to which runs have different first answers: bool (n,).

    Where only some runs have a picture, they differ.
    """
    return np.any([run.answer != runs[0].answer for run in runs], axis=0)


def make_agreement_table(runs: Sequence[JudgedRun]) -> Table:
    """Tabulate on how many pictures each two runs agree, and which one is correct.

    An answer that a run lacks is wrong.
    """
    rows: Rows = []
    for a, b in combinations(runs, 2):
        is_same = a.answer == b.answer
        # Each picture is of one kind, in the order of the columns.
        kind = np.select(
            [(a.rank == 1) & is_same, a.rank == 1, b.rank == 1, is_same], range(4), 4
        )
        rows.append([a.title, b.title, *np.bincount(kind, minlength=5).tolist()])
    columns = [
        *("run A", "run B", "both correct", "only A correct", "only B correct"),
        *("same wrong answer", "different wrong answers"),
    ]
    return Table("Agreement", columns, rows)
