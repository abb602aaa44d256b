import os

import pytest

from leafid.errors import ProblemsError
from leafid.pictures import read_collection


@pytest.fixture
def touch(tmp_path):
    def write(*names):
        for name in names:
            (tmp_path / name).write_bytes(b"not a picture")

    return write


def test_other_files_are_counted(tmp_path, draw, touch):
    draw(tmp_path / "1.jpg")
    touch("notes.txt", "film.mov", ".hidden", "IMG_2.dng")
    collection = read_collection(tmp_path)
    (problem,) = collection.problems
    assert problem.startswith(f"{tmp_path}: 2 files left out ({tmp_path / 'IMG_2.dng'} first)")
    assert not collection.is_incomplete


def test_a_folder_without_pictures_tells_what_it_holds(tmp_path, touch):
    touch("IMG_1.dng", "film.mov")
    with pytest.raises(ProblemsError) as caught:
        read_collection(tmp_path)
    first, second = caught.value.problems
    assert "found none that can be used" in first
    assert "2 files left out" in second


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
