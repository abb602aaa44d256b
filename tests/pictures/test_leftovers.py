import os
import shutil

import pytest

from leafid.errors import LeafidError, ProblemsError
from leafid.pictures import read_collection
from leafid.pictures.collection import Omission


@pytest.fixture
def touch(tmp_path):
    def write(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(b"not a picture")

    return write


def test_a_few_other_files_are_named(tmp_path, draw, touch):
    draw(tmp_path / "1.jpg")
    touch("notes.txt", "deep/film.mov", ".hidden", "LICENSE")
    collection = read_collection(tmp_path)
    counts = "1 without an ending, 1 .txt, 1 .mov; LICENSE first"
    assert collection.problems == (f"{tmp_path}: 3 files ({counts}) of other kinds; not read",)
    assert not collection.is_incomplete


def test_videos_of_live_photos_and_raw_data_beside_a_picture_are_no_pictures_of_their_own(tmp_path, draw, touch):
    for name in ("IMG_1.jpg", "IMG_2.jpg", "IMG_3.jpg"):
        draw(tmp_path / name)
    touch("IMG_1.MOV", "IMG_2.MOV", "IMG_3.DNG", "film.mov")
    collection = read_collection(tmp_path)
    assert collection.problems == (
        f"{tmp_path}: 4 files (2 .mov of live photos, 1 .dng beside pictures of the same name, 1 .mov; "
        "IMG_1.MOV first) of other kinds; not read",
    )
    assert not collection.is_incomplete


def test_live_photos_named_one_by_one(tmp_path, draw, touch):
    picture = draw(tmp_path / "IMG_1.jpg")
    touch("IMG_1.MOV")
    collection = read_collection([picture, tmp_path / "IMG_1.MOV"])
    assert [found.file for found in collection.pictures] == [picture]
    assert collection.problems == (f"{tmp_path}/IMG_1.MOV: the video of the live photo IMG_1.jpg; it is not read",)
    assert not collection.is_incomplete


def test_files_that_look_like_pictures_are_omissions(tmp_path, draw, touch):
    draw(tmp_path / "1.jpg")
    touch("IMG_2.dng")
    shutil.move(draw(tmp_path / "3.jpg"), tmp_path / "three")
    shutil.move(draw(tmp_path / "4.png"), tmp_path / "four.bak")
    collection = read_collection(tmp_path)
    raw, misnamed = collection.problems
    assert raw.startswith(f"{tmp_path}: expected a JPEG, ")
    assert raw.endswith(" picture, found 1 file (1 .dng; IMG_2.dng first); convert to JPEG; left out")
    assert misnamed == (
        f"{tmp_path}: expected the name of a picture, as with .jpg, found 2 files (1 .bak, 1 no ending; four.bak "
        "first); rename; left out"
    )
    assert all(isinstance(problem, Omission) for problem in collection.problems)


def test_a_folder_without_pictures_tells_what_it_holds(tmp_path, touch):
    touch("IMG_1.dng", "film.mov")
    with pytest.raises(ProblemsError) as caught:
        read_collection(tmp_path)
    first, *others = caught.value.problems
    assert "found no pictures of any known layout" in first
    assert ["IMG_1.dng" in others[0], "film.mov" in others[1]] == [True, True]


def test_the_metadata_of_a_layout_is_not_reported(tmp_path, add, touch):
    add(tmp_path, 1)
    touch("trainGroundTruth.txt", "SpeciesIDList", "table.csv")
    (problem,) = read_collection(tmp_path).problems
    assert "1 file (1 .csv; table.csv first)" in problem


def test_circular_links_and_pipes_end(tmp_path, draw, touch):
    draw(tmp_path / "deep" / "1.jpg")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    (tmp_path / "other").symlink_to(tmp_path / "deep")
    os.mkfifo(tmp_path / "deep" / "pipe")
    (problem,) = read_collection(tmp_path).problems
    assert "2 files (2 without an ending; pipe first)" in problem


def test_no_collection_at_all(tmp_path):
    with pytest.raises(LeafidError, match="found no pictures of any known layout"):
        read_collection(tmp_path)
