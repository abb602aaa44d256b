import numpy as np
import pytest

from leafid.cli.environment import Environment
from leafid.cli.main import main
from leafid.features.loader import FeatureLoader
from leafid.learning.held_out import HeldOutAnswers
from leafid.model.modelfile import read_model
from leafid.model.recording import THUMBNAILS, make_records
from leafid.model.records import MAX_THUMBNAIL_BYTES, THUMBNAIL_SIDE, dump_records, parse_records
from leafid.pictures.decoding import encode_jpeg
from leafid.pictures.header import read_header
from leafid.pictures.picture import AcquisitionType, Picture, Taxon
from tests.model.model_files import changed, complaint

SCAN = AcquisitionType.SCAN


@pytest.fixture(scope="module")
def records(drawn_model):
    return read_model(drawn_model).records


def test_counts_are_those_of_the_training_pictures(records, training):
    assert list(records) == sorted({picture.species for picture in training})
    for name, record in records.items():
        own = [picture for picture in training if picture.species == name]
        assert record.n_plants == len({picture.plant for picture in own})
        for type_, found in record.types.items():
            of_type = [picture for picture in own if picture.type is type_]
            assert (found.n_pictures, found.n_plants) == (len(of_type), len({picture.plant for picture in of_type}))


def test_held_out_answers_add_up_to_the_scores(drawn_model):
    model = read_model(drawn_model)
    for type_ in model.identifiers:
        held_out = [record.types[type_].held_out for record in model.records.values()]
        n_pictures = sum(own.n_pictures for own in held_out)
        assert n_pictures == model.scores[str(type_)]["pictures"]
        scores = model.scores[str(type_)]
        assert sum(own.n_first for own in held_out) / n_pictures == pytest.approx(scores["top1"])
        assert sum(own.n_five for own in held_out) / n_pictures == pytest.approx(scores["top5"])
        for own in held_out:
            assert sum(own.taken_for.values()) <= own.n_pictures - own.n_first


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


def test_the_most_certain_picture_of_a_plant_is_kept(training):
    own = [picture for picture in training if picture.type is SCAN]
    species = tuple(sorted({picture.species for picture in own}))
    labels = [species.index(picture.species) for picture in own]
    certainty = np.linspace(0.2, 0.9, len(own))
    probabilities = np.full((len(own), len(species)), 0.05)
    probabilities[np.arange(len(own)), labels] = certainty
    # The same plants a second time, less certain.
    answers = HeldOutAnswers(own, probabilities, species, np.ones(len(own), bool))
    found = make_records(own, {SCAN: answers}, FeatureLoader())
    for name, record in found.items():
        expected = sorted((c, p.name) for p, c in zip(own, certainty, strict=True) if p.species == name)[::-1]
        assert [thumbnail.name for thumbnail in record.thumbnails] == [name for _, name in expected[:THUMBNAILS]]


def test_each_plant_counts_once_in_a_range(tmp_path, training, monkeypatch):
    """Nine pictures of one plant weigh as much as one of another."""
    taxon = Taxon("A a")
    many = [Picture(tmp_path / f"{n}.jpg", SCAN, taxon=taxon, plant="1") for n in range(9)]
    one = Picture(tmp_path / "9.jpg", SCAN, taxon=taxon, plant="2")
    monkeypatch.setattr("leafid.features.lookup.read_hashed_image", lambda file, *_: (int(file.stem), ""))
    monkeypatch.setattr(
        "leafid.model.recording.measure_confident_traits", lambda n, _: {"petiole": 1.0 if n == 9 else 0.0}
    )
    found = make_records([*many, one], {}, FeatureLoader(), thumbnails=False)["A a"]
    assert (found.traits["petiole"].low, found.traits["petiole"].high) == (0.0, 1.0)
    assert found.traits["petiole"].n_pictures == 10


def test_no_thumbnails(drawn, small_recipe, drawn_cache, tmp_path):
    words = ["train", drawn, "--recipe", small_recipe, "--cache", drawn_cache, "--jobs", 1, "--only-type", "scan"]
    for name, options in (("bare", ["--no-thumbnails"]), ("full", ["--licence", "CC BY"])):
        status = main([*map(str, words), "--output", str(tmp_path / name), *options], Environment())
        assert status == 0
    bare, full = read_model(tmp_path / "bare").records, read_model(tmp_path / "full").records
    assert not any(record.thumbnails for record in bare.values())
    assert {name: record.traits for name, record in bare.items()} == {n: record.traits for n, record in full.items()}
    assert {own.licence for record in full.values() for own in record.thumbnails} == {"CC BY"}


def test_records_survive_the_file(records):
    assert parse_records(*dump_records(records)) == records


def _change(manifest):
    return next(iter(manifest["records"].values()))["thumbnails"][0]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda m: _change(m).update(bytes=MAX_THUMBNAIL_BYTES + 1), "bytes"),
        (lambda m: _change(m).update(bytes=-5), "bytes"),
        (lambda m: _change(m).update(bytes=7), "thumbnails"),
        (lambda m: _change(m).update(author=["a"]), "few words"),
        (lambda m: _change(m).update(author="a" * 1000), "few words"),
        (lambda m: _change(m).update(type="sketch"), "sketch"),
        (lambda m: _change(m)["traits"].update(teeth="many"), "many"),
        (lambda m: next(iter(m["records"].values()))["types"]["scan"]["held_out"].update(n_first=99), "99"),
        (lambda m: m.update(records=[1]), "damaged"),
    ],
)
def test_damaged_records_are_one_clear_error(drawn_model, tmp_path, damage, problem):
    file = tmp_path / "damaged.leafid"
    changed(drawn_model, file, damage)
    assert problem in complaint(file)


@pytest.mark.parametrize("image", [b"GIF89a" * 40, encode_jpeg(np.zeros((THUMBNAIL_SIDE + 1, 40, 3), np.uint8))])
def test_a_thumbnail_is_a_small_jpeg(drawn_model, tmp_path, image):
    file = tmp_path / "damaged.leafid"
    _, *others = [own.image for record in read_model(drawn_model).records.values() for own in record.thumbnails]

    def replace_first(manifest):
        _change(manifest)["bytes"] = len(image)

    changed(drawn_model, file, replace_first, add={"thumbnails": image + b"".join(others)})
    assert "thumbnail of" in complaint(file)


def test_a_missing_member_is_reported(drawn_model, tmp_path):
    file = tmp_path / "damaged.leafid"
    changed(drawn_model, file, leave_out=["thumbnails"])
    assert "thumbnails is missing" in complaint(file)
