import re
from dataclasses import replace

import pytest
from msgspec import structs

from leafid.model.species import Species, TraitRange
from leafid.pages.field_guide import make_guide, state_typical_traits
from leafid.pages.rendering import render_page
from leafid.pages.trait_words import describe as words
from leafid.pages.trait_words import read_marks
from leafid.pictures.names import read_common_names
from leafid.pictures.picture import Taxon
from leafid.translation import using_language


def describe(name="A a", **ranges):
    record = Species(
        Taxon("A a"),
        traits={name: TraitRange(*quantiles) for name, quantiles in ranges.items()},
    )
    return [*words(state_typical_traits(name, record), "botanical").values()]


def test_species_are_described_by_medians():
    assert describe(leaflets=(9, 11, 13, 8), petiole=(0.1, 0.3, 0.9, 8)) == [
        "compound leaf",
        "11 or more leaflets",
        "petiole 0.30 of the blade",
    ]


def test_species_are_described_by_what_most_plants_agree_about():
    assert describe(leaflets=(1, 5, 9, 8), petiole=(0.1, 0.3, 0.9, 8)) == [
        "petiole 0.30 of the blade"
    ]
    assert describe(leaflets=(1, 5, 9, 8), compound=(0, 1, 1, 9)) == ["compound leaf"]
    assert describe(leaflets=(1, 1, 5, 8), compound=(0, 0, 1, 9)) == []
    toothed = {"teeth": (8, 20, 30, 8), "tooth_depth": (1, 2, 3, 8)}
    assert describe(**toothed) == ["margin coarsely toothed", "20 or more teeth"]
    assert describe(**toothed | {"teeth": (0, 20, 30, 8)}) == [
        "margin coarsely toothed"
    ]


def test_the_marks_of_a_species_take_the_place_of_what_was_measured():
    toothed = {"teeth": (8, 20, 30, 8), "tooth_depth": (1, 1, 1, 8)}
    assert describe(**toothed) == ["margin finely toothed", "20 or more teeth"]
    assert describe("Fagus sylvatica", **toothed, petiole=(0.1, 0.1, 0.1, 8)) == [
        "margin wavy, with at most a few low teeth",
        "petiole 0.10 of the blade",
    ]
    many = {"lobes": (6, 6, 6, 8), "lobe_depth": (-1, -1, -1, 8)}
    cordate = {"base_extension": (0.1, 0.1, 0.1, 8)}
    assert describe(**many, **cordate) == ["palmately lobed, about 6 lobes"]
    assert describe("Platanus x hispanica", **many, **cordate) == [
        "palmately lobed, 3 to 5 lobes"
    ]
    assert describe("Albizia julibrissin", leaflets=(1, 1, 1, 8)) == [
        "leaf twice compound, of many small leaflets"
    ]


@pytest.mark.parametrize(
    ("name", "english", "german", "french"),
    [
        (
            "Aesculus hippocastanum",
            "leaf palmately compound, 5 to 7 leaflets",
            "Blatt gefingert, 5 bis 7 Blättchen",
            "feuille composée palmée, 5 à 7 folioles",
        ),
        (
            "Melia azedarach",
            "leaf twice compound",
            "Blatt doppelt gefiedert",
            "feuille bipennée",
        ),
        (
            "Laburnum anagyroides",
            "leaf of three leaflets",
            "Blatt dreizählig",
            "feuille trifoliolée",
        ),
        (
            "Acer opalus",
            "palmately lobed, 3 to 5 lobes; margin toothed",
            "handförmig gelappt, 3 bis 5 Lappen; Blattrand gezähnt",
            "limbe palmatilobé, 3 à 5 lobes; bord denté",
        ),
        (
            "Ilex aquifolium",
            "margin with spiny teeth",
            "Blattrand dornig gezähnt",
            "bord à dents épineuses",
        ),
    ],
)
def test_main_marks_are_told_in_each_language(name, english, german, french):
    for language, expected in (("en", english), ("de", german), ("fr", french)):
        with using_language(language):
            assert "; ".join(describe(name)) == expected


def test_each_mark_is_of_a_species_with_a_name_and_has_words():
    for name, marks in read_marks().items():
        assert name in read_common_names()
        assert len(describe(name)) == len([*filter(None, marks.values())])


def test_a_name_that_no_page_can_hold_costs_only_its_letter(model, tmp_path):
    name = next(iter(model.species))
    info = structs.replace(
        model.species[name], vernacular_names=("Bl\udce4tterbaum\x00",)
    )
    odd = replace(model, species={**model.species, name: info})
    page = render_page(
        "field_guide.html", **make_guide(odd, tmp_path / "\udce9.leafid")
    )
    assert "Bl\ufffdtterbaum\ufffd" in page
    page.encode()


def test_other_forms_of_leaves_are_told(model, tmp_path):
    species = {**model.species, "Ilex aquifolium": next(iter(model.species.values()))}
    page = render_page(
        "field_guide.html", **make_guide(replace(model, species=species), tmp_path)
    )
    assert "Also: upper leaves of old trees have no spines." in page


def test_plates_have_the_names_of_all_languages_to_search_for(model, tmp_path):
    species = {**model.species, "Sophora japonica": next(iter(model.species.values()))}
    page = render_page(
        "field_guide.html", **make_guide(replace(model, species=species), tmp_path)
    )
    plates = re.findall('data-names="([^"]*)"', page)
    expected = (
        *("Styphnolobium japonicum", "Pagoda Tree", "Sophora du Japon"),
        "Japanischer Schnurbaum",
    )
    assert any(all(name in names for name in expected) for names in plates)
