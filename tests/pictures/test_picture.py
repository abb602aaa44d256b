from pathlib import Path

import pytest

from leafid.errors import LeafidError
from leafid.pictures import AcquisitionType, Picture, Taxon


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Scan", "scan"),
        ("pseudoscan", "scan-like"),
        ("photograph", "photo"),
        ("SheetAsBackground", "scan-like"),
        ("NaturalBackground", "photo"),
        (" SCAN-LIKE ", "scan-like"),
    ],
)
def test_type_words(word, expected):
    assert AcquisitionType.parse(word) == expected


@pytest.mark.parametrize("type_", list(AcquisitionType))
def test_imageclef_words_are_parsed(type_):
    assert AcquisitionType.parse(type_.imageclef_word) is type_


def test_unknown_type_word():
    with pytest.raises(LeafidError, match=r"expected an acquisition type .*scan-like.*, found 'drawing'"):
        AcquisitionType.parse("drawing")


def test_pictures_of_a_plant_share_a_group():
    first, second = Picture(Path("a/1.jpg"), plant="7"), Picture(Path("b/2.jpg"), plant="7")
    assert first.group == second.group
    assert Picture(Path("a/1.jpg")).group != Picture(Path("b/1.jpg")).group


def test_name_and_species():
    picture = Picture(Path("a/1.jpg"), taxon=Taxon("Acer campestre"))
    assert (picture.name, picture.species) == ("1.jpg", "Acer campestre")
    assert Picture(Path("1.jpg")).species is None
