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
    reason = "a file of another kind"
    assert collection.problems == (
        f"{tmp_path}/LICENSE: {reason} (without an ending); it is not read",
        f"{tmp_path}/notes.txt: {reason} (.txt); it is not read",
        f"{tmp_path}/deep/film.mov: {reason} (.mov); it is not read",
    )
    assert not collection.is_incomplete


def test_many_other_files_are_counted_by_kind(tmp_path, draw, touch):
    draw(tmp_path / "1.jpg")
    touch(*(f"{number}.MOV" for number in range(2, 14)), "a.txt", "b.txt")
    assert read_collection(tmp_path).problems == (f"{tmp_path}: 14 files of other kinds are not read: 12 .mov, 2 .txt",)


def test_videos_of_live_photos_and_raw_data_beside_a_picture_are_no_pictures_of_their_own(tmp_path, draw, touch):
    for name in ("IMG_1.jpg", "IMG_2.jpg", "IMG_3.jpg"):
        draw(tmp_path / name)
    touch("IMG_1.MOV", "IMG_2.MOV", "IMG_3.DNG", "film.mov")
    collection = read_collection(tmp_path)
    assert collection.problems == (
        f"{tmp_path}: 4 files of other kinds are not read: "
        "2 .mov of live photos, 1 .dng beside pictures of the same name, 1 .mov",
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
    raw, four, three = collection.problems
    assert raw.startswith(f"{tmp_path}/IMG_2.dng: expected a JPEG, ")
    assert raw.endswith(" picture, found the ending .dng; convert it to JPEG; it is left out")
    expected = "expected the name of a picture, as with .jpg, found the ending .bak; rename it; it is left out"
    assert four == f"{tmp_path}/four.bak: {expected}"
    assert "three: expected the name of a picture, as with .jpg, found no ending" in three
    assert all(isinstance(problem, Omission) for problem in collection.problems)


def test_many_raw_files_are_counted(tmp_path, draw, touch):
    draw(tmp_path / "1.jpg")
    touch("a.dng", "b.dng", "c.NEF", "d.dng")
    (problem,) = read_collection(tmp_path).problems
    assert problem.startswith(f"{tmp_path}: expected a JPEG, ")
    found = "found 4 files of other endings: 3 .dng, 1 .nef; convert them to JPEG; they are left out"
    assert problem.endswith(f" picture, {found}")
    assert isinstance(problem, Omission)


def test_a_folder_without_pictures_tells_what_it_holds(tmp_path, touch):
    touch("IMG_1.dng", "film.mov")
    with pytest.raises(ProblemsError) as caught:
        read_collection(tmp_path)
    first, *others = caught.value.problems
    assert "found no pictures of any known layout" in first
    assert [line.split(":")[0] for line in others] == [f"{tmp_path}/IMG_1.dng", f"{tmp_path}/film.mov"]


def test_the_metadata_of_a_layout_is_not_reported(tmp_path, add, touch):
    add(tmp_path, 1)
    touch("trainGroundTruth.txt", "SpeciesIDList", "table.csv")
    assert [problem.split(":")[0] for problem in read_collection(tmp_path).problems] == [f"{tmp_path}/table.csv"]


def test_circular_links_and_pipes_end(tmp_path, draw, touch):
    draw(tmp_path / "deep" / "1.jpg")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    (tmp_path / "other").symlink_to(tmp_path / "deep")
    os.mkfifo(tmp_path / "deep" / "pipe")
    problems = read_collection(tmp_path).problems
    assert {problem.split(":")[0] for problem in problems} == {f"{tmp_path}/deep/pipe", f"{tmp_path}/other/pipe"}


def test_no_collection_at_all(tmp_path):
    with pytest.raises(LeafidError, match="found no pictures of any known layout"):
        read_collection(tmp_path)
