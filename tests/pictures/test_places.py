import math
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from leafid.pictures.picture import Picture
from leafid.pictures.splits import label_units, split_by_unit


def picture(number, plant, latitude=None, longitude=None):
    coordinates = None if latitude is None else (latitude, longitude)
    return Picture(Path(f"{number}.jpg"), plant=plant, coordinates=coordinates)


def literal_km(first, second):
    """The angle between two directions in space."""

    def direction(latitude, longitude):
        a, b = math.radians(latitude), math.radians(longitude)
        return np.array([math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)])

    start, end = direction(*first), direction(*second)
    return 6371.0088 * math.atan2(np.linalg.norm(np.cross(start, end)), start @ end)


# A hundredth of a degree of latitude is 1.1 km.
GARDENS = [
    picture(1, "a", 43.60, 3.9),
    picture(2, "b", 43.64, 3.9),
    picture(3, "c", 43.68, 3.9),
    picture(4, "d", 43.80, 3.9),
    picture(5, "e"),
    picture(6, "a", 43.60, 3.9),
    picture(7, "f"),
    picture(8, "a"),
    picture(9, "g", 50.0, 3.9),
    picture(10, "g", 51.0, 3.9),
]


def test_chain_of_plants_is_one_place():
    # a, b and c are joined though a and c are 9 km apart; e and f may be anywhere; a and g are each one plant.
    assert label_units(GARDENS, "place").tolist() == [0, 0, 0, 1, 2, 0, 2, 0, 3, 3]
    assert label_units(GARDENS, "place", 20).tolist() == [0, 0, 0, 0, 1, 0, 1, 0, 2, 2]
    assert label_units(GARDENS, "place", 1).tolist() == [0, 1, 2, 3, 4, 0, 4, 0, 5, 5]
    assert label_units([], "place").tolist() == []


@pytest.mark.parametrize("within_km", [0.5, 5, 60, 3000, 30_000])
@pytest.mark.parametrize("middle", [(43.6, 3.9), (90, 0), (-90, 0), (0, 180), (75, -180), (0, 0)])
def test_places_equal_those_from_all_distances(middle, within_km):
    rng = np.random.default_rng(0)
    # From metres to thousands of kilometres away.
    away = 10 ** rng.uniform(-3, 1.6, (120, 1)) * rng.normal(size=(120, 2))
    latitude, longitude = (middle + away).T
    points = np.column_stack([np.clip(latitude, -90, 90), (longitude + 180) % 360 - 180])
    near = csr_array([[literal_km(a, b) < within_km for b in points] for a in points])
    numbers: dict[int, int] = {}
    expected = [numbers.setdefault(label, len(numbers)) for label in connected_components(near)[1].tolist()]
    pictures = [picture(number, str(number), *point) for number, point in enumerate(points.tolist())]
    found = label_units(pictures, "place", within_km)
    assert found.tolist() == expected


def test_folds_keep_places_together():
    folds = split_by_unit(GARDENS, "place", 3, 0)
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(GARDENS)))
    labels = label_units(GARDENS, "place")
    assert sum(len(set(labels[fold])) for fold in folds) == 4
    reversed_folds = split_by_unit(GARDENS[::-1], "place", 3, 0)
    names = {frozenset(GARDENS[index].name for index in fold) for fold in folds}
    assert {frozenset(GARDENS[::-1][index].name for index in fold) for fold in reversed_folds} == names
