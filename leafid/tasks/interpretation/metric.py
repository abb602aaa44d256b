"""The interpretation metric of Hemery et al.: detection, localisation and recognition of objects in one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leafid.errors import LeafidError
from leafid.metrics.registry import Metric
from leafid.tasks.interpretation.box import BoxedObject
from leafid.tasks.interpretation.label_masks import ObjectName
from leafid.tasks.interpretation.localisation import box_intersection, common_pixels

CITATION = "Hemery, Laurent, Emile, Rosenberger, Évaluation d'un résultat d'interprétation d'images"

MATCHINGS = ("multiple", "one-to-one")

Distance = Callable[[str, str], float]
"""How far a class is from another, 0 to 1; by default 0 from itself and 1 from any other."""


@dataclass(frozen=True)
class Scene:
    """Objects of the truth and of a result in one picture, and how much of them they share.

    Attributes
    ----------
    common : float array (U, V)
        Area that the true object u and the found object v share.
    true_areas : float array (U,)
    areas : float array (V,)
        Above 0.
    true_names : sequence of str, of length U
    names : sequence of str, of length V
        The objects' classes.
    confidences : float array (V,)
        How sure the system is of the class of each object that it found, 0 to 1.
    """

    common: np.ndarray
    true_areas: np.ndarray
    areas: np.ndarray
    true_names: Sequence[str]
    names: Sequence[str]
    confidences: np.ndarray

    @property
    def overlap(self) -> np.ndarray:
        """Intersection over union of all pairs, float array (U, V)."""
        return self.common / (self.true_areas[:, None] + self.areas[None, :] - self.common)


@dataclass(frozen=True)
class Parameters:
    """What can be chosen about the metric.

    Attributes
    ----------
    matching : {"multiple", "one-to-one"}
        Whether an object may correspond to several.
    threshold : float, default 0.2
        The overlap above which two objects correspond, 0 to below 1; for ``multiple`` only.
    alpha : float, default 0.8
        The weight of the localisation, 0 to 1; the rest is the recognition's.
    distance : callable, optional
        Distance of two classes.
    """

    matching: str = "multiple"
    threshold: float = 0.2
    alpha: float = 0.8
    distance: Distance | None = None

    def __post_init__(self) -> None:
        if self.matching not in MATCHINGS:
            raise LeafidError(f"expected a matching ({', '.join(MATCHINGS)}), found {self.matching!r}")
        if not 0 <= self.threshold < 1:
            raise LeafidError(f"expected a threshold from 0 to below 1, found {self.threshold}")
        if not 0 <= self.alpha <= 1:
            raise LeafidError(f"expected a weight of the localisation from 0 to 1, found {self.alpha}")


@dataclass(frozen=True)
class Interpretation:
    """The metric with all that leads to it.

    Attributes
    ----------
    error : float
        0 (as the truth) to 1.
    matches : bool array (U, V)
    localisation, recognition, local : float array (U, V)
        The errors of each pair; they count where `matches` is true.
    missed : tuple of int
        True objects without a match.
    invented : tuple of int
        Objects of the result without a match.
    """

    error: float
    matches: np.ndarray
    localisation: np.ndarray
    recognition: np.ndarray
    local: np.ndarray
    missed: tuple[int, ...]
    invented: tuple[int, ...]


DEFAULTS = Parameters()


def interpretation(scene: Scene, parameters: Parameters = DEFAULTS) -> Interpretation:
    """Compare a result with the truth.

    Objects are matched by their overlap; each match gets the local error α·localisation + (1 − α)·recognition;
    missed and invented objects are paired off as far as they go, and every such pair or single counts 1; the error is
    the mean.

    Parameters
    ----------
    scene : Scene
    parameters : Parameters, optional

    Returns
    -------
    Interpretation
        Error 0 where there is nothing to find and nothing found.

    Notes
    -----
    The localisation error is the lesser of the share missed and the share too much: it is 0 as soon as one region
    holds the other, and only the matching then sees how much larger the other is.

    One-to-one matches are those of the greatest sum of overlaps (Hungarian algorithm), among equals those of the least
    local error; pairs without any overlap are no matches. So the order of the objects never matters.

    References
    ----------
    .. [1] B. Hemery, H. Laurent, B. Emile, C. Rosenberger, "Évaluation d'un résultat d'interprétation d'images",
           section 2.
    """
    localisation = 1 - scene.common / np.minimum(scene.true_areas[:, None], scene.areas[None, :])
    recognition = recognition_errors(scene.true_names, scene.names, scene.confidences, parameters.distance)
    local = parameters.alpha * localisation + (1 - parameters.alpha) * recognition
    if parameters.matching == "multiple":
        matches = scene.overlap > parameters.threshold
    else:
        matches = _one_to_one(scene.overlap, local)
    missed = np.flatnonzero(~matches.any(axis=1))
    invented = np.flatnonzero(~matches.any(axis=0))
    unmatched = max(len(missed), len(invented))
    count = int(matches.sum()) + unmatched
    # fsum: the same sum in whatever order the objects come.
    total = math.fsum(local[matches].tolist()) + unmatched
    return Interpretation(
        total / count if count else 0.0,
        matches,
        localisation,
        recognition,
        local,
        tuple(map(int, missed)),
        tuple(map(int, invented)),
    )


def recognition_errors(
    true_names: Sequence[str], names: Sequence[str], confidences: np.ndarray, distance: Distance | None = None
) -> np.ndarray:
    """Errors of the classes of all pairs: the distance, times (1 − μ)/2 for the right class and (1 + μ)/2 for another.

    Parameters
    ----------
    true_names, names : sequence of str, of lengths U and V
    confidences : float array (V,)
        μ, 0 to 1.
    distance : callable, optional

    Returns
    -------
    float array (U, V)
    """
    far = distance or _differs
    distances = np.array([[far(u, v) for v in names] for u in true_names]).reshape(len(true_names), len(names))
    same = np.array([[u == v for v in names] for u in true_names], bool).reshape(distances.shape)
    sureness = np.where(same, -1.0, 1.0) * np.asarray(confidences, float)[None, :]
    return distances * (1 + sureness) / 2


def scene_of_masks(
    truth: np.ndarray,
    result: np.ndarray,
    true_objects: dict[int, ObjectName] | None = None,
    objects: dict[int, ObjectName] | None = None,
) -> Scene:
    """Make a scene of two label masks.

    Parameters
    ----------
    truth, result : int array (H, W)
        0 is the ground, every other value an object.
    true_objects, objects : dict of int to ObjectName, optional
        What the objects are; without, all are of one class.

    Returns
    -------
    Scene

    Raises
    ------
    LeafidError
        When the masks differ in size, or a label of theirs has no name where others have.
    """
    common, true_labels, labels = common_pixels(truth, result)
    true_areas, areas = common.sum(axis=1), common.sum(axis=0)
    rows, cols = true_labels != 0, labels != 0
    true_named = _named(true_labels[rows], true_objects, "ground truth")
    named = _named(labels[cols], objects, "result")
    return Scene(
        common[rows][:, cols].astype(float),
        true_areas[rows].astype(float),
        areas[cols].astype(float),
        [thing.name for thing in true_named],
        [thing.name for thing in named],
        np.array([thing.confidence for thing in named]),
    )


def scene_of_boxes(truth: Sequence[BoxedObject], result: Sequence[BoxedObject]) -> Scene:
    """Make a scene of two lists of boxes, whose areas are compared as rectangles."""
    common = np.array([[box_intersection(u.box, v.box) for v in result] for u in truth])
    return Scene(
        common.reshape(len(truth), len(result)),
        np.array([thing.box.area for thing in truth]),
        np.array([thing.box.area for thing in result]),
        [thing.name for thing in truth],
        [thing.name for thing in result],
        np.array([thing.confidence for thing in result]),
    )


def _named(labels: np.ndarray, objects: dict[int, ObjectName] | None, where: str) -> list[ObjectName]:
    if objects is None:
        return [ObjectName() for _ in labels]
    for label in labels:
        if int(label) not in objects:
            raise LeafidError(f"{where}: expected a class for every label of the mask, found none for {label}")
    return [objects[int(label)] for label in labels]


def _one_to_one(overlap: np.ndarray, local: np.ndarray) -> np.ndarray:
    from scipy.optimize import linear_sum_assignment

    matches = np.zeros(overlap.shape, bool)
    # The local error only decides between assignments of (as good as) equal overlap.
    matches[linear_sum_assignment(overlap - 1e-9 * local, maximize=True)] = True
    return matches & (overlap > 0)


def _differs(one: str, other: str) -> float:
    return float(one != other)


METRICS = (
    Metric(
        "interpretation-error",
        "objects missed, invented, misplaced or misnamed",
        interpretation,
        citation=CITATION,
        command="evaluate-interpretation",
        higher_is_better=False,
    ),
)
