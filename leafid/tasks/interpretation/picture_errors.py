"""All metrics of the objects of a picture: interpretation, and localisation of the matched pairs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafid.tasks.interpretation import localisation
from leafid.tasks.interpretation.box import Box
from leafid.tasks.interpretation.label_masks import MaskPair
from leafid.tasks.interpretation.localisation import FOM_ALPHA
from leafid.tasks.interpretation.metric import DEFAULTS, Interpretation, Parameters, Scene, score_scene
from leafid.tasks.interpretation.region import BoxedObject, align_masks, make_objects


@dataclass(frozen=True)
class PictureError:
    """Errors of a result in one picture."""

    picture: str
    scene: Scene
    interpretation: Interpretation
    #: The mean of each localisation metric over the matched pairs, NaN without any; ``martin-gce`` and ``martin-lce``
    #: concern the whole picture.
    measures: Mapping[str, float]
    #: Number of found objects that don't count because they are in a crowd.
    ignored: int = 0

    @property
    def error(self) -> float:
        """The interpretation error, 0 to 1; NaN without any true or found object."""
        return self.interpretation.error


def score_objects(
    picture: str,
    truth: Sequence[BoxedObject],
    result: Sequence[BoxedObject],
    parameters: Parameters = DEFAULTS,
    *,
    crowds: Sequence[BoxedObject] = (),
    fom_alpha: float | None = None,
) -> PictureError:
    """Compare the objects found in a picture with the true ones.

    `crowds` are true groups of objects that can't be missed; a found object without a match is ignored if more than the
    threshold of its area is inside a crowd of its class. The figure of merit is left out without `fom_alpha`, its
    weight of a squared distance; it needs the pixels of both objects.
    """
    n_ignored = 0
    if crowds:
        invented = score_scene(Scene.from_objects(truth, result), parameters).invented
        ignored = {index for index in invented if _is_in_crowd(result[index], crowds, parameters.threshold)}
        result = [item for index, item in enumerate(result) if index not in ignored]
        n_ignored = len(ignored)
    scene = Scene.from_objects(truth, result)
    found = score_scene(scene, parameters)
    pairs = [(truth[u], result[v]) for u, v in np.argwhere(found.matches)]
    measures = _measure_pairs(scene, found, [(true.box, item.box) for true, item in pairs])
    if fom_alpha is not None:
        masks = [align_masks(true.region, item.region) for true, item in pairs if true.region and item.region]
        merits = [localisation.figure_of_merit_score(true, mask, fom_alpha) for true, mask in masks]
        measures["fom"] = _average(merits)
    return PictureError(picture, scene, found, measures, n_ignored)


def _is_in_crowd(item: BoxedObject, crowds: Sequence[BoxedObject], threshold: float) -> bool:
    region = item.to_region()
    shares = (region.count_common(crowd.to_region()) / region.area for crowd in crowds if crowd.name == item.name)
    return any(share > threshold for share in shares)


def score_masks(pair: MaskPair, parameters: Parameters = DEFAULTS, fom_alpha: float = FOM_ALPHA) -> PictureError:
    """Compare the label mask found for a picture with the true one; `fom_alpha` as for `score_objects`."""
    partitions = {
        "martin-gce": localisation.martin_gce_error(pair.truth, pair.result),
        "martin-lce": localisation.martin_lce_error(pair.truth, pair.result),
    }
    truth, result = make_objects(pair.truth, pair.true_objects), make_objects(pair.result, pair.objects)
    error = score_objects(pair.picture, truth, result, parameters, fom_alpha=fom_alpha)
    return replace(error, measures={**error.measures, **partitions})


def average_errors(errors: Sequence[PictureError], *, count_empty: bool = False) -> dict[str, float]:
    """Average the interpretation error and each measure over the pictures that have it; at least one picture.

    A picture without any true or found object has no interpretation error; with `count_empty` it has an error of 0.
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


def _average(values: Sequence[float]) -> float:
    # fsum gives the same mean for every order of the values.
    return math.fsum(values) / len(values) if values else math.nan
