"""Draws docs/overview.jpg and docs/images/steps.jpg: `benchmarks.figures [MODEL]`.

The first picture shows the pictures of examples/leaves, their outlines and the leading
answers of the bundled model. The second, drawn if MODEL is named, shows the steps from
a picture of data/sample to its answer; MODEL is trained on the training part of
data/sample with the default recipe.
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
from leafid.model.answer import format_probability
from leafid.model.model import Model
from leafid.pages.explaining import explain
from leafid.pictures.decoding import read_image
from leafid.pictures.picture import AcquisitionType
from leafid.pictures.reading import read_collection
from leafid.segmentation.segment import draw_overlay, segment

DOCS = Path(__file__).parents[1] / "docs"
LEAVES = Path(__file__).parents[1] / "examples" / "leaves"
SAMPLE = Path(__file__).parents[1] / "data" / "sample"
SPECIES = "Quercus robur"
N_PATCHES_SHOWN = 40


def main() -> None:
    draw_overview(
        load_model(),
        [LEAVES / name for name in ("fig.jpg", "service-tree.jpg", "hazel.jpg")],
    )
    if sys.argv[1:]:
        labelled = read_collection(SAMPLE / "TestXmlWithGroundTruth").pictures
        names = [
            p.name
            for p in labelled
            if p.species == SPECIES and p.type == AcquisitionType.SCAN_LIKE
        ]
        draw_steps(load_model(sys.argv[1]), SAMPLE / "Test" / names[0])


def draw_overview(model: Model, files: Sequence[Path]) -> None:
    figure = Figure((9.6, 5), facecolor="white")
    figure.set_layout_engine("constrained", hspace=0.02)
    grid = figure.add_gridspec(2, 3, height_ratios=(2, 1))
    for column, (type_, file) in enumerate(zip(AcquisitionType, files, strict=True)):
        (answer,) = model.identify([file])
        image = read_image(file)
        shown = draw_overlay(image, segment(image, type_).outlines)
        _show(figure.add_subplot(grid[0, column]), shown, str(answer.type))
        numbers = [
            (name, answer.calibrate(probability))
            for name, probability in answer.ranking[:3]
        ]
        _draw_bars(figure.add_subplot(grid[1, column]), numbers)
    _save(figure, DOCS / "overview.jpg")


def draw_steps(model: Model, file: Path) -> None:
    figure = Figure((9.6, 6), facecolor="white")
    figure.set_layout_engine("constrained")
    axes = figure.subplots(2, 4).ravel()
    image = read_image(file)
    leaf = segment(image, AcquisitionType.SCAN_LIKE)
    _show(axes[0], image, "1 picture")
    enlarged = cv2.resize(image, None, fx=3, fy=3)
    outlines = {
        colour: [np.multiply(line, 3) for line in lines]
        for colour, lines in leaf.outlines.items()
    }
    _show(
        axes[1],
        draw_overlay(enlarged, outlines),
        "2 leaf and petiole",
    )

    outline = normalise_shape(leaf.blade).contour
    axes[2].plot(*outline[[*range(len(outline)), 0]].T[::-1], color="#00785a", lw=1.2)
    axes[2].set_aspect("equal")
    axes[2].invert_yaxis()
    axes[2].set_axis_off()
    axes[2].set_title("3 outline of the blade", fontsize=11)

    patches = load_recipe("default", AcquisitionType.SCAN_LIKE).experts["edges"]
    views = PictureViews(image, leaf)
    crop = views.get_pyramid(patches.view, patches.size, "grey")[0].picture
    _show(axes[3], crop, "4 upright crop")
    features = extract_local_features(views, patches)
    selected = features.take(
        np.sort(np.random.default_rng(0).permutation(len(features))[:N_PATCHES_SHOWN])
    )
    _show(axes[4], crop, f"5 some of {len(features)} patches")
    for (row, col), scale in zip(
        selected.positions * crop.shape[0], selected.scales, strict=True
    ):
        side = 2**scale * crop.shape[0]
        axes[4].add_patch(
            Rectangle(
                (col - side / 2, row - side / 2),
                side,
                side,
                fill=False,
                ec="#d55e00",
                lw=0.8,
            )
        )

    (answer,) = model.identify([file])
    explanation = explain(model, image, answer)
    for place, opinion in zip(axes[5:7], explanation.opinions[:2], strict=False):
        _draw_bars(place, opinion["ranking"], f"6 expert '{opinion['name']}'")
    _draw_bars(axes[7], answer.ranking[:3], "7 all experts together")
    _save(figure, DOCS / "images" / "steps.jpg")


def _show(axes: Axes, image: np.ndarray, title: str) -> None:
    axes.imshow(
        image if image.ndim == 2 else image[..., ::-1], cmap="gray", vmin=0, vmax=255
    )
    axes.set_title(title, fontsize=11)
    axes.set_axis_off()


def _draw_bars(
    axes: Axes, ranking: Sequence[tuple[str, float]], title: str = ""
) -> None:
    species, probabilities = zip(*ranking, strict=True)
    axes.barh(range(len(species)), probabilities, color="#00785a", height=0.5)
    for row, (name, probability) in enumerate(ranking):
        axes.text(
            0,
            row - 0.32,
            f"{name}  {format_probability(probability)}",
            fontsize=10,
            va="bottom",
            style="italic",
        )
    axes.set(xlim=(0, 1), ylim=(len(species) - 0.4, -0.9))
    axes.set_title(title, fontsize=11)
    axes.set_axis_off()


def _save(figure: Figure, file: Path) -> None:
    figure.savefig(file, dpi=100, pil_kwargs={"quality": 85})


if __name__ == "__main__":
    main()
