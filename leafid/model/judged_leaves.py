"""Measures the leaves of a picture, each with the verdict of a model."""

from collections.abc import Iterator, Sequence

from leafid.descriptors.measures import LeafMeasures, measure_leaf
from leafid.model.answer import Answer
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
    answers = _answer_leaves(model, picture, image, leaves, acquisition_type)
    for leaf, answer in zip(leaves, answers, strict=False):
        is_compound = find_leaf_kind(answer, model.species)
        measures = measure_leaf(leaf, find_holes(image, leaf), is_compound)
        verdict, p_leaf = _judge(answer)
        yield measures.doubt(p_leaf), verdict


def list_verdicts(
    model: Model,
    picture: Picture | Image,
    image: Image,
    leaves: Sequence[Segmentation],
    acquisition_type: AcquisitionType,
) -> list[tuple[str, float]]:
    """Say which leaves of an image are leaves.

    Parameters
    ----------
    model, picture, image, leaves, acquisition_type
        As for `judge_leaves`.

    Returns
    -------
    list of (str, float)
        For each leaf "leaf", "no leaf" or "unclear", and the factor for confidences: 1
        for a leaf, else the probability that it is one. A single leaf is answered by
        the picture, which may have other leaves; each of several by itself.
    """
    answers = _answer_leaves(model, picture, image, leaves, acquisition_type)
    return [_judge(answer) for answer in answers]


def _answer_leaves(
    model: Model,
    picture: Picture | Image,
    image: Image,
    leaves: Sequence[Segmentation],
    acquisition_type: AcquisitionType,
) -> Iterator[Answer]:
    pictures: list[Picture | Image] = [picture]
    if len(leaves) > 1:
        pictures = [isolate_leaf(image, leaves, index) for index in range(len(leaves))]
    return model.identify(pictures, assume_type=acquisition_type)


def _judge(answer: Answer) -> tuple[str, float]:
    if answer.verdict in DOUBTS:
        return DOUBTS[answer.verdict], answer.p_leaf or 0.0
    return "leaf", 1.0
