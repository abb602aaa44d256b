"""All metrics of objects, picture by picture: interpretation, and localisation of what was matched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.tasks.interpretation import localisation
from leafid.tasks.interpretation.box import Box, BoxedObject
from leafid.tasks.interpretation.label_masks import ObjectName
from leafid.tasks.interpretation.metric import (
    DEFAULTS,
    Interpretation,
    Parameters,
    Scene,
    interpretation,
    scene_of_boxes,
    scene_of_masks,
)

BOX_MEASURES = ("rob-loc", "rob-com", "rob-cor", "pas", "martin")
MASK_MEASURES = (*BOX_MEASURES, "fom", "martin-gce", "martin-lce")


@dataclass(frozen=True)
class PictureError:
    """How a result did in one picture.

    Attributes
    ----------
    picture : str
    true_objects, objects : int
        How many there are, and how many were found.
    matches, missed, invented : int
        Pairs matched; objects without a match.
    error : float
        The interpretation error, 0 to 1.
    measures : dict of str to float
        Each localisation metric, averaged over the matched pairs (``martin-gce`` and ``martin-lce``: of the picture as
        a whole); NaN where there is no match.
    """

    picture: str
    true_objects: int
    objects: int
    matches: int
    missed: int
    invented: int
    error: float
    measures: Mapping[str, float]


def score_boxes(
    picture: str, truth: Sequence[BoxedObject], result: Sequence[BoxedObject], parameters: Parameters = DEFAULTS
) -> PictureError:
    """Compare the boxes found in a picture with the true ones.

    Parameters
    ----------
    picture : str
    truth, result : sequence of BoxedObject
    parameters : Parameters, optional
        Of the interpretation metric.

    Returns
    -------
    PictureError
        With `BOX_MEASURES`.
    """
    scene = scene_of_boxes(truth, result)
    found = interpretation(scene, parameters)
    pairs = [(truth[u].box, result[v].box) for u, v in np.argwhere(found.matches)]
    return _picture_error(picture, found, _pair_measures(scene, found, pairs))


def score_masks(
    picture: str,
    truth: np.ndarray,
    result: np.ndarray,
    true_objects: dict[int, ObjectName] | None = None,
    objects: dict[int, ObjectName] | None = None,
    parameters: Parameters = DEFAULTS,
) -> PictureError:
    """Compare the label mask found for a picture with the true one.

    Parameters
    ----------
    picture : str
    truth, result : int array (H, W)
        0 is the ground, every other value an object.
    true_objects, objects : dict of int to ObjectName, optional
        What the objects are.
    parameters : Parameters, optional
        Of the interpretation metric.

    Returns
    -------
    PictureError
        With `MASK_MEASURES`; boxes are the least ones around the regions.
    """
    scene = scene_of_masks(truth, result, true_objects, objects)
    found = interpretation(scene, parameters)
    true_labels, labels = (labels[labels != 0] for labels in (np.unique(truth), np.unique(result)))
    regions = [(truth == true_labels[u], result == labels[v]) for u, v in np.argwhere(found.matches)]
    boxes = [(localisation.bounding_box(one), localisation.bounding_box(other)) for one, other in regions]
    measures = _pair_measures(scene, found, boxes)
    measures["fom"] = _mean([localisation.figure_of_merit_score(one, other) for one, other in regions])
    measures["martin-gce"] = localisation.martin_gce_error(truth, result)
    measures["martin-lce"] = localisation.martin_lce_error(truth, result)
    return _picture_error(picture, found, measures)


def mean_errors(errors: Sequence[PictureError]) -> dict[str, float]:
    """Average over pictures: ``interpretation-error`` over all, each measure over the pictures that have it.

    Parameters
    ----------
    errors : sequence of PictureError
        At least one.

    Returns
    -------
    dict of str to float
        NaN for a measure that no picture has.
    """
    means = {"interpretation-error": _mean([error.error for error in errors])}
    for name in errors[0].measures:
        values = [error.measures[name] for error in errors]
        means[name] = _mean([value for value in values if not math.isnan(value)])
    return means


def _pair_measures(scene: Scene, found: Interpretation, boxes: Sequence[tuple[Box, Box]]) -> dict[str, float]:
    return {
        "rob-loc": _mean([localisation.rob_loc_error(one, other) for one, other in boxes]),
        "rob-com": _mean([localisation.rob_com_error(one, other) for one, other in boxes]),
        "rob-cor": _mean([localisation.rob_cor_error(one, other) for one, other in boxes]),
        "pas": _mean(scene.overlap[found.matches].tolist()),
        "martin": _mean(found.localisation[found.matches].tolist()),
    }


def _picture_error(picture: str, found: Interpretation, measures: Mapping[str, float]) -> PictureError:
    true_objects, objects = found.matches.shape
    matches, missed, invented = int(found.matches.sum()), len(found.missed), len(found.invented)
    return PictureError(picture, true_objects, objects, matches, missed, invented, found.error, measures)


def _mean(values: Sequence[float]) -> float:
    # fsum: the same mean in whatever order the values come.
    return math.fsum(values) / len(values) if values else math.nan
