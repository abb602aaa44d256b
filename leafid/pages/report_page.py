"""The HTML report: one page that needs no other file and no network."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from leafid.errors import ImageError, LeafidError
from leafid.features.extractor import segment_as_type
from leafid.features.recipe import LONGEST_SIDE
from leafid.grouping import group_by
from leafid.pages import plots, run_facts
from leafid.pages.rendering import render_page
from leafid.pages.run_facts import Confusion, Ranking
from leafid.parallel.mapping import N_FEW_READ, ordered_map
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import Picture
from leafid.scoring.calibration import collect_first_species, make_reliability_table
from leafid.scoring.comparison import make_comparison_table
from leafid.scoring.open_world import make_open_world_table
from leafid.scoring.plant_task import (
    ALL,
    MEAN_OF_TYPES,
    JudgedRun,
    ScoreOptions,
    judge_run,
    list_plant_metrics,
    make_score_table,
)
from leafid.scoring.resampling import Bootstrap
from leafid.scoring.runs import Run
from leafid.scoring.tables import Table
from leafid.scoring.truth import GroundTruth
from leafid.segmentation.result import shrink
from leafid.segmentation.segment import draw_overlay

# Maximum number of confusions with pictures, of missing pictures that are named, of species in a confusion matrix, and
# of pictures in the list of all: the page stays at a few megabytes.
CONFUSIONS_SHOWN = 12
MISSING_SHOWN = 200
MATRIX_SIZE = 30
PICTURES_SHOWN = 1500
# Number of answers shown of each picture, and maximum numbers of thumbnails of one confusion.
_TOP, _WRONG_SHOWN, _EXAMPLES_SHOWN = 5, 3, 2
# Longest side of a thumbnail, in pixels.
SIDE = 136


def make_report(
    full_truth: GroundTruth,
    runs: Sequence[Run],
    pictures: Sequence[Picture],
    *,
    source: str,
    bootstrap: Bootstrap,
    jobs: int,
) -> tuple[str, dict[str, Table]]:
    """Make the report on runs, one or several with names that differ: the page, and its tables by name.

    The page may show `pictures`, without those that can't be read; `source` is what it calls the ground truth.
    """
    options = ScoreOptions(list_plant_metrics(), bootstrap=bootstrap)
    truth = full_truth.select_known()
    n_unknown = len(full_truth) - len(truth)
    judged = [judge_run(run, truth) for run in runs]
    rankings = {run.name: run_facts.find_rankings(run, truth, _TOP) for run in runs}
    tables = {"scores": make_score_table(truth, judged, options)}
    if len(runs) > 1:
        tables["comparison"] = make_comparison_table(truth, judged, options.metrics[0], seed=bootstrap.seed)
    # Scores may be anything else, and then say nothing about reliability.
    with suppress(LeafidError):
        tables["reliability"] = make_reliability_table(collect_first_species(runs, truth), "run")
    if n_unknown:
        tables["open-world"] = make_open_world_table(runs, full_truth)
    tables["pictures"] = run_facts.make_picture_table(truth, rankings)
    details = [_describe_run(run, rankings[run.name], truth, pictures) for run in judged]
    for run in details:
        suffix = f"-{PurePath(run['name']).stem}" if len(runs) > 1 else ""
        tables |= {f"{kind}{suffix}": run[kind] for kind in ("species", "confusions")}
    shown = _choose_pictures(truth, rankings)
    names = [truth.pictures[index] for index in shown]
    names += [name for run in details for confusion in run["shown"] for name in confusion["names"]]
    page = render_page(
        "report.html",
        source=source,
        truth=truth,
        n_unknown=n_unknown,
        rankings=rankings,
        tables=tables,
        scores_plot=_plot_scores(tables["scores"], runs),
        details=details,
        shown=shown,
        images=_make_thumbnails(names, pictures, jobs),
        missing_shown=MISSING_SHOWN,
    )
    return page, tables


def _describe_run(
    run: JudgedRun, rankings: Sequence[Ranking], truth: GroundTruth, pictures: Sequence[Picture]
) -> dict[str, Any]:
    """Describe a run for the page, with its tables."""
    confusions = run_facts.find_confusions(rankings, truth)
    names, counts = run_facts.count_answers(rankings, truth, confusions, MATRIX_SIZE)
    return {
        "name": run.name,
        "species": run_facts.make_run_species_table(run, confusions, truth),
        "confusions": run_facts.make_confusion_table(run.name, confusions),
        "matrix_plot": plots.draw_confusion_matrix(names, counts, run.name),
        "n_left_out": len(set(truth.species)) - len(names),
        "shown": [_illustrate(confusion, pictures) for confusion in confusions[:CONFUSIONS_SHOWN]],
        "n_wrong": sum(len(confusion.pictures) for confusion in confusions),
        "missing": [name for name, covered in zip(truth.pictures, run.covered, strict=True) if not covered],
    }


def _illustrate(confusion: Confusion, pictures: Sequence[Picture]) -> dict[str, Any]:
    """Choose the pictures of a confusion: those that were confused, and others of both species, of training first."""
    type_ = next((picture.type for picture in pictures if picture.name == confusion.pictures[0]), None)
    candidates = [picture for picture in pictures if picture.name not in confusion.pictures]
    examples = group_by(
        sorted(candidates, key=lambda picture: (picture.type != type_, picture.part != "train")),
        lambda picture: picture.species,
    )
    confused = list(confusion.pictures[:_WRONG_SHOWN])
    same, predicted = (
        list(dict.fromkeys(picture.name for picture in examples.get(species, ())))[:_EXAMPLES_SHOWN]
        for species in (confusion.species, confusion.predicted)
    )
    names = [*confused, *same, *predicted]
    return {"confusion": confusion, "confused": confused, "same": same, "predicted": predicted, "names": names}


def _choose_pictures(truth: GroundTruth, rankings: Mapping[str, Sequence[Ranking]]) -> list[int]:
    """Choose the pictures for the list of all, by their index, those first that the most runs answer wrongly."""

    def count_correct(index: int) -> int:
        return sum(name == truth.species[index] for run in rankings.values() for name, _ in run[index][:1])

    return sorted(range(len(truth)), key=count_correct)[:PICTURES_SHOWN]


def _make_thumbnails(names: Sequence[str], pictures: Sequence[Picture], jobs: int) -> dict[str, bytes]:
    """Make the thumbnails of named pictures, on several processes; those that can't be read are left out."""
    by_name = {picture.name: picture for picture in pictures}
    wanted = [by_name[name] for name in dict.fromkeys(names) if name in by_name]
    images = ordered_map(make_thumbnail, wanted, jobs, lambda _picture, _problem: None, N_FEW_READ)
    return {picture.name: image for picture, image in zip(wanted, images, strict=True) if image}


def make_thumbnail(picture: Picture) -> bytes | None:
    """Make a JPEG of a picture with the outline of its leaf; None where it can't be read."""
    try:
        image = read_image(picture.file, LONGEST_SIDE)
    except ImageError:
        return None
    small = shrink(image, SIDE)
    if picture.type is not None:
        small = draw_overlay(small, segment_as_type(image, picture.type))
    return encode_jpeg(small)


def _plot_scores(table: Table, runs: Sequence[Run]) -> str:
    names = dict.fromkeys(str(row[1]) for row in table.rows if row[1] != ALL) or {ALL: None}
    # With a single type, the mean of types would repeat it.
    shown = [name for name in names if len(names) > 2 or name != MEAN_OF_TYPES]
    start = list(table.columns).index("S")
    scores = {
        run.name: [tuple(row[start : start + 3]) for row in table.rows if row[0] == run.name and row[1] in shown]
        for run in runs
    }
    return plots.draw_points(["mean" if name == MEAN_OF_TYPES else name for name in shown], scores, "S")
