"""All metrics of the objects of a picture: interpretation, and localisation of the matched pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from leafid.tasks.interpretation import localisation
from leafid.tasks.interpretation.box import Box, BoxedObject
from leafid.tasks.interpretation.label_masks import MaskPair
from leafid.tasks.interpretation.localisation import FOM_ALPHA
from leafid.tasks.interpretation.metric import DEFAULTS, Interpretation, Parameters, Scene, score_scene


@dataclass(frozen=True)
class PictureError:
    """Errors of a result in one picture.

    Attributes
    ----------
    picture : str
    true_objects, objects : int
        Numbers of true and of found objects.
    matches, missed, invented : int
        Numbers of matched pairs, and of true and found objects without a match.
    error : float
        The interpretation error, 0 to 1; NaN without any true or found object.
    measures : dict of str to float
        The mean of each localisation metric over the matched pairs, NaN without any; ``martin-gce`` and ``martin-lce``
        concern the whole picture.
    scene : Scene
    interpretation : Interpretation
        The steps that led to the error.
    """

    picture: str
    true_objects: int
    objects: int
    matches: int
    missed: int
    invented: int
    error: float
    measures: Mapping[str, float]
    scene: Scene = field(repr=False, compare=False)
    interpretation: Interpretation = field(repr=False, compare=False)


def score_boxes(
    picture: str, truth: Sequence[BoxedObject], result: Sequence[BoxedObject], parameters: Parameters = DEFAULTS
) -> PictureError:
    """Compare the boxes found in a picture with the true ones."""
    scene = Scene.from_boxes(truth, result)
    found = score_scene(scene, parameters)
    boxes = [(truth[u].box, result[v].box) for u, v in np.argwhere(found.matches)]
    return _make_error(picture, scene, found, _measure_pairs(scene, found, boxes))


def score_masks(pair: MaskPair, parameters: Parameters = DEFAULTS, fom_alpha: float = FOM_ALPHA) -> PictureError:
    """Compare the label mask found for a picture with the true one; boxes are the smallest around the regions.

    `fom_alpha` is the weight of a squared distance in the figure of merit.
    """
    scene = Scene.from_masks(pair.truth, pair.result, pair.true_objects, pair.objects)
    found = score_scene(scene, parameters)
    true_labels, labels = (labels[labels != 0] for labels in (np.unique(pair.truth), np.unique(pair.result)))
    regions = [(pair.truth == true_labels[u], pair.result == labels[v]) for u, v in np.argwhere(found.matches)]
    boxes = [(localisation.make_box(true), localisation.make_box(region)) for true, region in regions]
    measures = _measure_pairs(scene, found, boxes)
    merits = [localisation.figure_of_merit_score(true, region, fom_alpha) for true, region in regions]
    measures["fom"] = _average(merits)
    measures["martin-gce"] = localisation.martin_gce_error(pair.truth, pair.result)
    measures["martin-lce"] = localisation.martin_lce_error(pair.truth, pair.result)
    return _make_error(pair.picture, scene, found, measures)


def average_errors(errors: Sequence[PictureError], *, count_empty: bool = False) -> dict[str, float]:
    """Average the interpretation error and each measure over the pictures that have it; at least one picture.

    The document defines no error for a picture without any true or found object. Such pictures are left out of the mean
    of the interpretation error; with `count_empty` they count with an error of 0.
    """
    columns = {"interpretation-error": [error.error for error in errors]}
    if count_empty:
        columns = {name: [0.0 if math.isnan(value) else value for value in values] for name, values in columns.items()}
    columns |= {name: [error.measures[name] for error in errors] for name in errors[0].measures}
    return {name: _average([value for value in values if not math.isnan(value)]) for name, values in columns.items()}


def _measure_pairs(scene: Scene, found: Interpretation, boxes: Sequence[tuple[Box, Box]]) -> dict[str, float]:
    return {
        "rob-loc": _average([localisation.rob_loc_error(true, box) for true, box in boxes]),
        "rob-com": _average([localisation.rob_com_error(true, box) for true, box in boxes]),
        "rob-cor": _average([localisation.rob_cor_error(true, box) for true, box in boxes]),
        "pas": _average(scene.overlap[found.matches].tolist()),
        "martin": _average(found.localisation[found.matches].tolist()),
    }


def _make_error(picture: str, scene: Scene, found: Interpretation, measures: Mapping[str, float]) -> PictureError:
    true_objects, objects = found.matches.shape
    matches, missed, invented = int(found.matches.sum()), len(found.missed), len(found.invented)
    return PictureError(picture, true_objects, objects, matches, missed, invented, found.error, measures, scene, found)


def _average(values: Sequence[float]) -> float:
    # fsum gives the same mean for every order of the values.
    return math.fsum(values) / len(values) if values else math.nan
