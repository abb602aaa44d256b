from pathlib import Path

import pytest

from leafid.pictures import AcquisitionType, Picture


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


def test_pictures_of_a_plant_share_a_group():
    first, second = Picture(Path("a/1.jpg"), plant="7"), Picture(Path("b/2.jpg"), plant="7")
    assert first.group == second.group
    assert Picture(Path("a/1.jpg")).group != Picture(Path("b/1.jpg")).group
