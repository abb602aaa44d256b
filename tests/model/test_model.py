from pathlib import Path

import numpy as np
import pytest

from leafid.errors import LeafidError
from leafid.learning.type_recogniser import N_TYPE_FEATURES
from leafid.model.model import Model, SpeciesInfo, collect_species_info
from leafid.pictures.picture import AcquisitionType, Picture, Taxon


def picture(name, taxon, *names):
    return Picture(Path(name), taxon=taxon, vernacular_names=names)


def test_gathers_what_is_known_of_species():
    bare = Taxon("Acer campestre", "Acer")
    full = Taxon("Acer campestre", "Acer", "Sapindaceae", "Sapindales")
    olive = Taxon("Olea europaea", "Olea")
    found = collect_species_info(
        [
            picture("1", olive),
            picture("2", bare, "Field Maple"),
            picture("3", full, "Hedge Maple", "Field Maple"),
            picture("4", None),
        ]
    )
    assert list(found.items()) == [
        ("Acer campestre", SpeciesInfo(full, ("Field Maple", "Hedge Maple"), 2)),
        ("Olea europaea", SpeciesInfo(olive, (), 1)),
    ]
    assert collect_species_info([]) == {}


def test_a_type_that_it_was_not_trained_for():
    model = Model({AcquisitionType.SCAN: None, AcquisitionType.PHOTO: None})
    with pytest.raises(
        LeafidError, match="not trained for pictures of type scan-like, only for scan, photo; say --assume-type"
    ):
        model.identifier(AcquisitionType.SCAN_LIKE)


class Recogniser:
    types = tuple(AcquisitionType)

    def predict_proba(self, features, among):
        row = np.array([float(type_ in among) for type_ in self.types])
        return [row / row.sum()]


def test_only_types_that_it_was_trained_for_are_recognised():
    scan, sheet, photo = AcquisitionType
    for known in ([scan], [sheet, scan], [photo]):
        model = Model(dict.fromkeys(known), recogniser=Recogniser())
        assert model.type_recogniser.recognise(np.zeros(N_TYPE_FEATURES))[0] in known


def test_with_one_type_every_picture_is_of_it():
    model = Model({AcquisitionType.PHOTO: None})
    assert model.type_recogniser.recognise(np.zeros(N_TYPE_FEATURES))[0] == AcquisitionType.PHOTO
