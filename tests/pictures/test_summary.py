from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.pictures import AcquisitionType, Picture, Taxon
from leafid.pictures.summary import (
    count_by_species,
    count_pictures,
    find_duplicates,
    find_risks,
    gini_index,
)

counts = st.lists(st.integers(0, 10_000), min_size=1, max_size=40).filter(any)
# Sums of up to 40 doubles.
EXACT = 1e-12


def slow_gini(values: list[int]) -> Fraction:
    """Half the mean difference of all pairs, relative to the mean."""
    pairs = sum(abs(a - b) for a in values for b in values)
    return Fraction(pairs, 2 * len(values) * sum(values))


@given(counts)
def test_gini_is_half_the_relative_mean_difference(values):
    assert gini_index(values) == pytest.approx(float(slow_gini(values)), abs=EXACT)


def picture(name: str, species: str | None = None, **fields: object) -> Picture:
    return Picture(Path(name), taxon=Taxon(species) if species else None, **fields)


SCAN, PHOTO = AcquisitionType.SCAN, AcquisitionType.PHOTO
PICTURES = [
    picture("1", "Acer a", plant="1", author="x", type=SCAN),
    picture("2", "Acer a", plant="1", author="y", type=PHOTO),
    picture("3", "Acer b", plant="2", author="x", type=SCAN),
    picture("4", "Acer a"),
    picture("5"),
]


def test_counts():
    assert count_pictures(PICTURES) == {"pictures": 5, "species": 2, "plants": 2, "authors": 2}


def test_counts_by_species():
    rare, common = count_by_species(PICTURES)
    assert rare == {"species": "Acer b", "pictures": 1, "plants": 1, "by_type": {"scan": 1}}
    by_type = {"photo": 1, "scan": 1, "unknown": 1}
    assert common == {"species": "Acer a", "pictures": 3, "plants": 2, "by_type": by_type}


def test_duplicates():
    same_plant, other_species = find_duplicates(PICTURES, ["a", "a", "b", "b", None])
    assert [p.name for p in same_plant] == ["1", "2"]
    assert [p.name for p in other_species] == ["3", "4"]
    assert find_duplicates(PICTURES, [None] * 5) == []


def test_risks_of_an_experiment():
    def make(name, species, part=None, plant=None):
        return Picture(Path(name), taxon=Taxon(species) if species else None, part=part, plant=plant)

    train = [make(f"{n}.jpg", "a", "train", f"p{n}") for n in range(4)] + [make("5.jpg", "b", "train", "p5")]
    test = [make("6.jpg", "b", "test", "p5"), make("7.jpg", "c", "test", "p7"), make("8.jpg", None, "test")]
    pictures = [*train, *test]
    hashes = ["same", "x", "x", *"3456", "same"]
    found = list(find_risks(pictures, find_duplicates(pictures, hashes)))
    assert [line.split(":")[0] for line in found] == [
        "1 duplicate across parts, 0.jpg and 8.jpg first",
        "1 duplicate with different labels",
        "1 plant in several parts, 'p5' first",
        "1 label of the test part without a training picture, 'c' first",
        "'a' holds 57% of the pictures",
        "1 label with a single picture, 'c' first",
    ]
    assert all(len(line) < 200 for line in found)
    found = list(find_risks(train[:4], find_duplicates(train[:4], ["x", "x", "y", "z"])))
    assert [line.split(":")[0] for line in found] == [
        "1 duplicate of different plants",
        "all pictures have one label, 'a'",
    ]
    assert list(find_risks([], [])) == []


def test_unknown_plants_are_a_risk():
    pictures = [Picture(Path(f"{n}.jpg"), taxon=Taxon("ab"[n % 2])) for n in range(10)]
    assert [line.split(":")[0] for line in find_risks(pictures, [])] == ["the plants are unknown"]
