import dataclasses
import json
import os
import subprocess
from pathlib import Path

import pytest

from leafid.errors import LeafidError, UsageError
from leafid.pictures import (
    READERS,
    AcquisitionType,
    Content,
    Picture,
    find_name_clashes,
    read_and_warn,
    read_collection,
)


def plantnet(root, draw):
    (root / "plantnet300K_species_id_2_name.json").write_text(
        json.dumps({"1355868": "Lactuca virosa L.", "7": "Platanus × hispanica Mill. ex Münchh."}), encoding="utf-8"
    )
    entry = {"species_id": "1355868", "obs_id": 55, "organ": "leaf", "author": "Jane", "split": "train"}
    (root / "plantnet300K_metadata.json").write_text(
        json.dumps({"aa": entry, "bb": {**entry, "organ": "habit"}, "cc": {**entry, "obs_id": 56, "organ": "twig"}}),
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
    assert [(p.name, p.part, p.species, p.plant, p.author, p.content) for p in collection.pictures] == [
        ("aa.jpg", "train", "Lactuca virosa", "55", "Jane", Content.LEAF),
        ("bb.jpg", "val", "Lactuca virosa", "55", "Jane", Content.ENTIRE),
        ("dd.jpg", "test", "Platanus x hispanica", None, None, None),
        ("cc.jpg", "test", "Lactuca virosa", "56", "Jane", None),
    ]
    assert {p.type for p in collection.pictures} == {AcquisitionType.PHOTO}
    assert len(collection.problems) == 2
    assert any("organ: expected a content" in problem and "cc.jpg" in problem for problem in collection.problems)
    assert any("expected the name of species 8, found None" in problem for problem in collection.problems)


def test_plantnet300k_parts(tmp_path, draw):
    plantnet(tmp_path, draw)
    assert len(read_collection(tmp_path / "images")) == 4
    part = read_collection(tmp_path / "images" / "test")
    assert (part.layout, [p.part for p in part.pictures]) == ("plantnet300k", ["test", "test"])


def test_plantnet300k_classes_are_identifiers(tmp_path, draw):
    plantnet(tmp_path, draw)
    names = {"1355868": "Lactuca virosa L.", "1432783": "Lactuca virosa Habl.", "7": "Acer opalus Mill."}
    (tmp_path / "plantnet300K_species_id_2_name.json").write_text(json.dumps(names))
    collection = read_collection(tmp_path / "images" / "test")
    assert [(p.name, p.species, p.taxon.genus, p.taxon.identifier) for p in collection.pictures] == [
        ("dd.jpg", "Acer opalus", "Acer", "7"),
        ("cc.jpg", "Lactuca virosa 1355868", "Lactuca", "1355868"),
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('"species_id": "7"', "picture aa: expected species 1355868, as its folder says, found '7'"),
        ('"split": "dev"', r"picture aa: expected a split \(test, train, val\), found 'dev'"),
        ('"obs_id": NaN', "expected JSON.*found .*NaN"),
    ],
)
def test_plantnet300k_metadata_that_can_not_be(tmp_path, draw, fields, message):
    plantnet(tmp_path, draw)
    (tmp_path / "plantnet300K_metadata.json").write_text(f'{{"aa": {{{fields}}}}}')
    with pytest.raises(LeafidError, match=f"plantnet300K_metadata.json: ?{message}"):
        read_collection(tmp_path)


def test_plantnet300k_with_a_repeated_part(tmp_path, draw):
    plantnet(tmp_path, draw)
    (tmp_path / "images" / "Test").mkdir()
    with pytest.raises(LeafidError, match="expected one folder of part test, found Test and test"):
        read_collection(tmp_path)


def test_plantnet300k_without_metadata(tmp_path, draw):
    plantnet(tmp_path, draw)
    (tmp_path / "plantnet300K_metadata.json").unlink()
    collection = read_collection(tmp_path)
    assert {p.plant for p in collection.pictures} == {None}
    assert "plants are not known" in collection.problems[0]


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": \xff}', b"[" * 100_000])
def test_plantnet300k_with_damaged_json(tmp_path, draw, content):
    plantnet(tmp_path, draw)
    (tmp_path / "plantnet300K_metadata.json").write_bytes(content)
    with pytest.raises(LeafidError, match=r"plantnet300K_metadata\.json:.* expected (a )?(JSON|UTF-8).*, found"):
        read_collection(tmp_path)


def test_pictures(tmp_path, draw):
    for name in ("10.jpg", "9.jpg", "b.webp", "a.TIF"):
        draw(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    (tmp_path / "folder.jpg").mkdir()
    collection = read_collection(tmp_path)
    assert collection.layout == "pictures"
    assert [p.name for p in collection.pictures] == ["9.jpg", "10.jpg", "a.TIF", "b.webp"]
    assert collection.pictures[0] == Picture(tmp_path / "9.jpg")


def test_single_file_with_any_name(tmp_path, draw):
    file = draw(tmp_path / "leaf.jpg").rename(tmp_path / "leaf")
    assert [p.file for p in read_collection(file).pictures] == [file]


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


def test_given_layout(tmp_path, add):
    add(tmp_path, 1)
    assert read_collection(tmp_path).pictures[0].species == "Celtis australis"
    assert read_collection(tmp_path, "pictures").pictures == (Picture(tmp_path / "1.jpg"),)
    with pytest.raises(UsageError, match="expected a layout"):
        read_collection(tmp_path, "imageclef2014")
    with pytest.raises(LeafidError):
        read_collection(tmp_path, "plantnet300k")


@pytest.mark.parametrize("layout", list(READERS))
def test_given_layout_does_not_occur(tmp_path, draw, layout):
    (tmp_path / "empty").mkdir()
    with pytest.raises(LeafidError, match="empty: expected"):
        read_collection(tmp_path / "empty", layout)
    text = tmp_path / "notes.txt"
    text.write_text("no collection")
    if layout != "pictures":
        with pytest.raises(LeafidError, match=r"notes\.txt"):
            read_collection(text, layout)


def test_error_suggests_detection_if_the_given_layout_does_not_fit(tmp_path, draw):
    draw(tmp_path / "Acer campestre" / "1.jpg")
    for folder in (tmp_path, tmp_path / "Acer campestre"):
        with pytest.raises(LeafidError) as raised:
            read_collection(folder, "imageclef")
        first, second = str(raised.value).splitlines()
        assert first == (
            f"{folder}: expected pictures, found none that can be used in the layout imageclef; leave out --layout "
            "to have it detected"
        )
        assert second == (
            f"{tmp_path / 'Acer campestre'}: expected pictures in folders with XML files, or in folders called Train "
            "and Test, found 1 picture here; it is left out"
        )


def test_no_such_collection(tmp_path):
    with pytest.raises(LeafidError, match="no such file or folder"):
        read_collection(tmp_path / "none")
    with pytest.raises(LeafidError, match="expected a collection, found no pictures of any known layout"):
        read_collection(tmp_path)


def test_missing_picture_among_several_paths_is_listed(tmp_path, add):
    folder = tmp_path / "some"
    folder.mkdir()
    add(folder, 1)
    gone = tmp_path / "gone.jpg"
    found = read_collection([gone, folder / "1.jpg"])
    assert [picture.file for picture in found.pictures] == [gone, folder / "1.jpg"]
    assert [picture.file for picture in found.find_missing()] == [gone]
    for alone in (gone, [gone], [tmp_path / "no-folder", tmp_path / "neither"]):
        with pytest.raises(LeafidError, match="no such file or folder"):
            read_collection(alone)


def test_path_without_pictures_among_several_paths_is_left_out(tmp_path, draw):
    file = draw(tmp_path / "1.jpg")
    (tmp_path / "notes").mkdir()
    collection = read_collection([tmp_path / "notes", file, tmp_path / "gone"])
    assert [picture.file for picture in collection.pictures] == [file]
    first, second = collection.problems
    assert first.startswith(f"{tmp_path / 'notes'}: expected a collection, found no pictures of any known layout")
    assert second == f"{tmp_path / 'gone'}: no such file or folder; it is left out"
    assert collection.is_incomplete
    with pytest.raises(UsageError):
        read_collection([tmp_path / "notes", file], "imageclef2014")


def test_order_does_not_depend_on_the_file_system(tmp_path, add, monkeypatch):
    for number in (3, 20, 1, 100):
        add(tmp_path, number)
    scandir = os.scandir

    class Reversed:
        def __init__(self, folder):
            with scandir(folder) as entries:
                self.entries = sorted(entries, key=lambda e: e.name, reverse=True)

        def __enter__(self):
            return iter(self.entries)

        def __exit__(self, *_):
            pass

    expected = read_collection(tmp_path)
    monkeypatch.setattr(os, "scandir", Reversed)
    assert read_collection(tmp_path) == expected
    assert [p.name for p in expected.pictures] == ["1.jpg", "3.jpg", "20.jpg", "100.jpg"]


def test_selections(tmp_path, add):
    add(tmp_path, 1)
    add(tmp_path, 2, Type="photograph")
    add(tmp_path, 3, Type=None)
    collection = read_collection(tmp_path)
    assert collection.types == (AcquisitionType.SCAN, AcquisitionType.PHOTO)
    assert [p.name for p in collection.select_type("photo").pictures] == ["2.jpg"]
    assert [p.name for p in collection.select_type(None).pictures] == ["3.jpg"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        collection.layout = "other"


def test_name_clashes(tmp_path, species_folders):
    pictures = read_collection(species_folders(tmp_path)).pictures
    clashes = find_name_clashes(pictures, lambda picture: picture.file.name)
    assert {name: len(clashing) for name, clashing in clashes.items()} == {"1.jpg": 2}
    # Where file names are repeated, pictures are named by their paths.
    assert find_name_clashes(pictures) == {}
    assert [p.name for p in pictures] == ["Acer_campestre/1.jpg", "Acer_campestre/2.PNG", "Platanus_x_hispanica/1.jpg"]


def test_pictures_beside_a_package_are_reported(tmp_path, draw, add):
    add(tmp_path / "Train", 1)
    draw(tmp_path / "Acer campestre" / "2.jpg")
    draw(tmp_path / "Train" / "more" / "3.jpg")
    assert read_collection(tmp_path).problems == tuple(
        f"{tmp_path / folder}: expected pictures directly in Train, found 1 picture here; it is left out"
        for folder in ("Acer campestre", "Train/more")
    )


def test_pictures_beside_those_of_plantnet300k_are_reported(tmp_path, draw):
    problems = read_collection(plantnet(tmp_path, draw)).problems
    draw(tmp_path / "images" / "test" / "7" / "tree 1" / "ff.jpg")
    (new,) = set(read_collection(tmp_path).problems) - set(problems)
    assert new.startswith(
        f"{tmp_path / 'images' / 'test' / '7' / 'tree 1'}: expected pictures directly in folders named"
    )


def test_read_and_warn_logs_problems(tmp_path, draw, caplog, species_folders):
    species_folders(tmp_path)
    draw(tmp_path / "Oak *" / "1.jpg")
    collection = read_and_warn(tmp_path)
    assert collection == read_collection(tmp_path)
    assert tuple(caplog.messages) == collection.problems != ()


def test_unreadable_folder_leaves_only_its_pictures_out(tmp_path, draw, monkeypatch):
    draw(tmp_path / "1.jpg")
    draw(tmp_path / "locked" / "2.jpg")
    scandir = os.scandir

    def refuse(folder):
        if Path(folder).name == "locked":
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    collection = read_collection(tmp_path)
    assert [p.name for p in collection.pictures] == ["1.jpg"]
    assert collection.problems == (
        f"{tmp_path / 'locked'}: can't be read: Permission denied; its pictures are left out",
    )


@pytest.fixture
def deep_folder(tmp_path, monkeypatch):
    """A folder in a folder in a folder …, whose path is longer than systems allow."""
    monkeypatch.chdir(tmp_path)
    for _ in range(2500):
        os.mkdir("deeper")  # noqa: PTH102
        os.chdir("deeper")
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "deeper"
    # Python's own function would descend until its stack is full.
    subprocess.run(["rm", "-r", "deeper"], check=True)


@pytest.mark.skipif(os.name != "posix", reason="needs rm")
def test_a_folder_thousands_of_levels_deep(tmp_path, draw, deep_folder):
    draw(tmp_path / "a.jpg")
    collection = read_collection(tmp_path)
    assert [picture.name for picture in collection.pictures] == ["a.jpg"]
    (problem,) = (problem for problem in collection.problems if "deep" in problem)
    assert "can't be read: it is more than 100 folders deep; its pictures are left out" in problem
    with pytest.raises(LeafidError, match="more than 100 folders deep"):
        read_collection(deep_folder)


def test_a_table_that_names_a_link_to_itself(tmp_path, draw):
    draw(tmp_path / "a.jpg")
    (tmp_path / "loop.jpg").symlink_to("loop.jpg")
    (tmp_path / "labels.csv").write_text("file,label\na.jpg,Acer campestre\nloop.jpg,Acer opalus\n")
    collection = read_collection(tmp_path)
    assert [picture.name for picture in collection.pictures] == ["a.jpg", "loop.jpg"]
    assert [picture.name for picture in collection.find_missing()] == ["loop.jpg"]


@pytest.mark.parametrize("name", ["a\0.jpg", "a\ud800.jpg", "a\n.jpg"])
def test_coco_names_that_no_file_has(tmp_path, draw, name):
    draw(tmp_path / "a.jpg")
    content = {
        "images": [{"id": 1, "file_name": name}],
        "annotations": [{"image_id": 1, "category_id": 1}],
        "categories": [{"id": 1, "name": "Acer campestre"}],
    }
    (tmp_path / "annotations.json").write_text(json.dumps(content))
    with pytest.raises(LeafidError, match=r"annotations\.json: images\[0\]"):
        read_collection(tmp_path)


@pytest.mark.parametrize("name", ["Acer \ud800campestre", "Acer \x07campestre", "Acer \u202ecampestre"])
def test_species_names_that_no_run_file_holds(tmp_path, draw, name):
    draw(tmp_path / "test" / "1" / "a.jpg")
    draw(tmp_path / "test" / "2" / "b.jpg")
    names = {"1": name, "2": "Acer opalus Mill."}
    (tmp_path / "plantnet300K_species_id_2_name.json").write_text(json.dumps(names))
    collection = read_collection(tmp_path)
    assert [picture.species for picture in collection.pictures] == ["Acer opalus"]
    assert any("expected a name without invisible characters" in problem for problem in collection.problems)


def test_runs_may_name_species_with_their_authors(tmp_path, draw, cli):
    draw(tmp_path / "data" / "test" / "1" / "a.jpg")
    draw(tmp_path / "data" / "test" / "2" / "b.jpg")
    names = {"1": "Fragaria vesca L.", "2": "Lactuca virosa L."}
    (tmp_path / "data" / "plantnet300K_species_id_2_name.json").write_text(json.dumps(names))
    (tmp_path / "run.txt").write_text("a.jpg Fragaria vesca L. 1 0.9\nb.jpg Lactuca virosa 1 0.9\n")
    found = cli("evaluate", tmp_path / "data", tmp_path / "run.txt", "--format", "json")
    assert found.status == 0, found.err
    assert '"top-1": 1.0' in found.out


def test_only_the_first_problems_are_logged(tmp_path, add, caplog):
    for number in range(1, 31):
        add(tmp_path, number, Content="bird")
    collection = read_and_warn(tmp_path)
    assert (len(collection.pictures), len(collection.problems)) == (30, 30)
    assert len(caplog.messages) == 21
    assert caplog.messages[-1] == "and 10 problems more"
