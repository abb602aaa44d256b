"""The HTML report: one page that needs no other file and no network."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, compress
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leafid.errors import ImageError, LeafidError
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.metrics.averages import to_indices
from leafid.pages import plots
from leafid.pages.rendering import render_page
from leafid.parallel.mapping import N_FEW_READ, ordered_map
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import Picture
from leafid.scoring.answers import (
    CONFUSION_COLUMNS,
    CONFUSION_DETAILS,
    Confusion,
    find_confusions,
    find_differing,
    make_agreement_table,
    make_answer_table,
)
from leafid.scoring.comparison import make_type_tables
from leafid.scoring.curves import CURVES, make_curve_table
from leafid.scoring.judging import JudgedRun
from leafid.scoring.metrics import OPEN_WORLD_METRICS, find_metrics
from leafid.scoring.reading.runs import Run
from leafid.scoring.reading.truth import GroundTruth, find_indices
from leafid.scoring.score_table import ScoreOptions, make_group_table
from leafid.scoring.tables import Rows, Table
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

# The scores of a species; the ones that it is sorted by come first.
_SPECIES_METRICS = ("top-1", "top-5", "precision", "f1")
_DIFFERING = "Pictures on which the runs differ"

#: The first answers to a picture, with their scores; none where the run lacks it.
Ranking = list[tuple[str, float]]


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
    """Make the report on runs.

    Parameters
    ----------
    full_truth : GroundTruth
    runs : sequence of Run
        Their names differ.
    all_judged : sequence of JudgedRun
        Their answers to all pictures, also of unknown species.
    pictures : sequence of Picture
        Those that can be read are shown.
    source : str
        The name of the ground truth on the page.
    options : ScoreOptions
    jobs : int
        Number of worker processes.

    Returns
    -------
    page : str
        HTML.
    tables : dict of str to Table
        By the names of their files.
    drawings : dict of str to str
        Confusion matrices as SVG, by the names of their files.
    """
    truth = full_truth.select_known()
    n_unknown = len(full_truth) - len(truth)
    rankings = {run.name: find_rankings(run, truth, _TOP) for run in runs}
    scores, comparison = make_type_tables(full_truth, all_judged, options)
    tables = {"scores": scores}
    if len(runs) > 1:
        tables["comparison"] = comparison
    if n_unknown:
        tables["open-world"] = make_group_table(
            full_truth,
            all_judged,
            options.with_metrics(OPEN_WORLD_METRICS),
            title="Open world",
        )
    known = [run.select(run.is_known) for run in all_judged]
    answers = make_answer_table(truth, known)
    tables["pictures"] = answers
    is_differing = find_differing(known)
    if len(runs) > 1:
        tables["agreement"] = make_agreement_table(known)
        rows = [*compress(answers.rows, is_differing)]
        tables["differing"] = replace(answers, title=_DIFFERING, rows=rows)
    drawings: dict[str, str] = {}
    for kind in CURVES:
        with suppress(LeafidError):
            tables[kind] = make_curve_table(kind, all_judged)
            drawings[kind] = plots.draw_curve_plot(tables[kind])
    details = []
    for judged in known:
        run = _describe_run(judged, truth, pictures)
        details.append(run)
        suffix = f"-{judged.stem}" if len(runs) > 1 else ""
        for kind in ("species", "confusions", "matrix"):
            tables[f"{kind}{suffix}"] = run[kind]
        drawings[f"matrix{suffix}"] = run["matrix_svg"]
    # Pictures on which runs differ come first, then pictures that most answer wrongly.
    n_correct = np.sum([run.rank == 1 for run in known], axis=0)
    order = np.lexsort((n_correct, ~is_differing))
    shown = order[:PICTURES_SHOWN]
    sections = {"All pictures": shown.tolist()}
    if len(runs) > 1:
        sections = {
            _DIFFERING: shown[is_differing[shown]].tolist(),
            "Pictures on which the runs agree": shown[~is_differing[shown]].tolist(),
        }
    names = truth.pictures[shown].tolist()
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
        scores_plot=_plot_scores(tables["scores"], options.metrics[0].name),
        drawings=drawings,
        details=details,
        sections=sections,
        n_shown=len(shown),
        images=_make_thumbnails(names, pictures, jobs),
    )
    return page, tables, drawings


def _describe_run(
    run: JudgedRun, truth: GroundTruth, pictures: Sequence[Picture]
) -> dict[str, Any]:
    confusions = find_confusions(run, truth)
    names, counts = count_answers(run, truth)
    most_confused, reduced = select_most_confused(names, counts, MATRIX_SIZE)
    return {
        "name": run.name,
        "species": make_run_species_table(run, confusions, truth),
        "confusions": Table(
            f"Confusions of {run.name}",
            CONFUSION_COLUMNS,
            [confusion.list_cells() for confusion in confusions],
            details=CONFUSION_DETAILS,
        ),
        "matrix": Table(
            f"Confusion matrix of {run.name}",
            ["species", *names, "other species"],
            [[name, *row] for name, row in zip(names, counts.tolist(), strict=True)],
        ),
        "matrix_svg": plots.draw_confusion_matrix(most_confused, reduced),
        "n_left_out": len(names) - len(most_confused),
        "shown": [
            _illustrate(confusion, pictures)
            for confusion in confusions[:CONFUSIONS_SHOWN]
        ],
        "n_wrong": sum(len(confusion.pictures) for confusion in confusions),
        "missing": list(compress(truth.pictures, ~run.covered)),
    }


def _illustrate(confusion: Confusion, pictures: Sequence[Picture]) -> dict[str, Any]:
    """Choose pictures of a confusion, and others of both species, of training first."""
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
    named_pictures = [by_name[name] for name in dict.fromkeys(names) if name in by_name]
    images = ordered_map(
        make_thumbnail,
        named_pictures,
        jobs,
        lambda _picture, _problem: None,
        N_FEW_READ,
    )
    thumbnails = zip(named_pictures, images, strict=True)
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


def _plot_scores(table: Table, metric: str) -> str:
    """Plot a metric, by acquisition type and run."""
    types: dict[str, None] = {}
    scores: dict[str, list[plots.Interval]] = defaultdict(list)
    for row in table.to_records():
        types[row["type"]] = None
        interval = [row.get(f"{metric}{end}") for end in ("", " low", " high")]
        scores[row["run"]].append(interval)
    return plots.draw_points([*types], scores, metric)


def find_rankings(run: Run, truth: GroundTruth, most: int) -> list[Ranking]:
    """Find the first answers to each picture of the ground truth, in its order."""
    rankings: list[Ranking] = [[] for _ in truth.pictures]
    known, picture, _ = truth.locate(run)
    for row in np.flatnonzero(known.rank <= most):
        rankings[picture[row]].append(
            (known.species[known.species_index[row]], float(known.score[row]))
        )
    return rankings


def count_answers(
    run: JudgedRun, truth: GroundTruth
) -> tuple[Sequence[str], NDArray[np.intp]]:
    """Count the pictures of each species by their first answer.

    Return the species, sorted, and the counts, (n, n + 1); the last column is of all
    other answers. A picture without an answer is nowhere.
    """
    names = np.unique(truth.species).tolist()
    labels = to_indices(truth.species)
    first = find_indices(run.answer[run.covered], names)
    counts = np.zeros((len(names), len(names) + 1), np.intp)
    # The index -1 of another species selects the last column.
    np.add.at(counts, (labels[run.covered], first), 1)
    return names, counts


def select_most_confused(
    names: Sequence[str], counts: NDArray[np.intp], most: int
) -> tuple[list[str], NDArray[np.intp]]:
    """Reduce the counts of `count_answers` to the species that are confused most.

    Answers of the species that are left out are among the others.
    """
    answers = counts.sum(axis=1)
    predictions = counts[:, :-1].sum(axis=0)
    errors = answers + predictions - 2 * counts.diagonal()
    most_confused = np.sort(np.argsort(-errors, kind="stable")[:most])
    reduced = counts[np.ix_(most_confused, most_confused)]
    others = answers[most_confused] - reduced.sum(axis=1)
    return [names[index] for index in most_confused], np.column_stack([reduced, others])


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
    options = ScoreOptions(find_metrics(_SPECIES_METRICS), "none")
    rows: Rows = []
    for row in make_group_table(truth, [run], options, "species").to_records():
        name = row["species"]
        scores = map(row.__getitem__, _SPECIES_METRICS)
        rows.append([name, family[name], row["pictures"], *scores, worst.get(name)])
    first = 3
    return Table(
        title=f"Species of {run.name}",
        columns=[
            *("species", "family", "pictures"),
            *(*_SPECIES_METRICS, "most often taken for"),
        ],
        rows=sorted(rows, key=itemgetter(first, first + 1), reverse=True),
    )
