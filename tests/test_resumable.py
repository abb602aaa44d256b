import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafid.errors import LeafidError
from leafid.resumable import open_resumable

PIECES = ["first\n", "", "the second\n", "ünd the third\n"]
WHOLE = "".join(PIECES)


class StoppedError(Exception):
    pass


def names(folder):
    return [file.name for file in folder.iterdir()]


def write(path, question="question", stop_after=None):
    """Write the pieces that are missing; give how many were there."""
    with open_resumable(path, question) as pieces:
        before = len(pieces.records)
        assert [one["number"] for one in pieces.records] == list(range(before))
        for number in range(before, len(PIECES)):
            if number == stop_after:
                raise StoppedError
            pieces.append(PIECES[number], {"number": number})
    return before


def interrupted(path, after, question="question"):
    with pytest.raises(StoppedError):
        write(path, question, after)
    return path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.journal")


def test_a_file_takes_its_name_only_when_it_is_whole(tmp_path):
    run = tmp_path / "folder" / "run"
    with open_resumable(run, "question") as pieces:
        pieces.append(PIECES[0], {})
        assert not run.exists()
        assert (tmp_path / "folder" / "run.part").read_text() == PIECES[0]
        pieces.append(PIECES[2], {})
    assert run.read_text() == PIECES[0] + PIECES[2]
    assert list(run.parent.iterdir()) == [run]


@pytest.mark.parametrize("after", [1, 2, 3])
def test_it_goes_on_after_the_last_piece(tmp_path, after):
    interrupted(tmp_path / "run", after)
    assert write(tmp_path / "run") == after
    assert (tmp_path / "run").read_text() == WHOLE
    assert names(tmp_path) == ["run"]


def test_an_older_file_stays_until_then(tmp_path):
    (tmp_path / "run").write_text("older")
    interrupted(tmp_path / "run", 2)
    assert (tmp_path / "run").read_text() == "older"
    write(tmp_path / "run")
    assert (tmp_path / "run").read_text() == WHOLE


def test_nothing_is_left_where_there_was_no_piece(tmp_path):
    interrupted(tmp_path / "run", 0)
    assert names(tmp_path) == []


def test_another_question_starts_anew(tmp_path):
    interrupted(tmp_path / "run", 2, "another question")
    with open_resumable(tmp_path / "run", "question") as pieces:
        assert pieces.is_restarted
        assert pieces.records == []
        assert pieces.part.read_bytes() == b""
        pieces.append(WHOLE, {})
    assert (tmp_path / "run").read_text() == WHOLE


@settings(max_examples=25)  # each waits for the disk several times
@given(st.data())
def test_whatever_is_torn_off_the_result_is_whole(tmp_path_factory, data):
    """After a power cut either file may end anywhere, or in rubbish."""
    folder = tmp_path_factory.mktemp("torn")
    for file in interrupted(folder / "run", 3):
        content = file.read_bytes()
        kept = content[: data.draw(st.integers(0, len(content)))]
        file.write_bytes(kept + data.draw(st.sampled_from([b"", b"\0\0\0", b"{", b"{}\n", b"[1]\n", b"\xff\n"])))
    header = b'{"format": "leafid journal 1", "question": "question"}\n'
    if not (folder / "run.part.journal").read_bytes().startswith(header):
        # Without the journal's first line nothing tells whether the files are ours.
        with pytest.raises(LeafidError, match="is in the way"):
            write(folder / "run")
        (folder / "run.part").unlink()
        (folder / "run.part.journal").unlink(missing_ok=True)
    write(folder / "run")
    assert (folder / "run").read_text() == WHOLE
    assert names(folder) == ["run"]


@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b"F" + b[1:], lambda b: b + b"rubbish"])
def test_a_damaged_part_file_is_cut_back_to_what_is_right(tmp_path, change):
    part, _ = interrupted(tmp_path / "run", 3)
    part.write_bytes(change(part.read_bytes()))
    write(tmp_path / "run")
    assert (tmp_path / "run").read_text() == WHOLE


def test_a_part_file_of_another_origin_is_not_touched(tmp_path):
    part = tmp_path / "run.part"
    part.write_text("a download")
    with pytest.raises(LeafidError, match=r"run\.part: is in the way, and belongs to no run; move it away"):
        write(tmp_path / "run")
    assert names(tmp_path) == ["run.part"]
    assert part.read_text() == "a download"


@pytest.mark.parametrize("content", ["my notes\n", "{}\n", '{"format": "another journal"}\n', "{"])
def test_a_journal_of_another_origin_is_not_touched(tmp_path, content):
    journal = tmp_path / "run.part.journal"
    journal.write_text(content)
    if content == "{":  # may be a header of ours that a power cut tore
        write(tmp_path / "run")
        return
    with pytest.raises(LeafidError, match=r"run\.part\.journal: is in the way, and belongs to no run; move it away"):
        write(tmp_path / "run")
    assert names(tmp_path) == ["run.part.journal"]
    assert journal.read_text() == content


@pytest.mark.parametrize("name", ["run.part", "run.part.journal"])
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("after", [None, 2])
def test_a_link_under_a_name_of_ours_is_not_followed(tmp_path, name, is_there, after):
    if after:
        for file in interrupted(tmp_path / "run", after):
            if file.name == name:
                file.unlink()
    target, link = tmp_path / "target", tmp_path / name
    if is_there:
        target.write_text("a file of the user")
    link.symlink_to(target)
    with pytest.raises(LeafidError, match=rf"{name}: .*(in the way|found a link).*; move it away|: can't be written"):
        write(tmp_path / "run")
    assert link.is_symlink()
    assert target.exists() == is_there
    assert not is_there or target.read_text() == "a file of the user"


def test_a_pipe_under_a_name_of_ours_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "run.part.journal")
    with pytest.raises(LeafidError, match=r"run\.part\.journal: .*found a link, a pipe or a device"):
        write(tmp_path / "run")
    assert (tmp_path / "run.part.journal").is_fifo()


def test_killed_after_the_last_rename(tmp_path):
    """The journal is left alone then; the file that is there stays right."""
    _, journal = interrupted(tmp_path / "run", 3)
    (tmp_path / "run.part").rename(tmp_path / "run")
    assert write(tmp_path / "run") == 0
    assert (tmp_path / "run").read_text() == WHOLE
    assert not journal.exists()


def test_two_at_once(tmp_path):
    with open_resumable(tmp_path / "run", "question") as pieces:
        pieces.append(WHOLE, {})
        with pytest.raises(LeafidError, match="run: another process is writing it; wait for it, or name another file"):
            write(tmp_path / "run")
    assert (tmp_path / "run").read_text() == WHOLE


def test_no_lock_stays_behind_a_killed_process(tmp_path):
    script = f"""
import os, signal
from leafid.resumable import open_resumable
with open_resumable({str(tmp_path / "run")!r}, "question") as pieces:
    pieces.append({PIECES[0]!r}, {{"number": 0}})
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", script], check=False)
    assert killed.returncode == -9
    assert write(tmp_path / "run") == 1
    assert (tmp_path / "run").read_text() == WHOLE


def test_the_journal_tells_what_there_is(tmp_path):
    part, journal = interrupted(tmp_path / "run", 3)
    header, *lines = map(json.loads, journal.read_text().splitlines())
    assert header == {"format": "leafid journal 1", "question": "question"}
    assert [line["bytes"] for line in lines] == [len(piece.encode()) for piece in PIECES[:3]]
    assert sum(line["bytes"] for line in lines) == part.stat().st_size


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_a_full_disk_is_told_of_and_what_was_written_stays(tmp_path):
    interrupted(tmp_path / "run", 2)

    def fill():
        with open_resumable(tmp_path / "run", "question") as pieces:
            os.dup2(os.open("/dev/full", os.O_WRONLY), pieces._stream.fileno())
            pieces.append("more", {"number": 2})

    with pytest.raises(LeafidError, match="run: can't be written: No space left on device"):
        fill()
    assert write(tmp_path / "run") == 2
    assert (tmp_path / "run").read_text() == WHOLE


def test_into_a_pipe_each_piece_goes_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for _ in range(2):  # a second time nothing is left of the first
        with open_resumable(pipe, "question") as pieces:
            assert not pieces.is_resumable
            assert (pieces.records, pieces.is_restarted) == ([], False)
            for number, piece in enumerate(PIECES):
                pieces.append(piece, {"number": number})
                if piece:
                    assert os.read(reader, 1000) == piece.encode()
            assert len(pieces.records) == len(PIECES)
    os.close(reader)
    assert pipe.is_fifo()
    assert names(tmp_path) == ["pipe"]


def test_a_link_is_followed_and_the_pieces_are_beside_the_file(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/run")
    interrupted(tmp_path / "link", 2)
    assert sorted(names(tmp_path / "folder")) == ["run.part", "run.part.journal"]
    assert write(tmp_path / "link") == 2
    assert (tmp_path / "folder" / "run").read_text() == WHOLE
    assert (tmp_path / "link").is_symlink()
    assert sorted(names(tmp_path)) == ["folder", "link"]
