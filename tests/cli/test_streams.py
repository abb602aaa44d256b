"""Commands whose output nobody reads, can't be written, or lacks some letters."""

import io
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from leafid.cli.main import main
from leafid.cli.outputs import Console
from leafid.scoring.reading import run_reading
from tests.scoring.golden_files import GOOD, TRUTH

needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a file that is always full"
)


def leafid(*words, **options):
    """Run a command as a process.

    The tests are about the contents of Python's buffers at its end.
    """
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON")
    }
    surroundings["PYTHONPATH"] = str(Path(__file__).parents[2])
    surroundings |= options.pop("variables", {})
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(
        [sys.executable, "-m", "leafid", *map(str, words)],
        env=surroundings,
        text=True,
        **streams,
    )


@pytest.fixture
def without_reader():
    """A pipe whose reader has closed it."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize("words", [["--help"], ["evaluate", "--list"]])
def test_a_closed_pipe_is_no_error(without_reader, words):
    done = leafid(*words, stdout=without_reader)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_output_that_nobody_reads_on_is_no_error(without_reader, drawn):
    words = ["describe", next(drawn.rglob("*.jpg")), "--families", "hu", "--jobs", 1]
    done = leafid(*words, "--output", "/dev/stdout", stdout=without_reader)
    assert (done.returncode, done.stderr) == (0, "")


@needs_full
@pytest.mark.parametrize("lines", [1, 2000])
def test_a_result_that_can_not_be_written_is_reported_once(tmp_path, lines):
    """While the command runs, or when the buffer is flushed at the end."""
    (tmp_path / "bad.txt").write_text("no line of a run\n" * lines)
    with Path("/dev/full").open("w") as full:
        done = leafid("check", tmp_path / "bad.txt", stdout=full)
    assert done.returncode == 1
    errors = [
        line for line in done.stderr.splitlines() if not line.endswith(" problem")
    ]
    assert errors == ["leafid: error: No space left on device"]


def test_control_characters_are_escaped():
    console = Console(io.StringIO(), io.StringIO())
    console.print("a\x1b[31m.jpg")
    console.note("a\x1b[31m.jpg")
    assert console.stdout.getvalue() == console.stderr.getvalue() == "a\\x1b[31m.jpg\n"


def test_a_closed_stderr_does_not_change_the_status(without_reader):
    assert leafid("zzz", "--debug", stderr=without_reader).returncode == 2


@pytest.mark.parametrize(
    ("redirection", "status"), [("--help >&-", 0), ("zzz >&- 2>&-", 2)]
)
def test_streams_that_were_never_open(redirection, status):
    command = f"'{sys.executable}' -m leafid {redirection}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == status
    assert "bug" not in done.stderr


def test_letters_missing_in_the_encoding_are_escaped():
    done = leafid("--help", variables={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "COMMAND \\u2026" in done.stdout


def test_a_file_name_that_is_no_text_can_be_printed(tmp_path, name_in_latin_1):
    (tmp_path / name_in_latin_1).write_bytes(b"")
    done = leafid("info", tmp_path, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert "\\udce9rable.jpg" in done.stdout


def test_a_terminal_shows_how_far_predict_is(loose, light_model):
    leader, follower = os.openpty()  # which doesn't tell its size
    shown = []

    def read():
        with suppress(OSError):  # the other end is closed
            while True:
                shown.append(os.read(leader, 1024))

    reader = threading.Thread(target=read)
    reader.start()
    words = ["predict", loose, "--model", light_model, "--no-cache", "--jobs", 1]
    with os.fdopen(follower, "w") as stderr:
        assert main([*map(str, words)], Console(io.StringIO(), stderr)) == 0
    reader.join()
    os.close(leader)
    text = b"".join(shown).decode()
    assert "3/3, types: describe:" in text


def test_a_log_shows_progress_of_long_work_alone():
    console = Console(io.StringIO(), io.StringIO())
    assert list(console.progress(range(3), 3, "describe")) == [0, 1, 2]
    assert not console.stderr.getvalue()
    console.log_interval = 0
    assert list(console.progress(range(3), 3, "describe")) == [0, 1, 2]
    assert "describe:" in console.stderr.getvalue()
    assert "3/3" in console.stderr.getvalue()


def test_reading_a_large_run_shows_progress(monkeypatch):
    console = Console(io.StringIO(), io.StringIO())
    words = ["evaluate", str(TRUTH), str(GOOD)]
    assert main(words, console) == 0
    assert not console.stderr.getvalue()
    monkeypatch.setattr(run_reading, "LARGE_BYTES", 0)
    console.log_interval = 0
    assert main(words, console) == 0
    assert f"reading {GOOD.name}:" in console.stderr.getvalue()
