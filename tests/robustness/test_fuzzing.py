"""A short version of scripts/fuzz, and proofs that it finds what it is to find."""

import os
import pickle
import resource
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from fuzz import mutations, targets
from fuzz.judging import Watch, find_message_problem, judge
from fuzz.target import Target
from leafid.errors import LeafidError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def watch(tmp_path_factory):
    return Watch(tmp_path_factory.mktemp("watched").resolve())


@pytest.fixture
def folder(watch):
    """A new folder inside the watched one."""
    place = watch.allowed / str(len(list(watch.allowed.iterdir())))
    place.mkdir()
    return place


@pytest.mark.parametrize("name", targets.NAMES)
def test_some_hundred_inputs(name, watch, folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    target = targets.load(name)
    seeds = target.seeds()
    n_inputs = len(seeds) + {"model": 30, "content": 3}.get(name, 130)
    inputs = islice(mutations.generate_inputs(seeds, target.words, 0), n_inputs)
    verdicts = [judge(target, data, folder, watch) for data in inputs]
    for number, verdict in enumerate(verdicts):
        # Late imports count as what the seeds, which come first, take and touch.
        kinds = (
            {"raised", "message"}
            if number < len(seeds)
            else {"raised", "message", "memory", "touched"}
        )
        assert not [finding for finding in verdict.findings if finding.kind in kinds]
    assert any(verdict.accepted for verdict in verdicts)


def planted(fault):
    return Target("planted", "", lambda: [b""], lambda data, folder: fault(folder))


def refuse(message):
    raise LeafidError(message)


@pytest.mark.parametrize(
    ("fault", "kind", "what"),
    [
        (lambda folder: 1 / 0, "raised", "ZeroDivisionError"),
        (lambda folder: sys.exit(3), "raised", "SystemExit"),
        (
            lambda folder: (folder.parents[1] / "elsewhere").write_text(""),
            "touched",
            "elsewhere",
        ),
        (lambda folder: (folder.parents[1] / "made").mkdir(), "touched", "made"),
        (
            lambda folder: os.open(folder.parents[1] / "new", os.O_CREAT | os.O_WRONLY),
            "touched",
            "new",
        ),
        (
            lambda folder: subprocess.run(["true"], check=True),
            "touched",
            "subprocess.Popen",
        ),
        (
            lambda folder: pickle.loads(pickle.dumps(Path("x"))),
            "touched",
            "pickle.find_class",
        ),
        (
            lambda folder: sum(range(10**9)) if time.process_time() < 0 else spin(1.1),
            "slow",
            "1.",
        ),
        # Little more than the 128 MiB allowed: to fill memory takes a slow machine
        # long, which would count as slow.
        (lambda folder: grow(160 << 20), "memory", "MiB"),
        (lambda folder: refuse("something is wrong"), "message", "no file named"),
    ],
)
def test_faults_are_found(fault, kind, what, watch, folder):
    # The peak memory is measured from now on: going beyond that of earlier tests would
    # take long, and count as slow.
    Path("/proc/self/clear_refs").write_text("5")
    verdict = judge(planted(fault), b"", folder, watch)
    assert [finding.kind for finding in verdict.findings] == [kind]
    assert what in verdict.findings[0].what


def grow(most):
    """Hold this number of bytes above the peak of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    now = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return len(b"x" * (peak - now + most))


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_messages():
    folder = Path("/place")
    assert find_message_problem("/place/a: wrong\n/place/b: wrong", folder) is None
    assert (
        find_message_problem("/place/a: wrong\nand more", folder)
        == "no file named: 'and more'"
    )
    assert "'\\x1b'" in find_message_problem("/place/a: \x1b[31m", folder)
    assert find_message_problem("/place/a: " + "x" * 1000, folder).startswith(
        "a line of 1010 characters"
    )


def test_the_same_seed_gives_the_same_inputs():
    seeds, words = [b"one 1", b"two 2"], (b"word",)
    first = list(islice(mutations.generate_inputs(seeds, words, 1), 300))
    assert first == list(islice(mutations.generate_inputs(seeds, words, 1), 300))
    assert first[:2] == seeds
    assert first != list(islice(mutations.generate_inputs(seeds, words, 2), 300))
    assert len(set(first)) > 150
