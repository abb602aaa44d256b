"""The HTML report: one page that needs no other file and no network."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leafid.errors import ImageError
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.grouping import group_by
from leafid.metrics.averages import average_by_group, top_k_scores
from leafid.pages import plots
from leafid.pages.rendering import render_page
from leafid.parallel.mapping import N_FEW_READ, ordered_map
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import Picture
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import OPEN_WORLD_METRICS
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import ALL, GroundTruth
from leafid.scoring.score_table import (
    MEAN_OF_TYPES,
    ScoreOptions,
    make_comparison_table,
    make_group_table,
    make_groups,
    make_metric_table,
)
from leafid.scoring.tables import Cell, Estimate, Table
from leafid.segmentation.segment import draw_overlay

# Maximum number of confusions with pictures, of species in a confusion matrix, and of pictures in the list of all: the
# page stays at a few megabytes.
CONFUSIONS_SHOWN = 12
MATRIX_SIZE = 30
PICTURES_SHOWN = 1500
# Number of answers shown of each picture, and maximum numbers of thumbnails of one confusion.
_TOP, _WRONG_SHOWN, _EXAMPLES_SHOWN = 5, 3, 2
# Longest side of a thumbnail, in pixels.
SIDE = 136

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


def make_report(
    full_truth: GroundTruth,
    runs: Sequence[Run],
    all_judged: Sequence[JudgedRun],
    pictures: Sequence[Picture],
    *,
    source: str,
    options: ScoreOptions,
    jobs: int,
) -> tuple[str, dict[str, Table], dict[str, str]]:
    """Make the report on runs, one or several with names that differ: the page, its tables and confusion plots by name.

    `all_judged` are their answers to all pictures, also of unknown species. The page may show `pictures`, without those
    that can't be read; `source` is what it calls the ground truth.
    """
    truth = full_truth.select_known()
    n_unknown = len(full_truth) - len(truth)
    rankings = {run.name: find_rankings(run, truth, _TOP) for run in runs}
    tables = {"scores": make_group_table(full_truth, all_judged, options)}
    if len(runs) > 1:
        groups = make_groups(full_truth, [[run] for run in all_judged])
        tables["comparison"] = make_comparison_table("type", groups, options)
    if n_unknown:
        tables["open-world"] = make_metric_table(
            "Open world", OPEN_WORLD_METRICS, full_truth, all_judged, options
        )
    tables["pictures"] = make_picture_table(truth, rankings)
    drawings: dict[str, str] = {}
    details = [
        _describe_run(run.select(run.is_known), rankings[run.name], truth, pictures)
        for run in all_judged
    ]
    for run in details:
        suffix = f"-{PurePath(run['name']).stem}" if len(runs) > 1 else ""
        tables |= {
            f"{kind}{suffix}": run[kind] for kind in ("species", "confusions", "matrix")
        }
        drawings[f"matrix{suffix}"] = run["matrix_svg"]

    def count_correct(index: int) -> int:
        return sum(
            name == truth.species[index]
            for run in rankings.values()
            for name, _ in run[index][:1]
        )

    # Those pictures come first that the most runs answer wrongly.
    shown = sorted(range(len(truth)), key=count_correct)[:PICTURES_SHOWN]
    names = [truth.pictures[index] for index in shown]
    names += [
        name
        for run in details
        for confusion in run["shown"]
        for name in confusion["names"]
    ]
    page = render_page(
        "report.html",
        source=source,
        truth=truth,
        n_unknown=n_unknown,
        rankings=rankings,
        tables=tables,
        metrics=options.metrics,
        scores_plot=_plot_scores(tables["scores"]),
        details=details,
        shown=shown,
        images=_make_thumbnails(names, pictures, jobs),
    )
    return page, tables, drawings


def _describe_run(
    run: JudgedRun,
    rankings: Sequence[Ranking],
    truth: GroundTruth,
    pictures: Sequence[Picture],
) -> dict[str, Any]:
    confusions = find_confusions(rankings, truth)
    columns = ["species", "taken for", "pictures", "share of the species"]
    rows: list[list[Cell]] = [
        [c.species, c.predicted, len(c.pictures), c.share] for c in confusions
    ]
    names, counts = count_answers(rankings, truth, confusions, MATRIX_SIZE)
    image, svg = plots.draw_confusion_matrix(names, counts, run.name)
    all_names, matrix = count_answers(rankings, truth, confusions, len(truth))
    return {
        "name": run.name,
        "species": make_run_species_table(run, confusions, truth),
        "confusions": Table(f"Confusions of {run.name}", columns, rows),
        "matrix": Table(
            f"Confusion matrix of {run.name}",
            ["species", *all_names, "other species"],
            [
                [name, *row]
                for name, row in zip(all_names, matrix.tolist(), strict=True)
            ],
        ),
        "matrix_image": image,
        "matrix_svg": svg,
        "n_left_out": len(set(truth.species)) - len(names),
        "shown": [
            _illustrate(confusion, pictures)
            for confusion in confusions[:CONFUSIONS_SHOWN]
        ],
        "n_wrong": sum(len(confusion.pictures) for confusion in confusions),
        "missing": [
            name
            for name, covered in zip(truth.pictures, run.covered, strict=True)
            if not covered
        ],
    }


def _illustrate(confusion: Confusion, pictures: Sequence[Picture]) -> dict[str, Any]:
    """Choose the pictures of a confusion: those that were confused, and others of both species, of training first."""
    type_ = next(
        (picture.type for picture in pictures if picture.name == confusion.pictures[0]),
        None,
    )
    candidates = [
        picture for picture in pictures if picture.name not in confusion.pictures
    ]
    examples = group_by(
        sorted(
            candidates,
            key=lambda picture: (picture.type != type_, picture.part != "train"),
        ),
        lambda picture: picture.species,
    )
    confused = list(confusion.pictures[:_WRONG_SHOWN])
    same, predicted = (
        list(dict.fromkeys(picture.name for picture in examples.get(species, ())))[
            :_EXAMPLES_SHOWN
        ]
        for species in (confusion.species, confusion.predicted)
    )
    names = [*confused, *same, *predicted]
    return {
        "confusion": confusion,
        "confused": confused,
        "same": same,
        "predicted": predicted,
        "names": names,
    }


def _make_thumbnails(
    names: Sequence[str], pictures: Sequence[Picture], jobs: int
) -> dict[str, bytes]:
    """Make the thumbnails of named pictures, on several processes; those that can't be read are left out."""
    by_name = {picture.name: picture for picture in pictures}
    wanted = [by_name[name] for name in dict.fromkeys(names) if name in by_name]
    images = ordered_map(
        make_thumbnail, wanted, jobs, lambda _picture, _problem: None, N_FEW_READ
    )
    return {
        picture.name: image
        for picture, image in zip(wanted, images, strict=True)
        if image
    }


def make_thumbnail(picture: Picture) -> bytes | None:
    """Make a JPEG of a picture with the outline of its leaf; None where it can't be read."""
    try:
        image = read_image(picture.file, LONGEST_SIDE)
    except ImageError:
        return None
    outlines = {}
    if picture.type is not None:
        outlines = segment_as_type(image, picture.type).outlines
    return encode_jpeg(draw_overlay(image, outlines, SIDE))


def _plot_scores(table: Table) -> str:
    """Plot the first metric, by acquisition type and run."""
    names = list(dict.fromkeys(str(row[0]) for row in table.rows if row[0] != ALL)) or [
        ALL
    ]
    # With a single type, the mean of types would repeat it.
    shown = [name for name in names if len(names) > 2 or name != MEAN_OF_TYPES]
    column = next(
        index for index, cell in enumerate(table.rows[0]) if isinstance(cell, Estimate)
    )
    scores: dict[str, list[tuple[float | None, ...]]] = {}
    for row in table.rows:
        score = row[column]
        if row[0] in shown and isinstance(score, Estimate):
            scores.setdefault(str(row[1]), []).append(
                (score.value, score.low, score.high)
            )
    return plots.draw_points(
        ["mean" if name == MEAN_OF_TYPES else name for name in shown],
        scores,
        table.columns[column],
    )


def find_rankings(run: Run, truth: GroundTruth, most: int) -> list[Ranking]:
    """Find the first answers to each picture of the ground truth, in its order."""
    rankings: list[Ranking] = [[] for _ in truth.pictures]
    known, picture, _ = truth.locate(run)
    for row in np.flatnonzero(known.rank <= most):
        rankings[picture[row]].append(
            (known.species[known.species_index[row]], float(known.score[row]))
        )
    return rankings


def find_confusions(rankings: Sequence[Ranking], truth: GroundTruth) -> list[Confusion]:
    """List which species were taken for which, sorted by number of pictures, share of the species, and name."""
    wrong: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for ranking, species, picture in zip(
        rankings, truth.species, truth.pictures, strict=True
    ):
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
    return sorted(
        confusions, key=lambda c: (-len(c.pictures), -c.share, c.species, c.predicted)
    )


def count_answers(
    rankings: Sequence[Ranking],
    truth: GroundTruth,
    confusions: Sequence[Confusion],
    most: int,
) -> tuple[list[str], NDArray[np.intp]]:
    """Count the first answers of each species, or of the `most` species that are confused most often.

    Return the species, sorted, and the pictures of each by their first answer, (n, n + 1); the last column is of all
    other answers.
    """
    errors: Counter[str] = Counter()
    for confusion in confusions:
        errors.update(
            dict.fromkeys(
                (confusion.species, confusion.predicted), len(confusion.pictures)
            )
        )
    shown = sorted(
        sorted(set(truth.species), key=lambda name: (-errors[name], name))[:most]
    )
    index = {name: position for position, name in enumerate(shown)}
    counts = np.zeros((len(shown), len(shown) + 1), np.intp)
    for ranking, species in zip(rankings, truth.species, strict=True):
        if ranking and species in index:
            counts[index[species], index.get(ranking[0][0], -1)] += 1
    return shown, counts


def make_run_species_table(
    run: JudgedRun, confusions: Sequence[Confusion], truth: GroundTruth
) -> Table:
    """Tabulate a run's scores on every species, the best first; a picture that the run lacks counts as wrong."""
    family = dict(zip(truth.species, truth.family, strict=True))
    # The most frequent confusion of a species comes first.
    worst = {
        confusion.species: confusion.predicted for confusion in reversed(confusions)
    }
    names, labels = truth.to_indices("species")
    shares = [
        average_by_group(top_k_scores(run.rank, k), labels).tolist() for k in (1, 5)
    ]
    columns = zip(names, np.bincount(labels).tolist(), *shares, strict=True)
    scores = sorted(columns, key=lambda row: (-row[2], -row[3], row[0]))
    rows: list[list[Cell]] = [
        [name, family[name], *numbers, worst.get(name)] for name, *numbers in scores
    ]
    headings = [
        "species",
        "family",
        "pictures",
        "top-1",
        "top-5",
        "most often taken for",
    ]
    return Table(f"Species of {run.name}", headings, rows)


def make_picture_table(
    truth: GroundTruth, answers: Mapping[str, Sequence[Ranking]]
) -> Table:
    """Tabulate the first answer of each run, with its score, for every picture."""
    columns = [
        f"{name}: {column}" for name in answers for column in ("answer", "score")
    ]
    pictures = zip(truth.pictures, truth.type, truth.species, strict=True)
    rows: list[list[Cell]] = [
        [
            *picture,
            *chain.from_iterable(
                run[index][0] if run[index] else (None, None)
                for run in answers.values()
            ),
        ]
        for index, picture in enumerate(pictures)
    ]
    return Table("Pictures", ["picture", "type", "species", *columns], rows)
