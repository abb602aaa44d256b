"""An interrupted run is resumed, and has the same bytes as an undisturbed one."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from leafid.cli.main import main
from leafid.console import environment as environment_module
from leafid.console.environment import Environment, advance
from leafid.model import prediction
from leafid.model.modelfile import read_model, write_model

# Kills itself before it writes the chunk with a given number, or in the middle of writing it.
KILLED = """
import os, signal, sys
from leafid.cli.main import main
from leafid.model import prediction
from leafid.resumable import ResumableFile

prediction.BATCH_SIZE = 2
number, where, *words = sys.argv[1:]
append = ResumableFile.append

def appended(pieces, text, record):
    if len(pieces.records) == int(number):
        if where == "inside":
            pieces._stream.write(text.encode()[:-7])
            pieces._stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    append(pieces, text, record)

ResumableFile.append = appended
sys.exit(main(words))
"""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(prediction, "BATCH_SIZE", 2)


@pytest.fixture
def pictures(drawn, tmp_path):
    """Nine test pictures, and two broken ones whose names come first and last."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for file in sorted((drawn / "Test").glob("*.jpg")):
        shutil.copy(file, folder)
    (folder / "0.jpg").write_bytes(b"")
    (folder / "z.jpg").write_text("no picture")
    return folder


@pytest.fixture
def words(pictures, drawn_model, drawn_cache, tmp_path):
    return ["predict", pictures, "--model", drawn_model, "--cache", drawn_cache, "--jobs", 1, "--output"]


def killed(words, number, where="before"):
    done = subprocess.run([sys.executable, "-c", KILLED, str(number), where, *map(str, words)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [[], ["--format", "annotation2016", "--top", "2"], ["--set", "average-1.5"]],
    ids=["ranking", "boxes", "sets"],
)
def test_a_run_killed_several_times_has_the_same_bytes(cli, words, options, tmp_path):
    whole, run, part = tmp_path / "whole", tmp_path / "run", tmp_path / "run.part"
    undisturbed = cli(*words, whole, *options)
    assert undisturbed.status == 1
    for number, where in ((2, "before"), (2, "inside"), (3, "inside")):
        killed([*words, run, *options], number, where)
        assert not run.exists()
        assert whole.read_bytes().startswith(part.read_bytes())
    resumed = cli(*words, run, *options)
    assert resumed.status == undisturbed.status
    assert run.read_bytes() == whole.read_bytes()
    first, *rest = resumed.err.splitlines()
    assert first == f"{run}: resuming after 6 of 11 pictures"
    # Unreadable pictures are reported again, whichever process found them.
    assert "\n".join(rest) == undisturbed.err.replace(str(whole), str(run)).rstrip()
    assert sorted(tmp_path.glob("run*")) == [run]


def test_an_interruption_before_the_first_answers_leaves_nothing(cli, words, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(prediction, "_recognise_missing_types", interrupt)
    found = cli(*words, tmp_path / "run")
    assert (found.status, found.err) == (130, "leafid: interrupted\n")
    assert list(tmp_path.glob("run*")) == []


def test_an_interruption_reports_how_to_resume(cli, words, tmp_path, monkeypatch):
    answered = prediction._recognise_missing_types
    calls = []

    def interrupt(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return answered(*arguments)

    monkeypatch.setattr(prediction, "_recognise_missing_types", interrupt)
    found = cli(*words, tmp_path / "run")
    assert found.status == 130
    assert found.err.splitlines()[-2:] == [
        f"{tmp_path / 'run'}: 6 of 11 pictures are done; the same command resumes the run",
        "leafid: interrupted",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("change", ["model", "option", "picture", "picture of equal size and time", "type"])
def test_a_run_with_another_fingerprint_starts_again(cli, words, change, tmp_path, drawn_model, pictures):
    run, whole, words = tmp_path / "run", tmp_path / "whole", list(words)
    killed([*words, run], 3)
    if change == "model":
        model = read_model(drawn_model)
        identifiers = {t: replace(own, weights=own.weights / 2) for t, own in model.identifiers.items()}
        write_model(replace(model, identifiers=identifiers), tmp_path / "model")
        words[3] = tmp_path / "model"
    elif change == "option":
        words[1:1] = ["--top", "1"]
    elif change == "type":
        words[1:1] = ["--assume-type", "scan"]
    elif change == "picture of equal size and time":
        first, status = sorted(pictures.glob("?*.jpg"))[1], sorted(pictures.glob("?*.jpg"))[1].stat()
        content = sorted(pictures.glob("?*.jpg"))[3].read_bytes()
        # What follows the end mark of a JPEG is ignored.
        first.write_bytes(content[: status.st_size].ljust(status.st_size, b"\0"))
        os.utime(first, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        first = sorted(pictures.glob("?*.jpg"))[1]
        shutil.copyfile(sorted(pictures.glob("?*.jpg"))[3], first)
    found = cli(*words, run)
    note = f"{run}: what {run}.part holds is of a run with other inputs or options; it is discarded"
    assert found.err.splitlines()[0] == note
    assert cli(*words, whole).status == 1
    assert run.read_bytes() == whole.read_bytes()


def test_a_second_process_is_refused(cli, words, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    run = tmp_path / "run"
    killed([*words, run], 3)
    with (tmp_path / "run.part.journal").open("rb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        found = cli(*words, run)
    assert found.status == 1
    assert found.err == f"leafid: error: {run}: another process is writing it; wait for it, or name another file\n"
    assert cli(*words, run).err.startswith(f"{run}: resuming after 6 of 11 pictures")


def test_memory_does_not_grow_with_the_pictures(cli, words, pictures, tmp_path, monkeypatch):
    """Nothing of a batch is kept after it."""
    held = []
    load = prediction.FeatureLoader.load

    def watched(loader, asked, *others):
        held.append(len(asked))
        return load(loader, asked, *others)

    monkeypatch.setattr(prediction.FeatureLoader, "load", watched)
    assert cli(*words, tmp_path / "run").status == 1
    assert max(held) <= 2


def test_the_part_file_grows_with_every_batch(cli, words, tmp_path, monkeypatch):
    sizes = []
    answered = prediction._recognise_missing_types

    def watched(*arguments):
        sizes.append((tmp_path / "run.part").stat().st_size)
        return answered(*arguments)

    monkeypatch.setattr(prediction, "_recognise_missing_types", watched)
    cli(*words, tmp_path / "run")
    assert len(sizes) == 6
    assert sizes == sorted(sizes)
    assert len(set(sizes)) >= 5


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_one_bar_over_all_batches(drawn, drawn_model, tmp_path, monkeypatch):
    # Show every step, however fast.
    monkeypatch.setattr(environment_module, "_BAR_OPTIONS", {"leave": False, "mininterval": 0, "miniters": 1})
    environment = Environment(io.StringIO(), Terminal())
    words = ["predict", drawn, "--model", drawn_model, "--no-cache", "--jobs", 1, "--output", tmp_path / "run"]
    assert main([str(word) for word in words], environment) == 0
    shown = re.findall(r"(\d+)/(\d+)", environment.stderr.getvalue())
    assert {total for _, total in shown} == {"9"}
    counts = [int(count) for count, _ in shown]
    assert counts == sorted(counts)
    assert set(counts) == set(range(10))


def test_a_bar_starts_from_the_pictures_done():
    environment = Environment(io.StringIO(), Terminal())
    with environment.bar(9, "describe", 4) as bar:
        assert list(advance(bar, [1, 2])) == [1, 2]
        bar.update(5)
    assert " 4/9 " in environment.stderr.getvalue()


COUNTS = {"pictures": 2, "answered": 2, "lines": 6, "empty": 0, "unreadable": []}


@pytest.mark.parametrize(
    "changed",
    [
        {"facts": {}},
        {"facts": {"pictures": [2]}},
        {"facts": {**COUNTS, "pictures": -2}},
        {"facts": {**COUNTS, "lines": 2**40}},
        {"facts": {**COUNTS, "unreadable": [{}]}},
        {"bytes": 10**30},
    ],
    ids=str,
)
def test_a_journal_with_other_records_is_not_resumed(cli, words, tmp_path, changed):
    run, whole = tmp_path / "run", tmp_path / "whole"
    killed([*words, run], 3)
    journal = tmp_path / "run.part.journal"
    header, *lines = map(json.loads, journal.read_text().splitlines())
    lines[1] |= changed
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in (header, *lines)))
    assert cli(*words, run).err.startswith(f"{run}: resuming after 2 of 11 pictures")
    assert cli(*words, whole).status == 1
    assert run.read_bytes() == whole.read_bytes()
