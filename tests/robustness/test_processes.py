"""Commands as processes: killed, interrupted, two at once, without room to write."""

import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from leafid.cli.main import main
from tests.drawing.collection import SAMPLE

ROOT = Path(__file__).parents[2]
_MARK = "LEAFID_ROBUSTNESS_RUN"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/environ").exists(), reason="looks processes up in /proc"
    ),
]


def start(words: Sequence[object], mark: str, folder: Path, **more: str):
    """Start a command of leafid with its output in files of a folder.

    `find_processes` finds it by its mark.
    """
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        _MARK: mark,
        **more,
    }
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "leafid", *map(str, words)],
            stdout=out,
            stderr=err,
            env=environment,
            start_new_session=True,
            # Background processes of a shell ignore Ctrl-C, and children inherit this.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            text=True,
        )


def find_processes(mark: str) -> list[int]:
    """List the processes that were started under a mark, and their descendants.

    Zombies left out.
    """
    wanted = f"{_MARK}={mark}".encode()
    processes = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                processes.append(int(entry.name))
        except OSError:  # it has ended, or belongs to another user
            continue
    return processes


@pytest.fixture
def words(drawn, light_recipe, tmp_path):
    words = [
        "train",
        drawn,
        "--recipe",
        light_recipe,
        "--only-type",
        "scan",
        "--cache",
        tmp_path / "cache",
    ]
    return [*words, "--output", tmp_path / "model"]


@pytest.fixture(scope="module")
def expected_model(drawn, light_recipe, drawn_cache, tmp_path_factory):
    """The bytes of the model that `words` train when nothing disturbs them."""
    file = tmp_path_factory.mktemp("expected") / "model"
    words = [
        "train",
        drawn,
        "--recipe",
        light_recipe,
        "--only-type",
        "scan",
        "--cache",
        drawn_cache,
        "--jobs",
        1,
    ]
    assert main([str(word) for word in [*words, "--output", file]]) == 0
    return file.read_bytes()


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def vectors(cache):
    file = cache / "features.sqlite"
    if not file.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT COUNT(*) FROM vectors").fetchone()[0]
    except sqlite3.Error:  # being made just now
        return 0


def list_messages(err):
    """List the lines of stderr but those of progress, which a busy machine has."""
    return [
        line
        for line in err.splitlines()
        if line.strip() and not re.search(r"\d+%\|", line)
    ]


def list_leftovers(folder):
    return sorted(
        file.name
        for file in folder.iterdir()
        if file.name.endswith(".part") or file.name.startswith(".")
    )


def test_training_killed_and_started_again(
    words, tmp_path, expected_model, cli, monkeypatch
):
    mark = f"killed-{os.getpid()}"
    process = start([*words, "--jobs", 2], mark, tmp_path / "first")
    wait_for(lambda: vectors(tmp_path / "cache") >= 10 or process.poll() is not None)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    wait_for(lambda: not find_processes(mark))
    assert not (tmp_path / "model").exists()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "again"))
    (tmp_path / "again").mkdir()
    again = cli(*words, "--jobs", 1)
    assert again.status == 0, again.err
    assert (tmp_path / "model").read_bytes() == expected_model
    assert list_leftovers(tmp_path) == []
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["features.sqlite"]
    assert list((tmp_path / "again").iterdir()) == []


def test_two_commands_with_one_store_at_once(
    drawn, light_model, drawn_cache, tmp_path, cli
):
    words = [
        "predict",
        drawn / "Train",
        "--model",
        light_model,
        "--jobs",
        1,
        "--output",
    ]
    assert cli(*words, tmp_path / "wanted.txt", "--cache", drawn_cache).status == 0
    outputs = [tmp_path / "one.txt", tmp_path / "two.txt"]
    both = []
    for output in outputs:
        given = [*words, output, "--cache", tmp_path / "cache"]
        both.append(start(given, f"twice-{os.getpid()}", output.with_suffix("")))
    for output, process in zip(outputs, both, strict=True):
        err = output.with_suffix("") / "err"
        assert process.wait() == 0, err.read_text()
        assert list_messages(err.read_text()) == [f"{output}: answers to 27 pictures"]
        assert output.read_bytes() == (tmp_path / "wanted.txt").read_bytes()
    with closing(sqlite3.connect(tmp_path / "cache" / "features.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize(
    ("number", "group", "status", "messages"),
    [
        (signal.SIGINT, True, 130, ["leafid: interrupted"]),
        (signal.SIGINT, False, 130, ["leafid: interrupted"]),
        (signal.SIGTERM, False, 143, []),
    ],
    ids=["Ctrl-C", "the main process alone", "SIGTERM"],
)
def test_an_interrupted_description_leaves_no_process(
    number, group, status, messages, drawn, tmp_path
):
    mark = f"interrupted-{os.getpid()}-{number}-{group}"
    output, many = tmp_path / "table.csv", tmp_path / "many"
    many.mkdir()
    picture = next(drawn.rglob("*.jpg"))
    # They are far more than are described before the signal comes, however busy the
    # machine is.
    for index in range(3000):
        os.link(picture, many / f"{index}.jpg")
    process = start(
        ["describe", many, "--assume-type", "scan", "--output", output, "--jobs", 2],
        mark,
        tmp_path,
    )
    # There are the main process, two workers, and what multiprocessing keeps beside
    # them.
    wait_for(lambda: len(find_processes(mark)) >= 4)
    if group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    assert process.wait(120) == status, (tmp_path / "err").read_text()
    wait_for(lambda: not find_processes(mark))
    assert list_messages((tmp_path / "err").read_text()) == messages
    assert not output.exists()
    assert list_leftovers(tmp_path) == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    "condition",
    [
        "name == 'leafid.cli.main'",
        "'leafid' in sys.modules and name != 'leafid.__main__'",
    ],
    ids=["a", "first"],
)
def test_an_interruption_by_an_import_is_one_line(condition, drawn, tmp_path):
    # The process interrupts itself, as a signal from here would come too early or too
    # late.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interruption:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if {condition}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interruption())\n"
    )
    process = start(
        ["info", drawn],
        "importing",
        tmp_path,
        PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}",
    )
    assert process.wait(60) == 130
    assert (tmp_path / "err").read_text() == "leafid: interrupted\n"


def test_modules_in_the_current_folder_are_not_imported(tmp_path):
    for name in ("signal", "numpy", "multiprocessing", "tomllib"):
        (tmp_path / f"{name}.py").write_text(f"open('{name}-imported', 'w').close()")
    # The sample has enough pictures to start workers.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONSAFEPATH", None)
    done = subprocess.run(
        [sys.executable, "-m", "leafid", "info", SAMPLE, "--jobs", "2"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("*-imported")) == []


def run_limited(words, kind, most_bytes):
    """Run a command with so much of a resource, such as `resource.RLIMIT_AS`."""
    return subprocess.run(
        [sys.executable, "-m", "leafid", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(kind, (most_bytes, most_bytes)),
    )


@pytest.mark.parametrize("mebibytes", [150, 470])
def test_no_room_in_memory_for_the_libraries_is_one_line(mebibytes, drawn):
    """At the lower limit no library can be loaded; the higher one ends the process."""
    words = ["predict", drawn / "Test", "--no-cache", "--jobs", 1]
    result = run_limited(words, resource.RLIMIT_AS, mebibytes << 20)
    assert result.returncode == 1
    assert result.stderr.startswith(
        "leafid: error: out of memory while the program starts"
    )
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("n_processes", [2, 3])
def test_a_command_killed_while_its_workers_start_leaves_no_process(
    n_processes, drawn, tmp_path
):
    mark = f"starting-{os.getpid()}-{n_processes}"
    words = ["describe", drawn, "--output", tmp_path / "table.csv", "--jobs", 2]
    process = start(words, mark, tmp_path)
    wait_for(lambda: len(find_processes(mark)) >= n_processes)
    process.kill()
    process.wait()
    wait_for(lambda: not find_processes(mark))


def test_no_room_for_the_store(drawn, light_model, drawn_cache, tmp_path, cli):
    words = ["predict", drawn, "--model", light_model, "--jobs", 1]
    assert (
        cli(*words, "--output", tmp_path / "wanted", "--cache", drawn_cache).status == 0
    )
    # A file that can't grow is like a full disk: not even room for an empty database.
    given = [*words, "--output", tmp_path / "run", "--cache", tmp_path / "cache"]
    result = run_limited(given, resource.RLIMIT_FSIZE, 10_000)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "run").read_bytes() == (tmp_path / "wanted").read_bytes()
    assert result.stderr.count("nothing is cached") == 1
    # The store that is left is sound.
    assert (
        cli(
            *words, "--output", tmp_path / "again", "--cache", tmp_path / "cache"
        ).err.count("warning")
        == 0
    )
    assert (tmp_path / "again").read_bytes() == (tmp_path / "wanted").read_bytes()


def test_no_room_for_the_output(words, expected_model, drawn_cache, tmp_path):
    (tmp_path / "model").write_text("an older model")
    words[words.index("--cache") + 1] = drawn_cache
    # There is room for the store, which needs no more than it has, but not for the
    # model.
    most_bytes = len(expected_model) - 1
    assert most_bytes > 2**15
    result = run_limited([*words, "--jobs", 1], resource.RLIMIT_FSIZE, most_bytes)
    assert result.returncode == 1
    (error,) = (
        line
        for line in list_messages(result.stderr)
        if not line.startswith("leafid: warning: ")
    )
    assert error == f"leafid: error: {tmp_path}/model: can't be written: File too large"
    assert (tmp_path / "model").read_text() == "an older model"
    assert list_leftovers(tmp_path) == []
