"""All metrics of the objects of a picture: interpretation, and localisation of the matched pairs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.tasks.interpretation import localisation
from leafid.tasks.interpretation.metric import DEFAULTS, Interpretation, Parameters, Scene, score_scene
from leafid.tasks.interpretation.regions import ObjectPair, align_masks


@dataclass(frozen=True)
class PictureError:
    """Errors of a result in one picture."""

    picture: str
    interpretation: Interpretation
    #: The mean of each localisation metric over the matched pairs, NaN without any.
    measures: Mapping[str, float]

    @property
    def error(self) -> float:
        """The interpretation error, 0 to 1; NaN without any true or found object."""
        return self.interpretation.error


def score_objects(pair: ObjectPair, parameters: Parameters = DEFAULTS) -> PictureError:
    """Compare the objects found in a picture with the true ones; the figure of merit needs the pixels of both."""
    scene = Scene.from_objects(pair.truth, pair.result)
    found = score_scene(scene, parameters)
    pairs = [(pair.truth[u], pair.result[v]) for u, v in np.argwhere(found.matches)]
    masks = [align_masks(true.region, item.region) for true, item in pairs if true.region and item.region]
    measures = {
        "rob-loc": [localisation.rob_loc_error(true.box, item.box) for true, item in pairs],
        "rob-com": [localisation.rob_com_error(true.box, item.box) for true, item in pairs],
        "rob-cor": [localisation.rob_cor_error(true.box, item.box) for true, item in pairs],
        "pas": scene.overlap[found.matches].tolist(),
        "martin": found.localisation[found.matches].tolist(),
        "fom": [localisation.figure_of_merit_score(true, mask) for true, mask in masks],
    }
    return PictureError(pair.picture, found, {name: _average(values) for name, values in measures.items()})


def average_errors(errors: Sequence[PictureError]) -> dict[str, float]:
    """Average the interpretation error and each measure over the pictures that have it.

    A picture without any true or found object has no interpretation error. A measure that no picture has is left out.
    """
    columns = {"interpretation-error": [error.error for error in errors]}
    columns |= {name: [error.measures[name] for error in errors] for name in errors[0].measures}
    means = {name: _average([value for value in values if not math.isnan(value)]) for name, values in columns.items()}
    return {name: mean for name, mean in means.items() if name != "fom" or not math.isnan(mean)}


def _average(values: Sequence[float]) -> float:
    # fsum gives the same mean for every order of the values.
    return math.fsum(values) / len(values) if values else math.nan
