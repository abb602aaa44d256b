from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.pictures import Picture, Taxon, split_by_plant
from leafid.pictures.splits import split_by_unit


def make(sizes: list[list[int]]) -> list[Picture]:
    """Pictures of species; for each a list of how many pictures each of its plants has."""
    return [
        Picture(Path(f"{species}-{plant}-{number}.jpg"), taxon=Taxon(f"Genus s{species}"), plant=f"{species}-{plant}")
        for species, plants in enumerate(sizes)
        for plant, size in enumerate(plants)
        for number in range(size)
    ]


collections = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=7), min_size=1, max_size=8).filter(
    lambda sizes: sum(map(len, sizes)) >= 5
)


@settings(deadline=None)
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
    assert all((a == b).all() for a, b in zip(folds, split_by_plant(pictures, n_folds, seed), strict=True))


@settings(deadline=None)
@given(collections, st.randoms())
def test_order_of_the_pictures_does_not_matter(sizes, random):
    pictures = make(sizes)
    shuffled = random.sample(pictures, len(pictures))
    folds, folds_of_shuffled = split_by_plant(pictures, 3, 0), split_by_plant(shuffled, 3, 0)
    for fold, other in zip(folds, folds_of_shuffled, strict=True):
        assert {pictures[i] for i in fold} == {shuffled[i] for i in other}


def test_plant_with_two_species_stays_together():
    pictures = make([[4], [1], [2]])
    pictures.append(Picture(Path("odd.jpg"), taxon=Taxon("Genus s1"), plant="0-0"))
    folds = split_by_plant(pictures, 2, 0)
    assert sum({pictures[i].plant for i in fold} >= {"0-0"} for fold in folds) == 1


def test_too_few_plants():
    with pytest.raises(LeafidError, match="at least 5 plants for 5 folds, found 4"):
        split_by_plant(make([[9], [9, 9, 9]]), 5, 0)
    with pytest.raises(LeafidError, match=r"expected at least 5 places .* for 5 folds, found 1"):
        split_by_unit(make([[9]]), "place", 5, 0)
    with pytest.raises(ValueError, match="n_folds"):
        split_by_plant(make([[9, 9]]), 1, 0)
