import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.files import safe_join, writing


def test_text_is_utf_8_with_line_feeds(tmp_path):
    with writing(tmp_path / "new" / "run.txt") as stream:
        stream.write("Châtaignier\n")
    assert (tmp_path / "new" / "run.txt").read_bytes() == "Châtaignier\n".encode()


def test_bytes(tmp_path):
    with writing(tmp_path / "model", "wb") as stream:
        stream.write(b"\0\xff")
    assert (tmp_path / "model").read_bytes() == b"\0\xff"


def test_appears_only_when_whole(tmp_path):
    target = tmp_path / "run.txt"
    with writing(target) as stream:
        stream.write("half")
        stream.flush()
        assert not target.exists()
    assert target.read_text() == "half"


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), LeafidError("no")])
def test_a_failing_block_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "run.txt"
    target.write_text("old")

    def write_half() -> None:
        with writing(target) as stream:
            stream.write("new")
            raise error

    with pytest.raises(type(error)):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_is_as_readable_as_any_new_file(tmp_path):
    previous = os.umask(0o027)
    try:
        with writing(tmp_path / "run.txt") as stream:
            stream.write("x")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "run.txt").stat().st_mode) == 0o640


def test_a_folder_in_the_way(tmp_path):
    with pytest.raises(LeafidError, match="found a folder"), writing(tmp_path):
        pytest.fail("was opened")


def test_a_file_where_a_folder_must_be(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LeafidError, match="can't be written"), writing(tmp_path / "file" / "run.txt"):
        pytest.fail("was opened")


def test_read_only_folder(tmp_path, monkeypatch):
    def refuse(*_, dir: Path, **__):
        raise PermissionError(13, "Permission denied", str(dir / "x"))

    # The tests may run as root, whom no folder refuses.
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with (
        pytest.raises(LeafidError, match=r"run\.txt: can't be written: Permission denied"),
        writing(tmp_path / "run.txt"),
    ):
        pytest.fail("was opened")


def test_full_disk(tmp_path, monkeypatch):
    target = tmp_path / "run.txt"
    target.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LeafidError, match="No space left on device"), writing(target) as stream:
        stream.write("new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_what_killed_processes_left_is_removed(tmp_path):
    target = tmp_path / "run[1].txt"
    left, young, other = (
        tmp_path / name for name in (".run[1].txt.aaaa.part", ".run[1].txt.bbbb.part", ".x.cccc.part")
    )
    for file in (left, young, other):
        file.write_text("")
    for file in (left, other):
        os.utime(file, (0, 0))
    with writing(target) as stream:
        # Written by a process that is alive, for however long.
        (being_written,) = set(tmp_path.iterdir()) - {young, other}
        os.utime(being_written, (0, 0))
        with writing(target) as second:
            second.write("second")
        assert being_written.exists()
        stream.write("first")
    assert sorted(tmp_path.iterdir()) == sorted([young, other, target])
    assert target.read_text() == "first"


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as raised, writing(tmp_path / "run.txt"):
        (tmp_path / "elsewhere" / "picture.jpg").read_bytes()
    assert "picture.jpg" in raised.value.filename
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/etc/passwd", "../../etc/passwd", "a/b", "..\\b", "C:\\x", "a\0b", "a/", "./a"]
)
def test_names_that_leave_the_folder(name):
    with pytest.raises(LeafidError, match="expected a plain file name, found"):
        safe_join("folder", name)


@given(st.text(max_size=20))
def test_joined_names_stay_in_the_folder(name):
    try:
        joined = safe_join("/folder", name)
    except LeafidError:
        return
    assert Path(os.path.normpath(joined)).parent == Path("/folder")
    assert joined.name == name
