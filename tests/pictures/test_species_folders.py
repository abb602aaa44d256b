"""Folders named after species, and stray pictures beside and below them."""

import pytest

from leafid.pictures.reading import read_collection
from leafid.pictures.splits import select_training_pictures


def test_species_folders_below_parts(tmp_path, species_folders):
    for part in ("test", "Train", "val"):
        species_folders(tmp_path / part)
    collection = read_collection(tmp_path)
    assert collection.layout == "species-folders"
    assert [p.part for p in collection.pictures] == ["train"] * 3 + ["val"] * 3 + [
        "test"
    ] * 3
    assert {p.part for p in read_collection(tmp_path / "Train").pictures} == {"train"}


def test_species_folders_beside_parts(tmp_path, species_folders):
    species_folders(tmp_path)
    species_folders(tmp_path / "train")
    (tmp_path / "notes").mkdir()
    collection = read_collection(tmp_path)
    assert [p.part for p in collection.pictures] == ["train"] * 3
    (problem,) = collection.problems
    assert "3 files left out" in problem
    assert collection.is_incomplete


def test_other_pictures_have_no_label(tmp_path, draw, species_folders, caplog):
    species_folders(tmp_path)
    for loose in (
        "1.jpg",
        "Acer_campestre/tree 1/3.jpg",
        "deep/Oak/1.jpg",
        ".hidden/1.jpg",
        "Quercus */1.jpg",
    ):
        draw(tmp_path / loose)
    collection = read_collection(tmp_path)
    assert (collection.layout, collection.problems) == ("species-folders", ())
    assert [
        (p.file.relative_to(tmp_path).as_posix(), p.species)
        for p in collection.pictures
    ] == [
        ("1.jpg", None),
        ("Acer_campestre/1.jpg", "Acer campestre"),
        ("Acer_campestre/2.PNG", "Acer campestre"),
        # A folder below that of a label is part of it.
        ("Acer_campestre/tree 1/3.jpg", "Acer campestre"),
        ("Platanus x hispanica/1.jpg", "Platanus x hispanica"),
        # No run may hold this label.
        ("Quercus */1.jpg", None),
        ("deep/Oak/1.jpg", None),
    ]
    assert len(select_training_pictures(collection.pictures)) == 4
    assert "3 of 7 pictures have no label and are left out" in caplog.text


@pytest.mark.parametrize(
    "name",
    [
        "Species1",
        "001.Acer",
        "n01234567",
        "healthy",
        "槭 树",
        "Apple___Black_rot",
        "two words",
    ],
)
def test_any_folder_name_is_a_label(tmp_path, draw, name):
    draw(tmp_path / name / "1.jpg")
    draw(tmp_path / "Acer_campestre" / "2.jpg")
    collection = read_collection(tmp_path)
    assert (collection.layout, collection.problems) == ("species-folders", ())
    taxa = {picture.file.parent.name: picture.taxon for picture in collection.pictures}
    assert (taxa[name].species, taxa[name].genus, taxa[name].family) == (
        name,
        None,
        None,
    )
    assert (taxa["Acer_campestre"].genus, taxa["Acer_campestre"].family) == (
        "Acer",
        "Sapindaceae",
    )


def test_folders_of_plain_names_beside_loose_pictures_are_no_labels(tmp_path, draw):
    for name in ("1.jpg", "edited/1.jpg"):
        draw(tmp_path / name)
    collection = read_collection(tmp_path)
    assert (
        collection.layout,
        collection.species,
        [p.name for p in collection.pictures],
    ) == (
        *("pictures", ()),
        ["1.jpg", "edited/1.jpg"],
    )
