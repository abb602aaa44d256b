import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.files import check_writable, open_output, safe_join


def test_text_is_utf_8_with_line_feeds_and_other_names_are_escaped(tmp_path):
    with open_output(tmp_path / "new" / "run.txt") as stream:
        stream.write("Châtaignier\n" + os.fsdecode(b"\xe9rable.jpg"))
    assert (
        tmp_path / "new" / "run.txt"
    ).read_bytes() == "Châtaignier\n\\udce9rable.jpg".encode()


def test_appears_only_when_complete(tmp_path):
    target = tmp_path / "run.txt"
    with open_output(target) as stream:
        stream.write("half")
        stream.flush()
        assert not target.exists()
    assert target.read_text() == "half"


def test_a_killed_process_leaves_the_old_file(tmp_path):
    code = (
        "import os, signal, sys\n"
        "from leafid.files import open_output\n"
        "with open_output(sys.argv[1]) as stream:\n"
        "    stream.write('half')\n"
        "    stream.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (tmp_path / "run.txt").write_text("old")
    words = [sys.executable, "-c", code, str(tmp_path / "run.txt")]
    root = str(Path(__file__).parents[1])
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": root})
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "run.txt").read_text() == "old"
    assert [*tmp_path.glob("[!.]*")] == [tmp_path / "run.txt"]


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyboardInterrupt(), LeafidError("no")]
)
def test_failing_block_leaves_only_the_old_file(tmp_path, error):
    target = tmp_path / "run.txt"
    target.write_text("old")

    def write_half() -> None:
        with open_output(target) as stream:
            stream.write("new")
            raise error

    with pytest.raises(type(error)):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_permissions_follow_the_umask(tmp_path):
    previous = os.umask(0o027)
    try:
        with open_output(tmp_path / "run.txt") as stream:
            stream.write("x")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "run.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "/etc/passwd",
        "../../etc/passwd",
        "a/b",
        "..\\b",
        "C:\\x",
        "a\0b",
        "a/",
        "./a",
    ],
)
def test_safe_join_refuses_names_outside_of_the_folder(name):
    with pytest.raises(LeafidError, match="expected a plain file name, found"):
        safe_join("folder", name)


@given(st.text(max_size=20))
@settings(max_examples=40)
def test_safe_join_stays_in_the_folder(name):
    try:
        joined = safe_join("/folder", name)
    except LeafidError:
        return
    assert Path(os.path.normpath(joined)).parent == Path("/folder")
    assert joined.name == name


@pytest.fixture
def fifo(tmp_path):
    """A named pipe and its reader."""
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        yield path, reader


def test_pipe_is_written_to_and_stays_a_pipe(fifo):
    path, reader = fifo
    check_writable(path)
    with open_output(path) as stream:
        stream.write("through the pipe\n")
    assert reader.read() == b"through the pipe\n"
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(path.parent.iterdir()) == [path]


def test_a_pipe_whose_reader_is_gone(fifo):
    path, reader = fifo

    def write() -> None:
        with open_output(path) as stream:
            stream.write("x")
            reader.close()

    # It is no error that a reader has seen enough.
    with pytest.raises(BrokenPipeError):
        write()


@pytest.mark.parametrize("there", [True, False])
def test_symbolic_link_is_followed(tmp_path, there):
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to("folder/file")
    if there:
        (folder / "file").write_text("old")
    check_writable(link)
    with open_output(link) as stream:
        stream.write("new")
        # The temporary file is beside the target, not the link: a file can't be renamed
        # to another file system.
        assert [
            file.name for file in tmp_path.iterdir() if file.name.endswith(".part")
        ] == []
    assert link.is_symlink()
    assert (folder / "file").read_text() == "new"
    assert list(folder.iterdir()) == [folder / "file"]


def test_what_can_not_be_written_is_known_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    check_writable(tmp_path / "new" / "folder" / "run.txt")
    for name in (".", "file/run.txt", "x" * 300):
        with pytest.raises(LeafidError, match="can't be written: "):
            check_writable(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
