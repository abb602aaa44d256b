"""Hemery's metric: detection, localisation and recognition in one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import ne
from statistics import fmean

import numpy as np
from scipy.optimize import linear_sum_assignment

from leafid.errors import LeafidError
from leafid.files import StrPath
from leafid.tasks.interpretation import localisation
from leafid.tasks.interpretation.regions import BoxedObject, ObjectPair
from leafid.textfiles import LineProblems, parse_finite_number, read_table

#: Distance of a class from a true class, 0 to 1; called as ``distance(true class,
#: class)``.
Distance = Callable[[str, str], float]


@dataclass(frozen=True)
class Scene:
    """The U true objects of a picture, and the V objects of the result."""

    #: float array (U, V): areas that a true object and one of the result share.
    common: np.ndarray
    #: float arrays (U,) and (V,): the areas of the objects of truth and result, above
    #: 0.
    true_areas: np.ndarray
    areas: np.ndarray
    #: The classes of the objects of truth and result.
    true_names: Sequence[str]
    names: Sequence[str]
    #: float array (V,): confidences of the classes of the result, 0 to 1.
    confidences: np.ndarray

    @classmethod
    def from_objects(
        cls, truth: Sequence[BoxedObject], result: Sequence[BoxedObject]
    ) -> Scene:
        """Compare objects by pixels if all have a region, otherwise by their boxes."""
        kind = "box"
        if all(item.region for item in (*truth, *result)):
            kind = "region"
        true_shapes = [getattr(item, kind) for item in truth]
        shapes = [getattr(item, kind) for item in result]
        common = [
            true.common_area(shape) for true, shape in product(true_shapes, shapes)
        ]
        return cls(
            common=np.array(common, float).reshape(len(truth), len(result)),
            true_areas=np.array([shape.area for shape in true_shapes], float),
            areas=np.array([shape.area for shape in shapes], float),
            true_names=[item.name for item in truth],
            names=[item.name for item in result],
            confidences=np.array([item.confidence for item in result], float),
        )

    @property
    def overlap(self) -> np.ndarray:
        """The intersection over union of all pairs, float array (U, V)."""
        return self.common / (
            self.true_areas[:, None] + self.areas[None, :] - self.common
        )


@dataclass(frozen=True)
class Parameters:
    """Parameters of the metric."""

    #: One of {"multiple", "one-to-one"}: whether an object can match several others.
    matching: str = "multiple"
    #: Overlap above which two objects match, 0 to below 1; used by ``multiple`` only.
    threshold: float = 0.2
    #: Weight of the localisation, 0 to 1; the recognition has the remaining weight.
    alpha: float = 0.8
    #: Distance of two classes, 0 to 1; by default 0 for equal and 1 for different
    #: classes.
    distance: Distance | None = None


def score_scene(
    scene: Scene, parameters: Parameters = Parameters()
) -> tuple[float, np.ndarray]:
    """Compare the objects of a result in a picture with the true ones.

    Objects are matched by their overlap; each match has the local error α·localisation
    + (1 − α)·recognition. Missed and invented objects are paired as far as possible;
    each pair or single object has error 1. The picture's error is the mean of all
    these.

    Return the error, 0 (perfect) to 1, or NaN for a picture without any object, and
    which objects of truth and result match, bool array (U, V).

    One-to-one matching maximises the sum of overlaps (Hungarian algorithm), and among
    equal sums minimises the local errors; pairs without overlap never match. So the
    order of the objects doesn't matter.

    References
    ----------
    .. [1] B. Hemery, H. Laurent, B. Emile, C. Rosenberger, "Évaluation d'un résultat
       d'interprétation d'images", section 2.
    """
    recognition = recognition_errors(scene, parameters.distance)
    local = (
        parameters.alpha * localisation_errors(scene)
        + (1 - parameters.alpha) * recognition
    )
    if parameters.matching == "multiple":
        matches = scene.overlap > parameters.threshold
    else:
        matches = np.zeros(local.shape, bool)
        # The tiny weight of the local error decides only between assignments of equal
        # overlap.
        matches[linear_sum_assignment(scene.overlap - 1e-9 * local, maximize=True)] = (
            True
        )
        matches &= scene.overlap > 0
    n_unmatched = max(count_unmatched(matches))
    return _average([*local[matches].tolist(), *[1.0] * n_unmatched]), matches


def count_unmatched(matches: np.ndarray) -> tuple[int, int]:
    """Count the missed true objects, and the invented ones, of matches (U, V)."""
    return int((~matches.any(axis=1)).sum()), int((~matches.any(axis=0)).sum())


def localisation_errors(scene: Scene) -> np.ndarray:
    """Compute, for pairs of objects, the smaller of two shares: float (U, V).

    One share is of the true object and missed, the other is of the result and in
    excess. It is 0 where one object contains the other: the refinement error of Martin
    et al. for a single object (equation 6).

    References
    ----------
    .. [1] D. Martin, C. Fowlkes, D. Tal, J. Malik, "A database of human segmented
       natural images", ICCV 2001.
    """
    return 1 - scene.common / np.minimum(
        scene.true_areas[:, None], scene.areas[None, :]
    )


def recognition_errors(scene: Scene, distance: Distance | None = None) -> np.ndarray:
    """Compute the errors of classes, float (U, V), for all pairs (equations 7 and 8).

    The distance of the two classes is multiplied by (1 − μ)/2 for equal and (1 + μ)/2
    for different classes, where μ is the confidence.
    """
    true_names, names = (
        np.array(scene.true_names, object)[:, None],
        np.array(scene.names, object),
    )
    distances = np.vectorize(distance or ne, otypes=[float])(true_names, names)
    signed_confidences = np.where(true_names == names, -1, 1) * scene.confidences
    return distances * (1 + signed_confidences) / 2


def score_objects(
    pair: ObjectPair, parameters: Parameters = Parameters()
) -> dict[str, float]:
    """Compare the objects of a picture in truth and result.

    Return the numbers of objects, the interpretation error, and the mean of each
    localisation metric over the matched pairs, NaN without any.
    """
    scene = Scene.from_objects(pair.truth, pair.result)
    error, matches = score_scene(scene, parameters)
    n_missed, n_invented = count_unmatched(matches)
    measures: dict[str, float] = {
        "objects": len(pair.truth),
        "found": len(pair.result),
        "matches": int(matches.sum()),
        "missed": n_missed,
        "invented": n_invented,
        "interpretation-error": error,
    }
    for name, compute in localisation.ERRORS.items():
        errors = [
            compute(pair.truth[u].box, pair.result[v].box)
            for u, v in np.argwhere(matches)
        ]
        measures[name] = _average(errors)
    measures["pas"] = _average(scene.overlap[matches].tolist())
    measures["martin"] = _average(localisation_errors(scene)[matches].tolist())
    return measures


def average_errors(errors: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average each measure over the pictures that have it."""
    means = {}
    for name in errors[0]:
        values = [error[name] for error in errors]
        means[name] = _average([value for value in values if not math.isnan(value)])
    return means


def _average(values: Sequence[float]) -> float:
    # fmean gives the same mean for every order of the values.
    return fmean(values) if values else math.nan


def read_distances(path: StrPath) -> Distance:
    """Read a matrix of distances between classes.

    The file is CSV in UTF-8. The first line has an empty cell (or a word) and the
    classes; every other line has a true class and its distances, 0 to 1, to these
    classes. A `ProblemsError` names the bad lines. The function returned raises a
    `LeafidError` for a class that the file lacks.
    """
    lines = read_table(path)
    _, header = next(lines, (1, []))
    names = header[1:]
    if not names or len(set(names)) != len(names):
        raise LeafidError(
            f"{path}:1: expected an empty cell and the classes, each once, found "
            f"{names}"
        )
    rows: dict[str, dict[str, float]] = {}
    with LineProblems(path) as problems:
        for line, (name, *cells) in lines:
            values = [
                value
                for value in map(parse_finite_number, cells)
                if value is not None and 0 <= value <= 1
            ]
            if name not in names or not len(cells) == len(values) == len(names):
                problems.add(
                    line,
                    f"expected a class of the first line and {len(names)} distances "
                    f"from 0 to 1, found {[name, *cells]}",
                )
            elif problems.check_unique(line, "every class", name):
                rows[name] = dict(zip(names, values, strict=True))
        if not problems and len(rows) < len(names):
            problems.add(
                None,
                f"expected a line for each of {len(names)} classes, found {len(rows)}",
            )

    def find_distance(true_name: str, name: str) -> float:
        for unknown in {true_name, name} - rows.keys():
            raise LeafidError(
                f"{path}: expected distances of every class, found none of {unknown!r}"
            )
        return rows[true_name][name]

    return find_distance
