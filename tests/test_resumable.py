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

CHUNKS = ["first\n", "", "the second\n", "ünd the third\n"]
WHOLE = "".join(CHUNKS)


class StoppedError(Exception):
    pass


def names(folder):
    return [file.name for file in folder.iterdir()]


def write(path, fingerprint="fingerprint", stop_after=None):
    """Write the missing chunks, and return how many were there before."""
    with open_resumable(path, fingerprint) as file:
        before = len(file.records)
        assert [record["number"] for record in file.records] == list(range(before))
        for number in range(before, len(CHUNKS)):
            if number == stop_after:
                raise StoppedError
            file.append(CHUNKS[number], {"number": number})
    return before


def interrupt(path, after, fingerprint="fingerprint"):
    with pytest.raises(StoppedError):
        write(path, fingerprint, after)
    return path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.journal")


def test_file_takes_its_name_only_when_complete(tmp_path):
    run = tmp_path / "folder" / "run"
    with open_resumable(run, "fingerprint") as file:
        file.append(CHUNKS[0], {})
        assert not run.exists()
        assert (tmp_path / "folder" / "run.part").read_text() == CHUNKS[0]
        file.append(CHUNKS[2], {})
    assert run.read_text() == CHUNKS[0] + CHUNKS[2]
    assert list(run.parent.iterdir()) == [run]


@pytest.mark.parametrize("after", [1, 2, 3])
def test_resumes_after_the_last_chunk(tmp_path, after):
    interrupt(tmp_path / "run", after)
    assert write(tmp_path / "run") == after
    assert (tmp_path / "run").read_text() == WHOLE
    assert names(tmp_path) == ["run"]


def test_existing_file_stays_until_the_new_one_is_complete(tmp_path):
    (tmp_path / "run").write_text("older")
    interrupt(tmp_path / "run", 2)
    assert (tmp_path / "run").read_text() == "older"
    write(tmp_path / "run")
    assert (tmp_path / "run").read_text() == WHOLE


def test_nothing_is_left_without_a_chunk(tmp_path):
    interrupt(tmp_path / "run", 0)
    assert names(tmp_path) == []


def test_chunks_with_another_fingerprint_are_discarded(tmp_path):
    interrupt(tmp_path / "run", 2, "another fingerprint")
    with open_resumable(tmp_path / "run", "fingerprint") as file:
        assert file.is_restarted
        assert file.records == []
        assert file.part.read_bytes() == b""
        file.append(WHOLE, {})
    assert (tmp_path / "run").read_text() == WHOLE


@settings(max_examples=25)  # each waits for the disk several times
@given(st.data())
def test_result_is_complete_whatever_was_torn_off(tmp_path_factory, data):
    """After a power cut, either file may end anywhere, or in garbage."""
    folder = tmp_path_factory.mktemp("torn")
    for file in interrupt(folder / "run", 3):
        content = file.read_bytes()
        kept = content[: data.draw(st.integers(0, len(content)))]
        file.write_bytes(kept + data.draw(st.sampled_from([b"", b"\0\0\0", b"{", b"{}\n", b"[1]\n", b"\xff\n"])))
    header = b'{"format": "leafid journal 1", "fingerprint": "fingerprint"}\n'
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
def test_damaged_part_file_is_cut_back_to_intact_chunks(tmp_path, change):
    part, _ = interrupt(tmp_path / "run", 3)
    part.write_bytes(change(part.read_bytes()))
    write(tmp_path / "run")
    assert (tmp_path / "run").read_text() == WHOLE


def test_foreign_part_file_is_not_touched(tmp_path):
    part = tmp_path / "run.part"
    part.write_text("a download")
    with pytest.raises(LeafidError, match=r"run\.part: is in the way, and belongs to no run; move it away"):
        write(tmp_path / "run")
    assert names(tmp_path) == ["run.part"]
    assert part.read_text() == "a download"


@pytest.mark.parametrize("content", ["my notes\n", "{}\n", '{"format": "another journal"}\n', "{"])
def test_foreign_journal_is_not_touched(tmp_path, content):
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
def test_link_under_a_name_of_ours_is_not_followed(tmp_path, name, is_there, after):
    if after:
        for file in interrupt(tmp_path / "run", after):
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


def test_pipe_under_a_name_of_ours_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "run.part.journal")
    with pytest.raises(LeafidError, match=r"run\.part\.journal: .*found a link, a pipe or a device"):
        write(tmp_path / "run")
    assert (tmp_path / "run.part.journal").is_fifo()


def test_killed_between_rename_and_removal_of_the_journal(tmp_path):
    """Only the journal is left then; the file is complete."""
    _, journal = interrupt(tmp_path / "run", 3)
    (tmp_path / "run.part").rename(tmp_path / "run")
    assert write(tmp_path / "run") == 0
    assert (tmp_path / "run").read_text() == WHOLE
    assert not journal.exists()


def test_second_process_is_refused(tmp_path):
    with open_resumable(tmp_path / "run", "fingerprint") as file:
        file.append(WHOLE, {})
        with pytest.raises(LeafidError, match="run: another process is writing it; wait for it, or name another file"):
            write(tmp_path / "run")
    assert (tmp_path / "run").read_text() == WHOLE


@pytest.mark.slow
def test_lock_ends_with_a_killed_process(tmp_path):
    script = f"""
import os, signal
from leafid.resumable import open_resumable
with open_resumable({str(tmp_path / "run")!r}, "fingerprint") as file:
    file.append({CHUNKS[0]!r}, {{"number": 0}})
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", script], check=False)
    assert killed.returncode == -9
    assert write(tmp_path / "run") == 1
    assert (tmp_path / "run").read_text() == WHOLE


def test_journal_describes_the_chunks(tmp_path):
    part, journal = interrupt(tmp_path / "run", 3)
    header, *lines = map(json.loads, journal.read_text().splitlines())
    assert header == {"format": "leafid journal 1", "fingerprint": "fingerprint"}
    assert [line["bytes"] for line in lines] == [len(chunk.encode()) for chunk in CHUNKS[:3]]
    assert sum(line["bytes"] for line in lines) == part.stat().st_size


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_full_disk_is_reported_and_chunks_stay(tmp_path):
    interrupt(tmp_path / "run", 2)

    def fill():
        with open_resumable(tmp_path / "run", "fingerprint") as file:
            os.dup2(os.open("/dev/full", os.O_WRONLY), file._stream.fileno())
            file.append("more", {"number": 2})

    with pytest.raises(LeafidError, match="run: can't be written: No space left on device"):
        fill()
    assert write(tmp_path / "run") == 2
    assert (tmp_path / "run").read_text() == WHOLE


def test_chunks_go_into_a_pipe_immediately(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for _ in range(2):  # nothing of the first time is left
        with open_resumable(pipe, "fingerprint") as file:
            assert file.part is None
            assert (file.records, file.is_restarted) == ([], False)
            for number, chunk in enumerate(CHUNKS):
                file.append(chunk, {"number": number})
                if chunk:
                    assert os.read(reader, 1000) == chunk.encode()
            assert len(file.records) == len(CHUNKS)
    os.close(reader)
    assert pipe.is_fifo()
    assert names(tmp_path) == ["pipe"]


def test_link_is_followed_and_chunks_are_beside_its_target(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/run")
    interrupt(tmp_path / "link", 2)
    assert sorted(names(tmp_path / "folder")) == ["run.part", "run.part.journal"]
    assert write(tmp_path / "link") == 2
    assert (tmp_path / "folder" / "run").read_text() == WHOLE
    assert (tmp_path / "link").is_symlink()
    assert sorted(names(tmp_path)) == ["folder", "link"]
