import json
import os
from dataclasses import replace

import pytest

from leafid.errors import LeafidError, ProblemsError, UsageError
from leafid.pictures.picture import AcquisitionType, Picture
from leafid.pictures.readers.folders import MAX_DEPTH
from leafid.pictures.reading import READERS, read_collection
from leafid.pictures.summary import compute_fingerprint


def plantnet(root, draw):
    (root / "plantnet300K_species_id_2_name.json").write_text(
        json.dumps(
            {
                "1355868": "Lactuca virosa L.",
                "7": "Platanus × hispanica Mill. ex Münchh.",
            }
        ),
        encoding="utf-8",
    )
    entry = {
        "species_id": "1355868",
        "obs_id": 55,
        "organ": "leaf",
        "author": "Jane",
        "split": "train",
    }
    (root / "plantnet300K_metadata.json").write_text(
        json.dumps(
            {
                "aa": entry,
                "bb": {**entry, "organ": "habit"},
                "cc": {**entry, "obs_id": 56, "organ": "other"},
            }
        ),
        encoding="utf-8",
    )
    draw(root / "images" / "train" / "1355868" / "aa.jpg")
    draw(root / "images" / "val" / "1355868" / "bb.jpg")
    draw(root / "images" / "test" / "1355868" / "cc.jpg")
    draw(root / "images" / "test" / "7" / "dd.jpg")
    draw(root / "images" / "test" / "8" / "ee.jpg")
    return root


def test_plantnet300k(tmp_path, draw):
    collection = read_collection(plantnet(tmp_path, draw))
    assert collection.layout == "plantnet300k"
    assert [
        (p.name, p.part, p.species, p.plant, p.author) for p in collection.pictures
    ] == [
        ("aa.jpg", "train", "Lactuca virosa", "55", "Jane"),
        ("bb.jpg", "val", "Lactuca virosa", "55", "Jane"),
        ("dd.jpg", "test", "Platanus x hispanica", None, None),
        ("cc.jpg", "test", "Lactuca virosa", "56", "Jane"),
    ]
    assert {p.type for p in collection.pictures} == {AcquisitionType.PHOTO}
    # That of a species without a name.
    (problem,) = collection.problems
    assert "1 file left out" in problem
    assert "ee.jpg first" in problem
    # Species that share a name without its author have their identifiers.
    names = {
        "1355868": "Lactuca virosa L.",
        "1432783": "Lactuca virosa Habl.",
        "7": "Acer opalus Mill.",
    }
    (tmp_path / "plantnet300K_species_id_2_name.json").write_text(json.dumps(names))
    pictures = read_collection(tmp_path / "images" / "test").pictures
    assert [
        (p.name, p.species, p.taxon.genus, p.taxon.identifier) for p in pictures
    ] == [
        ("dd.jpg", "Acer opalus", "Acer", "7"),
        ("cc.jpg", "Lactuca virosa 1355868", "Lactuca", "1355868"),
    ]


def test_a_folder_around_a_layout_is_looked_through(tmp_path, draw, add):
    root = tmp_path / "zip" / "data set"
    root.mkdir(parents=True)
    inner = read_collection(plantnet(root, draw))
    outer = read_collection(tmp_path)
    assert (outer.layout, outer.pictures) == ("plantnet300k", inner.pictures)
    add(tmp_path / "package" / "inner" / "Train", 1)
    assert read_collection(tmp_path / "package").layout == "imageclef"


def test_several_paths(tmp_path, draw, add):
    first, second = draw(tmp_path / "x" / "1.jpg"), draw(tmp_path / "y" / "1.jpg")
    collection = read_collection([second, first, second])
    assert [p.file for p in collection.pictures] == [second, first]
    assert (collection.layout, collection.root) == ("pictures", tmp_path)
    add(tmp_path / "z", 3)
    mixed = read_collection([first, tmp_path / "z"])
    assert (mixed.layout, len(mixed)) == ("several", 2)
    with pytest.raises(UsageError):
        read_collection([])


def test_pictures_know_which_of_several_collections_they_are_from(tmp_path, draw, add):
    draw(tmp_path / "b" / "garden" / "Celtis australis" / "1.jpg")
    draw(tmp_path / "b" / "garden" / "Acer campestre" / "2.jpg")
    add(tmp_path / "a", 3)
    loose = draw(tmp_path / "4.jpg")
    (tmp_path / "b" / "garden" / "metadata.csv").write_text(
        "file,label,plant,dataset\n1.jpg,Celtis australis,113,own\n"
        "2.jpg,Acer campestre,,\n"
    )
    pictures = read_collection([tmp_path / "a", tmp_path / "b" / "garden", loose])
    names = {picture.name: picture.collection for picture in pictures.pictures}
    assert names == {
        "3.jpg": "a",
        "1.jpg": "own",
        "2.jpg": "garden",
        "4.jpg": None,
    }
    # Two plants have the identifier 113.
    celtis = [p for p in pictures.pictures if p.species == "Celtis australis"]
    assert [picture.plant for picture in celtis] == ["113", "113"]
    assert len({picture.group for picture in celtis}) == 2
    [alone] = read_collection(tmp_path / "a").pictures
    assert alone.collection is None
    add(tmp_path / "b" / "a", 5)
    same_name = read_collection([tmp_path / "a", tmp_path / "b" / "a"]).pictures
    assert [picture.collection for picture in same_name] == ["a", "b/a"]


def test_given_layout(tmp_path, add):
    add(tmp_path, 1)
    assert read_collection(tmp_path).pictures[0].species == "Celtis australis"
    assert read_collection(tmp_path, "pictures").pictures == (
        Picture(tmp_path / "1.jpg"),
    )
    with pytest.raises(UsageError, match="expected a layout"):
        read_collection(tmp_path, "imageclef2014")
    with pytest.raises(LeafidError):
        read_collection(tmp_path, "plantnet300k")


@pytest.mark.parametrize("layout", list(READERS))
def test_given_layout_does_not_occur(tmp_path, layout):
    (tmp_path / "empty").mkdir()
    with pytest.raises(LeafidError, match="empty: expected"):
        read_collection(tmp_path / "empty", layout)


def test_a_folder_hundreds_of_levels_deep(tmp_path):
    folder = tmp_path
    for _ in range(MAX_DEPTH):
        folder /= "d"
        folder.mkdir()
    with pytest.raises(LeafidError) as caught:
        read_collection(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}")
    assert str(caught.value).endswith(
        f": expected folders of at most {MAX_DEPTH} levels, found more"
    )


def test_a_missing_table_is_no_problem_of_each_path(tmp_path, draw):
    table = tmp_path / "gone.csv"
    with pytest.raises(LeafidError) as caught:
        read_collection(
            [draw(tmp_path / "1.jpg"), draw(tmp_path / "2.jpg")], metadata=table
        )
    assert str(caught.value) == f"{table}: no such file"


def test_path_without_pictures_among_several_paths_is_left_out(tmp_path, draw):
    file = draw(tmp_path / "1.jpg")
    (tmp_path / "notes").mkdir()
    collection = read_collection([tmp_path / "notes", file, tmp_path / "gone"])
    assert [picture.file for picture in collection.pictures] == [file]
    first, second = collection.problems
    assert first.startswith(
        f"{tmp_path / 'notes'}: expected pictures, or folders of pictures"
    )
    assert second == f"{tmp_path / 'gone'}: no such file or folder; it is left out"
    assert collection.is_incomplete
    with pytest.raises(UsageError):
        read_collection([tmp_path / "notes", file], "imageclef2014")


def test_a_folder_whose_path_is_longer_than_systems_allow(tmp_path, draw, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(20):
        os.mkdir("deep" * 60)  # noqa: PTH102
        os.chdir("deep" * 60)
    monkeypatch.chdir(tmp_path)
    draw(tmp_path / "a.jpg")
    collection = read_collection(tmp_path)
    assert [picture.name for picture in collection.pictures] == ["a.jpg"]
    (problem,) = (problem for problem in collection.problems if "deep" in problem)
    assert problem.endswith(
        "can't be read: File name too long; its pictures are left out"
    )


@pytest.fixture
def touch(tmp_path):
    def write(*names):
        for name in names:
            (tmp_path / name).write_bytes(b"not a picture")

    return write


def test_other_files_are_counted(tmp_path, draw, touch):
    touch("notes.txt", "film.mov", ".hidden", "IMG_2.dng")
    expected = f"{tmp_path}: 2 files left out ({tmp_path / 'IMG_2.dng'} first)"
    with pytest.raises(ProblemsError) as caught:
        read_collection(tmp_path)
    assert "found none that can be used" in caught.value.problems[0]
    assert caught.value.problems[1].startswith(expected)
    draw(tmp_path / "1.jpg")
    collection = read_collection(tmp_path)
    (problem,) = collection.problems
    assert problem.startswith(expected)
    assert not collection.is_incomplete


def test_pictures_beside_a_package_are_counted(tmp_path, draw, add):
    add(tmp_path / "Train", 1)
    draw(tmp_path / "Acer campestre" / "2.jpg")
    draw(tmp_path / "Train" / "more" / "3.jpg")
    collection = read_collection(tmp_path)
    (problem,) = collection.problems
    assert "2 files left out" in problem
    assert collection.is_incomplete


def test_circular_links_and_pipes_end(tmp_path, draw):
    draw(tmp_path / "deep" / "1.jpg")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    (tmp_path / "other").symlink_to(tmp_path / "deep")
    (tmp_path / "self.jpg").symlink_to(tmp_path / "self.jpg")
    os.mkfifo(tmp_path / "deep" / "pipe")
    collection = read_collection(tmp_path)
    assert [picture.name for picture in collection.pictures] == ["self.jpg", "1.jpg"]
    (problem,) = collection.problems
    assert "1 file left out" in problem


def test_fingerprint(tmp_path, add):
    for place in ("here", "there"):
        for number in (1, 2, 3):
            add(tmp_path / place, number, IndividualPlantId=str(number))
    pictures = read_collection(tmp_path / "here").pictures
    print_ = compute_fingerprint(pictures)
    assert len(print_) == 64
    assert print_ == compute_fingerprint(reversed(pictures))
    assert print_ == compute_fingerprint(read_collection(tmp_path / "there").pictures)
    assert print_ != compute_fingerprint(pictures[:2])
    assert print_ != compute_fingerprint((*pictures, pictures[0]))
    assert print_ != compute_fingerprint(
        (replace(pictures[0], plant="9"), *pictures[1:])
    )
    assert print_ != compute_fingerprint(
        (replace(pictures[0], taxon=None), *pictures[1:])
    )
    pictures[0].file.write_bytes(pictures[1].file.read_bytes())
    assert print_ != compute_fingerprint(pictures)
    pictures[0].file.unlink()
    with pytest.raises(LeafidError, match=r"1\.jpg"):
        compute_fingerprint(pictures)
