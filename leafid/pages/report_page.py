"""The HTML report: one page that needs no other file and no network."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import itemgetter
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leafid.errors import ImageError
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.metrics.averages import average_by_group, to_indices, top_k_scores
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
)
from leafid.scoring.tables import Cell, Estimate, Table
from leafid.segmentation.segment import draw_overlay

# Limits that keep the page at a few megabytes: number of confusions with pictures,
CONFUSIONS_SHOWN = 12
# of species in the drawing of a confusion matrix,
MATRIX_SIZE = 30
# and of pictures in the list of all.
PICTURES_SHOWN = 1500
# Number of answers shown of each picture.
_TOP = 5
# Maximum number of thumbnails of the pictures of a confusion, and of others of each of
# its species.
_WRONG_SHOWN = 3
_EXAMPLES_SHOWN = 2
# Longest side of a thumbnail, in pixels.
SIDE = 136

# Kinds of pictures that illustrate a confusion.
_KINDS = ("confused", "same", "predicted")

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
    """Make the report on runs: the page, and its tables and confusion plots by name.

    The names of several runs differ.

    `all_judged` are their answers to all pictures, also of unknown species. The page
    may show `pictures`, without those that can't be read; `source` is what it calls the
    ground truth.
    """
    truth = full_truth.select_known()
    n_unknown = len(full_truth) - len(truth)
    rankings = {run.name: find_rankings(run, truth, _TOP) for run in runs}
    tables = {"scores": make_group_table(full_truth, all_judged, options)}
    if len(runs) > 1:
        groups = make_groups(full_truth, [[run] for run in all_judged])
        tables["comparison"] = make_comparison_table("type", groups, options)
    if n_unknown:
        tables["open-world"] = make_group_table(
            full_truth,
            all_judged,
            options.with_metrics(OPEN_WORLD_METRICS),
            title="Open world",
        )
    tables["pictures"] = make_picture_table(truth, rankings)
    drawings: dict[str, str] = {}
    details = []
    for judged in all_judged:
        ranking = rankings[judged.name]
        run = _describe_run(judged.select(judged.is_known), ranking, truth, pictures)
        details.append(run)
        suffix = f"-{PurePath(judged.name).stem}" if len(runs) > 1 else ""
        for kind in ("species", "confusions", "matrix"):
            tables[f"{kind}{suffix}"] = run[kind]
        drawings[f"matrix{suffix}"] = run["matrix_svg"]
    # Those pictures come first that the most runs answer wrongly.
    n_correct = np.zeros(len(truth), int)
    for ranking in rankings.values():
        n_correct += np.array(_list_first(ranking)) == truth.species
    shown = np.argsort(n_correct, kind="stable")[:PICTURES_SHOWN].tolist()
    names = [truth.pictures[index] for index in shown]
    for run in details:
        names += chain.from_iterable(
            card[kind] for card in run["shown"] for kind in _KINDS
        )
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
            np.column_stack([np.array(all_names, object), matrix]).tolist(),
        ),
        "matrix_image": image,
        "matrix_svg": svg,
        "n_left_out": len(all_names) - len(names),
        "shown": [
            _illustrate(confusion, pictures)
            for confusion in confusions[:CONFUSIONS_SHOWN]
        ],
        "n_wrong": sum(len(confusion.pictures) for confusion in confusions),
        "missing": list(compress(truth.pictures, ~run.covered)),
    }


def _illustrate(confusion: Confusion, pictures: Sequence[Picture]) -> dict[str, Any]:
    """Choose the pictures of a confusion.

    They are those that were confused, and others of both species, of training first.
    """
    types = {picture.name: picture.type for picture in pictures}
    type_ = types.get(confusion.pictures[0])
    examples: dict[str | None, list[str]] = defaultdict(list)
    for picture in sorted(pictures, key=lambda p: (p.type != type_, p.part != "train")):
        names = examples[picture.species]
        if picture.name not in (*confusion.pictures, *names):
            names.append(picture.name)
    return {
        "confusion": confusion,
        "confused": confusion.pictures[:_WRONG_SHOWN],
        "same": examples[confusion.species][:_EXAMPLES_SHOWN],
        "predicted": examples[confusion.predicted][:_EXAMPLES_SHOWN],
    }


def _make_thumbnails(
    names: Sequence[str], pictures: Sequence[Picture], jobs: int
) -> dict[str, bytes]:
    """Make the thumbnails of named pictures, on several processes.

    Those that can't be read are left out.
    """
    by_name = {picture.name: picture for picture in pictures}
    selected = [by_name[name] for name in dict.fromkeys(names) if name in by_name]
    images = ordered_map(
        make_thumbnail, selected, jobs, lambda _picture, _problem: None, N_FEW_READ
    )
    thumbnails = zip(selected, images, strict=True)
    return {picture.name: image for picture, image in thumbnails if image}


def make_thumbnail(picture: Picture) -> bytes | None:
    """Make a JPEG of a picture with the outline of its leaf.

    None where it can't be read.
    """
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
    types = dict.fromkeys(str(row[0]) for row in table.rows)
    names = [name for name in types if name != ALL] or [ALL]
    # With a single type, the mean of types would repeat it.
    shown = [name for name in names if len(names) > 2 or name != MEAN_OF_TYPES]
    cells = table.rows[0]
    column = next(i for i, cell in enumerate(cells) if isinstance(cell, Estimate))
    scores: dict[str, list[plots.Interval]] = defaultdict(list)
    for row in table.rows:
        score = row[column]
        if row[0] in shown and isinstance(score, Estimate):
            low, high = map(score.spread.get, ("low", "high"))
            scores[str(row[1])].append((score.value, low, high))
    titles = ["mean" if name == MEAN_OF_TYPES else name for name in shown]
    return plots.draw_points(titles, scores, table.columns[column])


def find_rankings(run: Run, truth: GroundTruth, most: int) -> list[Ranking]:
    """Find the first answers to each picture of the ground truth, in its order."""
    rankings: list[Ranking] = [[] for _ in truth.pictures]
    known, picture, _ = truth.locate(run)
    for row in np.flatnonzero(known.rank <= most):
        rankings[picture[row]].append(
            (known.species[known.species_index[row]], float(known.score[row]))
        )
    return rankings


def _list_first(rankings: Sequence[Ranking]) -> list[str]:
    """List the first answers, "" where there is none."""
    return [next(iter(ranking), ("", 0))[0] for ranking in rankings]


def find_confusions(rankings: Sequence[Ranking], truth: GroundTruth) -> list[Confusion]:
    """List which species were taken for which.

    They are sorted by number of pictures, share of the species, and name.
    """
    wrong: dict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    answers = zip(rankings, truth.species, truth.pictures, strict=True)
    for ranking, species, picture in answers:
        if ranking and ranking[0][0] != species:
            predicted, score = ranking[0]
            wrong[species, predicted].append((-score, picture))
    n_pictures = Counter(truth.species)
    confusions = []
    for (species, predicted), pictures in wrong.items():
        names = [name for _, name in sorted(pictures, key=itemgetter(0))]
        share = len(names) / n_pictures[species]
        confusions.append(Confusion(species, predicted, tuple(names), share))
    return sorted(
        confusions, key=lambda c: (-len(c.pictures), -c.share, c.species, c.predicted)
    )


def count_answers(
    rankings: Sequence[Ranking],
    truth: GroundTruth,
    confusions: Sequence[Confusion],
    most: int,
) -> tuple[list[str], NDArray[np.intp]]:
    """Count the first answers of the `most` species that are confused most often.

    Return the species, sorted, and the pictures of each by their first answer, (n, n +
    1); the last column is of all other answers.
    """
    errors: Counter[str] = Counter(dict.fromkeys(sorted(set(truth.species)), 0))
    for confusion in confusions:
        for species in {confusion.species, confusion.predicted} & errors.keys():
            errors[species] += len(confusion.pictures)
    shown = sorted(species for species, _ in errors.most_common(most))
    index = {name: position for position, name in enumerate(shown)}
    counts = np.zeros((len(shown), len(shown) + 1), np.intp)
    for answer, species in zip(_list_first(rankings), truth.species, strict=True):
        if answer and species in index:
            counts[index[species], index.get(answer, -1)] += 1
    return shown, counts


def make_run_species_table(
    run: JudgedRun, confusions: Sequence[Confusion], truth: GroundTruth
) -> Table:
    """Tabulate a run's scores on every species, the best first.

    A picture that the run lacks counts as wrong.
    """
    family = dict(zip(truth.species, truth.family, strict=True))
    # The most frequent confusion of a species comes first.
    worst = {
        confusion.species: confusion.predicted for confusion in reversed(confusions)
    }
    names = np.unique(truth.species).tolist()
    labels = to_indices(truth.species)
    first, five = (average_by_group(top_k_scores(run.rank, k), labels) for k in (1, 5))
    columns = (names, np.bincount(labels).tolist(), first.tolist(), five.tolist())
    scores = sorted(
        zip(*columns, strict=True), key=lambda row: (-row[2], -row[3], row[0])
    )
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
    columns = ["picture", "type", "species"]
    rows: list[list[Cell]] = list(
        map(list, zip(truth.pictures, truth.type, truth.species, strict=True))
    )
    for name, rankings in answers.items():
        columns += [f"{name}: answer", f"{name}: score"]
        for row, ranking in zip(rows, rankings, strict=True):
            row += next(iter(ranking), (None, None))
    return Table("Pictures", columns, rows)
