"""Alterations of objects, to study how the interpretation metric responds to errors of known strength."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np

from leafid.tasks.interpretation.metric import DEFAULTS, Parameters, Scene, score_scene
from leafid.tasks.interpretation.region import BoxedObject, Region, align_masks

#: The class of altered objects where the truth has no other class.
OTHER_CLASS = "other"

#: Factor of ``scale`` at strength 1. Up to 1/√0.2 = 2.2 the default matching tolerates it, and so does the error.
MAX_SCALE = 3.0


def study_alterations(
    pictures: Sequence[Sequence[BoxedObject]],
    strengths: Sequence[float],
    parameters: Parameters = DEFAULTS,
    alterations: Sequence[str] | None = None,
) -> dict[str, list[float]]:
    """Score true objects against altered copies of themselves: for each alteration the mean error at each strength.

    Pictures without objects are left out; the mean is over pictures and directions. A strength is 0 to 1: for ``shift``
    in widths or heights of an object, for ``scale`` on the way to `MAX_SCALE`, for the others the share of a picture's
    objects.

    References
    ----------
    .. [1] B. Hemery, H. Laurent, B. Emile, C. Rosenberger, "Évaluation d'un résultat d'interprétation d'images",
           section 3.
    """
    pictures = [objects for objects in pictures if objects]
    classes = sorted({item.name for objects in pictures for item in objects})
    next_class = dict(zip(classes, [*classes[1:], classes[0]], strict=True)) if len(classes) > 1 else {}
    curves: dict[str, list[float]] = {}
    for name in alterations or ALTERATIONS:
        curves[name] = []
        for strength in strengths:
            errors = [
                score_scene(Scene.from_objects(objects, altered), parameters).error
                for objects in pictures
                for altered in ALTERATIONS[name](objects, strength, next_class)
            ]
            curves[name].append(math.fsum(errors) / len(errors))
    return curves


def _shift(objects: Sequence[BoxedObject], strength: float, _: Mapping[str, str]) -> list[list[BoxedObject]]:
    """Move every object to the right, left, bottom and top by a share of its width or height."""
    return [
        [
            _replace_region(item, region.shift(round(row * strength * rows), round(column * strength * columns)))
            for item, region, rows, columns in _measure(objects)
        ]
        for row, column in ((0, 1), (0, -1), (1, 0), (-1, 0))
    ]


def _scale(objects: Sequence[BoxedObject], strength: float, _: Mapping[str, str]) -> list[list[BoxedObject]]:
    """Enlarge and shrink every object about its centre, by up to `MAX_SCALE`."""
    factor = 1 + strength * (MAX_SCALE - 1)
    return [
        [_replace_region(item, region.scale(side)) for item, region, _, _ in _measure(objects)]
        for side in (factor, 1 / factor)
    ]


def _remove(objects: Sequence[BoxedObject], strength: float, _: Mapping[str, str]) -> list[list[BoxedObject]]:
    return [list(objects[_count(objects, strength) :])]


def _add(objects: Sequence[BoxedObject], strength: float, _: Mapping[str, str]) -> list[list[BoxedObject]]:
    """Add copies of objects to the right of all others, so that they match nothing."""
    right = max(region.left + columns for _, region, _, columns in _measure(objects))
    added = [_replace_region(item, item.to_region().shift(0, right)) for item in objects[: _count(objects, strength)]]
    return [[*objects, *added]]


def _relabel(objects: Sequence[BoxedObject], strength: float, next_class: Mapping[str, str]) -> list[list[BoxedObject]]:
    count = _count(objects, strength)
    relabelled = [item._replace(name=next_class.get(item.name, OTHER_CLASS)) for item in objects[:count]]
    return [[*relabelled, *objects[count:]]]


def _split(objects: Sequence[BoxedObject], strength: float, _: Mapping[str, str]) -> list[list[BoxedObject]]:
    """Cut objects into two halves across their longer side."""
    count = _count(objects, strength)
    halves = [_replace_region(item, half) for item in objects[:count] for half in item.to_region().split()]
    return [[*halves, *objects[count:]]]


def _merge(objects: Sequence[BoxedObject], strength: float, _: Mapping[str, str]) -> list[list[BoxedObject]]:
    """Merge objects into one of the class of the largest."""
    count = _count(objects, strength)
    if count < 2:
        return [list(objects)]
    merged = reduce(_unite, (item.to_region() for item in objects[:count]))
    largest = max(objects[:count], key=lambda item: item.to_region().area)
    return [[_replace_region(largest, merged), *objects[count:]]]


Alteration = Callable[[Sequence[BoxedObject], float, Mapping[str, str]], list[list[BoxedObject]]]

#: By name, functions of the objects of a picture, a strength and another class for each class. Each returns the altered
#: objects for every direction of the alteration.
ALTERATIONS: dict[str, Alteration] = {
    "shift": _shift,
    "scale": _scale,
    "remove": _remove,
    "add": _add,
    "relabel": _relabel,
    "split": _split,
    "merge": _merge,
}


def _count(objects: Sequence[BoxedObject], strength: float) -> int:
    return round(strength * len(objects))


def _measure(objects: Sequence[BoxedObject]) -> list[tuple[BoxedObject, Region, int, int]]:
    regions = [item.to_region() for item in objects]
    return [(item, region, *region.mask.shape) for item, region in zip(objects, regions, strict=True)]


def _replace_region(item: BoxedObject, region: Region) -> BoxedObject:
    return item._replace(box=region.box, region=region)


def _unite(first: Region, second: Region) -> Region:
    masks = align_masks(first, second)
    return Region(np.logical_or(*masks), min(first.top, second.top), min(first.left, second.left))
