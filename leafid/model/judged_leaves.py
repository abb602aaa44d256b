"""Measures the leaves of a picture, each with the verdict of a model."""

from collections.abc import Iterator, Sequence

from leafid.descriptors.measures import LeafMeasures, measure_leaf
from leafid.model.model import Model
from leafid.model.species import find_leaf_kind
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

    Parameters
    ----------
    model : Model
    picture : Picture or (H, W, 3), uint8
        What the model is asked about.
    image : (H, W, 3), uint8
        The decoded picture, in BGR order.
    leaves : sequence of Segmentation
    acquisition_type : AcquisitionType

    Yields
    ------
    measures : LeafMeasures
        What doesn't fit the leaves of the named species is left out. The confidences of
        what isn't surely a leaf are multiplied by the probability that it is one.
    verdict : str
    """
    verdicts = list_verdicts(model, picture, image, leaves, acquisition_type)
    for leaf, (verdict, p_leaf, is_compound) in zip(leaves, verdicts, strict=False):
        measures = measure_leaf(leaf, find_holes(image, leaf), is_compound)
        yield measures.doubt(p_leaf), verdict


def list_verdicts(
    model: Model,
    picture: Picture | Image,
    image: Image,
    leaves: Sequence[Segmentation],
    acquisition_type: AcquisitionType,
) -> Iterator[tuple[str, float, float | None]]:
    """Say which leaves of an image are leaves.

    A single leaf is answered by the picture, which may have other leaves; each of
    several by itself.

    Parameters
    ----------
    model, picture, image, leaves, acquisition_type
        As for `judge_leaves`.

    Yields
    ------
    verdict : str
        "leaf", "no leaf" or "unclear".
    p_leaf : float
        The factor for confidences: 1 for a leaf, else the probability that it is one.
    is_compound : float or None
        As `find_leaf_kind` finds it.
    """
    pictures: list[Picture | Image] = [picture]
    if len(leaves) > 1:
        pictures = [isolate_leaf(image, leaves, index) for index in range(len(leaves))]
    for answer in model.identify(pictures, assume_type=acquisition_type):
        verdict = DOUBTS.get(answer.verdict, "leaf")
        p_leaf = 1.0
        if verdict != "leaf":
            p_leaf = answer.p_leaf or 0.0
        yield verdict, p_leaf, find_leaf_kind(answer, model.species)
