import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from leafid.errors import LeafidError
from leafid.pictures.picture import Picture, Taxon
from leafid.pictures.splitting.selection import (
    assume_plants,
    select_training_pictures,
    select_unknown_pictures,
)
from leafid.pictures.splitting.units import label_units, split_by_plant, split_by_unit


def make(sizes: list[list[int]]) -> list[Picture]:
    """Pictures of species.

    For each a list of how many pictures each of its plants has.
    """
    return [
        Picture(
            Path(f"{species}-{plant}-{number}.jpg"),
            taxon=Taxon(f"Genus s{species}"),
            plant=f"{species}-{plant}",
        )
        for species, plants in enumerate(sizes)
        for plant, size in enumerate(plants)
        for number in range(size)
    ]


collections = st.lists(
    st.lists(st.integers(1, 6), min_size=1, max_size=7), min_size=1, max_size=8
).filter(lambda sizes: sum(map(len, sizes)) >= 5)


@settings(max_examples=30)
@given(collections, st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_folds(sizes, n_folds, seed):
    pictures = make(sizes)
    folds = split_by_plant(pictures, n_folds, seed)
    assert len(folds) == n_folds
    assert sorted(np.concatenate(folds)) == list(range(len(pictures)))
    assert all((np.diff(fold) > 0).all() for fold in folds)
    folds_of_plant = defaultdict(set)
    plants_in_fold = defaultdict(lambda: [set() for _ in range(n_folds)])
    for number, fold in enumerate(folds):
        for index in fold:
            folds_of_plant[pictures[index].plant].add(number)
            plants_in_fold[pictures[index].species][number].add(pictures[index].plant)
    assert all(len(numbers) == 1 for numbers in folds_of_plant.values())
    for plants in plants_in_fold.values():
        # The plants of a species are distributed evenly.
        assert max(map(len, plants)) - min(map(len, plants)) <= 1
    assert all(
        (a == b).all()
        for a, b in zip(folds, split_by_plant(pictures, n_folds, seed), strict=True)
    )


@settings(max_examples=30)
@given(collections, st.randoms())
def test_order_of_the_pictures_does_not_matter(sizes, random):
    pictures = make(sizes)
    shuffled = random.sample(pictures, len(pictures))
    folds, folds_of_shuffled = (
        split_by_plant(pictures, 3, 0),
        split_by_plant(shuffled, 3, 0),
    )
    for fold, shuffled_fold in zip(folds, folds_of_shuffled, strict=True):
        assert {pictures[i] for i in fold} == {shuffled[i] for i in shuffled_fold}


def make_collection(name: str, *species: str, **fields: object) -> list[Picture]:
    """Two pictures of each species."""
    return [
        Picture(
            Path(f"{name}/{label} {number}.jpg"),
            taxon=Taxon(label),
            collection=name,
            **fields,
        )
        for label in species
        for number in range(2)
    ]


def test_unknown_plants_of_several_collections_count_as_one_a_species(caplog):
    known = make_collection("a", "Acer a", plant="1")
    known += make_collection("a", "Acer b", plant="2")
    unknown = make_collection("b", "Acer a", "Acer c")
    pictures = assume_plants([*known, *unknown])
    assert pictures[:4] == known
    assert len({picture.group for picture in pictures[4:]}) == 2
    assert [record.getMessage() for record in caplog.records] == [
        "b: the plants of 4 of 4 pictures are unknown; the pictures of a species "
        "count as one plant"
    ]
    # Nothing could be held out.
    apart = [*make_collection("a", "Acer a"), *make_collection("b", "Acer b")]
    for alone in (unknown, apart):
        assert assume_plants(alone) == alone


def test_each_collection_has_its_training_part():
    first = make_collection("a", "Acer a", part="train")
    tested = make_collection("a", "Acer b", part="test")
    second = make_collection("b", "Acer c")
    selected = select_training_pictures([*first, *second, *tested])
    assert selected == [*first, *second]


def test_unknown_species_are_not_among_the_known():
    known = make_collection("a", "Acer a", "Acer b")
    unknown = make_collection("b", "Acer c")
    tested = make_collection("b", "Acer d", part="test")
    unlabelled = [Picture(Path("b/1.jpg"))]
    pictures = [*unknown, *tested, *unlabelled]
    selected = select_unknown_pictures(pictures, known)
    assert [picture.file for picture in selected] == [
        picture.file for picture in [*unknown, *unlabelled]
    ]
    assert [picture.plant for picture in selected] == ["Acer c", "Acer c", None]
    message = "b/Acer b 0.jpg: .* 'Acer b', and 2 such pictures in all"
    with pytest.raises(LeafidError, match=message):
        select_unknown_pictures(make_collection("b", "Acer b"), known)


def test_plant_with_two_species_stays_together():
    pictures = make([[4], [1], [2]])
    pictures.append(Picture(Path("odd.jpg"), taxon=Taxon("Genus s1"), plant="0-0"))
    folds = split_by_plant(pictures, 2, 0)
    assert sum({pictures[i].plant for i in fold} >= {"0-0"} for fold in folds) == 1


def test_too_few_plants():
    with pytest.raises(LeafidError, match="at least 5 plants for 5 folds, found 4"):
        split_by_plant(make([[9], [9, 9, 9]]), 5, 0)
    with pytest.raises(
        LeafidError, match=r"expected at least 5 places .* for 5 folds, found 1"
    ):
        split_by_unit(make([[9]]), "place", 5, 0)


def picture(number, plant, latitude=None, longitude=None):
    coordinates = None if latitude is None else (latitude, longitude)
    return Picture(Path(f"{number}.jpg"), plant=plant, coordinates=coordinates)


def literal_km(first, second):
    """The angle between two directions in space."""

    def direction(latitude, longitude):
        a, b = math.radians(latitude), math.radians(longitude)
        return np.array(
            [math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)]
        )

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


def number_places(pictures, within_km=5.0):
    """Number the places in the order of their first pictures."""
    labels = label_units(pictures, "place", within_km).tolist()
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    assert sorted(numbers) == [*range(len(numbers))]
    return [numbers[label] for label in labels]


def test_chain_of_plants_is_one_place():
    # a, b and c are joined though a and c are 9 km apart; e and f may be anywhere; a
    # and g are each one plant.
    assert number_places(GARDENS) == [0, 0, 0, 1, 2, 0, 2, 0, 3, 3]
    assert number_places(GARDENS, 20) == [0, 0, 0, 0, 1, 0, 1, 0, 2, 2]
    assert number_places(GARDENS, 1) == [0, 1, 2, 3, 4, 0, 4, 0, 5, 5]
    assert number_places([]) == []


@pytest.mark.parametrize(
    "middle", [(43.6, 3.9), (90, 0), (-90, 0), (0, 180), (75, -180), (0, 0)]
)
def test_places_equal_those_from_all_distances(middle):
    rng = np.random.default_rng(0)
    # From metres to thousands of kilometres away.
    away = 10 ** rng.uniform(-3, 1.6, (50, 1)) * rng.normal(size=(50, 2))
    latitude, longitude = (middle + away).T
    points = np.column_stack(
        [np.clip(latitude, -90, 90), (longitude + 180) % 360 - 180]
    )
    distances = np.array([[literal_km(a, b) for b in points] for a in points])
    pictures = [
        picture(number, str(number), *point)
        for number, point in enumerate(points.tolist())
    ]
    for within_km in (0.5, 5, 60, 3000, 30_000):
        numbers: dict[int, int] = {}
        components = connected_components(csr_array(distances < within_km))[1].tolist()
        expected = [numbers.setdefault(label, len(numbers)) for label in components]
        assert number_places(pictures, within_km) == expected


def test_folds_keep_places_together():
    folds = split_by_unit(GARDENS, "place", 3, 0)
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(GARDENS)))
    labels = label_units(GARDENS, "place")
    assert sum(len(set(labels[fold])) for fold in folds) == 4
    reversed_folds = split_by_unit(GARDENS[::-1], "place", 3, 0)
    names = {frozenset(GARDENS[index].name for index in fold) for fold in folds}
    assert {
        frozenset(GARDENS[::-1][index].name for index in fold)
        for fold in reversed_folds
    } == names
