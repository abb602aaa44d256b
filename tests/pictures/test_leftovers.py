import os
import shutil

import pytest

from leafid.errors import ProblemsError
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


def test_raw_data_beside_a_picture_are_no_picture_of_their_own(tmp_path, draw, touch):
    draw(tmp_path / "IMG_1.jpg")
    touch("IMG_1.MOV", "IMG_1.DNG")
    collection = read_collection(tmp_path)
    counts = "1 .dng, 1 .mov; IMG_1.DNG first"
    assert collection.problems == (f"{tmp_path}: 2 files ({counts}) of other kinds; not read",)
    assert not collection.is_incomplete


def test_files_that_look_like_pictures_are_omissions(tmp_path, draw, touch):
    draw(tmp_path / "1.jpg")
    touch("IMG_2.dng")
    shutil.move(draw(tmp_path / "3.jpg"), tmp_path / "three")
    shutil.move(draw(tmp_path / "4.png"), tmp_path / "four.bak")
    collection = read_collection(tmp_path)
    (problem,) = collection.problems
    assert problem.startswith(f"{tmp_path}: expected a JPEG, ")
    assert "found 3 files (1 .dng, 1 .bak, 1 without an ending; IMG_2.dng first); convert or rename" in problem
    assert isinstance(problem, Omission)


def test_a_folder_without_pictures_tells_what_it_holds(tmp_path, touch):
    touch("IMG_1.dng", "film.mov")
    with pytest.raises(ProblemsError) as caught:
        read_collection(tmp_path)
    first, *others = caught.value.problems
    assert "found no pictures of any known layout" in first
    assert ["IMG_1.dng" in others[0], "film.mov" in others[1]] == [True, True]


def test_circular_links_and_pipes_end(tmp_path, draw, touch):
    draw(tmp_path / "deep" / "1.jpg")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    (tmp_path / "other").symlink_to(tmp_path / "deep")
    os.mkfifo(tmp_path / "deep" / "pipe")
    (problem,) = read_collection(tmp_path).problems
    assert "2 files (2 without an ending; pipe first)" in problem
