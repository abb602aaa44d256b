"""Measures the leaves of a picture, each with the verdict of a model."""

from collections.abc import Iterator, Sequence

from leafid.descriptors.measures import LeafMeasures, measure_leaf
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.leaves import find_holes, isolate_leaf
from leafid.segmentation.result import Image, Segmentation

#: What the verdicts of an answer are called in a row; all others say that it is a leaf.
DOUBTS = {"no-leaf": "no leaf", "unclear": "unclear"}


def judge_leaves(
    model: Model | None,
    picture: Picture | Image,
    image: Image,
    leaves: Sequence[Segmentation],
    acquisition_type: AcquisitionType | str | None,
) -> Iterator[tuple[LeafMeasures, str | None]]:
    """Measure the leaves of an image, each with the verdict of the model.

    It is "leaf", "no leaf" or "unclear", and None without a model: what a person marks
    is a leaf, without holes that would have to be found.

    A single leaf is answered by the picture, which may have other leaves; each of
    several by itself. The confidences of what isn't surely a leaf are multiplied by the
    probability that it is one.
    """
    if model is None:
        yield from ((measure_leaf(leaf), None) for leaf in leaves)
        return
    pictures: list[Picture | Image] = [picture]
    if len(leaves) > 1:
        pictures = [isolate_leaf(image, leaves, index) for index in range(len(leaves))]
    answers = model.identify(pictures, assume_type=acquisition_type)
    for leaf, answer in zip(leaves, answers, strict=False):
        measures = measure_leaf(leaf, find_holes(image, leaf))
        if answer.verdict in DOUBTS:
            measures = measures.doubt(answer.p_leaf or 0.0)
        yield measures, DOUBTS.get(answer.verdict, "leaf")
