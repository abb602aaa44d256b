from dataclasses import replace

import pytest

from leafid.features.loader import FeatureLoader
from leafid.model.model import Model
from leafid.model.species import THUMBNAIL_SIDE
from leafid.pictures.header import read_header
from leafid.pictures.picture import AcquisitionType
from leafid.training.species import THUMBNAILS, describe_species
from tests.drawing.collection import TYPES

SCAN = AcquisitionType.SCAN


@pytest.fixture(scope="module")
def records(drawn_model):
    return Model.read(drawn_model).species


def test_counts_are_those_of_the_training_pictures(records, training):
    assert list(records) == sorted({picture.species for picture in training})
    for name, record in records.items():
        pictures = [picture for picture in training if picture.species == name]
        assert record.n_plants == len({picture.plant for picture in pictures})
        for type_, counts in record.types.items():
            of_type = [picture for picture in pictures if picture.type is type_]
            assert (counts.n_pictures, counts.n_plants) == (
                len(of_type),
                len({picture.plant for picture in of_type}),
            )


def test_held_out_answers_add_up_to_the_scores(drawn_model):
    model = Model.read(drawn_model)
    for type_ in model.types:
        held_out = [record.types[type_].held_out for record in model.species.values()]
        n_pictures = sum(counts.n_pictures for counts in held_out)
        assert n_pictures == model[type_].scores["pictures"]
        scores = model[type_].scores
        assert sum(counts.n_first for counts in held_out) / n_pictures == pytest.approx(
            scores["top-1"]
        )
        assert sum(counts.n_five for counts in held_out) / n_pictures == pytest.approx(
            scores["top-5"]
        )
        for counts in held_out:
            assert (
                sum(counts.confused_with.values()) <= counts.n_pictures - counts.n_first
            )


def test_thumbnails_are_small_and_of_different_plants(records, training):
    plants = {picture.name: picture.plant for picture in training}
    authors = {picture.name: picture.author for picture in training}
    for record in records.values():
        for type_ in TYPES:
            thumbnails = [
                thumbnail for thumbnail in record.thumbnails if thumbnail.type is type_
            ]
            assert 1 <= len(thumbnails) <= THUMBNAILS
            assert len({plants[thumbnail.name] for thumbnail in thumbnails}) == len(
                thumbnails
            )
            for thumbnail in thumbnails:
                header = read_header(thumbnail.image)
                assert header.kind == "JPEG"
                assert max(header.rows, header.cols) <= THUMBNAIL_SIDE
                assert thumbnail.author == authors[thumbnail.name]


def test_the_most_complete_taxon_and_every_common_name_are_kept(training):
    originals = [
        picture for picture in training if picture.species == training[0].species
    ][:3]
    bare = replace(originals[0].taxon, family=None, order=None)
    pictures = [
        replace(originals[0], taxon=bare, vernacular_names=("Field Maple",)),
        replace(originals[1], vernacular_names=("Hedge Maple", "Field Maple")),
        replace(originals[2], taxon=bare, vernacular_names=()),
    ]
    (species,) = describe_species(
        pictures, {}, FeatureLoader(), thumbnails=False
    ).values()
    assert (species.taxon, species.n_pictures) == (originals[1].taxon, 3)
    assert species.vernacular_names == ("Field Maple", "Hedge Maple")
    assert describe_species([], {}, FeatureLoader()) == {}
