"""Draws docs/overview.jpg and docs/images/steps.jpg: ``python -m benchmarks.figures MODEL``.

MODEL is trained on the training part of data/sample with the default recipe. The first picture shows test pictures of
one species, their outlines and the leading answers; the second the steps from a picture to its answer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from leafid.api import load_model
from leafid.descriptors.shape.contour import normalise_shape
from leafid.features.extractor import PictureViews, extract_local_features
from leafid.features.recipe import load_recipe
from leafid.model.model import Model
from leafid.pages.explaining import explain
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.segmentation import segment
from leafid.segmentation.segment import draw_overlay

DOCS = Path(__file__).parents[1] / "docs"
SAMPLE = Path(__file__).parents[1] / "data" / "sample"
SPECIES = "Quercus robur"
N_PATCHES_SHOWN = 40


def main() -> None:
    model = load_model(sys.argv[1])
    labelled = read_collection(SAMPLE / "TestXmlWithGroundTruth").pictures
    of_species = [picture for picture in labelled if picture.species == SPECIES]
    files = {
        type_: next(SAMPLE / "Test" / picture.name for picture in of_species if picture.type == type_)
        for type_ in AcquisitionType
    }
    draw_overview(model, files)
    draw_steps(model, files[AcquisitionType.SCAN_LIKE])


def draw_overview(model: Model, files: dict[AcquisitionType, Path]) -> None:
    figure = Figure((9.6, 4.2), facecolor="white")
    figure.set_layout_engine("constrained", hspace=0.02)
    for column, (type_, file) in enumerate(files.items()):
        (answer,) = model.identify([file])
        image = read_image(file)
        shown = draw_overlay(cv2.resize(image, None, fx=3, fy=3), segment(image, type_))
        _show(figure.add_subplot(2, 3, column + 1), shown, str(answer.type))
        _draw_bars(figure.add_subplot(2, 3, column + 4), answer.ranking[:3])
    _save(figure, DOCS / "overview.jpg")


def draw_steps(model: Model, file: Path) -> None:
    figure = Figure((9.6, 6), facecolor="white")
    figure.set_layout_engine("constrained")
    axes = figure.subplots(2, 4).ravel()
    image = read_image(file)
    leaf = segment(image, AcquisitionType.SCAN_LIKE)
    _show(axes[0], image, "1 picture")
    _show(axes[1], draw_overlay(cv2.resize(image, None, fx=3, fy=3), leaf), "2 leaf and petiole")

    outline = normalise_shape(leaf.blade).contour
    axes[2].plot(*outline[[*range(len(outline)), 0]].T[::-1], color="#00785a", lw=1.2)
    axes[2].set_aspect("equal")
    axes[2].invert_yaxis()
    axes[2].set_axis_off()
    axes[2].set_title("3 outline of the blade", fontsize=11)

    patches = load_recipe("default", AcquisitionType.SCAN_LIKE).experts["edges"]
    views = PictureViews(image, leaf)
    crop = views.read_pyramid(patches.view, patches.size, "grey")[0].picture
    _show(axes[3], crop, "4 upright crop")
    found = extract_local_features(views, patches)
    shown = found.take(np.sort(np.random.default_rng(0).permutation(len(found))[:N_PATCHES_SHOWN]))
    _show(axes[4], crop, f"5 some of {len(found)} patches")
    for (row, col), scale in zip(shown.positions * crop.shape[0], shown.scales, strict=True):
        side = 2**scale * crop.shape[0]
        axes[4].add_patch(Rectangle((col - side / 2, row - side / 2), side, side, fill=False, ec="#d55e00", lw=0.8))

    (answer,) = model.identify([file])
    explanation = explain(model, image, answer)
    for place, opinion in zip(axes[5:7], explanation.opinions[:2], strict=False):
        _draw_bars(place, opinion.ranking, f"6 expert '{opinion.name}'")
    _draw_bars(axes[7], answer.ranking[:3], "7 all experts together")
    _save(figure, DOCS / "images" / "steps.jpg")


def _show(axes: Axes, image: np.ndarray, title: str) -> None:
    axes.imshow(image if image.ndim == 2 else image[..., ::-1], cmap="gray", vmin=0, vmax=255)
    axes.set_title(title, fontsize=11)
    axes.set_axis_off()


def _draw_bars(axes: Axes, ranking: Sequence[tuple[str, float]], title: str = "") -> None:
    species, probabilities = zip(*ranking, strict=True)
    axes.barh(range(len(species)), probabilities, color="#00785a", height=0.5)
    for row, (name, probability) in enumerate(ranking):
        axes.text(0, row - 0.32, f"{name}  {probability:.0%}", fontsize=10, va="bottom", style="italic")
    axes.set(xlim=(0, 1), ylim=(len(species) - 0.4, -0.9))
    axes.set_title(title, fontsize=11)
    axes.set_axis_off()


def _save(figure: Figure, file: Path) -> None:
    figure.savefig(file, dpi=100, pil_kwargs={"quality": 85})


if __name__ == "__main__":
    main()
