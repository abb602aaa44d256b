"""Measures the leaves of a picture, each with the verdict of a model on whether it is one."""

from collections.abc import Iterator, Sequence

from leafid.descriptors.measures import LeafMeasures, measure_leaf
from leafid.model.model import Model
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.segmentation.leaves import find_holes, isolate_leaf
from leafid.segmentation.result import Image, Segmentation

#: What the verdicts of an answer are called in a row; all others say that it is a leaf.
DOUBTS = {"no-leaf": "no leaf", "unclear": "unclear"}


def judge_leaves(
    model: Model,
    picture: Picture | Image,
    image: Image,
    leaves: Sequence[Segmentation],
    acquisition_type: AcquisitionType,
) -> Iterator[tuple[LeafMeasures, str]]:
    """Measure the leaves of an image, and judge each as `list_verdicts` does.

    The confidences of what isn't surely a leaf are multiplied by the probability that it is one.
    """
    verdicts = list_verdicts(model, picture, image, leaves, acquisition_type)
    for leaf, (verdict, p_leaf) in zip(leaves, verdicts, strict=False):
        measures = measure_leaf(leaf, find_holes(image, leaf))
        yield measures.doubt(p_leaf), verdict


def list_verdicts(
    model: Model,
    picture: Picture | Image,
    image: Image,
    leaves: Sequence[Segmentation],
    acquisition_type: AcquisitionType,
) -> Iterator[tuple[str, float]]:
    """Say which leaves of an image are "leaf", "no leaf" or "unclear", as the model answers.

    A single leaf is answered by the picture, which may have other leaves; each of several by itself. Each verdict has
    the factor for confidences: 1 for a leaf, else the probability that it is one.
    """
    pictures: list[Picture | Image] = [picture]
    if len(leaves) > 1:
        pictures = [isolate_leaf(image, leaves, index) for index in range(len(leaves))]
    for answer in model.identify(pictures, assume_type=acquisition_type):
        if answer.verdict in DOUBTS:
            yield DOUBTS[answer.verdict], answer.p_leaf or 0.0
        else:
            yield "leaf", 1.0
