"""The HTML report: one page that needs no other file and no network."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from leafid.errors import ImageError
from leafid.features.recipe import LONGEST_SIDE
from leafid.pages import plots, run_facts
from leafid.pages.rendering import render_page
from leafid.pages.run_facts import Confusion, find_confusions, find_rankings, find_top_predictions
from leafid.pictures.decoding import encode_jpeg, read_image
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.scoring.calibration import expected_calibration_error
from leafid.scoring.comparison import make_comparison_table
from leafid.scoring.open_world import make_open_world_table
from leafid.scoring.plant_task import (
    ALL,
    MEAN_OF_TYPES,
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
from leafid.segmentation.segment import draw_overlay, segment
from leafid.workers import ordered_map

# Maximum number of confusions with pictures, of missing pictures that are named, of species in a confusion matrix, and
# of pictures in the list of all: the page stays at a few megabytes.
CONFUSIONS_SHOWN = 12
MISSING_SHOWN = 200
MATRIX_SIZE = 30
PICTURES_SHOWN = 1500
# Number of answers shown of each picture.
_TOP = 5
# Maximum number of thumbnails of one confusion, and of files tried for them: many may be unreadable.
_WRONG_SHOWN, _EXAMPLES_SHOWN, _EXAMPLES_TRIED = 3, 2, 8
# Longest side of a thumbnail, in pixels.
SIDE = 136


class Gallery:
    """The pictures that the report may show; each is read only once."""

    def __init__(self, pictures: Sequence[Picture], jobs: int = 1) -> None:
        self._jobs = jobs
        # A package lists a test picture twice, with and without its label; both have the same file.
        self.pictures = {picture.name: picture for picture in pictures}
        self._of_species: dict[str, list[str]] = {}
        # Training pictures come first: they are what the program has seen of a species.
        for picture in sorted(pictures, key=lambda picture: picture.part != "train"):
            if picture.species:
                self._of_species.setdefault(picture.species, []).append(picture.name)
        self._images: dict[str, bytes | None] = {}

    def load(self, names: Iterable[str]) -> None:
        """Read pictures on several processes."""
        missing = [name for name in dict.fromkeys(names) if name in self.pictures and name not in self._images]
        pictures = [self.pictures[name] for name in missing]
        images = ordered_map(make_thumbnail, pictures, self._jobs, lambda _picture, _problem: None, item_seconds=0.03)
        self._images.update(zip(missing, images, strict=True))

    def get(self, name: str) -> bytes | None:
        """Return a picture as JPEG; None where there is none that can be read."""
        self.load([name])
        return self._images.get(name)

    def show(self, names: Iterable[str], count: int) -> list[tuple[str, bytes]]:
        """Return the first `count` of the pictures that can be read, by name."""
        shown: list[tuple[str, bytes]] = []
        for name in names:
            if len(shown) < count and (image := self.get(name)):
                shown.append((name, image))
        return shown

    def list_species(self, species: str, like: str, except_for: Sequence[str] = ()) -> list[str]:
        """List the pictures of a species, those of the same acquisition type as the picture `like` first."""
        names = [name for name in self._of_species.get(species, []) if name not in except_for]
        type_ = self.pictures[like].type if like in self.pictures else None
        return sorted(names, key=lambda name: self.pictures[name].type != type_)


def make_thumbnail(picture: Picture) -> bytes | None:
    """Make a JPEG of a picture with the outline of its leaf; None where it can't be read."""
    try:
        image = read_image(picture.file, LONGEST_SIDE)
    except ImageError:
        return None
    small = shrink(image, SIDE)
    if picture.type is not None:
        # As identification segments it.
        small = draw_overlay(small, segment(image, picture.type, petiole=picture.type is not AcquisitionType.PHOTO))
    return encode_jpeg(small)


def make_report(
    full_truth: GroundTruth,
    runs: Sequence[Run],
    pictures: Sequence[Picture] = (),
    *,
    source: str = "",
    bootstrap: Bootstrap | None = None,
    jobs: int = 1,
) -> tuple[str, dict[str, Table]]:
    """Make the report on runs, one or several with names that differ: the page, and its tables by name.

    The page may show `pictures`, without those that can't be read; `source` is what it calls the ground truth.
    """
    bootstrap = bootstrap or Bootstrap()
    options = ScoreOptions(list_plant_metrics(), bootstrap=bootstrap)
    truth, n_unknown = full_truth.split_known()
    assert truth is not None
    judged = [judge_run(run, truth) for run in runs]
    gallery = Gallery(pictures, jobs)
    tables = {
        "pictures-by-type": run_facts.make_count_table(truth),
        "scores": make_score_table(truth, judged, options),
    }
    drawn = {
        "scores": _plot_scores(tables["scores"], runs),
    }
    if len(runs) > 1:
        tables["comparison"] = make_comparison_table(truth, judged, options.metrics[0], seed=bootstrap.seed)
    tops = {run.name: find_top_predictions(run, truth) for run in runs}
    answers = {
        name: (top.score[top.is_answered], top.correct[top.is_answered])
        for name, top in tops.items()
        if top.are_probabilities
    }
    reliability = {name: run_facts.compute_reliability(*own) for name, own in answers.items()}
    if reliability:
        tables["reliability"] = run_facts.make_reliability_table(reliability)
        drawn["reliability"] = plots.draw_curves(
            {name: curve[:2] for name, curve in reliability.items()},
            "probability of the first answer",
            "share correct",
            has_points=True,
            has_diagonal=True,
        )
    if n_unknown:
        tables["open-world"] = make_open_world_table(runs, full_truth)
    rankings = {run.name: find_rankings(run, truth, _TOP) for run in runs}
    tables["pictures"] = run_facts.make_picture_table(truth, rankings)
    details = []
    for run, own in zip(runs, judged, strict=True):
        suffix = f"-{PurePath(run.name).stem}" if len(runs) > 1 else ""
        top, confusions = tops[run.name], find_confusions(tops[run.name], truth)
        tables[f"species{suffix}"] = run_facts.make_run_species_table(own, confusions, truth)
        tables[f"confusions{suffix}"] = run_facts.make_confusion_table(run.name, confusions)
        matrix = run_facts.count_answers(top, truth, MATRIX_SIZE)
        details.append(
            {
                "name": run.name,
                "species": tables[f"species{suffix}"],
                "confusions": tables[f"confusions{suffix}"],
                "matrix": matrix,
                "matrix_plot": plots.draw_confusion_matrix(matrix, run.name),
                "shown": [_show_confusion(confusion, gallery) for confusion in confusions[:CONFUSIONS_SHOWN]],
                "n_wrong": sum(len(confusion.pictures) for confusion in confusions),
                "missing": [name for name, found in zip(truth.pictures, own.covered, strict=True) if not found],
            }
        )
    page = render_page(
        "report.html",
        source=source,
        truth=truth,
        n_unknown=n_unknown,
        runs=[run.name for run in runs],
        tables=tables,
        plots=drawn,
        errors={name: expected_calibration_error(*own) for name, own in answers.items()},
        details=details,
        pictures=_show_pictures(truth, rankings, gallery),
        missing_shown=MISSING_SHOWN,
    )
    return page, tables


def _show_pictures(
    truth: GroundTruth, rankings: dict[str, list[list[tuple[str, float]]]], gallery: Gallery
) -> list[dict[str, Any]]:
    """Show all pictures with the first answers of each run, those first that the most runs answer wrongly."""

    def count_correct(index: int) -> int:
        firsts = (ranking[index][:1] for ranking in rankings.values())
        return sum(first[0] == truth.species[index] for found in firsts for first in found)

    order = sorted(range(len(truth)), key=count_correct)[:PICTURES_SHOWN]
    gallery.load(truth.pictures[index] for index in order)
    return [
        {
            "name": truth.pictures[index],
            "type": truth.type[index],
            "species": truth.species[index],
            "image": gallery.get(truth.pictures[index]),
            "rankings": [ranking[index] for ranking in rankings.values()],
        }
        for index in order
    ]


def _show_confusion(confusion: Confusion, gallery: Gallery) -> dict[str, Any]:
    """Show a confusion with pictures: those that were confused, and others of both species."""
    first, *_ = confusion.pictures
    same = gallery.list_species(confusion.species, first, confusion.pictures)
    predicted = gallery.list_species(confusion.predicted, first)
    return {
        "confusion": confusion,
        "confused": gallery.show(confusion.pictures, _WRONG_SHOWN),
        "same": gallery.show(same[:_EXAMPLES_TRIED], _EXAMPLES_SHOWN),
        "predicted": gallery.show(predicted[:_EXAMPLES_TRIED], _EXAMPLES_SHOWN),
    }


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
