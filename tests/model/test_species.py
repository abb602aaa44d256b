from dataclasses import replace

import pytest

from leafid.features.loader import FeatureLoader
from leafid.model.model import Model
from leafid.model.species import THUMBNAIL_SIDE
from leafid.pictures.header import read_header
from leafid.pictures.picture import AcquisitionType
from leafid.training.species import THUMBNAILS, describe_species

SCAN = AcquisitionType.SCAN


@pytest.fixture(scope="module")
def records(drawn_model):
    return Model.read(drawn_model).species


def test_counts_are_those_of_the_training_pictures(records, training):
    assert list(records) == sorted({picture.species for picture in training})
    for name, record in records.items():
        own = [picture for picture in training if picture.species == name]
        assert record.n_plants == len({picture.plant for picture in own})
        for type_, found in record.types.items():
            of_type = [picture for picture in own if picture.type is type_]
            assert (found.n_pictures, found.n_plants) == (len(of_type), len({picture.plant for picture in of_type}))


def test_held_out_answers_add_up_to_the_scores(drawn_model):
    model = Model.read(drawn_model)
    for type_ in model.types:
        held_out = [record.types[type_].held_out for record in model.species.values()]
        n_pictures = sum(own.n_pictures for own in held_out)
        assert n_pictures == model[type_].scores["pictures"]
        scores = model[type_].scores
        assert sum(own.n_first for own in held_out) / n_pictures == pytest.approx(scores["top1"])
        assert sum(own.n_five for own in held_out) / n_pictures == pytest.approx(scores["top5"])
        for own in held_out:
            assert sum(own.confused_with.values()) <= own.n_pictures - own.n_first


def test_thumbnails_are_small_and_of_different_plants(records, training):
    plants = {picture.name: picture.plant for picture in training}
    authors = {picture.name: picture.author for picture in training}
    for record in records.values():
        for type_ in AcquisitionType:
            own = [thumbnail for thumbnail in record.thumbnails if thumbnail.type is type_]
            assert 1 <= len(own) <= THUMBNAILS
            assert len({plants[thumbnail.name] for thumbnail in own}) == len(own)
            for thumbnail in own:
                header = read_header("thumbnail", thumbnail.image)
                assert header.kind == "JPEG"
                assert max(header.rows, header.cols) <= THUMBNAIL_SIDE
                assert thumbnail.author == authors[thumbnail.name]


def test_the_most_complete_taxon_and_every_common_name_are_kept(training):
    own = [picture for picture in training if picture.species == training[0].species][:3]
    bare = replace(own[0].taxon, family=None, order=None)
    pictures = [
        replace(own[0], taxon=bare, vernacular_names=("Field Maple",)),
        replace(own[1], vernacular_names=("Hedge Maple", "Field Maple")),
        replace(own[2], taxon=bare, vernacular_names=()),
    ]
    (found,) = describe_species(pictures, {}, FeatureLoader(), thumbnails=False).values()
    assert (found.taxon, found.n_pictures) == (own[1].taxon, 3)
    assert found.vernacular_names == ("Field Maple", "Hedge Maple")
    assert describe_species([], {}, FeatureLoader()) == {}
