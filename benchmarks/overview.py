"""Draws docs/overview.jpg: ``python -m benchmarks.overview MODEL``.

MODEL is trained on the training part of data/sample with the default recipe. The picture shows test pictures of one
species, their outlines and the leading answers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
from matplotlib.figure import Figure

from leafid.api import load_model
from leafid.collection.picture import AcquisitionType
from leafid.collection.reading import read_collection
from leafid.images import read_image
from leafid.segmentation import segment
from leafid.segmentation.overlay import draw_overlay

REPOSITORY = Path(__file__).parents[1]
SPECIES = "Quercus robur"


def main() -> None:
    model = load_model(sys.argv[1])
    labelled = read_collection(REPOSITORY / "data" / "sample" / "TestXmlWithGroundTruth").pictures
    figure = Figure((9.6, 4.2), layout="constrained", facecolor="white")
    for column, type_ in enumerate(AcquisitionType):
        name = next(picture.name for picture in labelled if picture.species == SPECIES and picture.type == type_)
        file = REPOSITORY / "data" / "sample" / "Test" / name
        (answer,) = model.identify([file])
        image = read_image(file)
        shown = draw_overlay(cv2.resize(image, None, fx=3, fy=3), segment(image, type_))
        picture = figure.add_subplot(2, 3, column + 1)
        picture.imshow(shown[..., ::-1])
        picture.set_title(str(answer.type), fontsize=11)
        picture.set_axis_off()
        bars = figure.add_subplot(2, 3, column + 4)
        species, probabilities = zip(*answer.ranking[:3], strict=True)
        bars.barh(range(3), probabilities, color="#00785a", height=0.5)
        for row, (kind, probability) in enumerate(zip(species, probabilities, strict=True)):
            bars.text(0, row - 0.32, f"{kind}  {probability:.0%}", fontsize=10, va="bottom", style="italic")
        bars.set(xlim=(0, 1), ylim=(2.6, -0.9))
        bars.set_axis_off()
    figure.set_layout_engine("constrained", hspace=0.02)
    figure.savefig(REPOSITORY / "docs" / "overview.jpg", dpi=100, pil_kwargs={"quality": 85})


if __name__ == "__main__":
    main()
