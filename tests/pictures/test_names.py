import random

import pytest

from leafid.errors import LeafidError
from leafid.pictures import names
from leafid.pictures.picture import AcquisitionType
from leafid.translation import LANGUAGES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Platanus x hispanica", "Platanus x hispanica"),
        ("Platanus × hispanica Mill. ex Münchh.", "Platanus x hispanica"),
        ("Quercus_robur_L.", "Quercus robur"),
        ("cornus florida L. f.", "Cornus florida"),
        ("Hamamelis mollis Oliv. ex F.B.Forbes & Hemsl.", "Hamamelis mollis"),
        ("Platanus ×hispanica", "Platanus x hispanica"),
        ("Platanus_x_hispanica", "Platanus x hispanica"),
        (
            "×Cuprocyparis leylandii (A.B.Jacks. & Dallim.) Farjon",
            "x Cuprocyparis leylandii",
        ),
        ("X Cuprocyparis notabilis", "x Cuprocyparis notabilis"),
        ("x_Sorbaronia_fallax", "x Sorbaronia fallax"),
        ("×Sorbaronia ×fallax", "x Sorbaronia x fallax"),
        ("  acer   campestre ", "Acer campestre"),
        ("x_cuprocyparis_leylandii", "x Cuprocyparis leylandii"),
        ("E\u0301rable champe\u0302tre", "\u00c9rable champ\u00eatre"),
        ("Crataegus x-media", "Crataegus x-media"),
        (
            "Pinus nigra subsp. salzmannii (Dunal) Franco",
            "Pinus nigra subsp. salzmannii",
        ),
        ("Fagus sylvatica L. f. pendula (Lodd.) Dippel", "Fagus sylvatica f. pendula"),
        ("Malus domestica Borkh. 'Red Fuji'", "Malus domestica 'Red Fuji'"),
        ("Acer rubrum L. cv. Scanlon", "Acer rubrum cv. Scanlon"),
        ("Tilia cordata M", "Tilia cordata M"),
    ],
)
def test_species_names_without_authors(text, expected):
    assert names.drop_authors(names.parse_species_name(text)) == expected
    assert names.parse_species_name(expected) == expected


@pytest.mark.parametrize(
    "text",
    ["", "Acer", "Acer_", "Platanus x", "×", "×Cuprocyparis", "x x", "×Cuprocyparis x"],
)
def test_invalid_species_names(text):
    with pytest.raises(LeafidError, match="two or three words"):
        names.parse_species_name(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("06/07/10", "2010-07-06"),
        ("6/7/1998", "1998-07-06"),
        ("01/01/89", "1989-01-01"),
        ("2011-02-24T10:11:12", "2011-02-24"),
        ("29/02/12", "2012-02-29"),
        ("2024:05:01 10:00:00", "2024-05-01"),
        ("20240501T1000Z", "2024-05-01"),
        ("13/5/2024 9:30 pm", "2024-05-13"),
    ],
)
def test_dates(text, expected):
    assert names.parse_date(text) == expected


@pytest.mark.parametrize(
    "text", ["5/13/2024", "45413", "10:05:12", "0000:00:00", "20241301", "May 2024"]
)
def test_invalid_dates(text):
    with pytest.raises(LeafidError, match=r"expected a date like .*, found '"):
        names.parse_date(text)


@pytest.mark.parametrize(
    "text", ["", "north", "91", "-90.1", "nan", "inf", "3,25,1", "1_0", "٣"]
)
def test_invalid_numbers(text):
    with pytest.raises(LeafidError, match="from -90 to 90"):
        names.parse_coordinates(text, "3.9")


def test_coordinates_with_a_decimal_comma():
    assert names.parse_coordinates("48,85", "-2,5") == (48.85, -2.5)


def test_natural_order():
    expected = ["1.jpg", "2.jpg", "10.jpg", "10a.jpg", "a2.jpg", "a10.jpg", "a.jpg"]
    shuffled = random.Random(0).sample(expected, len(expected))
    assert sorted(shuffled, key=names.natural_sort_key) == expected


def test_type_words():
    words = [
        "Scan",
        "pseudoscan",
        "photograph",
        "SheetAsBackground",
        "NaturalBackground",
        " SCAN-LIKE ",
    ]
    values = [AcquisitionType.parse(word).value for word in words]
    assert values == ["scan", "scan-like", "photo", "scan-like", "photo", "scan-like"]


def test_the_table_of_common_names_has_names_that_collections_use_and_no_stray_blanks():
    table = names.read_common_names()
    assert list(table) == sorted(table)
    for species, row in table.items():
        assert names.parse_species_name(species) == species
        assert list(row) == ["species", "accepted", *LANGUAGES, "forms"]
        assert all(cell == cell.strip() for cell in row.values())
        assert (
            not row["accepted"]
            or row["accepted"] == names.parse_species_name(row["accepted"]) != species
        )
    assert (
        names.describe_common_names("Sorbus domestica", []) == "(now Cormus domestica)"
    )
